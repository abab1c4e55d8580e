//! The topology of a communicator. MPI 5.0 §8.

use super::cart::Cart;
use super::dist::DistGraph;
use super::graph::Graph;
use super::neighbors::Neighbors;
use alloc::boxed::Box;

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
    pub(super) neighbors: Neighbors,
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
