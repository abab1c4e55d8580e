//! The rounds of one access.

use crate::plan::Domains;
use crate::raw::{self, UserData, alltoall, alltoallv};
use crate::runs::{Run, merge, push};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{Outcome, exchange, failure};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::Job;
use opal_core::sys::Errno;

/// An access under way.
pub struct Rounds<'a> {
    job: &'a Job<'a>,
    domains: Domains,
    data: UserData,
    window: Vec<u8>,
    // The first byte of the file that this process could not read or write for others, and why.
    failed: Option<(u64, Errno)>,
    // The first byte of the data that was not read.
    short: usize,
}

/// What this process wants of the windows of one round: by the rank that gathers each.
struct Wanted {
    runs: Vec<Run>,
    /// How many runs.
    counts: Vec<usize>,
    /// Which bytes of the data.
    ranges: Vec<Range<usize>>,
}

/// What all want of this process's window: by rank.
struct Asked {
    runs: Vec<Run>,
    counts: Vec<usize>,
    bytes: Vec<usize>,
}

impl<'a> Rounds<'a> {
    /// Of this access.
    pub fn new(job: &'a Job<'a>, domains: Domains, data: UserData) -> Rounds<'a> {
        let short = data.bytes();
        Rounds { job, domains, data, window: vec![0; domains.window_bytes()], failed: None, short }
    }

    /// Does all of them.
    pub fn run(mut self) -> Outcome {
        for round in 0..self.domains.rounds() {
            // Only a process that is lost ends it early.
            if let Err(fault) = self.round(round) {
                return fault.into();
            }
        }
        self.end().unwrap_or_else(Outcome::from)
    }

    fn round(&mut self, round: u64) -> Result<()> {
        let wanted = self.wanted(round);
        let asked = self.ask(&wanted)?;
        let window = self.domains.window(self.job.comm.rank as usize, round);
        match self.job.direction {
            AccessKind::Write => {
                let sent = self.pack(&wanted);
                let lengths: Vec<usize> = wanted.ranges.iter().map(ExactSizeIterator::len).collect();
                let came = alltoallv(self.job.comm, &sent, &lengths, &asked.bytes)?;
                self.write(&window, &asked, &came)
            }
            AccessKind::Read => {
                let (sent, lengths) = self.read(&window, &asked)?;
                let words: Vec<u64> = lengths.iter().map(|length| *length as u64).collect();
                let coming: Vec<usize> =
                    alltoall(self.job.comm, &words)?.into_iter().map(|length| length as usize).collect();
                let came = alltoallv(self.job.comm, &sent, &lengths, &coming)?;
                self.unpack(&wanted, &coming, &came)
            }
        }
    }

    fn wanted(&self, round: u64) -> Wanted {
        let mut wanted = Wanted { runs: Vec::new(), counts: Vec::new(), ranges: Vec::new() };
        for rank in 0..self.job.comm.size() {
            let window = self.domains.window(rank, round);
            let range = self.position_of(window.start)..self.position_of(window.end);
            let first = wanted.runs.len();
            if !range.is_empty() {
                let target = &self.job.target;
                target.view.places(target.position + range.start as u64, range.len(), &mut |offset, bytes| {
                    let run = Run { offset: (offset - window.start) as u32, bytes: bytes as u32 };
                    push(&mut wanted.runs, first, run);
                    true
                });
            }
            wanted.counts.push(wanted.runs.len() - first);
            wanted.ranges.push(range);
        }
        wanted
    }

    /// How many bytes of the data lie before a byte of the file.
    fn position_of(&self, offset: u64) -> usize {
        let target = &self.job.target;
        let before = target.view.bytes_within(offset).saturating_sub(target.position);
        before.min(self.data.bytes() as u64) as usize
    }

    fn ask(&self, wanted: &Wanted) -> Result<Asked> {
        let both = wanted.counts.iter().zip(&wanted.ranges);
        let words: Vec<u64> = both.map(|(count, range)| (*count as u64) << 32 | range.len() as u64).collect();
        let words = alltoall(self.job.comm, &words)?;
        let counts: Vec<usize> = words.iter().map(|word| (word >> 32) as usize).collect();
        let bytes = words.iter().map(|word| *word as u32 as usize).collect();
        let runs = alltoallv(self.job.comm, &wanted.runs, &wanted.counts, &counts)?;
        Ok(Asked { runs, counts, bytes })
    }

    fn pack(&mut self, wanted: &Wanted) -> Vec<u8> {
        let mut packed = vec![0; wanted.ranges.iter().map(ExactSizeIterator::len).sum()];
        let mut rest = &mut packed[..];
        for range in &wanted.ranges {
            let (some, behind) = rest.split_at_mut(range.len());
            self.data.pack(range.start, some);
            rest = behind;
        }
        packed
    }

    /// Writes what came for a window. Where processes write the same bytes the highest rank's stay.
    fn write(&mut self, window: &Range<u64>, asked: &Asked, came: &[u8]) -> Result<()> {
        let runs = asked.merged(0, window)?;
        let mut rest = came;
        for (list, bytes) in asked.lists() {
            let (mut some, behind) = rest.split_at(bytes);
            for run in list {
                let (piece, more) = some.split_at_checked(run.bytes as usize).ok_or_else(impossible)?;
                self.window[run.offset as usize..run.end()].copy_from_slice(piece);
                some = more;
            }
            rest = behind;
        }
        self.transfer(window, &runs);
        Ok(())
    }

    /// Reads a window: what each process gets of it, and how much that is.
    fn read(&mut self, window: &Range<u64>, asked: &Asked) -> Result<(Vec<u8>, Vec<usize>)> {
        let runs = asked.merged(GAP, window)?;
        let end = self.transfer(window, &runs);
        let (mut sent, mut lengths) = (Vec::with_capacity(asked.bytes.iter().sum()), Vec::new());
        for (list, _) in asked.lists() {
            let before = sent.len();
            for run in list {
                let there = run.end().min(end).max(run.offset as usize);
                sent.extend_from_slice(&self.window[run.offset as usize..there]);
            }
            lengths.push(sent.len() - before);
        }
        Ok((sent, lengths))
    }

    /// Moves these runs between file and window. Returns the end of what was moved, within the window.
    fn transfer(&mut self, window: &Range<u64>, runs: &[Run]) -> usize {
        let moved = raw::transfer(&self.job.target, &mut self.window, window.start, runs, self.job.direction);
        let mut left = moved.bytes;
        let cut = runs.iter().find(|run| {
            let is_cut = left < run.bytes as usize;
            left -= if is_cut { 0 } else { run.bytes as usize };
            is_cut
        });
        let end = cut.map_or(self.window.len(), |run| run.offset as usize + left);
        if let Some(errno) = moved.failed {
            let offset = window.start + end as u64;
            let earlier = self.failed.is_some_and(|(first, _)| first <= offset);
            self.failed = if earlier { self.failed } else { Some((offset, errno)) };
        }
        end
    }

    fn unpack(&mut self, wanted: &Wanted, lengths: &[usize], came: &[u8]) -> Result<()> {
        let mut rest = came;
        for (range, length) in wanted.ranges.iter().zip(lengths) {
            let (some, behind) = rest.split_at(*length);
            if *length > range.len() {
                return Err(impossible());
            }
            self.data.unpack(range.start, some);
            if *length < range.len() {
                self.short = self.short.min(range.start + length);
            }
            rest = behind;
        }
        Ok(())
    }

    /// All learn what failed anywhere.
    fn end(self) -> Result<Outcome> {
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
        let bytes = self.short.min(self.position_of(*offset)) as u64;
        Ok(Outcome { bytes, ended: Err(failure(errno, self.job.target.path, &why)) })
    }
}

impl Asked {
    /// The runs of each rank, and how many bytes it says they have.
    fn lists(&self) -> impl Iterator<Item = (&[Run], usize)> {
        let mut rest = &self.runs[..];
        self.counts.iter().zip(&self.bytes).map(move |(count, bytes)| {
            let (list, behind) = rest.split_at(*count);
            rest = behind;
            (list, *bytes)
        })
    }

    /// All runs as one list.
    fn merged(&self, gap: usize, window: &Range<u64>) -> Result<Vec<Run>> {
        let mut lists: Vec<&[Run]> = self.lists().map(|(list, _)| list).collect();
        merge(&mut lists, gap, (window.end - window.start) as usize).ok_or_else(impossible)
    }
}

fn impossible() -> Fault {
    Fault::new(Class::Intern)
        .because("another process of the file wants what does not lie in the part that this one gathers")
}

/// Reading over so much that nobody wants costs less than another call of the system.
const GAP: usize = 4096;
