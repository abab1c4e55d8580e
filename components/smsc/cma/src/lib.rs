//! smsc/cma: cross-memory attach. The kernel copies between this process and a peer (`process_vm_readv(2)`).
//!
//! Owns sixteen random bytes, the *nonce*, that lie at one place for the life of the process; a peer that finds them there
//! has reached this process and no other. Peers go by process number, which the system gives to another process only after
//! the peer's death was noticed by its parent, and that ends the job. Invariant: in this process only the caller's range is read or written.
#![no_std]

extern crate alloc;

mod address;
mod component;
mod module;
mod params;
mod raw;

pub use component::{COMPONENT, INFO};
