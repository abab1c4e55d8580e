//! coll/inter: collectives of intercommunicators.
//!
//! They run on the merged intracommunicator, an intracommunicator of both groups. What one group does for itself (a reduction to its
//! leader, a broadcast from it) the modules that serve any choice of the merged intracommunicator's ranks do; data that goes from each to
//! each crosses directly. So the nonblocking and the persistent functions are the same description, recorded.
//!
//! Owns nothing. Invariants: operands of a reduction are combined in rank order unless the operation commutes; an
//! operation moves data in each direction whatever the other one has, nothing included.
#![no_std]

extern crate alloc;

mod component;
pub mod cross;
pub mod groups;
mod module;

pub use component::{COMPONENT, INFO};
