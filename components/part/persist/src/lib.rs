//! part/persist: partitioned communication by messages of the PML.
//!
//! A send tells its peer once, when it is made, how it is numbered (*setup*). Each round then goes in one of two ways:
//! * **Whole**: all partitions were marked before any of them was sent. One message, straight from buffer to buffer: the receive
//!   for it is posted when the round starts.
//! * **Pieces**: neighbours that became ready go together, behind a head that says where they belong. Small ones travel with the
//!   head, long ones go straight into the buffer. Where the receiver can copy from the sender's memory it does so as it takes the
//!   head, and nothing but the head is sent (*lent*).
//!
//! A mark is a bit. The last mark sends what is left; earlier ones do only where marks come slowly, and so does progress when
//! nothing was marked for a while.
//!
//! Owns no memory but the bits, and the heads that are posted. `module` is what MPI calls; `pairing` finds the receive of a send;
//! `send` and `recv` are the two sides; `pace` says whether marks come slowly; `active` is what each pass of progress moves on.
//!
//! **Invariant:** a receive for a whole message is posted in the round that it belongs to, and gone when the next one starts. A
//! send sends a round whole only if it knows that: the round before went whole, or its last head was matched by a receive that
//! its peer posted after it had taken an earlier one. A round of which something is lent ends with a message whose receive is posted
//! after all that was copied, and a send completes when that is matched.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod active;
mod component;
mod marks;
mod module;
mod pace;
mod pairing;
mod raw;
mod recv;
mod send;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod test_image;
