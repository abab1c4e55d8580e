//! The only unsafe code beside the trait's methods: calls of libfabric, and what it is handed.

mod buffers;
mod endpoint;
mod provider;
mod transfer;

pub use endpoint::{EVENTS, Event, Fabric, Failure, Posted, Read};
#[cfg(test)]
pub use provider::at;
pub use provider::{At, Library, Offer};
pub use transfer::{Place, Region};
