//! What processes tell each other of an access, and what follows from it.

use super::super::hints::{FileHints, HintChoice};
use super::super::place::FilePlace;
use crate::framework::fbtl::AccessKind;

/// What one process reads or writes, as all are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessExtent {
    /// The first byte in the file.
    pub first: u64,
    /// Behind the last one.
    pub end: u64,
    /// How many bytes in between.
    pub bytes: u64,
    /// Bytes of a piece that lies together in the file, on average; 0 if nobody can gather for the process.
    pub piece: u32,
    /// Bytes from one piece to the next, on average.
    pub stride: u32,
    /// Whether its data is copied once, between its memory and the process that gathers.
    pub direct: bool,
}

impl AccessExtent {
    /// Of a process that nobody can gather for.
    pub const NONE: AccessExtent = AccessExtent { first: 0, end: 0, bytes: 0, piece: 0, stride: 0, direct: false };
    /// Of a process that moves nothing.
    pub const EMPTY: AccessExtent = AccessExtent { piece: 1, stride: 1, direct: true, ..AccessExtent::NONE };

    /// Of `bytes` bytes at this place.
    pub fn new(target: &FilePlace<'_>, bytes: u64, direction: AccessKind) -> AccessExtent {
        if target.hints.gather(direction) == HintChoice::Disable {
            return AccessExtent::NONE;
        }
        let (view, layout) = (target.view, &target.view.pattern);
        let last = target.position.saturating_add(bytes);
        if bytes == 0 {
            return AccessExtent::EMPTY;
        }
        if !view.grows(last) || layout.size() == 0 || view.check_reach(last).is_err() {
            return AccessExtent::NONE;
        }
        let (first, end) = (view.place(target.position), view.place(last - 1) + 1);
        let (mut pieces, mut seen, mut begin) = (0, 0, first);
        view.places(target.position, bytes as usize, &mut |offset, bytes| {
            (pieces, seen, begin) = (pieces + 1, seen + bytes as u64, offset);
            pieces < SAMPLE
        });
        let piece = clamped(seen / pieces);
        let stride = if pieces > 1 { clamped((begin - first) / (pieces - 1)) } else { piece };
        AccessExtent { first, end, bytes, piece, stride, direct: false }
    }

    /// As words.
    pub fn words(self) -> [u64; 4] {
        let direct = if self.direct { DIRECT } else { 0 };
        [self.first, self.end, self.bytes, u64::from(self.stride) << 32 | u64::from(self.piece | direct)]
    }

    /// Of words.
    pub fn of_words([first, end, bytes, lengths]: [u64; 4]) -> AccessExtent {
        let (piece, stride) = (lengths as u32, (lengths >> 32) as u32);
        AccessExtent { first, end, bytes, piece: piece & !DIRECT, stride, direct: piece & DIRECT != 0 }
    }
}

fn clamped(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX).clamp(1, !DIRECT)
}

/// What parameters and hints say.
#[derive(Clone, Copy, Debug)]
pub struct GatherLimits {
    /// Bytes of memory that a process takes.
    pub memory: u64,
    /// Longer pieces are not gathered.
    pub piece: u64,
    /// How many processes gather.
    pub aggregators: u64,
    /// The same for pieces whose data is copied once.
    pub direct_piece: u64,
    /// What a hint wants.
    pub wish: HintChoice,
    /// So many processes, or fewer, need not.
    pub alone: u64,
    /// Parts of the file begin at multiples of so many bytes where that is possible.
    pub unit: u64,
}

impl GatherLimits {
    /// Nothing but how much memory a process takes, and the longest pieces that are gathered.
    pub const fn new(memory: u64, piece: u64) -> GatherLimits {
        let (aggregators, wish) = (u64::MAX, HintChoice::Automatic);
        GatherLimits { memory, piece, direct_piece: piece, aggregators, wish, alone: 0, unit: PAGE }
    }

    /// These, where hints of the file say nothing else.
    #[must_use]
    pub fn hinted(self, hints: &FileHints, direction: AccessKind) -> GatherLimits {
        let sieves = direction == AccessKind::Read && hints.sieve_read != HintChoice::Disable;
        GatherLimits {
            memory: hints.aggregator_bytes.unwrap_or(self.memory).clamp(PAGE, 1 << 30),
            piece: self.piece,
            direct_piece: match direction {
                AccessKind::Read => self.piece.min(DIRECT_READ_MOST),
                AccessKind::Write => self.piece.saturating_mul(DIRECT_WRITE_TIMES),
            },
            aggregators: hints.aggregators.map_or(self.aggregators, u64::from),
            wish: hints.gather(direction),
            alone: if sieves { self.alone } else { 0 },
            unit: hints.striping.unit.map_or(PAGE, |unit| unit.max(PAGE)),
        }
    }

    /// How many of so many processes gather.
    pub fn among(&self, processes: usize) -> u64 {
        self.aggregators.clamp(1, processes as u64)
    }
}

/// The extents of all processes, and sums of them.
#[derive(Clone, Copy, Debug)]
pub struct AllExtents<'a> {
    /// Of each process, by rank.
    pub each: &'a [AccessExtent],
    /// The first byte in the file.
    pub from: u64,
    /// Behind the last one.
    pub end: u64,
    /// How many bytes; those of several processes count as often.
    pub bytes: u64,
    // What lies between the first and the last byte of each, summed.
    spans: u64,
    pieces: u64,
    // Processes that move something.
    busy: u64,
}

impl AllExtents<'_> {
    /// `None` if nobody can gather for one of them, or if there is nothing to move.
    pub fn new(each: &[AccessExtent]) -> Option<AllExtents<'_>> {
        if each.iter().any(|one| one.piece == 0) {
            return None;
        }
        let some = || each.iter().filter(|one| one.bytes > 0);
        let (from, end) = (some().map(|one| one.first).min()?, some().map(|one| one.end).max()?);
        let sum = |value: fn(&AccessExtent) -> u64| some().map(value).fold(0u64, u64::saturating_add);
        let (bytes, spans) = (sum(|one| one.bytes), sum(|one| one.end - one.first));
        let pieces = sum(|one| one.bytes.div_ceil(u64::from(one.piece)));
        Some(AllExtents { each, from, end, bytes, spans, pieces, busy: some().count() as u64 })
    }

    /// From the first to the last byte.
    pub fn span(&self) -> u64 {
        self.end - self.from
    }

    /// Whether the processes' pieces are small and lie between those of others.
    pub fn interleave(&self, limits: &GatherLimits) -> bool {
        let piece = self.bytes / self.pieces.max(1);
        let direct = piece >= DIRECT_LEAST && self.each.iter().all(|one| one.direct);
        let long = piece > if direct { limits.direct_piece } else { limits.piece };
        let few = !direct && self.each.len() as u64 <= limits.alone || self.pieces < PIECES_LEAST * self.busy;
        // Extents that share nothing add up to no more than what lies between the first and the last byte.
        let apart = self.spans <= self.span() + self.span() / 8;
        !few && !apart && !long
    }

    /// Whether there is much room between the pieces.
    pub fn is_sparse(&self) -> bool {
        self.bytes < self.span() / 2
    }

    /// Whether the pieces lie close to each other where they are, as far as the first ones show it.
    pub fn is_dense_locally(&self) -> bool {
        let density = |one: &AccessExtent| u64::from(one.piece) * PARTS / u64::from(one.stride.max(1));
        let some = self.each.iter().filter(|one| one.bytes > 0);
        some.map(density).sum::<u64>() >= PARTS / 2
    }

    /// The bytes in the fullest of so many equal parts of the file, for each 16 that it would have if all had as many: as if each
    /// process's bytes lay evenly between its first and its last one.
    pub fn fullest_of(&self, parts: u64) -> u64 {
        let length = self.span().div_ceil(parts.max(1)).max(1);
        let share = |one: &AccessExtent, from: u64| {
            let within = one.end.min(from + length).saturating_sub(one.first.max(from));
            u128::from(one.bytes) * u128::from(within) / u128::from((one.end - one.first).max(1))
        };
        let some = || self.each.iter().filter(|one| one.bytes > 0);
        let part = |part| some().map(|one| share(one, self.from + part * length)).sum::<u128>();
        let fullest = (0..parts.max(1)).map(part).max().unwrap_or(0);
        (fullest * u128::from(parts.max(1)) * 16 / u128::from(self.bytes.max(1))) as u64
    }
}

/// Of the system's memory for files.
pub const PAGE: u64 = 4096;
/// In the word of a piece.
const DIRECT: u32 = 1 << 31;
/// With shorter pieces it takes longer to tell of them than to read over those of others.
const DIRECT_LEAST: u64 = 256;
/// Within a node each process reads pieces from this length on from the system's memory for the file as fast as from another process.
const DIRECT_READ_MOST: u64 = (4 << 10) - 1;
/// A call of the system for each piece that is written waits for those of the others, which write the same file: copies pay for pieces so
/// many times as long as messages do (docs/performance/files.md).
const DIRECT_WRITE_TIMES: u64 = 8;
/// Fewer pieces of each process are done sooner than told.
const PIECES_LEAST: u64 = 4;
/// Pieces that are counted for the average.
const SAMPLE: u64 = 64;
/// In which densities are counted.
const PARTS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: GatherLimits = GatherLimits::new(65536, 1024);

    fn extent(first: u64, end: u64, bytes: u64, piece: u32) -> AccessExtent {
        AccessExtent { first, end, bytes, piece, stride: 2 * piece, direct: false }
    }

    fn pays(each: &[AccessExtent], limits: GatherLimits) -> bool {
        AllExtents::new(each).is_some_and(|all| all.interleave(&limits))
    }

    #[test]
    fn small_pieces_between_those_of_others_interleave() {
        let interleaved = [extent(0, 1 << 20, 1 << 19, 512), extent(512, (1 << 20) + 512, 1 << 19, 512)];
        assert!(pays(&interleaved, LIMITS));
        assert!(!pays(&interleaved, GatherLimits { alone: 2, ..LIMITS }));
        // Unless each is told where the data goes, and there is little to tell.
        let direct = interleaved.map(|one| AccessExtent { direct: true, ..one });
        assert!(pays(&direct, GatherLimits { alone: 2, ..LIMITS }));
        assert!(!pays(&[direct[0], interleaved[1]], GatherLimits { alone: 2, ..LIMITS }));
        assert!(!pays(&direct.map(|one| AccessExtent { piece: 128, ..one }), GatherLimits { alone: 2, ..LIMITS }));
        assert!(!pays(&direct, GatherLimits { direct_piece: 511, ..LIMITS }));
        assert!(pays(&interleaved, GatherLimits { direct_piece: 511, ..LIMITS }));
        // Copies pay for longer pieces to write, and for shorter ones to read.
        let longer = |bytes: u32| {
            let end = u64::from(bytes) * 32;
            [0, u64::from(bytes)]
                .map(|first| AccessExtent { direct: true, ..extent(first, first + end, end / 2, bytes) })
        };
        let limits = |direction| GatherLimits::new(65536, 16384).hinted(&FileHints::default(), direction);
        for (bytes, direction, wanted) in [
            (131_072, AccessKind::Write, true),
            (131_073, AccessKind::Write, false),
            (4095, AccessKind::Read, true),
            (4096, AccessKind::Read, false),
        ] {
            assert_eq!(pays(&longer(bytes), limits(direction)), wanted, "{bytes} {direction:?}");
        }
        let messages = longer(16385).map(|one| AccessExtent { direct: false, ..one });
        assert!(!pays(&messages, limits(AccessKind::Write)));
        assert!(!pays(&[interleaved[0], AccessExtent::NONE], LIMITS));
        assert!(!pays(&[AccessExtent::EMPTY; 2], LIMITS));
        assert!(!pays(&[interleaved[0], AccessExtent::EMPTY], LIMITS));
        // One behind the other; few; long pieces.
        assert!(!pays(&[extent(0, 4096, 2048, 8), extent(4096, 8192, 2048, 8)], LIMITS));
        assert!(!pays(&[extent(0, 2000, 2000, 1000); 2], LIMITS));
        assert!(!pays(&interleaved.map(|one| AccessExtent { piece: 4096, ..one }), LIMITS));
    }

    #[test]
    fn words_keep_all() {
        let one = AccessExtent { stride: u32::MAX, ..extent(5, 1 << 40, 77, u32::MAX / 4) };
        for one in [one, AccessExtent { direct: true, ..one }, AccessExtent::NONE, AccessExtent::EMPTY] {
            assert_eq!(AccessExtent::of_words(one.words()), one);
        }
    }

    #[test]
    fn room_and_unevenness_are_seen() {
        let even = [extent(0, 1 << 20, 1 << 19, 512); 2];
        let all = AllExtents::new(&even).unwrap();
        assert_eq!((all.is_sparse(), all.is_dense_locally(), all.fullest_of(4)), (false, true, 16));
        // All but a hundredth lies in the first hundredth.
        let skewed = [extent(0, 10_000, 9_900, 512), extent(0, 1_000_000, 100, 10)];
        let all = AllExtents::new(&skewed).unwrap();
        assert!(all.is_sparse() && all.is_dense_locally() && all.fullest_of(4) > 60);
        let thin = even.map(|one| AccessExtent { stride: 512 * 64, bytes: 1 << 13, ..one });
        assert!(!AllExtents::new(&thin).unwrap().is_dense_locally());
    }
}
