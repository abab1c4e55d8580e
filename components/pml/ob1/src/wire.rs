//! What ob1 puts into immediates and payloads. All numbers are u64, little-endian.
//!
//! | active message | immediate | payload |
//! |---|---|---|
//! | [`EAGER`] | envelope | data |
//! | [`SYNC`] | envelope | sender's handle, data |
//! | [`RTS`] | envelope | bytes in all, sender's handle, address of the data for a single copy or 0, bytes of RTS data in the low half, CRC32C of the data in the high half or 0 |
//! | | | the same, and the sender's memory for a receiver that reads it through a transport: [`RemoteKey`] |
//! | [`RTS_DATA`] | sender's handle | offset, data |
//! | [`FRAG`] | receiver's handle | offset, data |
//! | [`CONTROL`] | handle of the operation at the destination | kind, fields of the kind |
//! | [`OOB`] | 0 | an out-of-band message |
//! | [`CHECKED`] | of the message within | [`crate::checksum::frame`]: a header and the payload of one of the others |
//!
//! | control message | kind | to the | fields | meaning |
//! |---|---|---|---|---|
//! | ACK | 1 | sender | – | a synchronous send was matched |
//! | CTS | 2 | sender | receiver's handle, bytes wanted | send the rest in fragments: what follows the RTS data |
//! | CTS_RESEND | 3 | sender | receiver's handle, bytes wanted | send all in fragments: the RTS data was not kept, or a single copy failed |
//! | NONE_WANTED | 4 | sender | – | the receive takes no byte of the message |
//! | PUSH_OFFER | 5 | sender | receiver's handle, bytes wanted, address of its buffer, begin of the offered part, claim word | write the part from there on to my buffer, if you claim it first |
//! | PUSH_DONE | 6 | receiver | – | the sender has written the part that it claimed |
//! | PUSH_FAILED | 7 | receiver | – | the sender claimed its part and could not write it |
//! | FIN | 8 | sender | – | all has been copied or read |
//! | XOFF | 9 | process, handle 0 | – | announce eager messages by RTS from now on; where memory is shared a word says so |
//! | XON | 10 | process, handle 0 | – | eager messages may come again |
//!
//! [`crate::protocol`] draws which message follows which.
//!
//! Envelope: bit 0 collective, 1–22 the receiver's context number, 23–53 tag. A handle names an operation in its owner's
//! table; it comes back from a peer and is checked like everything else.
//!
//! The format has no version: the ranks of a job run one library.

mod control;
mod remote_key;

pub use self::control::{CONTROL_BYTES, Control, Cts, PackedControl, PushOffer, RTS_BYTES, Rts};
pub use self::remote_key::{REMOTE_KEY_BYTES_MAX, RemoteKey};

use ompi_core::comm::context;
use opal_core::framework::btl::AmId;
use opal_core::mem::Untrusted;

/// A standard or ready send, all of it.
pub const EAGER: AmId = 0;
/// A synchronous send, all of it.
pub const SYNC: AmId = 1;
/// Request to send: a long message is announced ([`Rts`]).
pub const RTS: AmId = 2;
/// What one operation says to its counterpart ([`Control`]).
pub const CONTROL: AmId = 3;
/// A fragment of a long message.
pub const FRAG: AmId = 4;
/// The beginning of a long message, which follows its RTS unasked ([`crate::protocol::rts_data`]).
pub const RTS_DATA: AmId = 5;
/// A message between processes, outside all communicators.
pub const OOB: AmId = 6;

/// A message of any other kind with a checksum, or what is said about such messages.
pub const CHECKED: AmId = 7;

/// Bits of immediate that a transport must carry.
pub const IMMEDIATE_BITS: u32 = CONTEXT_BITS + 31;
const CONTEXT_BITS: u32 = context::BITS + 1;
const _: () = assert!(IMMEDIATE_BITS == 54);

/// The part of an envelope that all messages of a match context have in common.
#[inline(always)]
pub const fn context_bits(context: u32, collective: bool) -> u64 {
    (context as u64) << 1 | collective as u64
}

/// The context bits of an envelope.
#[inline(always)]
pub const fn context_bits_of(immediate: u64) -> u64 {
    immediate & ((1 << CONTEXT_BITS) - 1)
}

/// An envelope; the tag is not negative.
#[inline(always)]
pub const fn envelope(context_bits: u64, tag: i32) -> u64 {
    (tag as u32 as u64) << CONTEXT_BITS | context_bits
}

/// An envelope taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The receiver's number of the communicator.
    pub context: u32,
    /// Belongs to a collective operation.
    pub collective: bool,
    /// Never negative.
    pub tag: i32,
}

impl Envelope {
    /// Of any 54 bits.
    #[inline(always)]
    pub const fn of(immediate: u64) -> Envelope {
        let context = (immediate >> 1) as u32 & ((1 << context::BITS) - 1);
        Envelope { context, collective: immediate & 1 != 0, tag: (immediate >> CONTEXT_BITS) as i32 & i32::MAX }
    }
}

/// The number before data, and the data.
pub fn split_prefix(payload: Untrusted<'_>) -> Option<(u64, Untrusted<'_>)> {
    Some((u64::from_le_bytes(payload.array()?), payload.skip(PREFIX_BYTES)))
}

/// Bytes of the number before data.
pub const PREFIX_BYTES: usize = 8;

#[cfg(test)]
mod tests;
