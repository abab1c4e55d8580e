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
    // From what was said last to the first probe, and to the next one.
    patience_ns: u64,
    timeout_ns: u64,
    probe_at_ns: u64,
    // How often it began again in vain, and how often in all, modulo 256.
    vain: u32,
    round: u8,
}

#[derive(Debug)]
struct Kept {
    immediate: u64,
    header: Frame,
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
        Outgoing { channel, patience_ns: TIMEOUT_NS, timeout_ns: TIMEOUT_NS, ..Outgoing::default() }
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

    /// How many messages the peer may lack.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.kept.len()
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
        let header = Frame { kind: Kind::Data, am, channel: self.channel, round: self.round, number, expected };
        header.seal(immediate, &mut buffer);
        if self.kept.is_empty() {
            self.probe_at_ns = now_ns + self.timeout_ns;
        }
        self.kept_bytes += buffer.len();
        self.kept.push_back(Kept { immediate, header, frame: buffer });
        self.flush(medium);
    }

    /// Sends what waits for room; returns how many messages.
    pub fn flush(&mut self, medium: &impl Medium) -> usize {
        let before = self.unsent;
        while let Some(Kept { immediate, header, frame }) = self.kept.get_mut(self.unsent) {
            if header.round != self.round {
                header.round = self.round;
                header.seal(*immediate, frame);
            }
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
        if self.kept.is_empty() {
            self.patience_ns = TIMEOUT_NS;
        } else if self.timeout_ns > self.patience_ns {
            // A probe was not needed: a wire that is slow, or a peer that computes.
            self.patience_ns = (2 * self.patience_ns).min(PATIENCE_MAX_NS);
        }
        (self.vain, self.timeout_ns) = (0, self.patience_ns);
        self.probe_at_ns = now_ns + self.patience_ns;
    }

    /// The peer lacks something of what was sent in this round: all that is still kept goes again. Of an earlier round it has gone
    /// again already, and may be on its way.
    pub fn repeat(&mut self, round: u8) {
        if self.unsent > 0 && round == self.round {
            self.vain += 1;
            (self.patience_ns, self.timeout_ns) = (TIMEOUT_NS, TIMEOUT_NS);
            self.start_again();
        }
    }

    /// What the peer may lack goes again: another medium carries it from now on.
    pub fn start_again(&mut self) {
        self.unsent = 0;
        self.round = self.round.wrapping_add(1);
    }

    /// What asks the peer what it has. All that was sent in this round is before it.
    pub fn probe(&self) -> Frame {
        let number = self.first.wrapping_add(self.unsent as u32);
        Frame { kind: Kind::Probe, am: 0, channel: self.channel, round: self.round, number, expected: 0 }
    }

    /// Whether the peer asked so often that nothing will ever arrive.
    pub fn is_lost(&self) -> bool {
        self.vain >= ROUNDS_MOST
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
        let (first, round) = (self.first.wrapping_add(self.kept.len() as u32), self.round);
        *self = Outgoing { first, round, ..Outgoing::new(self.channel) };
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
/// As long as a wire of 200 Mbit/s takes for all that is kept.
const PATIENCE_MAX_NS: u64 = 80_000_000;
const TIMEOUT_MAX_NS: u64 = 500_000_000;
