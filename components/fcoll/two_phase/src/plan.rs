//! Which aggregator has which part of the file.

use core::ops::Range;
use ompi_core::file::gather::{AllExtents, GatherLimits, LONGEST, Windows};

/// The parts of the file that are gathered: one for each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domains {
    from: u64,
    end: u64,
    each: u64,
    window: u64,
}

impl Domains {
    /// Of an access, with windows of so many bytes.
    pub fn new(all: &AllExtents<'_>, limits: &GatherLimits, window: u64) -> Domains {
        let (from, end) = (all.from / limits.unit * limits.unit, all.end);
        let each = (end - from).div_ceil(limits.among(all.each.len())).next_multiple_of(limits.unit);
        Domains { from, end, each, window: window.min(each).min(LONGEST) }
    }
}

impl Windows for Domains {
    fn rounds(&self) -> usize {
        self.each.div_ceil(self.window) as usize
    }

    fn window(&self, rank: usize, round: usize) -> Range<u64> {
        let domain = self.from.saturating_add(self.each * rank as u64);
        let end = domain.saturating_add(self.each).min(self.end);
        let first = domain.saturating_add(round as u64 * self.window).min(end.max(domain));
        first..first.saturating_add(self.window).min(end).max(first)
    }

    fn most_bytes(&self) -> usize {
        self.window as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompi_core::file::gather::AccessExtent;
    use std::vec::Vec;

    const LIMITS: GatherLimits = GatherLimits::new(65536, 1024);

    fn extent(first: u64, end: u64) -> AccessExtent {
        AccessExtent { first, end, bytes: (end - first) / 2 + 1, piece: 8, stride: 16, direct: false }
    }

    #[test]
    fn windows_cover_everything_once() {
        for (ranks, from, end) in [(2, 0, 100_000), (3, 5000, 5100), (4, 4095, 70_001), (5, 1 << 40, (1 << 40) + 4097)]
        {
            let all: Vec<AccessExtent> = (0..ranks).map(|_| extent(from, end)).collect();
            let domains = Domains::new(&AllExtents::new(&all).unwrap(), &LIMITS, 8192);
            let mut windows: Vec<_> = (0..domains.rounds())
                .flat_map(|round| (0..ranks).map(move |rank| domains.window(rank, round)))
                .filter(|window| !window.is_empty())
                .collect();
            windows.sort_by_key(|window| window.start);
            assert!(windows[0].start <= from && windows.last().unwrap().end == end, "{windows:?}");
            assert!(windows.windows(2).all(|pair| pair[0].end == pair[1].start), "{windows:?}");
            assert!(windows.iter().all(|window| window.end - window.start <= 8192));
        }
    }

    #[test]
    fn a_hint_says_who_gathers() {
        let all = [extent(0, 4096 * 8), extent(4096 * 8, 4096 * 16), AccessExtent::EMPTY];
        let domains = Domains::new(&AllExtents::new(&all).unwrap(), &GatherLimits { aggregators: 2, ..LIMITS }, 8192);
        assert_eq!((0..3).map(|rank| domains.window(rank, 0).is_empty()).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(domains.window(1, 0).start, 4096 * 8);
        // Parts begin where stripes do.
        let domains = Domains::new(&AllExtents::new(&all).unwrap(), &GatherLimits { unit: 4096 * 6, ..LIMITS }, 8192);
        assert_eq!([1, 2].map(|rank| domains.window(rank, 0).start), [4096 * 6, 4096 * 12]);
    }
}
