//! coll/template: collective operations. Say here for which communicators, by which algorithms, with their source.
//!
//! Owns nothing. Invariants: operands of a reduction are combined in rank order unless the operation commutes; every message
//! that was started is completed on return. components/coll/basic is one that is finished.
#![no_std]

extern crate alloc;

mod bcast;
mod component;
mod module;

pub use component::{COMPONENT, INFO};
