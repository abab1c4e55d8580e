//! rcache/grdma: keeps memory registered with a transport until the program gives it back, or until others need the room.
//!
//! `notices.rs` holds what memory/hook tells, which may be in the middle of anything: a ring without a lock. Each
//! acquisition first takes what is there and ends the registrations that it names (`module.rs`). `cache.rs` knows which bytes are
//! registered; what it keeps does not overlap, so that one search finds it.
//!
//! Owns registrations of all transports. **Invariant:** whoever acquires memory after its pages went gets none of the registrations that were
//! made before: a notice that is being written, or had no room, counts as one of everything. Between a notice and the next acquisition the pages
//! stay registered, and are nobody's.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod cache;
mod component;
mod module;
mod notices;
mod params;
mod pvars;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod test_image;
#[cfg(test)]
mod tests;
