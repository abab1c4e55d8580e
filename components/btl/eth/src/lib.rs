//! btl/eth: messages as raw Ethernet frames, between machines that one switch joins.
//!
//! A message is one frame. Frames to a peer are numbered; the sender keeps a copy until the peer acknowledges it, and sends it again
//! when that takes too long or the peer misses it (`window.rs`). The receiver hands messages out in order and keeps those that came
//! too early. At most [`window::FRAMES`] frames to a peer are unacknowledged, which is all the credit there is.
//!
//! Owns the EtherType 0x88b5 of all cards, and runs over the first one. **Invariant:** bytes of the wire are checked before they are
//! believed (`wire.rs`): nothing of a frame has an effect whose tag was not made with the job's secret. Nothing is encrypted.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod params;
mod pvars;
mod state;
pub mod window;
pub mod wire;

#[cfg(test)]
mod tests;

pub use component::{COMPONENT, INFO};
