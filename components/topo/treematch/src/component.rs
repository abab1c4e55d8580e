//! Registration, and the choice between the two candidate orders.

use crate::graph::Graph;
use crate::{cut, exchange};
use alloc::vec::Vec;
use ompi_core::framework::topo::{self, Pattern, Place};
use opal_core::mca::{self, Declined};

/// The component.
pub struct TreeMatchTopo;

impl mca::Component for TreeMatchTopo {
    opal_core::component_info!();
}

impl topo::Component for TreeMatchTopo {
    fn query(&self) -> Result<i32, Declined> {
        Ok(20)
    }

    fn order(&self, pattern: &Pattern, places: &[Place]) -> Vec<usize> {
        order(pattern, places)
    }
}

/// For each rank of the pattern an index into `places`, none of them twice.
pub fn order(pattern: &Pattern, places: &[Place]) -> Vec<usize> {
    let ranks = pattern.edges.len();
    let as_it_is: Vec<usize> = (0..places.len()).collect();
    if ranks < 2 || places.iter().all(|place| *place == places[0]) {
        return as_it_is[..ranks].to_vec();
    }
    // Places that stay empty are ranks that talk to nobody.
    let graph = Graph::new(pattern, places.len());
    let candidates = [as_it_is, cut::along(&graph, places)].map(|mut order| {
        exchange::improve(&graph, places, &mut order);
        order
    });
    // The first of equals: the one closest to the order as it is.
    let best = candidates.iter().min_by_key(|order| topo::cost(pattern, places, order));
    best.map_or_else(Vec::new, |order| order[..ranks].to_vec())
}

opal_core::component! {
    /// Ranks that talk much are close to each other.
    pub static COMPONENT: TreeMatchTopo = TreeMatchTopo;
    in ompi_core::framework::topo, name "treematch", params &[]
}
