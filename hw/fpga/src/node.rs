//! One member's side of the protocol on one channel, without input and output. coll/hwbarr feeds it with the
//! signals of the port and the messages of the other members, the model check with all possible ones.
//!
//! Barriers are counted from 1. To arrive at barrier k a member writes the inverse of the level at which k - 1 ended,
//! and waits until it reads it. Nothing is ever taken back: a retraction that crosses the flip would count as arrival
//! at the next barrier. A member whose barrier takes too long, or that hears of another one's, *stops*: it does not
//! write to the channel any more. When all have stopped and the wires had time to settle, each reads once more, and the
//! highest number of a completed barrier that any of them has decides for all.

/// What a member reads of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The channel's level.
    pub level: bool,
    /// The read-back line: a machine is there, and it has not lost what it knew.
    pub present: bool,
}

/// One member of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Barriers that are over.
    done: u64,
    /// The level at which the last one ended; what this member's output says while it is outside.
    level: bool,
    /// How many equal readings are believed, and how many there were.
    readings: u8,
    equal: u8,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Outside,
    Waiting,
    Stopped(Pending),
    Dead,
}

/// What a member was about when it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pending {
    /// Nothing, or leaving the channel for good.
    Nothing,
    /// A barrier that it has not arrived at.
    Unwritten,
    /// A barrier that it has arrived at.
    Written,
}

/// How a barrier begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Write this to the channel's output, then look until it is over.
    Write(bool),
    /// Take part in the agreement first.
    Stopped,
    /// The channel is dead: by software.
    Software,
}

/// What the agreement says of a member's own barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It had none.
    Nothing,
    /// It is over.
    Over,
    /// It is to be done in software.
    Software,
}

/// The members' numbers contradict each other: a wire lied, or the channel was not theirs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction;

impl Node {
    /// A member that joined at this level, believes `readings` equal readings, and has met the others since.
    pub fn joined(level: bool, readings: u8) -> Node {
        Node { done: 0, level, readings: readings.max(1), equal: 0, phase: Phase::Outside }
    }

    /// Barriers that are over.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Whether the channel serves no more.
    pub fn is_dead(&self) -> bool {
        self.phase == Phase::Dead
    }

    /// Whether it is between two barriers, and has not stopped.
    pub fn is_outside(&self) -> bool {
        self.phase == Phase::Outside
    }

    /// What this member's output says.
    pub fn output(&self) -> bool {
        self.level != matches!(self.phase, Phase::Waiting | Phase::Stopped(Pending::Written))
    }

    /// The next barrier begins; `stop`: somebody said that it stopped.
    pub fn enter(&mut self, stop: bool) -> Entry {
        match self.phase {
            Phase::Dead => Entry::Software,
            // Also when it stopped while it was outside, and the agreement is not over.
            Phase::Stopped(_) => {
                self.phase = Phase::Stopped(Pending::Unwritten);
                Entry::Stopped
            }
            _ if stop => {
                self.phase = Phase::Stopped(Pending::Unwritten);
                Entry::Stopped
            }
            _ => {
                debug_assert_eq!(self.phase, Phase::Outside);
                (self.phase, self.equal) = (Phase::Waiting, 0);
                Entry::Write(!self.level)
            }
        }
    }

    /// Whether the barrier is over, by this reading and those before it.
    pub fn look(&mut self, reading: Reading) -> bool {
        if self.phase != Phase::Waiting {
            return false;
        }
        if !self.flipped(reading) {
            self.equal = 0;
            return false;
        }
        self.equal += 1;
        let over = self.equal >= self.readings;
        if over {
            self.level = !self.level;
            self.done += 1;
            self.phase = Phase::Outside;
        }
        over
    }

    /// Writes no more: it is late itself, or heard of a stop in its wait loop or outside. It must not put that off to
    /// its next barrier: a member that waits for its word may be the one that it waits for, in another operation. What
    /// the others must be told then is only that it stopped.
    pub fn stop(&mut self) {
        self.phase = match self.phase {
            Phase::Outside => Phase::Stopped(Pending::Nothing),
            Phase::Waiting => Phase::Stopped(Pending::Written),
            same => same,
        };
    }

    /// The number of the last barrier that this member knows to be over, by a reading after all have stopped and the
    /// wires have settled.
    pub fn settled(&self, reading: Reading) -> u64 {
        match self.phase {
            Phase::Stopped(Pending::Written) if self.flipped(reading) => self.done + 1,
            _ => self.done,
        }
    }

    /// Ends the agreement with the highest number of all members. The channel is dead afterwards.
    pub fn decide(&mut self, highest: u64) -> Result<Verdict, Contradiction> {
        let Phase::Stopped(pending) = self.phase else { return Err(Contradiction) };
        let next = self.done + 1;
        self.phase = Phase::Dead;
        match pending {
            Pending::Written if highest == next => {
                (self.done, self.level) = (next, !self.level);
                Ok(Verdict::Over)
            }
            _ if highest != self.done => Err(Contradiction),
            Pending::Nothing => Ok(Verdict::Nothing),
            _ => Ok(Verdict::Software),
        }
    }

    fn flipped(&self, reading: Reading) -> bool {
        reading.present && reading.level != self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reading(level: bool) -> Reading {
        Reading { level, present: true }
    }

    #[test]
    fn a_barrier_is_over_after_enough_equal_readings() {
        let mut node = Node::joined(false, 2);
        assert_eq!(node.enter(false), Entry::Write(true));
        assert!(!node.look(reading(true)) && !node.look(reading(false)));
        assert!(!node.look(reading(true)) && !node.look(Reading { level: true, present: false }));
        assert!(!node.look(reading(true)) && node.look(reading(true)));
        assert_eq!((node.done(), node.enter(false)), (1, Entry::Write(false)));
    }

    #[test]
    fn the_highest_number_decides() {
        let mut late = Node::joined(false, 1);
        assert_eq!(late.enter(false), Entry::Write(true));
        late.stop();
        assert!(late.output());
        let mut ahead = late;
        assert_eq!((late.settled(reading(false)), late.settled(reading(true))), (0, 1));
        assert_eq!(late.decide(1), Ok(Verdict::Over));
        assert_eq!((late.done(), late.enter(false)), (1, Entry::Software));
        assert_eq!(ahead.decide(0), Ok(Verdict::Software));
        let mut outside = Node::joined(false, 1);
        assert_eq!(outside.enter(true), Entry::Stopped);
        assert_eq!(outside.decide(1), Err(Contradiction));
        let mut hears = Node::joined(false, 1);
        hears.stop();
        let mut enters = hears;
        assert_eq!((hears.decide(0), hears.enter(false)), (Ok(Verdict::Nothing), Entry::Software));
        assert_eq!((enters.enter(false), enters.decide(0)), (Entry::Stopped, Ok(Verdict::Software)));
    }
}
