//! coll/inter: collectives of intercommunicators.
//!
//! They run on the merged intracommunicator of both groups. What one group does for itself (a reduction to its leader, a
//! broadcast from it) is done by the modules that serve any subset of the merged intracommunicator's ranks. Data from each rank
//! to each of the other group crosses directly. So the nonblocking and the persistent functions are the same description,
//! recorded.
//!
//! Owns nothing. Invariants: operands of a reduction are combined in rank order unless the operation commutes; an
//! operation moves data in each direction, whether or not there is any in the other one.
#![no_std]

extern crate alloc;

mod component;
pub mod cross;
pub mod groups;
mod module;

pub use component::{COMPONENT, INFO};
