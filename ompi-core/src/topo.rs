//! Process topologies: what hangs on a communicator that has one. MPI 5.0 §8.

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use alloc::boxed::Box;
use alloc::sync::Arc;

pub mod cart;
mod create;
pub mod dims;
pub mod dist;
pub mod graph;
mod letters;
mod place;

pub use cart::Cart;
pub use create::{cart, cart_map, cart_sub, dist_graph, dist_graph_adjacent, graph, graph_map};
pub use dist::DistGraph;
pub use graph::Graph;

/// One of the standard's kinds of topology.
#[derive(Debug)]
pub enum Shape {
    /// A grid.
    Cart(Cart),
    /// A graph that every process knows.
    Graph(Graph),
    /// A graph of which every process knows its neighbours.
    DistGraph(DistGraph),
}

/// The topology of a communicator, for one of its processes.
#[derive(Debug)]
pub struct Topology {
    /// What the user asked for.
    pub shape: Shape,
    neighbors: Neighbors,
}

/// With whom this process exchanges blocks in neighborhood collectives, in the order of the blocks. MPI_PROC_NULL's block
/// is neither sent nor written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbors {
    /// Whose blocks come.
    pub sources: Box<[i32]>,
    /// To whom blocks go.
    pub destinations: Box<[i32]>,
    /// Blocks 2d and 2d + 1 belong to the negative and the positive direction of dimension d: what goes one way comes
    /// from the other, also where both lead to the same process (MPI 5.0 §8.6).
    pub cartesian: bool,
}

impl Topology {
    /// That of the process with this rank.
    pub fn new(shape: Shape, rank: usize) -> Topology {
        let neighbors = match &shape {
            Shape::Cart(cart) => cart.neighbors(rank),
            Shape::Graph(graph) => {
                let all: Box<[i32]> = graph.neighbors(rank).into();
                Neighbors { sources: all.clone(), destinations: all, cartesian: false }
            }
            Shape::DistGraph(graph) => Neighbors {
                sources: graph.inward.ranks.clone(),
                destinations: graph.outward.ranks.clone(),
                cartesian: false,
            },
        };
        Topology { shape, neighbors }
    }
}

impl Communicator {
    /// Its topology, if it has one.
    pub fn topology(&self) -> Option<&Topology> {
        self.topology.get().map(|topology| &**topology)
    }

    /// Gives it its topology; once, before the user has its handle.
    pub fn set_topology(&self, topology: Arc<Topology>) {
        self.topology.call_once(|| topology);
    }

    /// Shares the topology of the communicator that it duplicates (MPI 5.0 §7.4.2).
    pub fn inherit_topology(&self, parent: &Communicator) {
        if let Some(topology) = parent.topology.get() {
            self.set_topology(topology.clone());
        }
    }

    /// Its grid, or MPI_ERR_TOPOLOGY.
    pub fn cart(&self) -> Result<&Cart> {
        match self.topology() {
            Some(Topology { shape: Shape::Cart(cart), .. }) => Ok(cart),
            _ => Err(wrong("it has no Cartesian topology")),
        }
    }

    /// Its graph, or MPI_ERR_TOPOLOGY.
    pub fn graph(&self) -> Result<&Graph> {
        match self.topology() {
            Some(Topology { shape: Shape::Graph(graph), .. }) => Ok(graph),
            _ => Err(wrong("it has no graph topology (of MPI_Graph_create)")),
        }
    }

    /// Its distributed graph, or MPI_ERR_TOPOLOGY.
    pub fn dist_graph(&self) -> Result<&DistGraph> {
        match self.topology() {
            Some(Topology { shape: Shape::DistGraph(graph), .. }) => Ok(graph),
            _ => Err(wrong("it has no distributed graph topology")),
        }
    }

    /// The neighbours of this process, or MPI_ERR_TOPOLOGY.
    pub fn neighbors(&self) -> Result<&Neighbors> {
        match self.topology() {
            None => Err(wrong("it has no topology, so that nobody has neighbours")),
            // Nobody would send what others wait for (MPI 5.0 §8.6).
            Some(Topology { shape: Shape::Graph(graph), .. }) if !graph.is_symmetric() => {
                Err(wrong("its graph has edges that do not lead back; neighborhood collectives need all to do so"))
            }
            Some(topology) => Ok(&topology.neighbors),
        }
    }
}

fn wrong(why: &'static str) -> Fault {
    Fault::new(Class::Topology).argument("comm").because(why)
}
