//! smsc/faulty: another component's single copies, of which some have one bit changed, as a seed says. For tests.
//!
//! Runs only where `smsc_faulty_wraps` names a component, which must not run by itself: `--mca smsc faulty --mca smsc_faulty_wraps
//! cma`. With `pml_ob1_checksum 1` a message that was copied so comes again.
//!
//! Owns its seed. Invariant: the same copies and the same seed change the same bits.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod params;
mod pvars;
mod raw;

pub use component::{COMPONENT, INFO};
