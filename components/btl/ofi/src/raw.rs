//! The only unsafe code beside the trait's methods: calls of libfabric, and what it is handed.

mod buffers;
mod fabric;
mod library;
mod watch;

pub use fabric::{EVENTS, Event, Fabric, Failure, Posted, Read};
#[cfg(test)]
pub use library::at;
pub use library::{At, Library, Offer};
pub use watch::{watch, watched};
