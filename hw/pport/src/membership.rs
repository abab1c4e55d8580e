//! Joining and leaving channels at a node's port: a command over the control lines, and the answer that is read back.

use crate::Lines;
use hw_fpga::{CHANNELS, FRAME, frame, machine, wire};

impl Lines {
    /// Shifts a frame in, commits it, and reads back which channels this node is a member of, and which have members.
    /// `None`: nobody confirms.
    pub fn command(&self, frame: u8) -> Option<(u8, u8)> {
        for lines in frame::shifted(frame) {
            self.control_lines(lines)?;
        }
        self.control_lines(machine::COMMIT)?;
        let done = (0..COMMIT_READS).any(|_| {
            self.settle();
            wire::status(self.status()).1
        });
        self.control_lines(0)?;
        if done { self.read_back() } else { None }
    }

    /// Which channels this node is a member of, and which have members. Without a machine it is whatever the line says.
    pub fn read_back(&self) -> Option<(u8, u8)> {
        self.control_lines(machine::LOAD)?;
        let mut read = 0u8;
        for _ in 0..FRAME {
            read = read << 1 | u8::from(wire::status(self.status()).1);
            self.control_lines(machine::LOAD | machine::SHIFT)?;
            self.control_lines(machine::LOAD)?;
        }
        self.control_lines(0)?;
        Some(frame::parts(read))
    }

    fn control_lines(&self, lines: u8) -> Option<()> {
        self.change_control(wire::control_register(0) ^ wire::control_register(ALL), wire::control_register(lines));
        self.settle().then_some(())
    }
}

const ALL: u8 = (1 << CHANNELS) - 1;
const COMMIT_READS: usize = 64;
