//! What the ranks of a job have in common: time, messages on the way, what was published and who has come how far.

use crate::calls::Message;
use std::collections::VecDeque;

/// All of it.
pub struct World {
    /// Draws who runs next, and whose message comes next.
    pub random: opal_core::random::Random,
    /// The time, in ns.
    pub now_ns: u64,
    /// How often a rank has let others run.
    pub passes: u64,
    /// By rank.
    pub published: Vec<Option<Vec<u8>>>,
    room: usize,
    arrived: Vec<(u32, u32)>,
    // By receiver: queues of those senders that have something on the way to it.
    wires: Vec<Vec<(u32, VecDeque<Sent>)>>,
}

/// A message and its payload.
type Sent = (Message, Vec<u8>);

impl World {
    /// Of so many ranks, with room for so many messages from one to another.
    pub fn new(size: u32, room: usize, seed: u64) -> World {
        World {
            random: opal_core::random::Random::new(seed),
            now_ns: 0,
            passes: 0,
            published: (0..size).map(|_| None).collect(),
            room,
            arrived: Vec::new(),
            wires: (0..size).map(|_| Vec::new()).collect(),
        }
    }

    /// One more has come to a barrier, or none; how many have.
    pub fn arrive(&mut self, barrier: u32, more: u32) -> u32 {
        if let Some((_, count)) = self.arrived.iter_mut().find(|(other, _)| *other == barrier) {
            *count += more;
            return *count;
        }
        self.arrived.push((barrier, more));
        more
    }

    /// Whether there is room for a message.
    pub fn has_room(&self, from: u32, to: u32) -> bool {
        let wire = self.wires[to as usize].iter().find(|(sender, _)| *sender == from);
        wire.is_none_or(|(_, queue)| queue.len() < self.room)
    }

    /// A message leaves.
    pub fn send(&mut self, to: u32, message: Message, payload: Vec<u8>) {
        let wires = &mut self.wires[to as usize];
        let place = wires.iter().position(|(sender, _)| *sender == message.from).unwrap_or_else(|| {
            wires.push((message.from, VecDeque::new()));
            wires.len() - 1
        });
        wires[place].1.push_back((message, payload));
    }

    /// The next message of any sender to this rank.
    pub fn receive(&mut self, to: u32) -> Option<Sent> {
        let wires = &mut self.wires[to as usize];
        if wires.is_empty() {
            return None;
        }
        let place = self.random.below(wires.len() as u64) as usize;
        let found = wires[place].1.pop_front();
        if wires[place].1.is_empty() {
            wires.swap_remove(place);
        }
        found
    }
}
