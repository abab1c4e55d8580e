//! ess/eth: a job of machines without an operating system that only Ethernet joins, one rank on each.
//!
//! The boot line says rank, size and number of the job, and its secret. The machines find each other by broadcasts, each of which
//! carries what its sender published (`wire.rs`), and say in the same frames how far they are (`roll.rs`).
//!
//! Owns the EtherType 0x88b6 of all cards. **Invariant:** a frame that was not made with the job's secret by the card that it says to
//! come from changes nothing.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod params;
mod roll;
pub mod wire;

pub use component::{COMPONENT, INFO};
