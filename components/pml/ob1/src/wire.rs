//! What ob1 puts into heads and payloads. All numbers are little-endian.
//!
//! | kind | immediate | payload |
//! |---|---|---|
//! | eager | envelope | data |
//! | synchronous | envelope | sender's cookie u64, data |
//! | ask | envelope | bytes in all u64, sender's cookie u64, address of the data for a single copy or 0 u64, bytes of its lead u64 |
//! | clear | sender's cookie | receiver's cookie u64, bytes wanted u64 |
//! | clear, all of it | sender's cookie | the same, 0 u64: also what the lead had |
//! | share | sender's cookie | the same, address of the place u64, where the sender's part begins u64, word u64 |
//! | shared | receiver's cookie | 1 if the sender's part is there, 0 if it could not be written, u64 |
//! | fragment | receiver's cookie | offset u64, data |
//! | fragment of a lead | sender's cookie, bit 53 | offset u64, data |
//! | acknowledge | sender's cookie | nothing |
//! | note | 0 | what processes say to each other outside communicators |
//!
//! An ask with an address may be answered by *clear* as any other, or by *share* (whose words [`crate::protocol::smsc`] explains)
//! and in the end by *acknowledge*. A share may be followed by a clear: then everything is sent once more.
//!
//! Envelope: bit 0 collective, 1–22 the receiver's context number, 23–53 tag. A cookie names an operation in its owner's
//! table; it comes back from a peer and is checked like everything else.

use ompi_core::comm::context;
use opal_core::framework::btl::AmId;
use opal_core::mem::Untrusted;

/// Standard and ready sends that travel at once.
pub const EAGER: AmId = 0;
/// Synchronous sends that travel at once.
pub const SYNCHRONOUS: AmId = 1;
/// Long sends: may I.
pub const ASK: AmId = 2;
/// The answer: go ahead.
pub const CLEAR: AmId = 3;
/// A part of a long message.
pub const FRAGMENT: AmId = 4;
/// A synchronous send was matched, or all of a message that was announced with an address has been copied.
pub const ACKNOWLEDGE: AmId = 5;
/// The sender has written its part of a message.
pub const SHARED: AmId = 6;
/// What belongs to no communicator.
pub const NOTE: AmId = 7;

/// In a fragment's immediate: what follows is the sender's cookie of the message that it announced last ([`crate::protocol::rts_data`]).
pub const LEAD: u64 = 1 << (IMMEDIATE_BITS - 1);

/// Bits of immediate that a transport must carry.
pub const IMMEDIATE_BITS: u32 = LANE_BITS + 31;
const LANE_BITS: u32 = context::BITS + 1;
const _: () = assert!(IMMEDIATE_BITS == 54);

/// The part of an envelope that is the same for all messages of a lane.
#[inline(always)]
pub const fn lane(context: u32, collective: bool) -> u64 {
    (context as u64) << 1 | collective as u64
}

/// The lane in an envelope.
#[inline(always)]
pub const fn lane_of(immediate: u64) -> u64 {
    immediate & ((1 << LANE_BITS) - 1)
}

/// An envelope; the tag is not negative.
#[inline(always)]
pub const fn envelope(lane: u64, tag: i32) -> u64 {
    (tag as u32 as u64) << LANE_BITS | lane
}

/// An envelope taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Whose receiver's.
    pub context: u32,
    /// Among collectives' messages.
    pub collective: bool,
    /// Never negative.
    pub tag: i32,
}

impl Envelope {
    /// Of any 54 bits.
    #[inline(always)]
    pub const fn of(immediate: u64) -> Envelope {
        let context = (immediate >> 1) as u32 & ((1 << context::BITS) - 1);
        Envelope { context, collective: immediate & 1 != 0, tag: (immediate >> LANE_BITS) as i32 & i32::MAX }
    }
}

/// Numbers from a peer; `None` if the length is another.
pub fn parse<const N: usize>(payload: Untrusted<'_>) -> Option<[u64; N]> {
    if payload.len() != 8 * N {
        return None;
    }
    let mut numbers = [0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = u64::from_le_bytes(payload.skip(8 * index).array()?);
    }
    Some(numbers)
}

/// A number and what follows it.
pub fn parse_prefix(payload: Untrusted<'_>) -> Option<(u64, Untrusted<'_>)> {
    Some((u64::from_le_bytes(payload.array()?), payload.skip(PREFIX_BYTES)))
}

/// Bytes of the number before data.
pub const PREFIX_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes() {
        for (context, collective, tag) in [(0, false, 0), (1, true, 7), ((1 << 22) - 1, true, i32::MAX)] {
            let immediate = envelope(lane(context, collective), tag);
            assert!(immediate >> IMMEDIATE_BITS == 0);
            assert_eq!(Envelope::of(immediate), Envelope { context, collective, tag });
        }
        assert!(Envelope::of(u64::MAX).tag >= 0);
    }

    #[test]
    fn numbers() {
        let bytes = [7u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
        assert_eq!(parse(Untrusted::of(&bytes)), Some([7, u64::MAX]));
        assert_eq!(parse::<2>(Untrusted::of(&bytes[..15])), None);
        assert_eq!(parse::<3>(Untrusted::of(&bytes)), None);
        assert!(parse_prefix(Untrusted::of(&bytes[..7])).is_none());
        assert_eq!(parse_prefix(Untrusted::of(&bytes)).unwrap().1.len(), 8);
    }
}
