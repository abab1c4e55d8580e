//! btl/faulty: another transport, whose messages it damages, loses, repeats, reorders, delays and refuses, as a seed says. For tests.
//!
//! Runs only where `btl_faulty_wraps` names a transport; that one must not run by itself: `--mca btl ^sm --mca
//! btl_faulty_wraps sm`. The faults are made where a message is sent, so each process that wraps its transport has them one way. What
//! the transport shares beside messages (words and memory) is not touched.
//!
//! To refuse and to delay break no promise of a transport: a delayed message holds up those behind it. The other faults do, and
//! need `pml_ob1_checksum 1` above, which repairs them all. Without it a damaged message is a wrong result, and a lost one a
//! job that waits for ever.
//!
//! Owns the messages that it holds. Invariant: the same calls and the same seed make the same faults.
#![no_std]

extern crate alloc;

mod component;
mod dice;
mod held;
mod module;
mod params;
mod pvars;
mod raw;

pub use component::{COMPONENT, INFO};
pub use dice::{Chances, reseed};

#[cfg(test)]
opal_core::test_image!();
