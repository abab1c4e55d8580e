//! The barrier machine as a process of its own: nodes and machine share a *cable*, a file whose words are the registers
//! of every node's parallel port.
//!
//! It shows that protocol, encoding and port access are right. It does not measure the hardware: a word in shared memory
//! is no wire, and a process that must be scheduled is no machine.
//!
//! **Invariant:** any value read from the cable is a register's value; nothing here trusts it further.
#![no_std]

extern crate alloc;

#[cfg(not(ompi_bare))]
pub mod cable;
#[cfg(not(ompi_bare))]
pub mod fpga;
