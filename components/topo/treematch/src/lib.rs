//! topo/treematch: places ranks that communicate much close to each other.
//!
//! The *pattern* is the graph of the topology: which ranks communicate, and how much. A *place* is where one process
//! runs: node, package, cache, core, thread. There are two candidates: the given order, and one that divides the
//! pattern level by level along the tree of places. Both are improved by exchanging pairs of ranks as long as that
//! lowers the cost in the model. The cheaper one wins. Matching a communication pattern to a tree of places is the idea
//! of Jeannot, Mercier and Tessier, "Process Placement in Multicore Clusters", 2014, doi:10.1109/TPDS.2013.104.
//! Exchanging pairs is Kernighan and Lin's, 1970, doi:10.1002/j.1538-7305.1970.tb01770.x. The algorithms here are
//! simpler ones.
//!
//! Owns nothing. **Invariant:** the result never costs more than the given order.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod cut;
mod exchange;
mod graph;
#[cfg(test)]
mod tests;

pub use component::{COMPONENT, INFO, order};
