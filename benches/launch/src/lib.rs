//! The launch of a job on hosts that nobody here has: who logs in to whom, what is sent, and when all ranks could begin.
//!
//! [`sizes`] weighs the real messages of orte-core, [`network`] says when they arrive, [`launch`] plays a launch, [`constants`] are what a
//! host and a wire cost. Each daemon speaks with the one that started it: mpirun with all (radix 0), or a tree.
//!
//! **Invariant:** the bytes of each frame are those that `orte_core::modex::Node` makes for the same tree; a test compares them.

pub mod constants;
pub mod launch;
pub mod network;
pub mod sizes;
pub mod tree;
