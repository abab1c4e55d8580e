//! Process topologies: the topology that a communicator may have. MPI 5.0 §8.

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use alloc::sync::Arc;

pub mod cart;
mod create;
pub mod dims;
pub mod dist;
mod exchange;
pub mod graph;
mod neighbors;
mod reorder;
mod topology;

pub use cart::Cart;
pub use create::{
    cart_create, cart_map, cart_sub, dist_graph_create, dist_graph_create_adjacent, graph_create, graph_map,
};
pub use dist::DistGraph;
pub use graph::Graph;
pub use neighbors::Neighbors;
pub use topology::{Shape, Topology};

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
