//! Data straight from the memory of the process that writes it, and straight into the memory of the one that reads it.
//!
//! That goes where all processes of a file share a node, the system copies between them (framework smsc), and the data of each lies
//! together in its memory. Messages then tell of places only. A window is done block by block: small enough for the processor's cache,
//! and while one process writes its block another one fetches its own. Nobody leaves the access before all have ended it, and so what
//! lies in a process's memory stays as it is until then.
//!
//! Whether the system copies all of somebody's memory shows when it does: memory of a device, or a sandbox that a program entered after
//! MPI_Init. Then all processes begin the access again, with messages.

use super::extent::PAGE;
use super::raw::{self, UserData};
use super::runs::WindowRun;
use super::survey::Cell;
use crate::comm::Communicator;
use crate::data::Data;
use crate::error::Result;
use crate::file::agree::exchange;
use crate::framework::fbtl::AccessKind;
use crate::framework::fcoll::{FRAMEWORK, Job};
use crate::single_copy;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use opal_core::framework::smsc::Endpoint;
use opal_core::sys::Errno;
use opal_core::{Error, verbose};

/// The memory of the processes.
pub struct DirectData {
    // By rank; `None` for this process.
    endpoints: Box<[Option<Endpoint>]>,
    // Where each process's data begins.
    addresses: Vec<u64>,
    // The first byte of each process's data that was not read for it.
    short: Vec<u64>,
    // Of the part of a process in a block: where its bytes lie there.
    places: Vec<Range<usize>>,
}

/// One window that this process gathers.
pub struct GatheredWindow<'a> {
    /// The bytes of the file.
    pub bytes: &'a Range<u64>,
    /// What each process wants of it, by rank.
    pub asked: &'a [Cell],
    /// Their runs, one list behind the other.
    pub runs: &'a [WindowRun],
    /// All runs as one list.
    pub merged: &'a [WindowRun],
}

/// Why a window is not done.
pub enum WindowFailure {
    /// This byte of the file could not be read or written.
    File(u64, Errno),
    /// The system does not copy to or from the memory of the process with this rank.
    Copy(usize, Error),
}

/// Whether a process's part in an access can be done that way, as far as it knows.
pub fn is_possible(comm: &Communicator, data: &Data<'_>) -> bool {
    let bytes = data.bytes();
    (bytes == 0 || data.contiguous().is_some()) && endpoints(comm, bytes).is_some()
}

/// The memory of all processes; `None` if it does not pay for so many bytes of this one.
fn endpoints(comm: &Communicator, bytes: usize) -> Option<Box<[Option<Endpoint>]>> {
    let is_worth = bytes == 0 || bytes >= LEAST * comm.size();
    is_worth.then(|| single_copy::endpoints(comm))?
}

impl DirectData {
    /// Among all processes of a file, which all call it; `None` on all if one of them cannot, or if it does not pay.
    pub fn among(job: &Job<'_>, data: &UserData) -> Result<Option<DirectData>> {
        let (processes, bytes) = (job.comm.size(), data.bytes());
        let address = if bytes == 0 { Some(0) } else { data.address() };
        let endpoints = endpoints(job.comm, bytes);
        let can = endpoints.is_some() && address.is_some();
        let told = exchange(job.comm, [u64::from(can), address.unwrap_or(0)])?;
        Ok(endpoints.filter(|_| told.iter().all(|[can, _]| *can == 1)).map(|endpoints| {
            let addresses = told.iter().map(|[_, address]| *address).collect();
            DirectData { endpoints, addresses, short: vec![u64::MAX; processes], places: Vec::new() }
        }))
    }

    /// Bytes of a block, where so many bytes of memory may be taken in all.
    pub fn block_bytes(limit: u64) -> usize {
        (limit / 2 / PAGE * PAGE).clamp(PAGE, BLOCK) as usize
    }

    /// Says why all begin again. What is forbidden now stays so: nobody tries it once more.
    #[cold]
    pub fn refused(job: &Job<'_>, rank: usize, error: Error) {
        verbose!(
            FRAMEWORK,
            10,
            "the system does not copy between this process and rank {rank} of the file ({error:?}): its data goes by messages"
        );
        if error == Error::Permission {
            single_copy::forbid(job.comm, rank);
        }
    }

    /// The first byte of each process's data that was not read for it; no byte has the number `u64::MAX`.
    pub fn short(&self) -> &[u64] {
        &self.short
    }

    /// Writes a window, through memory for a block. Where processes write the same bytes the highest rank's stay.
    pub fn write(
        &mut self,
        job: &Job<'_>,
        data: &mut UserData,
        window: &GatheredWindow<'_>,
        buffer: &mut [u8],
    ) -> core::result::Result<(), WindowFailure> {
        let mut parts = parts(window);
        for block in Blocks::new(window.merged, buffer.len()) {
            for (rank, part) in parts.iter_mut().enumerate() {
                let (position, bytes) = (part.position, part.within(&block.bytes, &mut self.places));
                if bytes > 0 {
                    let fetched = self.fetch(rank, position, data, buffer);
                    fetched.map_err(|error| WindowFailure::Copy(rank, error))?;
                }
            }
            let places = block.places(window.bytes.start);
            let moved = raw::transfer(&job.target, buffer, &mut places.clone(), AccessKind::Write);
            if let Some(errno) = moved.failed {
                return Err(WindowFailure::File(behind(places, moved.bytes), errno));
            }
        }
        Ok(())
    }

    /// Puts the part of a process into the block.
    fn fetch(
        &self,
        rank: usize,
        position: usize,
        data: &mut UserData,
        block: &mut [u8],
    ) -> core::result::Result<(), Error> {
        let Some(endpoint) = &self.endpoints[rank] else {
            let mut from = position;
            for place in &self.places {
                data.pack(from, &mut block[place.clone()]);
                from += place.len();
            }
            return Ok(());
        };
        raw::copy_from(endpoint, self.addresses[rank].wrapping_add(position as u64), block, &self.places)
    }

    /// Reads a window, through memory for a block. What lies behind the end of the file is no failure, but [short](DirectData::short).
    pub fn read(
        &mut self,
        job: &Job<'_>,
        data: &mut UserData,
        window: &GatheredWindow<'_>,
        buffer: &mut [u8],
    ) -> core::result::Result<(), WindowFailure> {
        let (mut parts, mut failed, mut has_ended) = (parts(window), None, false);
        for block in Blocks::new(window.merged, buffer.len()) {
            let mut end = block.bytes.start;
            if !has_ended {
                let places = block.places(window.bytes.start);
                let moved = raw::transfer(&job.target, buffer, &mut places.clone(), AccessKind::Read);
                let wanted: usize = places.clone().map(|(_, place)| place.len()).sum();
                let first_missing = behind(places, moved.bytes);
                failed = failed.or(moved.failed.map(|errno| WindowFailure::File(first_missing, errno)));
                has_ended = moved.bytes < wanted;
                end = if has_ended { (first_missing - window.bytes.start) as usize } else { block.bytes.end };
            }
            let end = end - block.bytes.start;
            for (rank, part) in parts.iter_mut().enumerate() {
                let (position, bytes) = (part.position, part.within(&block.bytes, &mut self.places));
                let there = cut(&mut self.places, end);
                if there < bytes {
                    self.short[rank] = self.short[rank].min((position + there) as u64);
                }
                if there > 0 {
                    let given = self.give(rank, position, data, buffer);
                    given.map_err(|error| WindowFailure::Copy(rank, error))?;
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Gives a process its part of the block.
    fn give(&self, rank: usize, position: usize, data: &mut UserData, block: &[u8]) -> core::result::Result<(), Error> {
        let Some(endpoint) = &self.endpoints[rank] else {
            let mut to = position;
            for place in &self.places {
                data.unpack(to, &block[place.clone()]);
                to += place.len();
            }
            return Ok(());
        };
        raw::copy_to(endpoint, self.addresses[rank].wrapping_add(position as u64), block, &self.places)
    }
}

/// What a process wants of the rest of a window.
struct Part<'a> {
    runs: &'a [WindowRun],
    // Bytes of the first run that are done.
    skip: usize,
    // The next byte in the process's data.
    position: usize,
}

fn parts<'a>(window: &GatheredWindow<'a>) -> Vec<Part<'a>> {
    let mut rest = window.runs;
    let part = |cell: &Cell| {
        let (runs, behind) = rest.split_at(cell.runs);
        rest = behind;
        Part { runs, skip: 0, position: cell.position }
    };
    window.asked.iter().map(part).collect()
}

impl Part<'_> {
    /// Lists where its bytes lie in a block, the next one; how many.
    fn within(&mut self, block: &Range<usize>, places: &mut Vec<Range<usize>>) -> usize {
        places.clear();
        let within = self.runs.partition_point(|run| (run.offset as usize) < block.end);
        let (runs, behind) = self.runs.split_at(within);
        let Some(last) = runs.last() else { return 0 };
        let place = |run: &WindowRun| (run.offset as usize).saturating_sub(block.start)..run.end() - block.start;
        places.extend(runs.iter().map(place));
        // A run that reaches over the edge of a block is in both.
        if self.skip > 0 {
            places[0].start = runs[0].offset as usize + self.skip - block.start;
        }
        (self.runs, self.skip) = match last.end() > block.end {
            true => (&self.runs[within - 1..], block.end - last.offset as usize),
            false => (behind, 0),
        };
        if self.skip > 0 {
            places[within - 1].end = block.end - block.start;
        }
        let bytes = places.iter().map(Range::len).sum();
        self.position += bytes;
        bytes
    }
}

/// Leaves of places only what lies before `end`, as far as nothing is missing; how many bytes.
fn cut(places: &mut Vec<Range<usize>>, end: usize) -> usize {
    if places.last().is_none_or(|last| last.end <= end) {
        return places.iter().map(Range::len).sum();
    }
    if let Some(first) = places.iter().position(|place| place.end > end) {
        places.truncate(first + 1);
        places[first].end = end.max(places[first].start);
    }
    places.iter().map(Range::len).sum()
}

/// The parts of a window that are done one after the other: none without a byte that is wanted.
struct Blocks<'a> {
    merged: &'a [WindowRun],
    at: usize,
    length: usize,
}

impl<'a> Blocks<'a> {
    fn new(merged: &'a [WindowRun], length: usize) -> Blocks<'a> {
        Blocks { merged, at: 0, length }
    }
}

/// One of them: bytes of the window, and the merged runs from the first one in it on.
struct Block<'a> {
    bytes: Range<usize>,
    merged: &'a [WindowRun],
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        while self.merged.first()?.end() <= self.at {
            self.merged = &self.merged[1..];
        }
        let from = self.at.max(self.merged.first()?.offset as usize);
        self.at = (from / self.length + 1) * self.length;
        Some(Block { bytes: from..self.at, merged: self.merged })
    }
}

impl<'a> Block<'a> {
    /// Where in the file and in the block the bytes lie that are moved, of a window that begins at byte `base`.
    fn places(&self, base: u64) -> impl Iterator<Item = (u64, Range<usize>)> + Clone + use<'a> {
        let block = self.bytes.clone();
        let within = self.merged.iter().take_while({
            let end = block.end;
            move |run| (run.offset as usize) < end
        });
        within.map(move |run| {
            let (from, end) = (block.start.max(run.offset as usize), block.end.min(run.end()));
            (base + from as u64, from - block.start..end - block.start)
        })
    }
}

/// The byte of the file behind the first `moved` ones.
fn behind(places: impl Iterator<Item = (u64, Range<usize>)>, mut moved: usize) -> u64 {
    let mut last = 0;
    for (offset, place) in places {
        if moved < place.len() {
            return offset + moved as u64;
        }
        moved -= place.len();
        last = offset + place.len() as u64;
    }
    last
}

/// Of a block: it fits the second cache of most processors.
const BLOCK: u64 = 256 << 10;
/// Less of each process for each process goes as fast in messages.
const LEAST: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn run(offset: u32, bytes: u32) -> WindowRun {
        WindowRun { offset, bytes }
    }

    #[test]
    fn blocks_hold_what_is_wanted_and_nothing_twice() {
        let merged = [run(10, 5), run(90, 30), run(1000, 4)];
        let blocks: Vec<_> = Blocks::new(&merged, 100)
            .map(|block| (block.bytes.clone(), block.places(7000).collect::<Vec<_>>()))
            .collect();
        assert_eq!(
            blocks,
            [
                (10..100, vec![(7010, 0..5), (7090, 80..90)]),
                (100..200, vec![(7100, 0..20)]),
                (1000..1100, vec![(8000, 0..4)]),
            ]
        );
        assert_eq!(Blocks::new(&[], 100).count(), 0);
    }

    #[test]
    fn parts_of_a_process_follow_each_other() {
        let (runs, mut places) = ([run(10, 5), run(90, 30), run(1000, 4)], Vec::new());
        let mut part = Part { runs: &runs, skip: 0, position: 50 };
        assert_eq!((part.within(&(10..100), &mut places), &places[..]), (15, &[0..5, 80..90][..]));
        assert_eq!((part.position, part.within(&(100..200), &mut places)), (65, 20));
        assert_eq!((places.first(), places.len()), (Some(&(0..20)), 1));
        assert_eq!((part.within(&(300..400), &mut places), places.len()), (0, 0));
        assert_eq!((part.within(&(1000..1100), &mut places), part.position), (4, 89));
    }

    #[test]
    fn what_lies_behind_the_end_is_cut() {
        let cut_at = |end| {
            let mut places = vec![0..5, 80..90, 95..100];
            (cut(&mut places, end), places)
        };
        assert_eq!(cut_at(100), (20, vec![0..5, 80..90, 95..100]));
        assert_eq!(cut_at(83), (8, vec![0..5, 80..83]));
        assert_eq!(cut_at(40), (5, vec![0..5, 80..80]));
        assert_eq!(cut_at(0).0, 0);
        let places = || [(100, 0..5), (180, 80..90)].into_iter();
        assert_eq!([0, 5, 7, 15].map(|moved| behind(places(), moved)), [100, 180, 182, 190]);
    }
}
