//! coll/han: collectives of communicators that span several nodes, in two levels: what the ranks of a node do for
//! themselves, and what one rank of each node, its *leader*, does with the others.
//!
//! What happens on a level is the business of the components below: of a recorded operation, and of the first calls on a
//! communicator, of those that serve some of its ranks ([`Part`](ompi_core::executor::Subset)); blocking calls then get a
//! communicator for each level, so that coll/sm serves the nodes.
//!
//! Owns these communicators, which nobody else sees. Invariant: who does what follows from the nodes of the ranks, which all
//! ranks see alike (they compare them when the communicator is made), from the function and the bytes of its signature.
#![no_std]

extern crate alloc;

pub mod algorithms;
mod choice;
mod component;
pub mod layout;
mod module;
mod params;

pub use component::{COMPONENT, INFO};
