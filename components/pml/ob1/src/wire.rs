//! What ob1 puts into heads and payloads. All numbers are little-endian.
//!
//! | kind | head | payload |
//! |---|---|---|
//! | eager | envelope | data |
//! | synchronous | envelope | sender's cookie u64, data |
//! | ask | envelope | bytes in all u64, sender's cookie u64 |
//! | clear | sender's cookie | receiver's cookie u64, bytes wanted u64 |
//! | fragment | receiver's cookie | offset u64, data |
//! | acknowledge | sender's cookie | nothing |
//!
//! Envelope: bit 0 collective, 1–22 the receiver's context number, 23–53 tag. A cookie names an operation in its owner's
//! table; it comes back from a peer and is checked like everything else.

use ompi_core::comm::context;
use opal_core::framework::btl::AmId;
use opal_core::mem::Foreign;

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
/// A synchronous send was matched.
pub const ACKNOWLEDGE: AmId = 5;

/// Bits of head that a transport must carry.
pub const HEAD_BITS: u32 = LANE_BITS + 31;
const LANE_BITS: u32 = context::BITS + 1;
const _: () = assert!(HEAD_BITS == 54);

/// The part of an envelope that is the same for all messages of a lane.
#[inline(always)]
pub const fn lane(context: u32, collective: bool) -> u64 {
    (context as u64) << 1 | collective as u64
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
    pub const fn of(head: u64) -> Envelope {
        let context = (head >> 1) as u32 & ((1 << context::BITS) - 1);
        Envelope { context, collective: head & 1 != 0, tag: (head >> LANE_BITS) as i32 & i32::MAX }
    }
}

/// Two numbers.
pub fn pair(first: u64, second: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    bytes
}

/// Two numbers from a peer; `None` if the length is another.
pub fn parse_pair(payload: Foreign<'_>) -> Option<(u64, u64)> {
    let bytes: [u8; 16] = payload.array().filter(|_| payload.len() == 16)?;
    let half = |at: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(number)
    };
    Some((half(0), half(8)))
}

/// A number and what follows it.
pub fn parse_prefix(payload: Foreign<'_>) -> Option<(u64, Foreign<'_>)> {
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
            let head = envelope(lane(context, collective), tag);
            assert!(head >> HEAD_BITS == 0);
            assert_eq!(Envelope::of(head), Envelope { context, collective, tag });
        }
        assert!(Envelope::of(u64::MAX).tag >= 0);
    }

    #[test]
    fn numbers() {
        let bytes = pair(7, u64::MAX);
        assert_eq!(parse_pair(Foreign::of(&bytes)), Some((7, u64::MAX)));
        assert_eq!(parse_pair(Foreign::of(&bytes[..15])), None);
        assert!(parse_prefix(Foreign::of(&bytes[..7])).is_none());
        assert_eq!(parse_prefix(Foreign::of(&bytes)).unwrap().1.len(), 8);
    }
}
