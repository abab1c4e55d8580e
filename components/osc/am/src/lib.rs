//! osc/am: one-sided communication by messages of the PML: the reference, for every window over any transport.
//!
//! Each access is a message to the target ([`wire`]), short data included; longer data follows in a message of its own, which the
//! PML puts to its place. The target works on its memory whenever it makes progress ([`target`]); so accumulates are
//! atomic, because one thread at a time makes progress. Locks are granted by the target in the order in which they were
//! asked for ([`locks`]). To flush is to ask the target whether it has done all that came before.
//!
//! Messages travel on the window's own communicator. Those of one origin are done in their order, except that data may come to its place
//! before accesses that came earlier are done; nothing in the standard orders puts and gets.
//!
//! Owns the memory of windows that it allocates. **Invariant:** nothing outside a window's memory is touched, whatever a message says;
//! nothing is locked while the PML runs.
#![no_std]

extern crate alloc;

mod arrival;
mod component;
mod locks;
mod memory;
mod module;
mod origin;
mod raw;
mod target;
mod window;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
