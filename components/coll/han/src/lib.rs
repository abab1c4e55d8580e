//! coll/han: collectives of communicators that span several nodes, in two levels: among the ranks of each node, and among the
//! *leaders*, one rank of each node.
//!
//! The components below serve the levels. For a recorded operation, and for the first calls on a communicator, these are the
//! ones that serve some of its ranks ([`Subset`](ompi_core::executor::Subset)). Blocking calls then get a communicator for
//! each level, so that coll/sm serves the nodes.
//!
//! Owns these communicators, which no other code sees. Invariant: the part of each rank follows from the nodes of the ranks,
//! from the function and from the bytes of its signature. All ranks see the same nodes: they compare them when the communicator
//! is made.
#![no_std]

extern crate alloc;

pub mod algorithm;
mod component;
pub mod layout;
mod module;
mod params;
pub mod select;
pub mod two_level;

pub use component::{COMPONENT, INFO};
