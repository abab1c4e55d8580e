//! coll/hwbarr: MPI_Barrier over the wires of a parallel port.
//!
//! One rank per port drives it; the other ranks of its host enter and leave through memory that they share with it.
//! Owns the port of this process, if it drives one, and the state of its outputs. The protocol itself is
//! `hw_fpga::node`, which the model check of `hw/fpga` drives through every order of events. Here are the port, the
//! messages by which members of a channel tell each other that they stopped, and the software barrier for calls that
//! the wires do not serve.
//!
//! Invariants: a channel is written only by a member that has not stopped; two teams never share a channel, because the
//! machine grants claims one at a time.
#![no_std]

extern crate alloc;

mod component;
mod device;
mod driver;
mod host;
mod messages;
mod module;
mod params;
mod ports;
mod raw;
mod setup;
mod team;

pub use component::{COMPONENT, INFO};
