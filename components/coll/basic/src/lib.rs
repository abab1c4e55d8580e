//! coll/basic: every collective of an intracommunicator, also among neighbours, over point-to-point messages.
//!
//! The reference: linear where that is simplest, logarithmic where it costs nothing, right for every type, count and
//! operation. Each algorithm is generic over the executor, and so can be recorded as a schedule.
//!
//! Owns nothing. Invariants: operands of a reduction are combined in rank order unless the operation commutes; equal
//! arguments give equal bits, on every rank and every time; every message that was started is completed on return.
#![no_std]

extern crate alloc;

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod bcast;
mod component;
pub mod gather;
mod module;
pub mod neighbor;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;

pub use component::{COMPONENT, INFO};
