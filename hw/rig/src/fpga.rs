//! The machine at the other end of the cable: the Rust model that `cargo xtask fpga verify` compares with the Verilog.

use crate::cable::Cable;
use alloc::boxed::Box;
use hw_fpga::machine::{Channels, Classic, Pins};
use hw_fpga::{CHANNELS, NODES, wire};

/// Which machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As published: all nodes take part.
    Classic,
    /// Nodes join and leave channels.
    Channels,
}

/// A machine that was just powered up.
pub struct Machine {
    core: Core,
    /// Levels that a machine puts after it has heard its wires count as flips from then on.
    levels: Option<u8>,
    stuck: Stuck,
}

enum Core {
    Classic(Classic),
    Channels(Box<Channels>),
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
    /// For so many nodes.
    pub fn new(kind: Kind, nodes: usize, stuck: Stuck) -> Machine {
        assert!((1..=NODES).contains(&nodes));
        let core = match kind {
            Kind::Classic => Core::Classic(Classic::new(nodes, STAGES, 1)),
            Kind::Channels => Core::Channels(Box::new(Channels::new(nodes, STAGES, 1))),
        };
        Machine { core, levels: None, stuck }
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
        let (levels, read_back, known) = self.answer(&pins, nodes);
        let before = if known { self.levels.replace(levels) } else { self.levels.take() };
        cable.add_flips(before.map_or(0, |before| if known { (before ^ levels).count_ones() } else { 0 }));
        for node in 0..nodes {
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

    /// Levels, read-back lines, and whether the levels are the members' own.
    fn answer(&mut self, pins: &Pins, nodes: usize) -> (u8, u64, bool) {
        match &mut self.core {
            Core::Classic(machine) => {
                // Its synchronisers fill after power-up, then come two stages and the level.
                (0..2 * STAGES + 2).for_each(|_| machine.tick(pins.out[0]));
                // Levels that no machine drives are pulled up.
                let levels = u8::from(machine.channel.level) | ((1 << CHANNELS) - 2);
                (levels, if machine.channel.known { u64::MAX } else { 0 }, machine.channel.known)
            }
            Core::Channels(machine) => {
                (0..STAGES + 2).for_each(|_| machine.tick(pins));
                if machine.member[..nodes].iter().any(|member| member.pending) {
                    (0..nodes + 1).for_each(|_| machine.tick(pins));
                }
                (machine.levels(), machine.read_back(pins), true)
            }
        }
    }
}

const STAGES: usize = 2;
