//! The machine in Rust, clock tick by clock tick the same as `rtl/`. A set of nodes is a word, node i is bit i.

use crate::wires::{CHANNELS, CLAIM, JOIN, LEAVE, NODES};

/// `tuc_sync`: up to 64 wires into the machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Synchronizer {
    stages: usize,
    filter: usize,
    /// Flip-flops, the newest first.
    pub stage: [u64; 4],
    /// Samples that the filter remembers, the newest first.
    pub before: [u64; 4],
    /// What the filter believes.
    pub held: u64,
}

impl Synchronizer {
    /// `stages` flip-flops and `filter` equal samples to be believed, at most 4 of either.
    pub const fn new(stages: usize, filter: usize) -> Synchronizer {
        assert!(stages <= 4 && filter <= 4);
        Synchronizer { stages, filter, stage: [0; 4], before: [0; 4], held: 0 }
    }

    /// What comes out at this moment.
    pub fn seen(&self, wires: u64) -> u64 {
        if self.filter > 1 { self.held } else { self.sample(wires) }
    }

    /// A clock edge.
    pub fn tick(&mut self, wires: u64) {
        let sample = self.sample(wires);
        if self.filter > 1 {
            let before = &mut self.before[..self.filter - 1];
            let all = before.iter().fold(sample, |all, one| all & one);
            let any = before.iter().fold(sample, |any, one| any | one);
            self.held = (self.held | all) & any;
            before.rotate_right(1);
            before[0] = sample;
        }
        if self.stages > 0 {
            let stage = &mut self.stage[..self.stages];
            stage.rotate_right(1);
            stage[0] = wires;
        }
    }

    fn sample(&self, wires: u64) -> u64 {
        if self.stages > 0 { self.stage[self.stages - 1] } else { wires }
    }
}

/// `tuc_channel`: one barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channel {
    /// What all nodes read.
    pub level: bool,
    /// The members have agreed since power-up.
    pub known: bool,
}

impl Channel {
    /// A clock edge.
    pub fn tick(&mut self, out: u64, member: u64) {
        if member == 0 {
            return;
        }
        let (high, low) = (!out & member == 0, out & member == 0);
        self.level = high || self.level && !low;
        self.known |= high || low;
    }
}

/// `tuc_celement`: the level after the outputs have become these.
pub fn celement(level: bool, out: u64, nodes: usize) -> bool {
    let all = word(nodes);
    out & all == all || level && out & all != 0
}

/// `tuc_classic`: the machine as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Classic {
    nodes: usize,
    /// From the outputs.
    pub sync: Synchronizer,
    /// The one barrier.
    pub channel: Channel,
    /// Ticks since power-up, until synchronisers and filters have heard their wires.
    pub heard: usize,
}

impl Classic {
    /// Just powered up.
    pub const fn new(nodes: usize, stages: usize, filter: usize) -> Classic {
        Classic {
            nodes,
            sync: Synchronizer::new(stages, filter),
            channel: Channel { level: false, known: false },
            heard: 0,
        }
    }

    /// A clock edge.
    pub fn tick(&mut self, out: u64) {
        let all = word(self.nodes);
        let warm = self.heard == self.sync.stages + self.sync.filter;
        self.channel.tick(self.sync.seen(out & all), if warm { all } else { 0 });
        self.sync.tick(out & all);
        // Three bits, as there.
        self.heard = if warm { self.heard } else { (self.heard + 1) & 7 };
    }
}

/// `tuc_member`: what one node is a member of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Member {
    /// The shift register.
    pub frame: u8,
    /// SHIFT, COMMIT and LOAD at the last tick, as the control lines count them.
    pub before: u8,
    /// A command was done since power-up.
    pub armed: bool,
    /// A claim waits for the node's turn.
    pub pending: bool,
    /// Channels.
    pub member: u8,
}

impl Member {
    /// The read-back line at these control lines.
    pub fn read_back(&self, lines: u8) -> bool {
        if lines & LOAD != 0 {
            self.frame & 0x80 != 0
        } else if lines & COMMIT != 0 {
            self.before & COMMIT != 0 && !self.pending
        } else {
            self.armed
        }
    }

    /// A clock edge.
    pub fn tick(&mut self, lines: u8, busy: u8, turn: bool) {
        let rises = lines & !self.before;
        self.before = lines & (SHIFT | COMMIT | LOAD);
        let (command, mask) = (self.frame >> CHANNELS, self.frame & CHANNEL_MASK);
        let was = self.member;
        if rises & COMMIT != 0 && command == JOIN {
            (self.member, self.armed, self.pending) = (was | mask, true, false);
        } else if rises & COMMIT != 0 && command == LEAVE {
            (self.member, self.armed, self.pending) = (was & !mask, true, false);
        } else if rises & COMMIT != 0 && command == CLAIM {
            (self.armed, self.pending) = (true, true);
        } else if self.pending && turn {
            (self.member, self.pending) = (was | mask & !busy, false);
        }
        if rises & LOAD != 0 {
            self.frame = was << CHANNELS | busy;
        } else if rises & SHIFT != 0 {
            self.frame = self.frame << 1 | u8::from(lines & BIT != 0);
        }
    }
}

/// The wires from all nodes, wire by wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pins {
    /// By channel.
    pub out: [u64; CHANNELS],
    /// By control line.
    pub control: [u64; 4],
}

/// `tuc_channels`: several barriers at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channels {
    nodes: usize,
    out: [Synchronizer; CHANNELS],
    control: [Synchronizer; 4],
    /// What each node is a member of.
    pub member: [Member; NODES],
    /// The barriers.
    pub channel: [Channel; CHANNELS],
    turn: usize,
}

impl Channels {
    /// Just powered up.
    pub fn new(nodes: usize, stages: usize, filter: usize) -> Channels {
        assert!((1..=NODES).contains(&nodes));
        Channels {
            nodes,
            out: [Synchronizer::new(stages, filter); CHANNELS],
            control: [Synchronizer::new(stages, 1); 4],
            member: [Member::default(); NODES],
            channel: [Channel::default(); CHANNELS],
            turn: 0,
        }
    }

    /// The level of every channel.
    pub fn levels(&self) -> u8 {
        self.channel.iter().enumerate().fold(0, |all, (index, channel)| all | u8::from(channel.level) << index)
    }

    /// The read-back lines of all nodes.
    pub fn read_back(&self, pins: &Pins) -> u64 {
        let lines = self.lines(pins);
        let line = |node: usize| u64::from(self.member[node].read_back(of_node(&lines, node))) << node;
        (0..self.nodes).map(line).fold(0, |all, one| all | one)
    }

    /// A clock edge.
    pub fn tick(&mut self, pins: &Pins) {
        let lines = self.lines(pins);
        let members: [u64; CHANNELS] = core::array::from_fn(|channel| self.members(channel));
        let busy = members.iter().enumerate().fold(0, |all, (index, one)| all | u8::from(*one != 0) << index);
        for (index, channel) in self.channel.iter_mut().enumerate() {
            channel.tick(self.out[index].seen(pins.out[index]), members[index]);
        }
        for (node, member) in self.member[..self.nodes].iter_mut().enumerate() {
            member.tick(of_node(&lines, node), busy, self.turn == node);
        }
        for (sync, wires) in self.out.iter_mut().zip(&pins.out) {
            sync.tick(*wires);
        }
        for (sync, wires) in self.control.iter_mut().zip(&pins.control) {
            sync.tick(*wires);
        }
        self.turn = if self.turn + 1 == self.nodes { 0 } else { self.turn + 1 };
    }

    /// The nodes on a channel.
    pub fn members(&self, channel: usize) -> u64 {
        let bit = |(node, member): (usize, &Member)| u64::from(member.member >> channel & 1) << node;
        self.member[..self.nodes].iter().enumerate().map(bit).fold(0, |all, one| all | one)
    }

    fn lines(&self, pins: &Pins) -> [u64; 4] {
        core::array::from_fn(|line| self.control[line].seen(pins.control[line]))
    }
}

/// The control lines of one node.
fn of_node(lines: &[u64; 4], node: usize) -> u8 {
    lines.iter().enumerate().fold(0, |all, (index, line)| all | ((line >> node & 1) as u8) << index)
}

/// All of so many nodes.
const fn word(nodes: usize) -> u64 {
    if nodes >= 64 { u64::MAX } else { (1 << nodes) - 1 }
}

/// The control lines as [`Member`] counts them.
pub const SHIFT: u8 = 1;
/// See [`SHIFT`].
pub const BIT: u8 = 2;
/// See [`SHIFT`].
pub const COMMIT: u8 = 4;
/// See [`SHIFT`].
pub const LOAD: u8 = 8;
const CHANNEL_MASK: u8 = (1 << CHANNELS) - 1;
