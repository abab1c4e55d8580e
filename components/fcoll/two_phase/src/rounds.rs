//! The rounds of one access.
//!
//! In a round each process sends every other one a message: its runs of the window that the other one gathers, with the data
//! behind them (writing). When reading, another message goes back: how much of it was there, and that. What a process wants of
//! its own window goes straight between the user's memory and the window.

use crate::plan::Domains;
use crate::raw::{self, UserData, alltoallv};
use crate::runs::{RUN_BYTES, Run, merge};
use crate::survey::{Cell, list, survey};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{Outcome, agree, exchange, failure};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::Job;
use opal_core::sync::ConditionalLock;
use opal_core::sys::Errno;

/// An access under way.
pub struct Rounds<'a> {
    job: &'a Job<'a>,
    domains: Domains,
    data: UserData,
    // What this process wants of each window, and what each process wants of this one's: those of a process lie together.
    wanted: Vec<Cell>,
    asked: Vec<Cell>,
    memory: Memory,
    // The first byte of the file that this process could not read or write for others, and why.
    failed: Option<(u64, Errno)>,
    // The first byte of the data that was not read.
    short: usize,
}

/// All memory that the rounds need.
#[derive(Default)]
struct Memory {
    window: Vec<u8>,
    out: Vec<u8>,
    came: Vec<u8>,
    // Of this process's window: what all want, by rank, and the same as one list.
    runs: Vec<Run>,
    merged: Vec<Run>,
}

impl<'a> Rounds<'a> {
    /// Does all of this access.
    pub fn run(job: &'a Job<'a>, domains: Domains, data: UserData) -> Outcome {
        let prepared = Rounds::prepare(job, domains, data);
        prepared.and_then(Rounds::all).unwrap_or_else(Outcome::from)
    }

    /// All tell each other what they want of all windows, and then take the memory for it, or none does.
    fn prepare(job: &'a Job<'a>, domains: Domains, data: UserData) -> Result<Rounds<'a>> {
        let (processes, rounds) = (job.comm.size(), domains.rounds() as usize);
        let wanted = agree(job.comm, survey(&job.target, data.bytes(), &domains, processes))?;
        let words: Vec<u64> = wanted.iter().map(Cell::word).collect();
        let mut theirs = vec![0; words.len()];
        alltoallv(job.comm, &words, &vec![rounds; processes], &mut theirs, &vec![rounds; processes])?;
        let asked: Vec<Cell> = theirs.into_iter().map(Cell::of_word).collect();
        let short = data.bytes();
        let mut all = Rounds { job, domains, data, wanted, asked, memory: Memory::default(), failed: None, short };
        let memory = all.reserve();
        all.memory = agree(job.comm, memory)?;
        Ok(all)
    }

    fn reserve(&self) -> Result<Memory> {
        let (mut out, mut came, mut runs) = (0, 0, 0);
        for round in 0..self.domains.rounds() as usize {
            let (wanted, asked) = (self.each(&self.wanted, round), self.each(&self.asked, round));
            let sum = |cells: &[Cell], length: fn(&Cell) -> usize| self.others(cells, length).iter().sum::<usize>();
            out = out.max(sum(&wanted, self.request())).max(sum(&asked, reply));
            came = came.max(sum(&asked, self.request())).max(sum(&wanted, reply));
            runs = runs.max(asked.iter().map(|cell| cell.runs).sum());
            runs = wanted.iter().map(|cell| cell.runs).fold(runs, usize::max);
        }
        let reads = self.job.direction == AccessKind::Read;
        let merged = if reads { runs.min(self.domains.window_bytes() / GAP + 1) } else { runs };
        let mut memory = KEPT.lock().take().unwrap_or_default();
        fit(&mut memory.window, self.domains.window_bytes())?;
        fit(&mut memory.out, out)?;
        fit(&mut memory.came, came)?;
        Ok(Memory { runs: room(runs)?, merged: room(merged)?, ..memory })
    }

    fn all(mut self) -> Result<Outcome> {
        for round in 0..self.domains.rounds() {
            // Only a process that is lost ends it early.
            self.round(round)?;
        }
        self.end()
    }

    /// The cells of one round, by rank.
    fn each(&self, cells: &[Cell], round: usize) -> Vec<Cell> {
        cells.iter().skip(round).step_by(self.domains.rounds() as usize).copied().collect()
    }

    /// Lengths of messages with other processes, by rank.
    fn others(&self, cells: &[Cell], length: fn(&Cell) -> usize) -> Vec<usize> {
        let me = self.job.comm.rank as usize;
        cells
            .iter()
            .enumerate()
            .map(|(rank, cell)| if rank == me || cell.bytes == 0 { 0 } else { length(cell) })
            .collect()
    }

    /// How long the message is that asks for a cell.
    fn request(&self) -> fn(&Cell) -> usize {
        match self.job.direction {
            AccessKind::Read => |cell| cell.runs * RUN_BYTES,
            AccessKind::Write => |cell| cell.runs * RUN_BYTES + cell.bytes,
        }
    }

    fn round(&mut self, round: u64) -> Result<()> {
        let me = self.job.comm.rank as usize;
        let (wanted, asked) = (self.each(&self.wanted, round as usize), self.each(&self.asked, round as usize));
        let window = self.domains.window(me, round);
        let (out, came) = (self.others(&wanted, self.request()), self.others(&asked, self.request()));
        self.ask(&wanted, round);
        let Memory { out: sent, came: received, .. } = &mut self.memory;
        alltoallv(self.job.comm, sent, &out, received, &came)?;
        self.hear(&asked, &wanted[me], window.start)?;
        match self.job.direction {
            AccessKind::Write => self.write(&window, &asked, &wanted[me]),
            AccessKind::Read => {
                self.read(&window, &asked, &wanted[me])?;
                let (out, came) = (self.others(&asked, reply), self.others(&wanted, reply));
                let Memory { out: sent, came: received, .. } = &mut self.memory;
                alltoallv(self.job.comm, sent, &out, received, &came)?;
                self.unpack(&wanted)
            }
        }
    }

    /// Puts the messages for the other processes together.
    fn ask(&mut self, wanted: &[Cell], round: u64) {
        let mut rest = &mut self.memory.out[..];
        for (rank, cell) in wanted.iter().enumerate() {
            if rank == self.job.comm.rank as usize || cell.bytes == 0 {
                continue;
            }
            self.memory.runs.clear();
            list(&self.job.target, cell, self.domains.window(rank, round).start, &mut self.memory.runs);
            let (words, behind) = rest.split_at_mut(cell.runs * RUN_BYTES);
            for (word, run) in words.chunks_exact_mut(RUN_BYTES).zip(&self.memory.runs) {
                word.copy_from_slice(&run.word());
            }
            rest = behind;
            if self.job.direction == AccessKind::Write {
                let (data, behind) = rest.split_at_mut(cell.bytes);
                self.data.pack(cell.position, data);
                rest = behind;
            }
        }
    }

    /// Lists what all want of this process's window, by rank and as one.
    fn hear(&mut self, asked: &[Cell], own: &Cell, window: u64) -> Result<()> {
        let request = self.request();
        let Memory { window: bytes, came, runs, merged, .. } = &mut self.memory;
        runs.clear();
        let mut rest = &came[..];
        for (rank, cell) in asked.iter().enumerate() {
            if rank == self.job.comm.rank as usize {
                list(&self.job.target, own, window, runs);
            } else if cell.bytes > 0 {
                let words = &rest[..cell.runs * RUN_BYTES];
                let first = runs.len();
                runs.extend(words.chunks_exact(RUN_BYTES).map(Run::of_word));
                if runs[first..].iter().map(|run| run.bytes as usize).sum::<usize>() != cell.bytes {
                    return Err(impossible());
                }
                rest = &rest[request(cell)..];
            }
        }
        let mut lists: Vec<&[Run]> = Vec::with_capacity(asked.len());
        let mut left = &runs[..];
        for cell in asked {
            let (list, behind) = left.split_at_checked(cell.runs).ok_or_else(impossible)?;
            lists.push(list);
            left = behind;
        }
        let gap = if self.job.direction == AccessKind::Read { GAP } else { 0 };
        merge(&mut lists, gap, bytes.len(), merged).ok_or_else(impossible)
    }

    /// Writes a window. Where processes write the same bytes the highest rank's stay.
    fn write(&mut self, window: &Range<u64>, asked: &[Cell], own: &Cell) -> Result<()> {
        let (mut came, mut first) = (0, 0);
        for (rank, cell) in asked.iter().enumerate() {
            let list = first..first + cell.runs;
            first = list.end;
            if rank == self.job.comm.rank as usize {
                self.data.seek(own.position);
                for run in &self.memory.runs[list] {
                    self.data.pack_next(&mut self.memory.window[run.offset as usize..run.end()]);
                }
            } else if cell.bytes > 0 {
                came += cell.runs * RUN_BYTES;
                for run in &self.memory.runs[list] {
                    let bytes = run.bytes as usize;
                    self.memory.window[run.offset as usize..run.end()]
                        .copy_from_slice(&self.memory.came[came..came + bytes]);
                    came += bytes;
                }
            }
        }
        self.transfer(window);
        Ok(())
    }

    /// Reads a window, and puts together what each of the others gets of it. This process's own part goes to its memory.
    fn read(&mut self, window: &Range<u64>, asked: &[Cell], own: &Cell) -> Result<()> {
        let end = self.transfer(window);
        let (mut at, mut first) = (0, 0);
        for (rank, cell) in asked.iter().enumerate() {
            let list = first..first + cell.runs;
            first = list.end;
            let there = |run: &Run| run.offset as usize..run.end().min(end).max(run.offset as usize);
            if rank == self.job.comm.rank as usize {
                self.data.seek(own.position);
                let mut moved = 0;
                for run in &self.memory.runs[list] {
                    let piece = there(run);
                    moved += piece.len();
                    self.data.unpack_next(&self.memory.window[piece]);
                    if run.end() > end {
                        break;
                    }
                }
                self.moved(own, moved);
            } else if cell.bytes > 0 {
                let mut to = at + LENGTH_BYTES;
                for run in &self.memory.runs[list] {
                    let piece = &self.memory.window[there(run)];
                    self.memory.out[to..to + piece.len()].copy_from_slice(piece);
                    to += piece.len();
                }
                let moved = (to - at - LENGTH_BYTES) as u64;
                self.memory.out[at..at + LENGTH_BYTES].copy_from_slice(&moved.to_ne_bytes());
                at += reply(cell);
            }
        }
        Ok(())
    }

    /// Moves the merged runs between file and window. Returns the end of what was moved, within the window.
    fn transfer(&mut self, window: &Range<u64>) -> usize {
        let Memory { window: bytes, merged, .. } = &mut self.memory;
        let moved = raw::transfer(&self.job.target, bytes, window.start, merged, self.job.direction);
        let mut left = moved.bytes;
        let cut = merged.iter().find(|run| {
            let is_cut = left < run.bytes as usize;
            left -= if is_cut { 0 } else { run.bytes as usize };
            is_cut
        });
        let end = cut.map_or(bytes.len(), |run| run.offset as usize + left);
        if let Some(errno) = moved.failed {
            let offset = window.start + end as u64;
            let earlier = self.failed.is_some_and(|(first, _)| first <= offset);
            self.failed = if earlier { self.failed } else { Some((offset, errno)) };
        }
        end
    }

    /// Takes over what the others have read.
    fn unpack(&mut self, wanted: &[Cell]) -> Result<()> {
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

    /// All learn what failed anywhere.
    fn end(mut self) -> Result<Outcome> {
        let memory = core::mem::take(&mut self.memory);
        if [&memory.window, &memory.out, &memory.came].map(Vec::capacity).iter().sum::<usize>() <= KEPT_BYTES {
            *KEPT.lock() = Some(Memory { runs: Vec::new(), merged: Vec::new(), ..memory });
        }
        let (offset, errno) = self.failed.map_or((u64::MAX, 0), |(offset, errno)| (offset, errno.0));
        let all = exchange(self.job.comm, [offset, errno as u64])?;
        let first = all.iter().enumerate().filter(|(_, [_, errno])| *errno != 0).min_by_key(|(_, [offset, _])| *offset);
        let Some((rank, [offset, errno])) = first else {
            return Ok(Outcome { bytes: self.short as u64, ended: Ok(()) });
        };
        let what = match self.job.direction {
            AccessKind::Read => "cannot be read",
            AccessKind::Write => "cannot be written",
        };
        let errno = Errno(*errno as i32);
        let why = format!("{what} at byte {offset} by rank {rank}, which does it for all there");
        let target = &self.job.target;
        let before = target.view.bytes_within(*offset).saturating_sub(target.position);
        let bytes = (self.short as u64).min(before);
        Ok(Outcome { bytes, ended: Err(failure(errno, target.path, &why)) })
    }
}

/// How long the message is that brings a cell.
fn reply(cell: &Cell) -> usize {
    LENGTH_BYTES + cell.bytes
}

fn room<T>(elements: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(elements).map_err(|_| {
        let why = format!("no memory for {} bytes to gather data in", elements.saturating_mul(size_of::<T>()));
        Fault::new(Class::NoMem).because(why)
    })?;
    Ok(all)
}

/// Makes a buffer so long. What is in it nobody reads before it is written.
fn fit(buffer: &mut Vec<u8>, bytes: usize) -> Result<()> {
    if bytes > buffer.capacity() {
        *buffer = room(bytes)?;
    }
    buffer.resize(bytes, 0);
    Ok(())
}

fn impossible() -> Fault {
    Fault::new(Class::Intern)
        .because("another process asks for bytes outside the part of the file that this one gathers")
}

/// The buffers of the last access, for the next one: to fill them with zeros, and the system's work for new memory, would take longer
/// than to copy what comes there.
static KEPT: ConditionalLock<Option<Memory>> = ConditionalLock::new(None);
/// More is given back.
const KEPT_BYTES: usize = 16 << 20;
/// Of the length before data that was read.
const LENGTH_BYTES: usize = 8;
/// Reading over so much that nobody wants costs less than another call of the system.
const GAP: usize = 4096;
