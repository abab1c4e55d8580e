//! The rounds of one access.
//!
//! In a round each process sends every other one a message: its runs of the window that the other one gathers, with the data
//! behind them (writing). When reading, another message goes back: how much of it was there, and that. What a process wants of
//! its own window goes straight between the user's memory and the window.

use super::super::agree::{agree, elsewhere, exchange};
use super::super::failure::failure;
use super::super::place::Outcome;
use super::direct::{DirectData, GatheredWindow, WindowFailure};
use super::extent::PAGE;
use super::memory::{Lengths, Memory};
use super::raw::{UserData, alltoallv};
use super::survey::{CELL_WORDS, Cell, survey};
use super::windows::Windows;
use crate::comm::Communicator;
use crate::error::{Fault, Result};
use crate::framework::fbtl::AccessKind;
use crate::framework::fcoll::{FRAMEWORK, Job};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use opal_core::sys::Errno;
use opal_core::verbose;

/// An access under way.
pub struct Rounds<'a> {
    /// What is to be done.
    pub job: &'a Job<'a>,
    /// Which aggregator gathers what.
    pub windows: Box<dyn Windows>,
    /// This process's data.
    pub data: UserData,
    /// Buffers and lists.
    pub memory: Memory,
    /// Data is copied once, and messages tell of places only.
    pub direct: Option<DirectData>,
    // What this process wants of each window, and what each process wants of this one's: those of a process lie together.
    wanted: Vec<Cell>,
    asked: Vec<Cell>,
    /// The first byte of the file that this process could not read or write for others, and why.
    pub failed: Option<(u64, Errno)>,
    // The system refused to copy.
    refused: bool,
    /// The first byte of the data that was not read.
    pub short: usize,
}

/// How the rounds end, on all processes alike.
enum Ended {
    Done(Outcome),
    // The system refused a copy on one of them; the data once more.
    Refused(UserData),
}

impl<'a> Rounds<'a> {
    /// Does all of an access; `divide` makes windows with about so many bytes, the same on all processes.
    pub fn run(
        job: &'a Job<'a>,
        mut data: UserData,
        limit: u64,
        divide: &mut dyn FnMut(u64) -> Result<Box<dyn Windows>>,
    ) -> Result<Outcome> {
        let mut direct = DirectData::among(job, &data)?;
        loop {
            // Without such copies none is refused.
            match Rounds::prepare(job, data, limit, divide, direct.take())?.all()? {
                Ended::Done(outcome) => return Ok(outcome),
                Ended::Refused(once_more) => data = once_more,
            }
        }
    }

    /// All tell each other what they want of all windows, and then take the memory for it, or none does. Windows for which anybody
    /// would need more than the limit are made shorter.
    fn prepare(
        job: &'a Job<'a>,
        data: UserData,
        limit: u64,
        divide: &mut dyn FnMut(u64) -> Result<Box<dyn Windows>>,
        direct: Option<DirectData>,
    ) -> Result<Rounds<'a>> {
        let (processes, short) = (job.comm.size(), data.bytes());
        let buffers = if direct.is_some() { 1 } else { BUFFERS };
        let mut bytes = (limit / buffers / PAGE * PAGE).max(PAGE);
        let windows = divide(bytes)?;
        let (wanted, asked) = (Vec::new(), Vec::new());
        let memory = Memory::default();
        let mut all = Rounds { job, windows, data, memory, direct, wanted, asked, failed: None, refused: false, short };
        loop {
            let rounds = all.windows.rounds();
            all.wanted = agree(job.comm, survey(&job.target, short, &*all.windows, processes))?;
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
                return Err(elsewhere(rank, *code as u32 as i32));
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
        Lengths { buffer, out, came, runs }
    }

    fn all(mut self) -> Result<Ended> {
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
                let (out, came) = (self.others(&asked, self.reply()), self.others(&wanted, self.reply()));
                let Memory { out: sent, came: received, .. } = &mut self.memory;
                alltoallv(self.job.comm, sent, &out, received, &came)?;
                self.unpack(&wanted)
            }
        }
    }

    /// Moves the data of a window between the file and the memory of its processes.
    fn move_directly(&mut self, mut direct: DirectData, window: &Range<u64>, asked: &[Cell]) {
        let Memory { buffer, runs, merged, .. } = &mut self.memory;
        let window = GatheredWindow { bytes: window, asked, runs, merged };
        let moved = match self.job.direction {
            // All begin again in the end.
            _ if self.refused => Ok(()),
            AccessKind::Write => direct.write(self.job, &mut self.data, &window, buffer),
            AccessKind::Read => direct.read(self.job, &mut self.data, &window, buffer),
        };
        self.direct = Some(direct);
        match moved {
            Ok(()) => {}
            Err(WindowFailure::File(offset, errno)) => self.fails(offset, errno),
            Err(WindowFailure::Copy(rank, error)) => {
                DirectData::refused(self.job, rank, error);
                self.refused = true;
            }
        }
    }

    /// All learn what failed anywhere.
    fn end(mut self) -> Result<Ended> {
        core::mem::take(&mut self.memory).keep();
        if let Some(direct) = self.direct.as_ref().filter(|_| self.job.direction == AccessKind::Read) {
            let each = vec![1; direct.short().len()];
            let mut theirs = vec![0; each.len()];
            alltoallv(self.job.comm, direct.short(), &each, &mut theirs, &each)?;
            self.short =
                theirs.into_iter().filter_map(|short| usize::try_from(short).ok()).fold(self.short, usize::min);
        }
        let (offset, errno) = self.failed.map_or((u64::MAX, 0), |(offset, errno)| (offset, errno.0));
        let all = exchange(self.job.comm, [offset, errno as u64, u64::from(self.refused)])?;
        if all.iter().any(|[.., refused]| *refused != 0) {
            return Ok(Ended::Refused(self.data));
        }
        let failed = all.iter().enumerate().filter(|(_, [_, errno, _])| *errno != 0);
        let Some((rank, [offset, errno, _])) = failed.min_by_key(|(_, [offset, ..])| *offset) else {
            return Ok(Ended::Done(Outcome { bytes: self.short as u64, ended: Ok(()) }));
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
        Ok(Ended::Done(Outcome { bytes, ended: Err(failure(errno, target.path, &why)) }))
    }
}

/// What all want of this process's windows.
fn told_cells(comm: &Communicator, wanted: &[Cell], rounds: usize) -> Result<Vec<Cell>> {
    let words: Vec<u64> = wanted.iter().flat_map(Cell::words).collect();
    let (mut theirs, each) = (vec![0; words.len()], vec![rounds * CELL_WORDS; comm.size()]);
    alltoallv(comm, &words, &each, &mut theirs, &each)?;
    Ok(theirs.chunks_exact(CELL_WORDS).map(|words| Cell::of_words([words[0], words[1]])).collect())
}

/// Among so many buffers of one length a limit is shared at first: that of the window, and what is sent and received.
const BUFFERS: u64 = 3;
