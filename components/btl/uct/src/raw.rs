//! The only unsafe code beside the trait's methods: calls of UCX, and what it is handed.

mod arrivals;
mod interface;
mod library;
mod mover;
mod offer;
mod port;
mod transfer;

pub use arrivals::{Batch, Message};
pub use interface::Interface;
pub use library::Library;
pub use offer::{DeviceKind, Offer};
pub use port::{Ep, Posted};
pub use transfer::{Region, RemoteKey, Run};
