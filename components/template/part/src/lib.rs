//! part/template: partitioned communication. Say here how the parts travel, and what is published once.
//!
//! Owns what its requests keep. Invariant: marking a partition takes no lock, and each is sent once. components/part/persist is one
//! that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod unwritten;

pub use component::{COMPONENT, INFO};
