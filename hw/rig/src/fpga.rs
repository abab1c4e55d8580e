//! The machine at the other end of the cable: the Rust model that `cargo xtask fpga verify` compares with the Verilog, or
//! the Verilog.

use crate::cable::Cable;
use alloc::boxed::Box;
use hw_fpga::machine::{COMMIT, Channels, Classic, Pins};
use hw_fpga::{CHANNELS, NODES, wire};

/// Which machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As published: all nodes take part.
    Classic,
    /// Nodes join and leave channels.
    Channels,
}

/// What a machine says to all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// By channel.
    pub levels: u8,
    /// By node.
    pub read_back: u64,
    /// The levels are the members' own, not what the machine came up with.
    pub known: bool,
}

impl Answer {
    /// Of the classic machine, whose read-back lines all say that it knows.
    pub const fn of_classic(level: bool, known: bool) -> Answer {
        // Levels that no machine drives are pulled up.
        let levels = level as u8 | ((1 << CHANNELS) - 2);
        Answer { levels, read_back: if known { u64::MAX } else { 0 }, known }
    }
}

/// The clocked logic: the Rust model, or the Verilog that it is compared with.
pub trait Core {
    /// So many ticks with these outputs.
    fn run(&mut self, ticks: usize, pins: &Pins) -> Answer;
}

/// A machine that was just powered up.
pub struct Machine {
    core: Box<dyn Core>,
    kind: Kind,
    /// Levels that a machine puts after it has heard its wires count as flips from then on.
    levels: Option<u8>,
    stuck: Stuck,
    /// After so many barriers node 0 hears nothing any more.
    deaf_after: u64,
}

/// A fault to come: the output wires of node 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Never.
    No,
    /// They break when levels have flipped so often.
    After(u64),
    /// They say what they said when they broke.
    At(u8),
}

impl Machine {
    /// The model, for so many nodes.
    pub fn new(kind: Kind, nodes: usize, stuck: Stuck) -> Machine {
        assert!((1..=NODES).contains(&nodes));
        let core: Box<dyn Core> = match kind {
            Kind::Classic => Box::new(Classic::new(nodes, STAGES, 1)),
            Kind::Channels => Box::new(Channels::new(nodes, STAGES, 1)),
        };
        Machine::with_core(core, kind, stuck)
    }

    /// With this core.
    pub fn with_core(core: Box<dyn Core>, kind: Kind, stuck: Stuck) -> Machine {
        Machine { core, kind, levels: None, stuck, deaf_after: u64::MAX }
    }

    /// The status lines of node 0 break when levels have flipped so often, counted over all machines of the cable.
    pub fn deafen_after(self, flips: u64) -> Machine {
        Machine { deaf_after: flips, ..self }
    }

    /// Looks at all outputs, ticks until they have had their effect, and answers. Returns what `written` was before.
    pub fn turn(&mut self, cable: &Cable, nodes: usize) -> u32 {
        let written = cable.written();
        let mut pins = Pins::default();
        for node in 0..nodes {
            let (mut data, control) = cable.outputs(node);
            if node == 0 {
                data = self.sticks(data, cable);
            }
            let lines = wire::control_lines(control);
            for (channel, word) in pins.out.iter_mut().enumerate() {
                *word |= u64::from(data & wire::OUT[channel].mask() != 0) << node;
            }
            for (line, word) in pins.control.iter_mut().enumerate() {
                *word |= u64::from(lines >> line & 1) << node;
            }
        }
        let Answer { levels, read_back, known } = self.core.run(self.ticks(&pins, nodes), &pins);
        let before = if known { self.levels.replace(levels) } else { self.levels.take() };
        cable.add_flips(before.map_or(0, |before| if known { (before ^ levels).count_ones() } else { 0 }));
        let deaf = usize::from(cable.flips() > self.deaf_after);
        for node in deaf..nodes {
            cable.put_status(node, wire::status_register(levels, read_back >> node & 1 == 1));
        }
        cable.answered(written);
        written
    }

    fn sticks(&mut self, data: u8, cable: &Cable) -> u8 {
        match self.stuck {
            Stuck::After(flips) if cable.flips() >= flips => self.stuck = Stuck::At(data),
            _ => {}
        }
        if let Stuck::At(broke) = self.stuck { broke } else { data }
    }

    /// Until what the outputs say has had its effect.
    fn ticks(&self, pins: &Pins, nodes: usize) -> usize {
        match self.kind {
            // Its synchronisers fill after power-up, then come two stages and the level.
            Kind::Classic => 2 * STAGES + 2,
            // Commands are done in turns.
            Kind::Channels => {
                STAGES + 2 + if pins.control[COMMIT.trailing_zeros() as usize] != 0 { nodes + 1 } else { 0 }
            }
        }
    }
}

impl Core for Classic {
    fn run(&mut self, ticks: usize, pins: &Pins) -> Answer {
        (0..ticks).for_each(|_| self.tick(pins.out[0]));
        Answer::of_classic(self.channel.level, self.channel.known)
    }
}

impl Core for Channels {
    fn run(&mut self, ticks: usize, pins: &Pins) -> Answer {
        (0..ticks).for_each(|_| self.tick(pins));
        Answer { levels: self.levels(), read_back: self.read_back(pins), known: true }
    }
}

const STAGES: usize = 2;
