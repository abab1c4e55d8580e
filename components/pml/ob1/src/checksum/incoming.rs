//! What arrives on one channel of a peer: which message is next, and what the peer is to be told.

use super::frame::{Frame, Kind};
use super::segmentation::Pieces;

/// One channel of a peer.
#[derive(Debug, Default)]
pub struct Incoming {
    expected: u32,
    // What arrived since the peer was last told.
    owed_frames: u32,
    owed_bytes: usize,
    owed_since_ns: u64,
    answer: Option<Kind>,
    // Of what arrived last.
    round: u8,
    // The peer was asked then, about this round, to repeat what is next, which has not come since.
    asked: Option<(u8, u64)>,
    /// Of a frame that comes in pieces.
    pub pieces: Pieces,
}

/// What a frame was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// The next message: it is to be delivered.
    Next,
    /// Nothing to deliver.
    Nothing,
}

impl Incoming {
    /// The first message has this number.
    #[cfg(test)]
    pub fn starting_at(expected: u32) -> Incoming {
        Incoming { expected, ..Incoming::default() }
    }

    /// The number of the next message.
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// The round of the sender that an answer is about.
    pub fn round(&self) -> u8 {
        self.round
    }

    /// A message or a probe arrived.
    pub fn arrived(&mut self, frame: Frame, bytes: usize, now_ns: u64) -> Arrived {
        let is_of_channel = matches!(frame.kind, Kind::Data | Kind::Probe);
        if is_of_channel && frame.round.wrapping_sub(self.round) as i8 > 0 {
            self.round = frame.round;
        }
        match frame.kind {
            Kind::Data => self.data(frame.number, bytes, now_ns),
            Kind::Probe => {
                // What was sent before it came before it, or is lost.
                let is_behind = frame.number.wrapping_sub(self.expected) as i32 > 0;
                self.answer = Some(if is_behind { Kind::Repeat } else { Kind::Status });
                Arrived::Nothing
            }
            Kind::Status | Kind::Repeat | Kind::Piece => Arrived::Nothing,
        }
    }

    fn data(&mut self, number: u32, bytes: usize, now_ns: u64) -> Arrived {
        match number.wrapping_sub(self.expected) as i32 {
            0 => {
                self.expected = self.expected.wrapping_add(1);
                self.asked = None;
                if self.owed_frames == 0 {
                    self.owed_since_ns = now_ns;
                }
                self.owed_frames += 1;
                self.owed_bytes += bytes;
                return Arrived::Next;
            }
            // It came before, and perhaps the peer does not know that.
            ..0 => self.answer = self.answer.or(Some(Kind::Status)),
            // One before it is missing.
            1.. => self.repeat(now_ns),
        }
        Arrived::Nothing
    }

    /// What is next is missing, or something arrived damaged, perhaps on this channel. All that was sent behind it follows and says
    /// nothing new: the peer is asked once in a while, and once in each round.
    pub fn repeat(&mut self, now_ns: u64) {
        let is_new = |(round, since_ns)| round != self.round || now_ns.saturating_sub(since_ns) >= REPEAT_AGAIN_NS;
        if self.asked.is_none_or(is_new) {
            (self.answer, self.asked) = (Some(Kind::Repeat), Some((self.round, now_ns)));
        }
    }

    /// What the peer is to be told now, if anything.
    pub fn due(&self, now_ns: u64) -> Option<Kind> {
        let many = self.owed_frames >= TELL_FRAMES || self.owed_bytes >= TELL_BYTES;
        let late = self.owed_frames > 0 && now_ns.saturating_sub(self.owed_since_ns) >= TELL_NS;
        self.answer.or((many || late).then_some(Kind::Status))
    }

    /// Whether the peer does not know everything.
    pub fn owes(&self) -> bool {
        self.owed_frames > 0 || self.answer.is_some()
    }

    /// The peer is told what has arrived; by a message the other way, of no answer that it waits for.
    pub fn told(&mut self, by: Kind) {
        (self.owed_frames, self.owed_bytes) = (0, 0);
        if by != Kind::Data {
            self.answer = None;
        }
    }
}

/// Parts of what a sender keeps ([`super::outgoing`]).
const TELL_FRAMES: u32 = super::outgoing::FRAMES_MOST as u32 / 8;
const TELL_BYTES: usize = super::outgoing::BYTES_MOST / 8;
/// What is sent again needs as long, if it is much.
const REPEAT_AGAIN_NS: u64 = 1_000_000;
/// Long enough for a message the other way, which says the same.
const TELL_NS: u64 = 200_000;
