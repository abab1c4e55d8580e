//! coll/tuned: algorithms that cut medium and large data up, and the selection among them (`select`).
//!
//! The algorithm of a call follows from the number of ranks, the bytes of its type signature and whether its
//! operation commutes, which are equal on all ranks; `--mca coll_tuned_<function>_algorithm` forces one. `next` is the
//! component that would serve the communicator without this one (coll/basic), whose algorithms are the simple ones.
//!
//! Owns nothing. Invariants: as in coll/basic; in addition, whatever is forced, ranks never disagree about the choice.
#![no_std]

extern crate alloc;

pub mod algorithm;
pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod bcast;
mod component;
mod decisions;
mod module;
mod params;
pub mod reduce_scatter;
pub mod select;

pub use component::{COMPONENT, INFO};
