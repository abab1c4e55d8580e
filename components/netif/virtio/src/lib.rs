//! netif/virtio: network cards of machine monitors (virtio 1.2, 5.1), through crate virtio-drivers.
//!
//! Owns the card and the memory of its rings. **Invariant:** a buffer is the card's from the moment it is queued until the card
//! says that it is done with it, and nobody looks at it meanwhile.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};
