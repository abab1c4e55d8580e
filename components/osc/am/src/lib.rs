//! osc/am: one-sided communication by messages of the PML: the reference, for every window over any transport.
//!
//! Each access is a record ([`wire`]), short data included; records gather in packets ([`outbox`]), which travel outside all
//! communicators. Longer data follows in a message of the PML on the window's own communicator, which puts it to its place, or stays
//! at the origin, where the target copies it ([`lent`]), or the origin copies it from or to the target's memory ([`direct`]). The
//! target works on its memory when a packet arrives, else in passes of progress ([`target`]), one thread at a time, so that accumulates
//! are atomic. It grants locks in the order in which they were asked for ([`locks`]); what an origin asks for behind a lock waits
//! there, so that a lock, an access and an unlock are one packet ([`deferred_locks`]). To flush is to ask the target whether it has done all
//! that came before.
//!
//! What one origin asks for is done in its order, except that long data may come to its place before accesses that came earlier are done:
//! nothing in the standard orders puts and gets. It never comes before a lock that the origin asked for before it is granted.
//!
//! With `osc_am_progress` a thread of its own makes progress while the program computes ([`progress_thread`]).
//!
//! Owns the memory of windows that it allocates. **Invariant:** nothing outside a window's memory is touched, whatever a packet says;
//! a window's arrivals are not locked while the PML runs, and what is known of its peers only while it sends a packet.
#![no_std]

extern crate alloc;

mod access;
mod arrival;
mod component;
mod deferred_locks;
mod direct;
mod directory;
mod lent;
mod locks;
mod memory;
mod module;
mod origin;
mod outbox;
mod params;
mod pending;
mod perform;
mod progress_thread;
mod pvars;
mod raw;
mod synchronize;
mod target;
mod window;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
