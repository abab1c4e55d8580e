//! How a function's caller is found: the instructions of an entry run up to an address give rules, rules give registers.

use super::image::Process;
use super::registers::{PC, Registers, SP};
use super::table::{Cursor, Entry};

/// Where the caller's value of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saved {
    /// Still in the register.
    Same,
    /// In memory, this far from the frame.
    At(i64),
    /// Nobody knows.
    Lost,
}

/// How the caller of a function at one place is found.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The frame's address is this register and an offset.
    register: usize,
    offset: i64,
    saved: [Saved; 17],
}

impl Rules {
    /// The caller's registers.
    pub fn apply(&self, process: &Process, registers: &Registers) -> Option<Registers> {
        let frame = registers.get(self.register)?.wrapping_add_signed(self.offset);
        let mut caller = *registers;
        for (value, saved) in caller.iter_mut().zip(&self.saved) {
            match saved {
                Saved::Same => {}
                Saved::At(offset) => *value = process.word(frame.wrapping_add_signed(*offset))?,
                Saved::Lost => *value = 0,
            }
        }
        // Where a function was entered from is always in memory; outermost ones say that there is none.
        if self.saved[PC] == Saved::Same {
            return None;
        }
        if self.saved[SP] == Saved::Same {
            caller[SP] = frame;
        }
        Some(caller)
    }
}

/// Runs the instructions of an entry up to an address.
pub fn rules(process: &Process, entry: &Entry, address: u64) -> Option<Rules> {
    let start = Rules { register: SP, offset: 8, saved: [Saved::Same; 17] };
    let mut run = Run { entry, location: entry.begin, rules: start, initial: start, kept: [start; KEPT], depth: 0 };
    run.instructions(process, entry.common, u64::MAX)?;
    run.initial = run.rules;
    run.instructions(process, entry.own, address)?;
    Some(run.rules)
}

struct Run<'a> {
    entry: &'a Entry,
    location: u64,
    rules: Rules,
    initial: Rules,
    kept: [Rules; KEPT],
    depth: usize,
}

impl Run<'_> {
    fn instructions(&mut self, process: &Process, [from, to]: [u64; 2], address: u64) -> Option<()> {
        let mut cursor = Cursor { process, at: from };
        while cursor.at < to && self.location <= address {
            let before = self.rules;
            let code = cursor.byte()?;
            self.one(code, &mut cursor)?;
            // What comes after this place in the function does not hold yet.
            if self.location > address {
                self.rules = before;
            }
        }
        Some(())
    }

    fn one(&mut self, code: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        let low = usize::from(code & 0x3f);
        match (code >> 6, code) {
            (1, _) => self.advance(low as u64),
            (2, _) => {
                let offset = cursor.unsigned()? as i64 * self.entry.data_factor;
                self.save(low, Saved::At(offset));
            }
            (3, _) => self.restore(low),
            (_, 0x00) => {}
            (_, 0x01) => return None,
            (_, 0x02) => self.advance(u64::from(cursor.byte()?)),
            (_, 0x03) => self.advance(u64::from(cursor.quarter()?)),
            (_, 0x04) => self.advance(u64::from(cursor.half()?)),
            (_, 0x05) => {
                let register = cursor.unsigned()? as usize;
                let offset = cursor.unsigned()? as i64 * self.entry.data_factor;
                self.save(register, Saved::At(offset));
            }
            (_, 0x06) => self.restore(cursor.unsigned()? as usize),
            (_, 0x07) => self.save(cursor.unsigned()? as usize, Saved::Lost),
            (_, 0x08) => self.save(cursor.unsigned()? as usize, Saved::Same),
            (_, 0x0a) => {
                *self.kept.get_mut(self.depth)? = self.rules;
                self.depth += 1;
            }
            (_, 0x0b) => {
                self.depth = self.depth.checked_sub(1)?;
                self.rules = self.kept[self.depth];
            }
            (_, 0x0c) => {
                self.rules.register = cursor.unsigned()? as usize;
                self.rules.offset = cursor.unsigned()? as i64;
            }
            (_, 0x0d) => self.rules.register = cursor.unsigned()? as usize,
            (_, 0x0e) => self.rules.offset = cursor.unsigned()? as i64,
            (_, 0x11) => {
                let register = cursor.unsigned()? as usize;
                let offset = cursor.signed()? * self.entry.data_factor;
                self.save(register, Saved::At(offset));
            }
            (_, 0x12) => {
                self.rules.register = cursor.unsigned()? as usize;
                self.rules.offset = cursor.signed()? * self.entry.data_factor;
            }
            (_, 0x13) => self.rules.offset = cursor.signed()? * self.entry.data_factor,
            (_, 0x2e) => _ = cursor.unsigned()?,
            // Expressions: stubs of the linker and frames of signals.
            _ => return None,
        }
        Some(())
    }

    fn advance(&mut self, by: u64) {
        self.location = self.location.saturating_add(by.saturating_mul(self.entry.code_factor));
    }

    fn save(&mut self, register: usize, saved: Saved) {
        // Others hold no addresses.
        if let Some(rule) = self.rules.saved.get_mut(register) {
            *rule = saved;
        }
    }

    fn restore(&mut self, register: usize) {
        self.save(register, self.initial.saved.get(register).copied().unwrap_or(Saved::Same));
    }
}

const KEPT: usize = 8;
