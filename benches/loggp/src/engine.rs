//! Runs the ranks' steps on a machine, always the rank that is earliest.
//!
//! A rank is somewhere in its steps at its own time. What it sends becomes known to its receiver's side at once, with the
//! time of its arrival, so a rank that waits gets its time from the message. Messages between two ranks keep their order.

use crate::machine::{Level, Machine, Time};
use crate::trace::Step;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// What one operation took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Until the last rank was done, when all began together.
    pub time: Time,
    /// Of all ranks.
    pub messages: u64,
    /// In them.
    pub bytes: u64,
    /// Messages from node to node.
    pub messages_between: u64,
    /// In those.
    pub bytes_between: u64,
}

/// Runs the operation; `Err` names ranks that wait for ever, or messages that nobody receives.
pub fn run(machine: &Machine, programs: &[Vec<Step>]) -> Result<Outcome, String> {
    let mut engine = Engine::new(machine, programs);
    while let Some(Reverse((_, rank))) = engine.ready.pop() {
        engine.advance(rank);
    }
    engine.outcome()
}

struct Engine<'a> {
    machine: &'a Machine,
    programs: &'a [Vec<Step>],
    ranks: Vec<Rank>,
    // Ranks that can go on, by time.
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    channels: HashMap<(u32, u32), Channel>,
    // When each node's adapter is free again.
    out: Vec<Time>,
    into: Vec<Time>,
    outcome: Outcome,
}

#[derive(Clone, Copy, Default)]
struct Rank {
    now: Time,
    next: usize,
    // What was begun and has no end yet, and the latest end of the others: begun operations, and the blocking one.
    begun: Wait,
    blocking: Wait,
    waits: Option<Kind>,
}

#[derive(Clone, Copy, Default)]
struct Wait {
    open: u32,
    latest: Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Begun,
    Blocking,
}

#[derive(Clone, Copy)]
struct Send {
    at: Time,
    bytes: u64,
    // Of the last byte, if it was sent at once.
    arrival: Option<Time>,
    kind: Kind,
}

#[derive(Clone, Copy)]
struct Recv {
    at: Time,
    bytes: u64,
    kind: Kind,
}

/// Between two ranks; one of the queues is always empty.
#[derive(Default)]
struct Channel {
    sends: VecDeque<Send>,
    recvs: VecDeque<Recv>,
}

impl<'a> Engine<'a> {
    fn new(machine: &'a Machine, programs: &'a [Vec<Step>]) -> Engine<'a> {
        let size = programs.len();
        let nodes = size.div_ceil(machine.per_node as usize);
        Engine {
            machine,
            programs,
            ranks: vec![Rank::default(); size],
            ready: (0..size as u32).map(|rank| Reverse((0, rank))).collect(),
            channels: HashMap::new(),
            out: vec![0; nodes],
            into: vec![0; nodes],
            outcome: Outcome::default(),
        }
    }

    /// One step of a rank that can go on.
    fn advance(&mut self, me: u32) {
        let rank = &mut self.ranks[me as usize];
        let Some(step) = self.programs[me as usize].get(rank.next) else { return };
        rank.next += 1;
        match *step {
            Step::Send { to, bytes } => {
                self.send(me, to, bytes, Kind::Blocking);
                self.wait(me, Kind::Blocking);
            }
            Step::Recv { from, bytes } => {
                self.recv(me, from, bytes, Kind::Blocking);
                self.wait(me, Kind::Blocking);
            }
            Step::StartSend { to, bytes } => {
                self.send(me, to, bytes, Kind::Begun);
                self.again(me);
            }
            Step::StartRecv { from, bytes } => {
                self.recv(me, from, bytes, Kind::Begun);
                self.again(me);
            }
            Step::Finish => self.wait(me, Kind::Begun),
            Step::Copy { bytes } => {
                rank.now += bytes * self.machine.copy_per_byte;
                self.again(me);
            }
            Step::Reduce { bytes } => {
                rank.now += bytes * self.machine.reduce_per_byte;
                self.again(me);
            }
        }
    }

    fn again(&mut self, me: u32) {
        self.ready.push(Reverse((self.ranks[me as usize].now, me)));
    }

    /// Goes on when all of a kind have an end.
    fn wait(&mut self, me: u32, kind: Kind) {
        let rank = &mut self.ranks[me as usize];
        let wait = rank.of(kind);
        if wait.open > 0 {
            rank.waits = Some(kind);
            return;
        }
        let latest = std::mem::take(&mut wait.latest);
        rank.now = rank.now.max(latest);
        self.again(me);
    }

    fn send(&mut self, me: u32, to: u32, bytes: u64, kind: Kind) {
        let level = self.level(me, to);
        self.count(me, to, bytes);
        let rank = &mut self.ranks[me as usize];
        rank.now += level.overhead;
        let begin = rank.now;
        rank.of(kind).open += 1;
        let mut send = Send { at: begin, bytes, arrival: None, kind };
        if bytes <= level.eager_limit {
            let (left, arrival) = self.carry(me, to, begin, bytes, level.per_byte);
            send.arrival = Some(arrival);
            // The processor copies within a node; between nodes the adapter reads on its own.
            if self.machine.node(me) == self.machine.node(to) {
                self.ranks[me as usize].now = left;
            }
            self.ended(me, kind, self.ranks[me as usize].now);
        }
        let channel = self.channels.entry((me, to)).or_default();
        match channel.recvs.pop_front() {
            Some(recv) => self.meet((me, to), send, recv),
            None => channel.sends.push_back(send),
        }
    }

    fn recv(&mut self, me: u32, from: u32, bytes: u64, kind: Kind) {
        let rank = &mut self.ranks[me as usize];
        rank.of(kind).open += 1;
        let recv = Recv { at: rank.now, bytes, kind };
        let channel = self.channels.entry((from, me)).or_default();
        match channel.sends.pop_front() {
            Some(send) => self.meet((from, me), send, recv),
            None => channel.recvs.push_back(recv),
        }
    }

    /// A message and its receive have found each other: both have an end now.
    fn meet(&mut self, (from, to): (u32, u32), send: Send, recv: Recv) {
        assert!(send.bytes <= recv.bytes, "rank {to} receives {} bytes where {from} sends {}", recv.bytes, send.bytes);
        let level = self.level(from, to);
        let arrival = match send.arrival {
            Some(arrival) => arrival,
            None => {
                // A word to the receiver, and one back.
                let begin = (send.at + level.latency).max(recv.at) + level.latency;
                let (left, arrival) = self.carry(from, to, begin, send.bytes, level.long_per_byte);
                self.ended(from, send.kind, left);
                arrival
            }
        };
        self.ended(to, recv.kind, arrival.max(recv.at) + level.overhead);
        if self.channels.get(&(from, to)).is_some_and(|channel| channel.sends.is_empty() && channel.recvs.is_empty()) {
            self.channels.remove(&(from, to));
        }
    }

    /// When the last byte has left, and when it is there.
    fn carry(&mut self, from: u32, to: u32, begin: Time, bytes: u64, per_byte: Time) -> (Time, Time) {
        let (source, target) = (self.machine.node(from), self.machine.node(to));
        if source == target {
            let left = begin + bytes * per_byte;
            return (left, left + self.machine.within.latency);
        }
        let level = &self.machine.between;
        let busy = level.gap.max(bytes * per_byte);
        let out = &mut self.out[source as usize];
        let start = begin.max(*out);
        *out = start + busy;
        // The first byte goes on while the last ones are still leaving.
        let into = &mut self.into[target as usize];
        let first = (start + level.latency).max(*into);
        *into = first + busy;
        (start + bytes * per_byte, first + bytes * per_byte)
    }

    fn ended(&mut self, who: u32, kind: Kind, at: Time) {
        let rank = &mut self.ranks[who as usize];
        let wait = rank.of(kind);
        wait.open -= 1;
        wait.latest = wait.latest.max(at);
        if rank.waits == Some(kind) && rank.of(kind).open == 0 {
            rank.waits = None;
            self.wait(who, kind);
        }
    }

    fn count(&mut self, from: u32, to: u32, bytes: u64) {
        self.outcome.messages += 1;
        self.outcome.bytes += bytes;
        if self.machine.node(from) != self.machine.node(to) {
            self.outcome.messages_between += 1;
            self.outcome.bytes_between += bytes;
        }
    }

    fn level(&self, a: u32, b: u32) -> Level {
        if self.machine.node(a) == self.machine.node(b) { self.machine.within } else { self.machine.between }
    }

    fn outcome(mut self) -> Result<Outcome, String> {
        let stuck: Vec<usize> = (0..self.ranks.len()).filter(|rank| self.ranks[*rank].waits.is_some()).collect();
        if let Some(first) = stuck.first() {
            return Err(format!("{} ranks wait for ever, the first is {first}", stuck.len()));
        }
        if let Some((from, to)) = self.channels.keys().min() {
            return Err(format!("a message from {from} to {to} is never received, or a receive never ended"));
        }
        self.outcome.time = self.ranks.iter().map(|rank| rank.now).max().unwrap_or(0);
        Ok(self.outcome)
    }
}

impl Rank {
    fn of(&mut self, kind: Kind) -> &mut Wait {
        match kind {
            Kind::Begun => &mut self.begun,
            Kind::Blocking => &mut self.blocking,
        }
    }
}

#[cfg(test)]
mod tests;
