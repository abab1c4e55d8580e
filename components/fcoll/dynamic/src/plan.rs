//! Which aggregator has which part of the file.

use crate::cuts::cuts;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::error::Result;
use ompi_core::file::FilePlace;
use ompi_core::file::gather::{AllExtents, GatherLimits, LONGEST, PAGE, Windows, sum_words};
use ompi_core::framework::fcoll::Job;

/// The windows of all processes.
#[derive(Debug)]
pub struct Parts {
    // Those of the first process, round by round, then those of the next one.
    windows: Vec<Range<u64>>,
    rounds: usize,
    end: u64,
    most: usize,
}

impl Parts {
    /// Of an access, with about so many bytes in each window. Called by all; only a process that is lost makes it fail.
    pub fn new(job: &Job<'_>, all: &AllExtents<'_>, limits: &GatherLimits, bytes: u64) -> Result<Parts> {
        let aggregators = limits.among(all.each.len());
        let rounds = all.bytes.div_ceil(aggregators).div_ceil(bytes).max(1);
        let (from, parts) = (all.from / PAGE * PAGE, aggregators * rounds);
        let own = job.data.bytes();
        let cuts = cuts(from..all.end, all.bytes, parts as usize, &mut |places| {
            let mut below = below(&job.target, own, places);
            sum_words(job.comm, &mut below)?;
            Ok(below)
        })?;
        let share = all.bytes.div_ceil(parts);
        // What a cut may lie behind its place, and the page in which it lies.
        let most = usize::try_from(share + share / 16 + PAGE).unwrap_or(usize::MAX);
        Ok(Parts::between(&cuts, aggregators as usize, most))
    }

    /// The parts between so many cuts, as many for each of the first processes.
    fn between(cuts: &[u64], aggregators: usize, most: usize) -> Parts {
        let each = (cuts.len() - 1) / aggregators;
        let mut lists: Vec<Vec<Range<u64>>> = Vec::with_capacity(aggregators);
        for domain in 0..aggregators {
            let mut list = Vec::new();
            for pair in cuts[domain * each..=(domain + 1) * each].windows(2) {
                let (mut from, end) = (pair[0], pair[1]);
                while from < end {
                    let next = end.min(from + LONGEST);
                    list.push(from..next);
                    from = next;
                }
            }
            lists.push(list);
        }
        let rounds = lists.iter().map(Vec::len).max().unwrap_or(0);
        let mut windows = Vec::with_capacity(rounds * aggregators);
        for (domain, mut list) in lists.into_iter().enumerate() {
            let end = cuts[(domain + 1) * each];
            list.resize(rounds, end..end);
            windows.append(&mut list);
        }
        Parts { windows, rounds, end: cuts.last().copied().unwrap_or(0), most }
    }
}

impl Windows for Parts {
    fn rounds(&self) -> usize {
        self.rounds
    }

    fn window(&self, rank: usize, round: usize) -> Range<u64> {
        self.windows.get(rank * self.rounds + round).cloned().unwrap_or(self.end..self.end)
    }

    fn most_bytes(&self) -> usize {
        self.most
    }
}

/// How many of a process's bytes lie before each of some places, which grow.
fn below(target: &FilePlace<'_>, bytes: usize, places: &[u64]) -> Vec<u64> {
    let mut below = Vec::with_capacity(places.len());
    let mut done = 0;
    target.view.places(target.position, bytes, &mut |offset, bytes| {
        let end = offset + bytes as u64;
        while let Some(place) = places.get(below.len()).filter(|place| **place <= end) {
            below.push(done + place.saturating_sub(offset));
        }
        done += bytes as u64;
        below.len() < places.len()
    });
    below.resize(places.len(), done);
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_each_other_and_none_is_too_long() {
        let cuts = [4096, 8192, 8192, 12288, 3 * LONGEST + 5];
        let parts = Parts::between(&cuts, 2, 100);
        assert_eq!(parts.rounds(), 4);
        assert_eq!((parts.window(0, 0), parts.window(0, 1)), (4096..8192, 8192..8192));
        let mut end = 8192;
        for window in (0..4).map(|round| parts.window(1, round)) {
            assert!(window.start == end && window.end - window.start <= LONGEST);
            end = window.end;
        }
        assert_eq!(end, 3 * LONGEST + 5);
        assert!(parts.window(2, 0).is_empty() && parts.window(9, 2).is_empty());
    }
}
