//! pml/template: matching and protocols. Say here over what: transports of framework btl, or a network that matches by itself.
//!
//! Owns the queues of messages and receives. Invariant: messages from one process on one communicator match in the order in
//! which they were sent (MPI 5.0 §3.5). components/pml/ob1 is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod contexts;
mod module;
mod probe;
mod recv;
mod send;
mod unwritten;

pub use component::{COMPONENT, INFO};
