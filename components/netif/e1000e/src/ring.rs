//! Which descriptor of a ring is whose, and the formats of both kinds.
//!
//! | offset | bytes | received (7.1.4) | to send (7.2.10) |
//! |---|---|---|---|
//! | 0 | 8 | buffer | buffer |
//! | 8 | 2 | length | length |
//! | 10 | 2 | checksum | where a checksum would go, command |
//! | 12 | 1 | status | status |
//! | 13 | 1 | errors | |
//! | 14 | 2 | tag | |

use crate::registers::{DONE, RX_END_OF_PACKET, TX_COMMAND};
use opal_core::framework::netif::HEADER_BYTES;

/// A descriptor as two words, the second one with everything but the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Physical address of the buffer.
    pub buffer: u64,
    /// The rest.
    pub rest: u64,
}

/// What the card says of a receive descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Nothing: it is still the card's.
    Nothing,
    /// A whole frame of so many bytes.
    Frame(usize),
    /// Something that is no whole frame.
    Dropped,
}

impl Descriptor {
    /// To send so many bytes of a buffer.
    pub fn to_send(buffer: u64, bytes: u16) -> Descriptor {
        Descriptor { buffer, rest: u64::from(bytes) | u64::from(TX_COMMAND) << 24 }
    }

    /// Whether the card is done with it.
    pub fn is_done(self) -> bool {
        self.status() & DONE != 0
    }

    /// What was received, if the one before `begins` a new frame: the second and later parts of a frame that is too long for one
    /// buffer are no frames.
    pub fn received(self, begins: bool, most: usize) -> Received {
        if !self.is_done() {
            return Received::Nothing;
        }
        let (bytes, errors) = (self.rest as u16 as usize, (self.rest >> 40) as u8);
        let whole = begins && self.ends_frame() && errors == 0 && (HEADER_BYTES..=most).contains(&bytes);
        if whole { Received::Frame(bytes) } else { Received::Dropped }
    }

    /// Whether the next one begins a new frame.
    pub fn ends_frame(self) -> bool {
        self.status() & RX_END_OF_PACKET != 0
    }

    fn status(self) -> u8 {
        (self.rest >> 32) as u8
    }
}

/// Places of a ring: `next` is the one that software looks at next, `used` of them are the card's.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    next: usize,
    used: usize,
}

impl Turn {
    /// None is the card's.
    pub const fn new() -> Turn {
        Turn { next: 0, used: 0 }
    }

    /// The place to give to the card next; `None` if only the one is left that must stay free: equal head and tail say that
    /// nothing is the card's.
    pub fn to_give(self) -> Option<usize> {
        (self.used < PLACES - 1).then_some((self.next + self.used) % PLACES)
    }

    /// It was given; the new tail.
    pub fn give(&mut self) -> usize {
        self.used += 1;
        (self.next + self.used) % PLACES
    }

    /// The place that comes back next, if any is the card's.
    pub fn to_take(self) -> Option<usize> {
        (self.used > 0).then_some(self.next)
    }

    /// It came back.
    pub fn take(&mut self) {
        self.next = (self.next + 1) % PLACES;
        self.used -= 1;
    }
}

/// Of each ring; its length in bytes is a multiple of 128.
pub const PLACES: usize = 128;
const _: () = assert!((PLACES * size_of::<Descriptor>()).is_multiple_of(128));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_received() {
        let of = |status: u8, errors: u8, bytes: u16| Descriptor {
            buffer: 0,
            rest: u64::from(bytes) | u64::from(status) << 32 | u64::from(errors) << 40,
        };
        let both = DONE | RX_END_OF_PACKET;
        assert_eq!(of(0, 0, 100).received(true, 1514), Received::Nothing);
        assert_eq!(of(both, 0, 14).received(true, 1514), Received::Frame(14));
        assert_eq!(of(both, 0, 1514).received(true, 1514), Received::Frame(1514));
        let junk =
            [(both, 0, 13), (both, 0, 1515), (both, 1, 60), (both, 0x80, 60), (DONE, 0, 60), (both, 0, u16::MAX)];
        for (status, errors, bytes) in junk {
            assert_eq!(of(status, errors, bytes).received(true, 1514), Received::Dropped, "{status} {errors} {bytes}");
        }
        // The tail of a frame that began in the descriptor before.
        assert_eq!(of(both, 0, 60).received(false, 1514), Received::Dropped);
    }

    #[test]
    fn the_format_to_send() {
        let descriptor = Descriptor::to_send(0x1234_5000, 60);
        assert_eq!((descriptor.buffer, descriptor.rest), (0x1234_5000, 0x0b00_003c));
        assert!(!descriptor.is_done());
    }

    #[test]
    fn one_place_stays_free_all_the_way_round() {
        let mut turn = Turn::new();
        assert_eq!(turn.to_take(), None);
        for round in 0..3 * PLACES {
            let mut given = 0;
            while let Some(place) = turn.to_give() {
                let tail = turn.give();
                assert_eq!(tail, (place + 1) % PLACES);
                given += 1;
            }
            assert_eq!(given, if round == 0 { PLACES - 1 } else { 1 });
            assert_eq!(turn.to_take(), Some(round % PLACES));
            turn.take();
        }
    }
}
