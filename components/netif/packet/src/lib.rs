//! netif/packet: raw Ethernet frames of an interface of the system, by packet sockets (packet(7)), past the system's own protocols.
//!
//! The user names the interface; nothing is taken unasked. It takes the capability CAP_NET_RAW. Frames come through a ring that the
//! system maps into this process, so that a look for one is a load and no call; they leave by a call each. Rings have TPACKET_V2's
//! format: V3 hands out whole blocks, the first of which a lone frame would wait for a millisecond at least.
//!
//! Owns a socket and a ring for each EtherType. **Invariant:** a place of a ring is the system's unless its status word says that it is this
//! process's, and nobody looks at it meanwhile.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod params;
mod raw;

pub use component::{COMPONENT, INFO};
pub use params::IF;
