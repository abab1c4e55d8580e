//! The rounds of one access.
//!
//! In a round each process sends every other one a message: its runs of the window that the other one gathers, with the data
//! behind them (writing). When reading, another message goes back: how much of it was there, and that. What a process wants of
//! its own window goes straight between the user's memory and the window.

use super::super::agree::{agree, exchange};
use super::super::failure::failure;
use super::super::place::Outcome;
use super::direct::{Buffers, DirectData, GatheredWindow};
use super::extent::PAGE;
use super::raw::{self, UserData, alltoallv};
use super::runs::{Cursor, RUN_BYTES, WindowRun, merge};
use super::survey::{CELL_WORDS, Cell, list, survey};
use super::windows::Windows;
use crate::comm::Communicator;
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::AccessKind;
use crate::framework::fcoll::{FRAMEWORK, Job};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use opal_core::sync::ConditionalLock;
use opal_core::sys::Errno;
use opal_core::verbose;

/// An access under way.
pub struct Rounds<'a, W> {
    job: &'a Job<'a>,
    windows: W,
    data: UserData,
    // What this process wants of each window, and what each process wants of this one's: those of a process lie together.
    wanted: Vec<Cell>,
    asked: Vec<Cell>,
    memory: Memory,
    // Data is copied once, and messages tell of places only.
    direct: Option<DirectData>,
    // The first byte of the file that this process could not read or write for others, and why.
    failed: Option<(u64, Errno)>,
    // The first byte of the data that was not read.
    short: usize,
}

/// All memory that the rounds need.
#[derive(Default)]
struct Memory {
    // What is gathered of this process's window.
    buffer: Vec<u8>,
    out: Vec<u8>,
    came: Vec<u8>,
    staged: Vec<u8>,
    // Of this process's window: what all want, by rank, and the same as one list.
    runs: Vec<WindowRun>,
    merged: Vec<WindowRun>,
}

/// How long all of that is.
#[derive(Clone, Copy)]
struct Lengths {
    buffer: usize,
    out: usize,
    came: usize,
    staged: usize,
    runs: usize,
    merged: usize,
}

impl Lengths {
    fn bytes(&self) -> u64 {
        let runs = (self.runs + self.merged) * size_of::<WindowRun>();
        (self.buffer + self.out + self.came + self.staged + runs) as u64
    }
}

impl<'a, W: Windows> Rounds<'a, W> {
    /// Does all of an access; `divide` makes windows with about so many bytes, the same on all processes.
    pub fn run(job: &'a Job<'a>, data: UserData, limit: u64, divide: impl FnMut(u64) -> Result<W>) -> Outcome {
        let prepared = Rounds::prepare(job, data, limit, divide);
        prepared.and_then(Rounds::all).unwrap_or_else(Outcome::from)
    }

    /// All tell each other what they want of all windows, and then take the memory for it, or none does. Windows for which anybody
    /// would need more than the limit are made shorter.
    fn prepare(
        job: &'a Job<'a>,
        data: UserData,
        limit: u64,
        mut divide: impl FnMut(u64) -> Result<W>,
    ) -> Result<Rounds<'a, W>> {
        let (processes, short) = (job.comm.size(), data.bytes());
        let direct = DirectData::among(job, &data)?;
        let buffers = if direct.is_some() { 1 } else { BUFFERS };
        let mut bytes = (limit / buffers / PAGE * PAGE).max(PAGE);
        let windows = divide(bytes)?;
        let (wanted, asked) = (Vec::new(), Vec::new());
        let memory = Memory::default();
        let mut all = Rounds { job, windows, data, wanted, asked, memory, direct, failed: None, short };
        loop {
            let rounds = all.windows.rounds();
            all.wanted = agree(job.comm, survey(&job.target, short, &all.windows, processes))?;
            all.asked = told_cells(job.comm, &all.wanted, rounds)?;
            let lengths = all.lengths(limit);
            let fits = lengths.bytes() <= limit || bytes == PAGE;
            let reserved = if fits { Memory::reserve(&lengths).map(Some) } else { Ok(None) };
            let code = reserved.as_ref().map_or_else(Fault::get, |_| 0) as u32;
            let told = exchange(job.comm, [lengths.bytes(), u64::from(code)])?;
            let most = told.iter().map(|[bytes, _]| *bytes).max().unwrap_or(0);
            if most > limit && bytes > PAGE {
                if let Ok(Some(memory)) = reserved {
                    memory.keep();
                }
                let shorter = (u128::from(bytes) * u128::from(limit) / u128::from(most)) as u64 / PAGE * PAGE;
                bytes = shorter.clamp(PAGE, bytes - PAGE);
                all.windows = divide(bytes)?;
                continue;
            }
            all.memory = reserved?.unwrap_or_default();
            if let Some((rank, [_, code])) = told.iter().enumerate().find(|(_, [_, code])| *code != 0) {
                let code = *code as u32 as i32;
                let why = format!("rank {rank} of the file failed with {}", errhandler::error_string(code));
                return Err(Fault::code(code).because(why));
            }
            let memory = lengths.bytes();
            verbose!(
                FRAMEWORK,
                20,
                "{rounds} rounds with about {bytes} bytes each{}; memory of this process: {memory} bytes",
                if all.direct.is_some() { ", copied once" } else { "" }
            );
            return Ok(all);
        }
    }

    fn lengths(&self, limit: u64) -> Lengths {
        let (mut out, mut came, mut runs) = (0, 0, 0);
        for round in 0..self.windows.rounds() {
            let (wanted, asked) = (self.each(&self.wanted, round), self.each(&self.asked, round));
            let sum = |cells: &[Cell], length: fn(&Cell) -> usize| self.others(cells, length).iter().sum::<usize>();
            out = out.max(sum(&wanted, self.request())).max(sum(&asked, self.reply()));
            came = came.max(sum(&asked, self.request())).max(sum(&wanted, self.reply()));
            runs = runs.max(asked.iter().map(|cell| cell.runs).sum());
            runs = wanted.iter().map(|cell| cell.runs).fold(runs, usize::max);
        }
        let windows = (0..self.windows.rounds()).map(|round| self.window(round));
        let longest = windows.map(|window| window.end - window.start).max().unwrap_or(0);
        let buffer = usize::try_from(longest).unwrap_or(usize::MAX).min(self.windows.most_bytes());
        let buffer = if self.direct.is_some() { DirectData::block_bytes(limit) } else { buffer };
        let staged = if self.direct.is_some() { buffer } else { 0 };
        Lengths { buffer, out, came, staged, runs, merged: runs }
    }

    fn all(mut self) -> Result<Outcome> {
        for round in 0..self.windows.rounds() {
            // Only a process that is lost ends it early.
            self.round(round)?;
        }
        self.end()
    }

    /// This process's window of a round.
    fn window(&self, round: usize) -> Range<u64> {
        self.windows.window(self.job.comm.rank as usize, round)
    }

    /// The cells of one round, by rank.
    fn each(&self, cells: &[Cell], round: usize) -> Vec<Cell> {
        cells.iter().skip(round).step_by(self.windows.rounds()).copied().collect()
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
            AccessKind::Write if self.direct.is_none() => |cell| cell.runs * RUN_BYTES + cell.bytes,
            _ => |cell| cell.runs * RUN_BYTES,
        }
    }

    /// How long the message is that brings one.
    fn reply(&self) -> fn(&Cell) -> usize {
        if self.direct.is_none() { reply } else { |_| 0 }
    }

    fn round(&mut self, round: usize) -> Result<()> {
        let me = self.job.comm.rank as usize;
        let (wanted, asked) = (self.each(&self.wanted, round), self.each(&self.asked, round));
        let window = self.window(round);
        let (out, came) = (self.others(&wanted, self.request()), self.others(&asked, self.request()));
        self.ask(&wanted, round);
        let Memory { out: sent, came: received, .. } = &mut self.memory;
        alltoallv(self.job.comm, sent, &out, received, &came)?;
        self.hear(&asked, &wanted[me], &window)?;
        if let Some(direct) = self.direct.take() {
            self.move_directly(direct, &window, &asked);
            return Ok(());
        }
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

    /// Moves the data of a window between the file and the memory of its processes.
    fn move_directly(&mut self, mut direct: DirectData, window: &Range<u64>, asked: &[Cell]) {
        let Memory { buffer, staged, runs, merged, .. } = &mut self.memory;
        let window = GatheredWindow { bytes: window, asked, runs, merged };
        let mut buffers = Buffers { block: buffer, staged };
        let failed = match self.job.direction {
            AccessKind::Write => direct.write(self.job, &mut self.data, &window, &mut buffers),
            AccessKind::Read => direct.read(self.job, &mut self.data, &window, &mut buffers),
        };
        self.direct = Some(direct);
        if let Some((offset, errno)) = failed {
            self.fails(offset, errno);
        }
    }

    /// Puts the messages for the other processes together.
    fn ask(&mut self, wanted: &[Cell], round: usize) {
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
    fn hear(&mut self, asked: &[Cell], own: &Cell, window: &Range<u64>) -> Result<()> {
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
    fn write(&mut self, window: &Range<u64>, asked: &[Cell], own: &Cell) -> Result<()> {
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
    fn read(&mut self, window: &Range<u64>, asked: &[Cell], own: &Cell) -> Result<()> {
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
    fn fails(&mut self, offset: u64, errno: Errno) {
        let earlier = self.failed.is_some_and(|(first, _)| first <= offset);
        self.failed = if earlier { self.failed } else { Some((offset, errno)) };
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
        core::mem::take(&mut self.memory).keep();
        if let Some(direct) = self.direct.as_ref().filter(|_| self.job.direction == AccessKind::Read) {
            let each = vec![1; direct.short().len()];
            let mut theirs = vec![0; each.len()];
            alltoallv(self.job.comm, direct.short(), &each, &mut theirs, &each)?;
            self.short =
                theirs.into_iter().filter_map(|short| usize::try_from(short).ok()).fold(self.short, usize::min);
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

impl Memory {
    fn reserve(lengths: &Lengths) -> Result<Memory> {
        let mut memory = KEPT.lock().take().unwrap_or_default();
        fit(&mut memory.buffer, lengths.buffer)?;
        fit(&mut memory.out, lengths.out)?;
        fit(&mut memory.came, lengths.came)?;
        fit(&mut memory.staged, lengths.staged)?;
        Ok(Memory { runs: room(lengths.runs)?, merged: room(lengths.merged)?, ..memory })
    }

    /// For the next access.
    fn keep(self) {
        if [&self.buffer, &self.out, &self.came, &self.staged].map(Vec::capacity).iter().sum::<usize>() <= KEPT_BYTES {
            *KEPT.lock() = Some(Memory { runs: Vec::new(), merged: Vec::new(), ..self });
        }
    }
}

/// What all want of this process's windows.
fn told_cells(comm: &Communicator, wanted: &[Cell], rounds: usize) -> Result<Vec<Cell>> {
    let words: Vec<u64> = wanted.iter().flat_map(Cell::words).collect();
    let (mut theirs, each) = (vec![0; words.len()], vec![rounds * CELL_WORDS; comm.size()]);
    alltoallv(comm, &words, &each, &mut theirs, &each)?;
    Ok(theirs.chunks_exact(CELL_WORDS).map(|words| Cell::of_words([words[0], words[1]])).collect())
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
/// Among so many buffers of one length a limit is shared at first: that of the window, and what is sent and received.
const BUFFERS: u64 = 3;
/// Of the length before data that was read.
const LENGTH_BYTES: usize = 8;
/// Reading over so much that nobody wants costs less than another call of the system.
const GAP: usize = 4096;
