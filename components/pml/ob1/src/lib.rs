//! pml/ob1: MPI's matching and protocols over any transports that carry 54 bits of immediate.
//!
//! Owns one table of contexts (a communicator as its peers address it) with what is posted and what arrived unexpected,
//! and the operations that take more than one message. Short messages travel at once (`send`), long ones when the receiver
//! asks (`rendezvous`), perhaps with their beginning along with the announcement (`lead`), between processes of a node copied
//! once by both of them (`single`); a blocking receive takes what it waits for straight from the transport (`direct`; from
//! whom: `senders`), posted ones get what waits in a transport's queue in one go (`drain`), and transports that read piece by
//! piece read to where the data belongs (`landing`).
//! Invariant: the state's lock is never held while waiting or while a transport is polled; `direct` holds it during a few looks
//! at queues.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod am_handlers;
mod component;
mod context;
mod matching;
mod module;
mod params;
mod peers;
mod protocol;
mod raw;
mod recv;
mod send;
mod slab;
mod state;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod test_image;
