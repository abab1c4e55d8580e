//! Messages that were taken and have not left: the delayed, those behind them, and those that others overtake.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use opal_core::framework::btl::{AmId, Endpoint};

/// One of them.
pub struct Held {
    /// Its receiver.
    pub to: Endpoint,
    /// Its kind.
    pub am: AmId,
    /// Its immediate.
    pub immediate: u64,
    /// Its payload.
    pub payload: Vec<u8>,
    /// Leaves no earlier.
    pub due_ns: u64,
    /// Later messages pass it: leaves after so many of them, or when it is due.
    pub overtaken_by: Option<u32>,
}

/// In the order in which they were sent.
#[derive(Default)]
pub struct Queue(VecDeque<Held>);

impl Queue {
    /// Nothing.
    pub const fn new() -> Queue {
        Queue(VecDeque::new())
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether no more are taken.
    pub fn is_full(&self) -> bool {
        self.0.len() >= HELD_MOST
    }

    /// Whether a message to a process must wait behind others.
    pub fn holds_up(&self, to: Endpoint) -> bool {
        self.0.iter().any(|held| held.to == to && held.overtaken_by.is_none())
    }

    /// Takes one.
    pub fn push(&mut self, held: Held) {
        self.0.push_back(held);
    }

    /// A message passed.
    pub fn passed(&mut self) {
        self.0.iter_mut().for_each(|held| held.overtaken_by = held.overtaken_by.map(|left| left.saturating_sub(1)));
    }

    /// Gives those that are due to `send`, which says whether they left; returns how many did.
    pub fn release(&mut self, now_ns: u64, mut send: impl FnMut(&Held) -> bool) -> usize {
        let (mut index, before) = (0, self.0.len());
        while let Some(held) = self.0.get(index) {
            let is_first = held.overtaken_by.is_some()
                || !self.0.range(..index).any(|other| other.to == held.to && other.overtaken_by.is_none());
            let is_due = now_ns >= held.due_ns || held.overtaken_by == Some(0);
            if is_first && is_due && send(held) {
                self.0.remove(index);
            } else {
                index += 1;
            }
        }
        before - self.0.len()
    }
}

const HELD_MOST: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn message(to: u32, am: AmId, due_ns: u64, overtaken_by: Option<u32>) -> Held {
        Held { to: Endpoint(to), am, immediate: 0, payload: vec![], due_ns, overtaken_by }
    }

    fn released(queue: &mut Queue, now_ns: u64) -> Vec<AmId> {
        let mut left = vec![];
        queue.release(now_ns, |held| {
            left.push(held.am);
            true
        });
        left
    }

    #[test]
    fn what_is_delayed_holds_up_what_is_behind_it_and_no_other_peer() {
        let mut queue = Queue::new();
        queue.push(message(1, 0, 100, None));
        assert!(queue.holds_up(Endpoint(1)) && !queue.holds_up(Endpoint(2)));
        queue.push(message(1, 1, 0, None));
        queue.push(message(2, 2, 0, None));
        assert_eq!(released(&mut queue, 99), [2]);
        assert_eq!(queue.release(100, |_| false), 0, "no room");
        assert_eq!(released(&mut queue, 100), [0, 1]);
        assert!(queue.is_empty());
    }

    #[test]
    fn what_is_overtaken_leaves_after_so_many_or_when_it_is_due() {
        let mut queue = Queue::new();
        queue.push(message(1, 0, 100, Some(2)));
        queue.push(message(1, 1, 50, Some(9)));
        assert!(!queue.holds_up(Endpoint(1)));
        queue.passed();
        assert_eq!(released(&mut queue, 49), []);
        assert_eq!(released(&mut queue, 50), [1]);
        queue.passed();
        assert_eq!(released(&mut queue, 51), [0]);
    }
}
