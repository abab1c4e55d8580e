//! topo/treematch: gives ranks that talk much to processes that are close.
//!
//! Two candidates, the order as it is and one that cuts the pattern up along the tree of places, are improved by
//! exchanging pairs of ranks as long as that lowers the model's cost; the cheaper one wins. The idea of matching a
//! communication pattern to a tree of places is from Jeannot, Mercier and Tessier, "Process Placement in Multicore
//! Clusters", 2014, doi:10.1109/TPDS.2013.104; exchanging pairs is Kernighan and Lin's, 1970,
//! doi:10.1002/j.1538-7305.1970.tb01770.x. The algorithms here are simpler ones.
//!
//! Owns nothing. Invariant: the result never costs more than leaving the order as it is.
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
