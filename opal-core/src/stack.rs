//! Which calls a thread is in: its stack unwound by the tables that compilers leave for exceptions (.eh_frame).
//!
//! All memory is read through the system, so that a damaged stack or table ends the walk and not the process; nothing is
//! allocated and no lock is taken, so that a signal handler may do it; and another process can be looked at just so.
//!
//! Sources: System V ABI for AMD64 §3.7 and §6.2, DWARF 5 §6.4, Linux Standard Base 5.0 §10.6 (.eh_frame, .eh_frame_hdr).

mod cfa;
mod image;
mod registers;
mod symbol;
mod table;

pub use image::{Image, Process};
pub use registers::{PC, Registers, SP};
pub use symbol::Name;

/// Where a thread is in one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The instruction that runs, or the one after the call.
    pub address: u64,
    /// Whether it is the one after a call.
    pub is_return: bool,
}

/// A walk from the innermost function outwards.
pub struct Walk<'a> {
    process: &'a Process,
    registers: Registers,
    is_return: bool,
    is_over: bool,
}

impl<'a> Walk<'a> {
    /// Of a thread that stopped with these registers.
    pub fn new(process: &'a Process, registers: Registers) -> Walk<'a> {
        Walk { process, registers, is_return: false, is_over: false }
    }
}

impl Iterator for Walk<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.is_over || self.registers[PC] == 0 {
            return None;
        }
        let frame = Frame { address: self.registers[PC], is_return: self.is_return };
        match self.caller(frame) {
            // Each caller's frame lies above: whatever the tables say, the walk ends.
            Some(registers) if registers[SP] > self.registers[SP] => self.registers = registers,
            _ => self.is_over = true,
        }
        self.is_return = true;
        Some(frame)
    }
}

impl Walk<'_> {
    fn caller(&self, frame: Frame) -> Option<Registers> {
        // The instruction after a call may belong to the next function.
        let inside = frame.address - u64::from(frame.is_return);
        let rules = self.process.image(inside).and_then(|image| {
            let entry = table::find(self.process, &image, inside)?;
            cfa::rules(self.process, &entry, inside)
        });
        match rules {
            Some(rules) => rules.apply(self.process, &self.registers),
            // A call to no code at all: what called stands on top of the stack.
            None if !frame.is_return => {
                let mut registers = self.registers;
                registers[PC] = self.process.word(registers[SP])?;
                registers[SP] += 8;
                self.process.image(registers[PC]).is_some().then_some(registers)
            }
            None => None,
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "stack/tests.rs"]
mod tests;
