//! Data in messages: what processes ask of a window, what they send with that, and what comes back.

use super::memory::Memory;
use super::raw;
use super::rounds::Rounds;
use super::runs::{Cursor, RUN_BYTES, WindowRun, merge};
use super::survey::{Cell, list};
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::AccessKind;
use alloc::vec::Vec;
use core::ops::Range;
use opal_core::sys::Errno;

impl Rounds<'_> {
    /// How long the message is that asks for a cell.
    pub fn request(&self) -> fn(&Cell) -> usize {
        match self.job.direction {
            AccessKind::Write if self.direct.is_none() => |cell| cell.runs * RUN_BYTES + cell.bytes,
            _ => |cell| cell.runs * RUN_BYTES,
        }
    }

    /// How long the message is that brings one.
    pub fn reply(&self) -> fn(&Cell) -> usize {
        if self.direct.is_none() { reply } else { |_| 0 }
    }

    /// Puts the messages for the other processes together.
    pub fn ask(&mut self, wanted: &[Cell], round: usize) {
        let mut rest = &mut self.memory.out[..];
        for (rank, cell) in wanted.iter().enumerate() {
            if rank == self.job.comm.rank as usize || cell.bytes == 0 {
                continue;
            }
            self.memory.runs.clear();
            list(&self.job.target, cell, self.windows.window(rank, round).start, &mut self.memory.runs);
            let (words, behind) = rest.split_at_mut(cell.runs * RUN_BYTES);
            for (word, run) in words.chunks_exact_mut(RUN_BYTES).zip(&self.memory.runs) {
                word.copy_from_slice(&run.word());
            }
            rest = behind;
            if self.job.direction == AccessKind::Write && self.direct.is_none() {
                let (data, behind) = rest.split_at_mut(cell.bytes);
                self.data.pack(cell.position, data);
                rest = behind;
            }
        }
    }

    /// Lists what all want of this process's window, by rank and as one.
    pub fn hear(&mut self, asked: &[Cell], own: &Cell, window: &Range<u64>) -> Result<()> {
        let request = self.request();
        let Memory { buffer, came, runs, merged, .. } = &mut self.memory;
        runs.clear();
        let mut rest = &came[..];
        for (rank, cell) in asked.iter().enumerate() {
            if rank == self.job.comm.rank as usize {
                list(&self.job.target, own, window.start, runs);
            } else if cell.bytes > 0 {
                let words = &rest[..cell.runs * RUN_BYTES];
                let first = runs.len();
                runs.extend(words.chunks_exact(RUN_BYTES).map(WindowRun::of_word));
                let theirs = &runs[first..];
                let grow = theirs.windows(2).all(|pair| pair[0].end() <= pair[1].offset as usize);
                if !grow || theirs.iter().map(|run| run.bytes as usize).sum::<usize>() != cell.bytes {
                    return Err(impossible());
                }
                rest = &rest[request(cell)..];
            }
        }
        let mut lists: Vec<&[WindowRun]> = Vec::with_capacity(asked.len());
        let mut left = &runs[..];
        for cell in asked {
            let (list, behind) = left.split_at_checked(cell.runs).ok_or_else(impossible)?;
            lists.push(list);
            left = behind;
        }
        let length = window.end - window.start;
        // What is moved directly needs no room for all of it.
        let room = if self.direct.is_some() { usize::MAX } else { buffer.len() };
        if self.job.direction == AccessKind::Read {
            let joined = merge(&mut lists.clone(), GAP, length, merged).ok_or_else(impossible)?;
            if joined <= room {
                return Ok(());
            }
        }
        let bytes = merge(&mut lists, 0, length, merged).ok_or_else(impossible)?;
        if bytes > room { Err(impossible()) } else { Ok(()) }
    }

    /// Writes a window. Where processes write the same bytes the highest rank's stay.
    pub fn write(&mut self, window: &Range<u64>, asked: &[Cell], own: &Cell) -> Result<()> {
        let (mut at, mut first) = (0, 0);
        let Memory { buffer, came, runs, merged, .. } = &mut self.memory;
        for (rank, cell) in asked.iter().enumerate() {
            let list = first..first + cell.runs;
            first = list.end;
            let mut cursor = Cursor::default();
            let mut place = |run: &WindowRun| {
                let begin = cursor.place(merged, *run);
                begin..begin + run.bytes as usize
            };
            if rank == self.job.comm.rank as usize {
                self.data.seek(own.position);
                for run in &runs[list] {
                    self.data.pack_next(&mut buffer[place(run)]);
                }
            } else if cell.bytes > 0 {
                at += cell.runs * RUN_BYTES;
                for run in &runs[list] {
                    let to = place(run);
                    let bytes = to.len();
                    buffer[to].copy_from_slice(&came[at..at + bytes]);
                    at += bytes;
                }
            }
        }
        self.transfer(window);
        Ok(())
    }

    /// Reads a window, and puts together what each of the others gets of it. This process's own part goes to its memory.
    pub fn read(&mut self, window: &Range<u64>, asked: &[Cell], own: &Cell) -> Result<()> {
        let end = self.transfer(window);
        let (mut at, mut first, mut own_moved) = (0, 0, 0);
        let Memory { buffer, out, runs, merged, .. } = &mut self.memory;
        for (rank, cell) in asked.iter().enumerate() {
            let list = first..first + cell.runs;
            first = list.end;
            let mut cursor = Cursor::default();
            // What was read of it, in the buffer.
            let mut there = |run: &WindowRun| {
                let begin = cursor.place(merged, *run);
                begin..(begin + run.bytes as usize).min(end).max(begin)
            };
            if rank == self.job.comm.rank as usize {
                self.data.seek(own.position);
                for run in &runs[list] {
                    let piece = there(run);
                    let cut = piece.len() < run.bytes as usize;
                    own_moved += piece.len();
                    self.data.unpack_next(&buffer[piece]);
                    if cut {
                        break;
                    }
                }
            } else if cell.bytes > 0 {
                let mut to = at + LENGTH_BYTES;
                for run in &runs[list] {
                    let piece = &buffer[there(run)];
                    out[to..to + piece.len()].copy_from_slice(piece);
                    to += piece.len();
                }
                let moved = (to - at - LENGTH_BYTES) as u64;
                out[at..at + LENGTH_BYTES].copy_from_slice(&moved.to_ne_bytes());
                at += reply(cell);
            }
        }
        self.moved(own, own_moved);
        Ok(())
    }

    /// Moves the merged runs between file and buffer. Returns how many bytes of the buffer were moved.
    fn transfer(&mut self, window: &Range<u64>) -> usize {
        let Memory { buffer, merged, .. } = &mut self.memory;
        let mut at = 0;
        let mut places = merged.iter().map(|run| {
            let from = at;
            at += run.bytes as usize;
            (window.start + u64::from(run.offset), from..at)
        });
        let moved = raw::transfer(&self.job.target, buffer, &mut places, self.job.direction);
        if let Some(errno) = moved.failed {
            let mut left = moved.bytes;
            let cut = merged.iter().find(|run| {
                let is_cut = left < run.bytes as usize;
                left -= if is_cut { 0 } else { run.bytes as usize };
                is_cut
            });
            let offset = cut.map_or(window.end, |run| window.start + u64::from(run.offset) + left as u64);
            self.fails(offset, errno);
        }
        moved.bytes
    }

    /// A byte of the file could not be read or written.
    pub fn fails(&mut self, offset: u64, errno: Errno) {
        let earlier = self.failed.is_some_and(|(first, _)| first <= offset);
        self.failed = if earlier { self.failed } else { Some((offset, errno)) };
    }

    /// Takes over what the others have read.
    pub fn unpack(&mut self, wanted: &[Cell]) -> Result<()> {
        let mut at = 0;
        for (rank, cell) in wanted.iter().enumerate() {
            if rank == self.job.comm.rank as usize || cell.bytes == 0 {
                continue;
            }
            let (length, data) = self.memory.came[at..at + reply(cell)].split_at(LENGTH_BYTES);
            let moved = u64::from_ne_bytes(length.try_into().map_err(|_| impossible())?) as usize;
            self.data.unpack(cell.position, data.get(..moved).ok_or_else(impossible)?);
            self.moved(cell, moved);
            at += reply(cell);
        }
        Ok(())
    }

    fn moved(&mut self, cell: &Cell, bytes: usize) {
        if bytes < cell.bytes {
            self.short = self.short.min(cell.position + bytes);
        }
    }
}

/// How long the message is that brings a cell.
fn reply(cell: &Cell) -> usize {
    LENGTH_BYTES + cell.bytes
}

fn impossible() -> Fault {
    Fault::new(Class::Intern)
        .because("another process asks for bytes outside the part of the file that this one gathers")
}

/// Of the length before data that was read.
const LENGTH_BYTES: usize = 8;
/// Reading over so much that nobody wants costs less than another call of the system.
const GAP: usize = 4096;
