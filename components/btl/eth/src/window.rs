//! One peer's numbers: what was sent and not acknowledged, what came and what is missing. Knows no card and no clock.
//!
//! Numbers are 32 bits and wrap; two numbers are compared by their distance, which is at most [`FRAMES`].

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A message on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its kind.
    pub am: u8,
    /// Its immediate.
    pub immediate: u64,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// What was sent to a peer, from the oldest that it has not acknowledged.
#[derive(Debug)]
pub struct Outgoing {
    first: u32,
    /// How often `first` went past the greatest number.
    wraps: u32,
    kept: VecDeque<Message>,
    /// Payloads to be used again.
    spare: Vec<Vec<u8>>,
    /// When the oldest one is sent again, and how long that is after the last time.
    due_ns: u64,
    pause_ns: u64,
    /// When the peer last acknowledged something, or something was first sent after it had acknowledged everything.
    heard_ns: u64,
    /// That it is silent was said.
    pub told: bool,
}

/// What an acknowledgement comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// It names what was never sent: the peer breaks the format.
    Nonsense,
    /// Nothing to do.
    Fine,
    /// The peer misses the oldest one: send it again.
    Missing,
}

impl Default for Outgoing {
    /// Nothing was sent.
    fn default() -> Outgoing {
        let (kept, spare) = (VecDeque::new(), Vec::new());
        Outgoing { first: 0, wraps: 0, kept, spare, due_ns: u64::MAX, pause_ns: PAUSE_NS, heard_ns: 0, told: false }
    }
}

impl Outgoing {
    /// As if so many had been sent.
    #[cfg(test)]
    pub fn starting_at(first: u32) -> Outgoing {
        Outgoing { first, ..Outgoing::default() }
    }

    /// Whether one more may be sent.
    pub fn has_room(&self) -> bool {
        self.kept.len() < FRAMES
    }

    /// Whether everything is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The number of the next message.
    pub fn next(&self) -> u32 {
        self.first.wrapping_add(self.kept.len() as u32)
    }

    /// How often numbers had begun again when this one, of a message that is kept or the next one, was given.
    pub fn wraps_of(&self, number: u32) -> u32 {
        self.wraps.wrapping_add(u32::from(number < self.first))
    }

    /// Room for a payload.
    pub fn take_payload(&mut self, bytes: usize) -> Vec<u8> {
        let mut payload = self.spare.pop().unwrap_or_default();
        payload.resize(bytes, 0);
        payload
    }

    /// Keeps a message, which the caller sends now. Only with room.
    pub fn keep(&mut self, message: Message, now_ns: u64) {
        debug_assert!(self.has_room());
        if self.kept.is_empty() {
            (self.due_ns, self.heard_ns) = (now_ns + self.pause_ns, now_ns);
        }
        self.kept.push_back(message);
    }

    /// Takes an acknowledgement: all before `wanted` have come.
    pub fn acknowledge(&mut self, wanted: u32, misses: bool, now_ns: u64) -> Acknowledged {
        let come = wanted.wrapping_sub(self.first);
        // An older frame that came late says less than is known.
        if (come as i32) < 0 && come.wrapping_neg() <= LATE {
            return Acknowledged::Fine;
        }
        if come as usize > self.kept.len() {
            return Acknowledged::Nonsense;
        }
        if come > 0 {
            for message in self.kept.drain(..come as usize) {
                self.spare.push(message.payload);
            }
            self.wraps = self.wraps_of(wanted);
            self.first = wanted;
            (self.pause_ns, self.heard_ns, self.told) = (PAUSE_NS, now_ns, false);
            self.due_ns = if self.kept.is_empty() { u64::MAX } else { now_ns + self.pause_ns };
        }
        // Once per loss: what says that it is missing comes many times, until the repair is there.
        let repairs = misses && !self.kept.is_empty() && self.due_ns > now_ns + REPAIR_NS;
        if repairs {
            self.due_ns = now_ns + REPAIR_NS;
            return Acknowledged::Missing;
        }
        Acknowledged::Fine
    }

    /// The oldest message with its number.
    pub fn oldest(&self) -> Option<(u32, &Message)> {
        self.kept.front().map(|message| (self.first, message))
    }

    /// The newest one.
    pub fn newest(&self) -> Option<(u32, &Message)> {
        self.kept.back().map(|message| (self.next().wrapping_sub(1), message))
    }

    /// Whether the oldest one is to be sent again now; then it is next time after twice as long.
    pub fn is_due(&mut self, now_ns: u64) -> bool {
        if now_ns < self.due_ns || self.kept.is_empty() {
            return false;
        }
        self.pause_ns = (2 * self.pause_ns).min(LONGEST_PAUSE_NS);
        self.due_ns = now_ns + self.pause_ns;
        true
    }

    /// For how long the peer has acknowledged nothing of what it was sent.
    pub fn silent_ns(&self, now_ns: u64) -> u64 {
        if self.kept.is_empty() { 0 } else { now_ns.saturating_sub(self.heard_ns) }
    }
}

/// What came from a peer; nothing by default.
#[derive(Debug, Default)]
pub struct Incoming {
    wanted: u32,
    /// How often `wanted` went past the greatest number.
    wraps: u32,
    /// Those that came too early, from the one behind `wanted`.
    early: VecDeque<Option<Message>>,
    /// The one that became wanted and is here already.
    ready: Option<Message>,
    /// Messages since the last acknowledgement.
    owed: u32,
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Hand it out, and then [`Incoming::next_early`] as long as there is one.
    Next,
    /// [`Incoming::keep_early`] it; say that one is missing.
    Early,
    /// It came before: acknowledge it again.
    Again,
    /// Nobody who keeps to the credit sends it.
    Nonsense,
}

impl Incoming {
    /// As if so many had come.
    #[cfg(test)]
    pub fn starting_at(wanted: u32) -> Incoming {
        Incoming { wanted, ..Incoming::default() }
    }

    /// The number of the message that comes next.
    pub fn wanted(&self) -> u32 {
        self.wanted
    }

    /// How often the peer's numbers had begun again when it gave this one, if that was not long ago.
    pub fn wraps_of(&self, number: u32) -> u32 {
        let is_ahead = (number.wrapping_sub(self.wanted) as i32) >= 0;
        match (is_ahead, number < self.wanted) {
            (true, true) => self.wraps.wrapping_add(1),
            (false, false) => self.wraps.wrapping_sub(1),
            _ => self.wraps,
        }
    }

    /// Whether a later one is here.
    pub fn misses(&self) -> bool {
        self.early.iter().any(Option::is_some)
    }

    /// A message with this number is here. [`Arrival::Next`]: from now on the one behind it is wanted.
    pub fn arrive(&mut self, number: u32) -> Arrival {
        match number.wrapping_sub(self.wanted) {
            0 => {
                self.advance();
                Arrival::Next
            }
            distance if (distance as usize) < FRAMES => match self.early.get(distance as usize - 1) {
                Some(Some(_)) => Arrival::Again,
                _ => Arrival::Early,
            },
            distance if distance.wrapping_neg() <= LATE => Arrival::Again,
            _ => Arrival::Nonsense,
        }
    }

    /// Keeps a message for which `arrive` said [`Arrival::Early`].
    pub fn keep_early(&mut self, number: u32, message: Message) {
        let place = number.wrapping_sub(self.wanted) as usize - 1;
        if self.early.len() <= place {
            self.early.resize(place + 1, None);
        }
        self.early[place] = Some(message);
    }

    /// The message that was wanted next and is here already.
    pub fn next_early(&mut self) -> Option<Message> {
        let message = self.ready.take()?;
        self.advance();
        Some(message)
    }

    /// How many messages were handed out since an acknowledgement was sent.
    pub fn owed(&self) -> u32 {
        self.owed
    }

    /// One is sent now.
    pub fn acknowledged(&mut self) {
        self.owed = 0;
    }

    fn advance(&mut self) {
        self.wraps = self.wraps_of(self.wanted.wrapping_add(1));
        self.wanted = self.wanted.wrapping_add(1);
        self.ready = self.early.pop_front().flatten();
        self.owed += 1;
    }
}

/// The most frames to a peer that it has not acknowledged.
pub const FRAMES: usize = 32;
/// How old a frame may be that comes late; others are nonsense.
const LATE: u32 = 1 << 20;
/// Until the oldest frame is first sent again. A peer answers whenever it polls, and it may compute.
const PAUSE_NS: u64 = 10_000_000;
const LONGEST_PAUSE_NS: u64 = 160_000_000;
/// Until a missing frame is sent once more because it is still missing.
const REPAIR_NS: u64 = 2_000_000;
