//! coll/tuned: algorithms for data that is worth cutting up, and the choice among them.
//!
//! What a call is served with follows from the number of ranks, the bytes of its type signature and whether its
//! operation commutes, which are equal on all ranks; `--mca coll_tuned_<function>_algorithm` forces one. `next` is the
//! component that would serve the communicator without this one (coll/basic), whose algorithms are the simple ones.
//!
//! Owns nothing. Invariants: as in coll/basic; in addition, whatever is forced, ranks never disagree about the choice.
#![no_std]

extern crate alloc;

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod bcast;
pub mod choice;
mod component;
mod decisions;
mod module;
mod params;
pub mod reduce_scatter;

pub use component::{COMPONENT, INFO};
