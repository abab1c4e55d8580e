//! The entry of `.eh_frame` for an address: found by the sorted table of `.eh_frame_hdr`, then read.

use super::image::{Image, Process};

/// What is known of a function's frames.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// First address of the function.
    pub begin: u64,
    /// Instructions that hold for all functions of its kind: from, to.
    pub common: [u64; 2],
    /// Its own.
    pub own: [u64; 2],
    /// Factors of the instructions' numbers.
    pub code_factor: u64,
    /// Of offsets on the stack.
    pub data_factor: i64,
}

/// The entry of the function that holds an address.
pub fn find(process: &Process, image: &Image, address: u64) -> Option<Entry> {
    let header = image.unwind_table(process)?;
    // Version 1, the usual encodings: count as udata4, table as pairs of sdata4 from the header's address.
    let mut kinds = [0; 4];
    if !process.read(header, &mut kinds) || kinds[0] != 1 || kinds[2] != UDATA4 || kinds[3] != DATAREL_SDATA4 {
        return None;
    }
    let mut cursor = Cursor { process, at: header + 4 };
    cursor.encoded(kinds[1])?;
    let count = u64::from(cursor.half()?);
    let table = cursor.at;
    let begin_of = |index: u64| Some(header.wrapping_add_signed(i64::from(process.half(table + 8 * index)? as i32)));
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if begin_of(middle)? <= address { low = middle + 1 } else { high = middle }
    }
    let found = table + 8 * low.checked_sub(1)? + 4;
    let entry = header.wrapping_add_signed(i64::from(process.half(found)? as i32));
    read(process, entry, address)
}

fn read(process: &Process, at: u64, address: u64) -> Option<Entry> {
    let mut own = Cursor { process, at };
    let length = own.half()?;
    let end = own.at + u64::from(length);
    let pointer_at = own.at;
    let common = pointer_at.wrapping_sub(u64::from(own.half()?));
    let kind = Common::read(process, common)?;
    let begin = own.encoded(kind.encoding)?;
    // Only its size, so nothing is added.
    let size = own.encoded(kind.encoding & 0x0f)?;
    if address < begin || address - begin >= size {
        return None;
    }
    if kind.is_augmented {
        own.at += own.unsigned().filter(|length| *length < 1 << 16)?;
    }
    Some(Entry {
        begin,
        common: kind.instructions,
        own: [own.at, end],
        code_factor: kind.code_factor,
        data_factor: kind.data_factor,
    })
}

/// What entries have in common.
struct Common {
    encoding: u8,
    is_augmented: bool,
    code_factor: u64,
    data_factor: i64,
    instructions: [u64; 2],
}

impl Common {
    fn read(process: &Process, at: u64) -> Option<Common> {
        let mut cursor = Cursor { process, at };
        let length = cursor.half()?;
        let end = cursor.at + u64::from(length);
        let (id, version) = (cursor.half()?, cursor.byte()?);
        if id != 0 || version != 1 {
            return None;
        }
        let mut letters = [0; 8];
        let mut count = 0;
        loop {
            match cursor.byte()? {
                0 => break,
                letter => *letters.get_mut(count)? = letter,
            }
            count += 1;
        }
        let (code_factor, data_factor) = (cursor.unsigned()?, cursor.signed()?);
        // The return address is register 16 on this machine.
        if cursor.byte()? != 16 {
            return None;
        }
        let mut common =
            Common { encoding: 0, is_augmented: letters[0] == b'z', code_factor, data_factor, instructions: [0, end] };
        let data = if common.is_augmented { cursor.unsigned()? } else { 0 };
        common.instructions[0] = cursor.at.checked_add(data)?;
        for letter in &letters[1..count.max(1)] {
            match letter {
                b'R' => common.encoding = cursor.byte()?,
                b'P' => {
                    let encoding = cursor.byte()?;
                    cursor.encoded(encoding)?;
                }
                b'L' => _ = cursor.byte()?,
                b'S' => {}
                _ => return None,
            }
        }
        Some(common)
    }
}

/// Reads numbers one after the other.
pub struct Cursor<'a> {
    /// Where they are.
    pub process: &'a Process,
    /// The next one.
    pub at: u64,
}

impl Cursor<'_> {
    /// One byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.process.byte(self.at - 1)
    }

    /// Two bytes.
    pub fn quarter(&mut self) -> Option<u16> {
        self.at += 2;
        self.process.quarter(self.at - 2)
    }

    /// Four bytes.
    pub fn half(&mut self) -> Option<u32> {
        self.at += 4;
        self.process.half(self.at - 4)
    }

    /// ULEB128.
    pub fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// SLEB128.
    pub fn signed(&mut self) -> Option<i64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let unused = 64 - (shift + 7).min(64);
                return Some(value << unused >> unused);
            }
        }
        None
    }

    /// A pointer as the tables encode it (Linux Standard Base §10.5); those relative to data or functions do not occur.
    pub fn encoded(&mut self, encoding: u8) -> Option<u64> {
        let start = self.at;
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => {
                self.at += 8;
                self.process.word(start)?
            }
            0x01 => self.unsigned()?,
            0x02 => u64::from(self.quarter()?),
            0x03 => u64::from(self.half()?),
            0x09 => self.signed()? as u64,
            0x0a => i64::from(self.quarter()? as i16) as u64,
            0x0b => i64::from(self.half()? as i32) as u64,
            _ => return None,
        };
        match encoding & 0x70 {
            0x00 => Some(value),
            0x10 => Some(start.wrapping_add(value)),
            _ => None,
        }
    }
}

const UDATA4: u8 = 0x03;
const DATAREL_SDATA4: u8 = 0x3b;
