//! The barrier machine as a process of its own: nodes and machine share a *cable*, a file whose words are the registers
//! of every node's parallel port.
//!
//! It shows that protocol, encoding and port access are right. Its times say nothing of the hardware: a word in shared
//! memory is not a wire, and a process must be scheduled.
//!
//! **Invariant:** a value read from the cable is used as the content of a register only, and may be any.
#![no_std]

extern crate alloc;

#[cfg(not(ompi_bare))]
pub mod cable;
#[cfg(not(ompi_bare))]
pub mod fpga;
