//! Where a file is cut so that each part has as many bytes.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::error::Result;
use ompi_core::file::gather::PAGE;

/// How many bytes lie before each of some places, which grow.
type Below<'a> = &'a mut dyn FnMut(&[u64]) -> Result<Vec<u64>>;

/// The beginnings of so many parts of a range with `bytes` bytes, and its end. Cuts lie at the beginnings of pages, and not more than a
/// sixteenth of a part behind their place or in the same page. All of it follows from the sums that `below` returns.
pub fn cuts(range: Range<u64>, bytes: u64, parts: usize, below: Below<'_>) -> Result<Vec<u64>> {
    let mut cuts = vec![range.start];
    let share = |part: usize| (u128::from(bytes) * part as u128 / parts as u128) as u64;
    let close = bytes / parts as u64 / 16;
    let mut known = Known { place: range.start, below: 0 };
    for first in (1..parts).step_by(TOGETHER) {
        let end = Known { place: range.end, below: bytes };
        let targets = (first..parts.min(first + TOGETHER)).map(share);
        let mut all: Vec<Cut> = targets.map(|target| Cut { target, low: known, high: end }).collect();
        let mut probes = spread(known.place, range.end, POINTS * all.len() as u64);
        while !probes.is_empty() {
            let counts = below(&probes)?;
            all.iter_mut().for_each(|cut| cut.narrow(&probes, &counts));
            let open = all.iter().filter(|cut| cut.is_open(close));
            probes = open.flat_map(|cut| spread(cut.low.place, cut.high.place, POINTS)).collect();
            probes.sort_unstable();
            probes.dedup();
        }
        for cut in &all {
            // A page that has more than a part has several cuts at its end.
            cuts.push(cut.high.place.max(*cuts.last().unwrap_or(&range.start)));
        }
        known = all.last().map_or(known, |cut| cut.high);
    }
    cuts.push(range.end);
    Ok(cuts)
}

/// A place, and how many bytes lie before it.
#[derive(Clone, Copy, Debug)]
struct Known {
    place: u64,
    below: u64,
}

/// A cut that is looked for: behind `low`, at `high` or before it.
struct Cut {
    target: u64,
    low: Known,
    high: Known,
}

impl Cut {
    fn narrow(&mut self, probes: &[u64], counts: &[u64]) {
        let index = counts.partition_point(|below| *below < self.target);
        let known = |index: usize| Some(Known { place: *probes.get(index)?, below: *counts.get(index)? });
        if let Some(high) = known(index).filter(|high| high.place < self.high.place) {
            self.high = high;
        }
        if let Some(low) = index.checked_sub(1).and_then(known).filter(|low| low.place > self.low.place) {
            self.low = low;
        }
    }

    fn is_open(&self, close: u64) -> bool {
        self.high.below.saturating_sub(self.target) > close && self.high.place - self.low.place > PAGE
    }
}

/// Some beginnings of pages between two places.
fn spread(low: u64, high: u64, points: u64) -> Vec<u64> {
    let step = (high.saturating_sub(low) / (points + 1)).next_multiple_of(PAGE).max(PAGE);
    let first = low / PAGE * PAGE;
    (1..=points).map(|point| first.saturating_add(point * step)).take_while(|place| *place < high).collect()
}

/// Places that are asked for between two known ones.
const POINTS: u64 = 15;
/// Cuts that are looked for at a time.
const TOGETHER: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes before a place of runs that grow.
    fn count(runs: &[Range<u64>], place: u64) -> u64 {
        runs.iter().map(|run| run.end.min(place).saturating_sub(run.start)).sum()
    }

    fn checked(runs: &[Range<u64>], parts: usize) -> (Vec<u64>, usize) {
        let (from, end) = (runs[0].start / PAGE * PAGE, runs.last().unwrap().end);
        let bytes = count(runs, u64::MAX);
        let mut asked = 0;
        let cuts = cuts(from..end, bytes, parts, &mut |places| {
            asked += 1;
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]) && places.len() <= 16 * 1024);
            Ok(places.iter().map(|place| count(runs, *place)).collect())
        });
        let cuts = cuts.unwrap();
        assert!(cuts.len() == parts + 1 && cuts[0] == from && cuts[parts] == end);
        for (part, pair) in cuts.windows(2).enumerate() {
            assert!(pair[0] <= pair[1], "{cuts:?}");
            let share = bytes / parts as u64 + 1;
            let there = count(runs, pair[1]) - count(runs, pair[0]);
            assert!(there <= share + share / 16 + PAGE, "part {part} has {there} bytes: {cuts:?}");
        }
        (cuts, asked)
    }

    #[test]
    fn parts_have_as_many_bytes() {
        let even: Vec<Range<u64>> = (0..10_000).map(|run| run * 1000..run * 1000 + 500).collect();
        let (cuts, asked) = checked(&even, 4);
        assert!(asked == 1, "{asked} questions for what lies evenly");
        assert!(cuts[1].abs_diff(2_500_000) < 200_000);
        let few: [Range<u64>; 2] = [0..1 << 20, 1 << 40..(1 << 40) + (1 << 20)];
        let (cuts, asked) = checked(&few, 4);
        assert!(asked <= 12 && cuts[1] <= 1 << 20 && cuts[3] > 1 << 40, "{asked} {cuts:?}");
        checked(&few, 3000);
        checked(&[5..6, 6..7], 7);
        checked(&[4095..4097, 1 << 50..(1 << 50) + 70_000], 5);
    }
}
