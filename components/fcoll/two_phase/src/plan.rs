//! Whether an access goes in two phases, and who gathers which part of the file.

use core::ops::Range;
use ompi_core::file::FilePlace;

/// What one process reads or writes, as all are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first byte in the file.
    first: u64,
    /// Behind the last one.
    end: u64,
    /// How many bytes in between.
    bytes: u64,
    /// Bytes of a piece that lies together in the file, on average; 0 if two phases cannot serve the process.
    piece: u64,
}

/// What the parameters say.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a window.
    pub window: u64,
    /// Longer pieces are not gathered.
    pub piece: u64,
    /// How many processes gather.
    pub gatherers: u64,
    /// Whether a hint wants them to, also where it does not seem to pay.
    pub wanted: bool,
    /// So many processes, or fewer, need not.
    pub alone: u64,
}

impl Extent {
    /// Of a process that two phases cannot serve.
    pub const NONE: Extent = Extent { first: 0, end: 0, bytes: 0, piece: 0 };

    /// Of `bytes` bytes at this place.
    pub fn new(target: &FilePlace<'_>, bytes: u64) -> Extent {
        let (view, layout) = (target.view, &target.view.pattern);
        let last = target.position.saturating_add(bytes);
        if bytes == 0 {
            return Extent { piece: 1, ..Extent::NONE };
        }
        if !view.grows() || layout.size() == 0 || view.check_reach(last).is_err() {
            return Extent::NONE;
        }
        let (first, end) = (view.place(target.position), view.place(last - 1) + 1);
        let (mut pieces, mut seen) = (0, 0);
        view.places(target.position, bytes as usize, &mut |_, bytes| {
            (pieces, seen) = (pieces + 1, seen + bytes as u64);
            pieces < SAMPLE
        });
        Extent { first, end, bytes, piece: (seen / pieces).max(1) }
    }

    /// As words.
    pub fn words(self) -> [u64; 4] {
        [self.first, self.end, self.bytes, self.piece]
    }

    /// Of words.
    pub fn of_words([first, end, bytes, piece]: [u64; 4]) -> Extent {
        Extent { first, end, bytes, piece }
    }
}

/// The parts of the file that are gathered: one for each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domains {
    from: u64,
    end: u64,
    each: u64,
    window: u64,
}

impl Domains {
    /// For an access of these processes; `None` if each had better do its own part. It pays where pieces are small, lie between
    /// those of others, and leave not much room.
    pub fn new(all: &[Extent], limits: Limits) -> Option<Domains> {
        if all.iter().any(|one| one.piece == 0) {
            return None;
        }
        let some = || all.iter().filter(|one| one.bytes > 0);
        let (from, end) = (some().map(|one| one.first).min()?, some().map(|one| one.end).max()?);
        let sum = |value: fn(&Extent) -> u64| some().map(value).fold(0u64, u64::saturating_add);
        let (bytes, spans) = (sum(|one| one.bytes), sum(|one| one.end - one.first));
        let pieces = sum(|one| one.bytes.div_ceil(one.piece));
        let (span, average) = (end - from, bytes / pieces.max(1));
        let few = all.len() as u64 <= limits.alone || pieces < PIECES_LEAST * some().count() as u64;
        // Extents that share nothing add up to no more than what lies between the first and the last byte.
        if !limits.wanted && (few || average > limits.piece || spans <= span + span / 8 || bytes < span / 2) {
            return None;
        }
        let from = from / PAGE * PAGE;
        let each = (end - from).div_ceil(limits.gatherers.clamp(1, all.len() as u64)).next_multiple_of(PAGE);
        Some(Domains { from, end, each, window: limits.window.min(each) })
    }

    /// Rounds.
    pub fn rounds(&self) -> u64 {
        self.each.div_ceil(self.window)
    }

    /// Bytes of the longest window.
    pub fn window_bytes(&self) -> usize {
        self.window as usize
    }

    /// What a process gathers in a round; empty if there is nothing left.
    pub fn window(&self, rank: usize, round: u64) -> Range<u64> {
        let domain = self.from.saturating_add(self.each * rank as u64);
        let end = domain.saturating_add(self.each).min(self.end);
        let first = domain.saturating_add(round * self.window).min(end.max(domain));
        first..first.saturating_add(self.window).min(end).max(first)
    }
}

const PAGE: u64 = 4096;
/// Fewer pieces of each process are done sooner than told.
const PIECES_LEAST: u64 = 4;
/// Pieces that are counted for the average.
const SAMPLE: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const LIMITS: Limits = Limits { window: 8192, piece: 1024, gatherers: u64::MAX, wanted: false, alone: 0 };

    fn extent(first: u64, end: u64, bytes: u64, piece: u64) -> Extent {
        Extent { first, end, bytes, piece }
    }

    #[test]
    fn windows_cover_everything_once() {
        for (ranks, from, end) in [(2, 0, 100_000), (3, 5000, 5100), (4, 4095, 70_001), (5, 1 << 40, (1 << 40) + 4097)]
        {
            let all: Vec<Extent> = (0..ranks).map(|_| extent(from, end, (end - from) / 2 + 1, 8)).collect();
            let domains = Domains::new(&all, LIMITS).unwrap();
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
    fn a_hint_says_who_gathers_and_when() {
        let all = [extent(0, 4096 * 8, 4096, 2048), extent(4096 * 8, 4096 * 16, 4096, 2048), extent(0, 0, 0, 1)];
        assert_eq!(Domains::new(&all, LIMITS), None);
        let limits = Limits { gatherers: 2, wanted: true, ..LIMITS };
        let domains = Domains::new(&all, limits).unwrap();
        assert_eq!((0..3).map(|rank| domains.window(rank, 0).is_empty()).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(domains.window(1, 0).start, 4096 * 8);
    }

    #[test]
    fn two_phases_only_where_they_pay() {
        let interleaved = [extent(0, 1 << 20, 1 << 19, 512), extent(512, (1 << 20) + 512, 1 << 19, 512)];
        assert!(Domains::new(&interleaved, LIMITS).is_some());
        assert_eq!(Domains::new(&interleaved, Limits { alone: 2, ..LIMITS }), None);
        assert!(Domains::new(&interleaved, Limits { alone: 2, wanted: true, ..LIMITS }).is_some());
        assert_eq!(Domains::new(&[interleaved[0], Extent::NONE], LIMITS), None);
        let nothing = Extent { piece: 1, ..Extent::NONE };
        assert_eq!(Domains::new(&[nothing, nothing], LIMITS), None);
        assert_eq!(Domains::new(&[interleaved[0], nothing], LIMITS), None);
        // One behind the other; long pieces; much room between them.
        assert_eq!(Domains::new(&[extent(0, 4096, 2048, 8), extent(4096, 8192, 2048, 8)], LIMITS), None);
        assert_eq!(Domains::new(&[extent(0, 2000, 2000, 1000); 2], LIMITS), None);
        let long = interleaved.map(|one| Extent { piece: 4096, ..one });
        assert_eq!(Domains::new(&long, LIMITS), None);
        let sparse = interleaved.map(|one| Extent { bytes: 1 << 16, ..one });
        assert_eq!(Domains::new(&sparse, LIMITS), None);
    }
}
