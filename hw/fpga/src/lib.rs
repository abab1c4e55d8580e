//! The hardware barrier after the design of TU Chemnitz: every node has one wire to the machine and one from it. The
//! machine flips the wires from it when all wires to it have the same level. Here is the machine (Verilog in `rtl/`,
//! and the same in Rust, checked against each other by `cargo xtask fpga verify`), the wires between it and a parallel
//! port, and the node's side of the protocol as a pure state machine.
//!
//! **Invariant:** no input or output happens here; `hw-pport` reaches the wires, `coll/hwbarr` the other nodes.
#![no_std]

pub mod frame;
pub mod joined;
pub mod machine;
pub mod node;
pub mod register;
pub mod wire;
#[rustfmt::skip] // as its generator writes it
mod wires;

pub use wires::*;
