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
pub enum Machine {
    /// See [`Kind::Classic`].
    Classic(Classic),
    /// See [`Kind::Channels`].
    Channels(Box<Channels>),
}

impl Machine {
    /// For so many nodes.
    pub fn new(kind: Kind, nodes: usize) -> Machine {
        assert!((1..=NODES).contains(&nodes));
        match kind {
            Kind::Classic => Machine::Classic(Classic::new(nodes, STAGES, 1)),
            Kind::Channels => Machine::Channels(Box::new(Channels::new(nodes, STAGES, 1))),
        }
    }

    /// Looks at all outputs, ticks until they have had their effect, and answers. Returns what `written` was before.
    pub fn turn(&mut self, cable: &Cable, nodes: usize) -> u32 {
        let written = cable.written();
        let mut pins = Pins::default();
        for node in 0..nodes {
            let (data, control) = cable.outputs(node);
            let lines = wire::control_lines(control);
            for (channel, word) in pins.out.iter_mut().enumerate() {
                *word |= u64::from(data & wire::OUT[channel].mask() != 0) << node;
            }
            for (line, word) in pins.control.iter_mut().enumerate() {
                *word |= u64::from(lines >> line & 1) << node;
            }
        }
        let (levels, read_back) = self.answer(&pins, nodes);
        for node in 0..nodes {
            cable.put_status(node, wire::status_register(levels, read_back >> node & 1 == 1));
        }
        cable.answered(written);
        written
    }

    fn answer(&mut self, pins: &Pins, nodes: usize) -> (u8, u64) {
        match self {
            Machine::Classic(machine) => {
                // Its synchronisers fill after power-up, then come two stages and the level.
                (0..2 * STAGES + 2).for_each(|_| machine.tick(pins.out[0]));
                // Levels that no machine drives are pulled up.
                let levels = u8::from(machine.channel.level) | ((1 << CHANNELS) - 2);
                (levels, if machine.channel.known { u64::MAX } else { 0 })
            }
            Machine::Channels(machine) => {
                (0..STAGES + 2).for_each(|_| machine.tick(pins));
                if machine.member[..nodes].iter().any(|member| member.pending) {
                    (0..nodes + 1).for_each(|_| machine.tick(pins));
                }
                (machine.levels(), machine.read_back(pins))
            }
        }
    }
}

const STAGES: usize = 2;
