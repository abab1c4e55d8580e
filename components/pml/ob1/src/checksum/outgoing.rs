//! What is sent on one channel to a peer, and kept until the peer has it.

use super::frame::{BYTES, Frame, Kind};
use crate::counters::SENT_AGAIN;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use opal_core::framework::btl::{AmId, Full};

/// One channel to a peer.
#[derive(Debug, Default)]
pub struct Outgoing {
    channel: u8,
    // In the order of their numbers, the first of which is `first`. Those from `unsent` on wait for room.
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    first: u32,
    unsent: usize,
    // How many were ever sent: what is before was sent and is sent again.
    sent_once: usize,
    timeout_ns: u64,
    probe_at_ns: u64,
    // How often the peer asked for the first one in vain.
    rounds: u32,
}

#[derive(Debug)]
struct Kept {
    immediate: u64,
    frame: Vec<u8>,
}

/// What carries frames: a transport to the peer.
pub trait Medium {
    /// Carries one, or has no room.
    fn carry(&self, immediate: u64, frame: &[u8]) -> Result<(), Full>;
}

/// A message that is to be sent.
pub struct Content<'a> {
    /// Its kind.
    pub am: AmId,
    /// Its immediate.
    pub immediate: u64,
    /// Bytes of its payload.
    pub bytes: usize,
    /// Writes it.
    pub fill: &'a mut dyn FnMut(*mut u8),
}

impl Outgoing {
    /// Nothing was sent yet.
    pub fn new(channel: u8) -> Outgoing {
        Outgoing { channel, timeout_ns: TIMEOUT_NS, ..Outgoing::default() }
    }

    /// The first message has this number.
    #[cfg(test)]
    pub fn starting_at(first: u32) -> Outgoing {
        Outgoing { first, ..Outgoing::new(0) }
    }

    /// Whether the peer has everything.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether nothing can be taken now.
    pub fn is_full(&self) -> bool {
        self.unsent < self.kept.len() || self.kept.len() >= FRAMES_MOST || self.kept_bytes >= BYTES_MOST
    }

    /// Takes a message and sends it, if there is room; `buffer` is for its copy. What is taken arrives.
    pub fn push(
        &mut self,
        message: Content<'_>,
        expected: u32,
        mut buffer: Vec<u8>,
        medium: &impl Medium,
        now_ns: u64,
    ) {
        let Content { am, immediate, bytes, fill } = message;
        buffer.resize(BYTES + bytes, 0);
        fill(buffer[BYTES..].as_mut_ptr());
        let number = self.first.wrapping_add(self.kept.len() as u32);
        let frame = Frame { kind: Kind::Data, am, channel: self.channel, number, expected };
        frame.seal(immediate, &mut buffer);
        if self.kept.is_empty() {
            self.probe_at_ns = now_ns + self.timeout_ns;
        }
        self.kept_bytes += buffer.len();
        self.kept.push_back(Kept { immediate, frame: buffer });
        self.flush(medium);
    }

    /// Sends what waits for room; returns how many messages.
    pub fn flush(&mut self, medium: &impl Medium) -> usize {
        let before = self.unsent;
        while let Some(Kept { immediate, frame }) = self.kept.get(self.unsent) {
            if medium.carry(*immediate, frame).is_err() {
                break;
            }
            self.unsent += 1;
            if self.unsent > self.sent_once {
                self.sent_once = self.unsent;
            } else {
                SENT_AGAIN.count();
            }
        }
        self.unsent - before
    }

    /// The peer has all before this number, as a frame says that may be old. What is no longer kept goes to `spare`.
    pub fn acknowledge(&mut self, expected: u32, spare: &mut impl FnMut(Vec<u8>), now_ns: u64) {
        let come = expected.wrapping_sub(self.first) as usize;
        if come == 0 || come > self.sent_once {
            return;
        }
        for Kept { frame, .. } in self.kept.drain(..come) {
            self.kept_bytes -= frame.len();
            spare(frame);
        }
        self.first = expected;
        self.unsent = self.unsent.saturating_sub(come);
        self.sent_once -= come;
        (self.rounds, self.timeout_ns) = (0, TIMEOUT_NS);
        self.probe_at_ns = now_ns + TIMEOUT_NS;
    }

    /// The peer lacks all that is still kept.
    pub fn repeat(&mut self) {
        if self.unsent > 0 {
            self.rounds += 1;
            self.unsent = 0;
        }
    }

    /// What the peer may lack goes again: another medium carries it from now on.
    pub fn start_again(&mut self) {
        self.unsent = 0;
    }

    /// Whether the peer asked so often that nothing will ever arrive.
    pub fn is_lost(&self) -> bool {
        self.rounds >= ROUNDS_MOST
    }

    /// Whether the peer is to be asked what it has, because it said nothing for long.
    pub fn is_probe_due(&self, now_ns: u64) -> bool {
        !self.kept.is_empty() && now_ns >= self.probe_at_ns
    }

    /// It was asked.
    pub fn probed(&mut self, now_ns: u64) {
        self.timeout_ns = (2 * self.timeout_ns).min(TIMEOUT_MAX_NS);
        self.probe_at_ns = now_ns + self.timeout_ns;
    }

    /// Nothing of it is needed any more.
    pub fn drop_all(&mut self) {
        *self = Outgoing { first: self.first.wrapping_add(self.kept.len() as u32), ..Outgoing::new(self.channel) };
    }
}

/// Most messages that are kept, and the bytes from which on none is taken.
pub const FRAMES_MOST: usize = 256;
/// See above.
pub const BYTES_MOST: usize = 2 << 20;
/// How often a message may arrive damaged, one time after the other.
pub const ROUNDS_MOST: u32 = 64;
/// A peer that computes says nothing either: it is asked less and less often.
const TIMEOUT_NS: u64 = 5_000_000;
const TIMEOUT_MAX_NS: u64 = 500_000_000;
