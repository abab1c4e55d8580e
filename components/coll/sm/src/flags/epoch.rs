//! Epochs: one operation on the segment, from its beginning to the last read.
//!
//! More than two ranks: each rank that contributes writes its data and arrives at the counter. The last one to arrive (in
//! a one-to-all epoch the root) stores the release word, which the others poll. In an all-to-all epoch of ranks that share
//! cores the last rank of each core arrives for all of them (`oversubscription`).
//!
//! Ranks with a core each set flags of their own instead, and whoever waits for them polls all of these: a counter goes from core to core as often as
//! there are ranks, flags go to all cores at the same time. In µs on 16 cores of an Intel Xeon (Sapphire Rapids):
//!
//! | ranks | MPI_Barrier by counter and by flags | MPI_Allreduce of 8 bytes by messages and by flags |
//! |---|---|---|
//! | 4 | 0.53, 0.34 | 0.70, 0.47 |
//! | 8 | 0.77, 0.44 | 0.96, 0.60 |
//! | 16 | 1.33, 0.65 | 1.19, 0.91 |
//!
//! In a scan all ranks do so; the ranks behind one poll its flag.
//!
//! Two ranks: the protocol of their flags is in `pair`.
//!
//! [`Epoch::begin`] may do a barrier of its own first. docs/architecture/collectives-in-shared-memory.md says when and why.

use crate::buffer::others;
use crate::flags::layout;
use crate::flags::oversubscription::{self, Core};
use crate::flags::segment::{FlagSet, OPERATIONS_PER_PASS, Pattern, Segment, SegmentState};
use crate::peer::Peer;
use crate::word;
use core::cell::Cell;
use ompi_core::error::Result;
use ompi_core::framework::coll::FRAMEWORK;
use opal_core::sync::{AtomicU64, Ordering};
use opal_core::{progress, verbose};

/// One operation on the segment.
pub struct Epoch<'a> {
    segment: &'a Segment,
    peers: &'a [Option<Peer>],
    pattern: Pattern,
    number: u64,
    // Data is flag-inline or counter-inline.
    is_inline: bool,
    // Two ranks, by rank: inline values, which are stored and loaded together with their flag, since the line may be the
    // other core's right after.
    values: [Cell<u64>; 2],
    // Offset of the first rank's data, and how far the others' are apart.
    first: usize,
    apart: usize,
    // Offset of the first rank's flag, if each rank sets one.
    rank_flags: Option<usize>,
    // The arrival counter's value when all have come.
    expected: u64,
    // Of this rank in an all-to-all epoch, if ranks share cores.
    core: Option<Core>,
}

impl<'a> Epoch<'a> {
    /// Begins the next epoch, in which each rank that writes writes `bytes`, at most [`layout::slot_bytes`]. If the flag set or
    /// the data slots that it needs may still be read, or ranks may have moved to other cores, an all-to-all epoch comes
    /// first, on all ranks alike.
    #[inline]
    pub fn begin(segment: &'a Segment, peers: &'a [Option<Peer>], pattern: Pattern, bytes: usize) -> Result<Epoch<'a>> {
        debug_assert!(bytes <= layout::slot_bytes(segment.size));
        if segment.size == 2 {
            return Epoch::begin_pair(segment, peers, pattern, bytes);
        }
        progress::flush();
        let mut state = segment.state.lock();
        let number = state.epoch + 1;
        let by_flags = segment.by_flags;
        let is_inline = match pattern {
            Pattern::AllToAll | Pattern::AllToOne(_) if !by_flags => bytes <= layout::COUNTER_INLINE_BYTES,
            _ => bytes <= layout::FLAG_INLINE_BYTES,
        };
        if number.is_multiple_of(OPERATIONS_PER_PASS) {
            progress::pass();
        }
        if needs_barrier(&state, pattern, is_inline) {
            drop(state);
            Epoch::begin(segment, peers, Pattern::AllToAll, 0)?.barrier()?;
            return Epoch::begin(segment, peers, pattern, bytes);
        }
        if number >= state.core_exchange_at {
            state.core_exchange_at = number + OPERATIONS_PER_CORE_EXCHANGE;
            drop(state);
            exchange_cores(segment, peers)?;
            return Epoch::begin(segment, peers, pattern, bytes);
        }
        state.epoch = number;
        let (set, size) = (number as usize % layout::FLAG_SETS, segment.size);
        let rank_flags = match pattern {
            Pattern::AllToAll if by_flags => {
                state.meetings += 1;
                Some(layout::meeting_flag((state.meetings & 1) as usize, 0, size))
            }
            Pattern::AllToOne(_) if by_flags => Some(layout::rank_flag(set, 0, size)),
            Pattern::Scan => Some(layout::rank_flag(set, 0, size)),
            _ => None,
        };
        let mut core = None;
        state.expected[set] += match pattern {
            _ if rank_flags.is_some() => 0,
            Pattern::AllToAll => {
                let shared_cores = state.sharing.begin_barrier(segment.shared(), segment.rank);
                core = shared_cores.map(|(core, _)| core);
                shared_cores.map_or(size as u64, |(_, cores)| cores)
            }
            Pattern::OneToAll(_) | Pattern::Scan => 0,
            Pattern::AllToOne(_) => size as u64 - 1,
        };
        if pattern == Pattern::AllToAll {
            state.last_barrier = number;
        }
        let (first, apart) = match (is_inline, pattern) {
            (true, Pattern::OneToAll(_)) => (layout::flag_inline(set, size), 0),
            (true, _) if by_flags || pattern == Pattern::Scan => (rank_flags.unwrap_or(0) + 8, layout::RANK_FLAG_BYTES),
            (true, _) => (layout::counter_inline(set, 0, size), layout::COUNTER_INLINE_BYTES),
            (false, _) => (layout::data_slot(number as usize % layout::DATA_SLOTS, 0, size), layout::slot_bytes(size)),
        };
        let (values, expected) = ([const { Cell::new(0) }; 2], state.expected[set]);
        Ok(Epoch { segment, peers, pattern, number, is_inline, values, first, apart, rank_flags, expected, core })
    }

    #[inline(always)]
    fn begin_pair(
        segment: &'a Segment,
        peers: &'a [Option<Peer>],
        pattern: Pattern,
        bytes: usize,
    ) -> Result<Epoch<'a>> {
        let number = segment.begin_pair(pattern, bytes)?;
        let is_inline = (1..=layout::COUNTER_INLINE_BYTES).contains(&bytes);
        let (first, apart) = (layout::data_slot((number & 1) as usize, 0, 2), layout::slot_bytes(2));
        let (values, rank_flags, expected, core) = ([const { Cell::new(0) }; 2], None, 0, None);
        Ok(Epoch { segment, peers, pattern, number, is_inline, values, first, apart, rank_flags, expected, core })
    }

    /// Whether there are two ranks.
    #[inline(always)]
    pub fn is_pair(&self) -> bool {
        self.segment.size == 2
    }

    /// Whether each rank's data lies beside its flag, or beside the counter.
    #[inline(always)]
    pub fn is_inline(&self) -> bool {
        self.is_inline
    }

    /// This rank.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.segment.rank
    }

    /// How many ranks there are.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.segment.size
    }

    /// Address of this rank's data.
    #[inline(always)]
    pub fn own_slot(&self) -> *mut u8 {
        self.slot(self.segment.rank)
    }

    /// Address of a rank's data.
    #[inline(always)]
    pub fn slot(&self, rank: usize) -> *mut u8 {
        match self.is_inline && self.is_pair() {
            true => self.values[rank].as_ptr().cast(),
            false => self.segment.shared().place(self.offset(rank), 0),
        }
    }

    /// Word `index` of a rank's data.
    #[inline(always)]
    pub fn word(&self, rank: usize, index: usize) -> u64 {
        match self.is_inline && self.is_pair() {
            true => self.values[rank].get(),
            false => self.shared_word(rank, index).load(Ordering::Relaxed),
        }
    }

    /// Writes word `index` of this rank's data.
    #[inline(always)]
    pub fn set_word(&self, index: usize, value: u64) {
        match self.is_inline && self.is_pair() {
            true => self.values[self.segment.rank].set(value),
            false => self.shared_word(self.segment.rank, index).store(value, Ordering::Relaxed),
        }
    }

    #[inline(always)]
    fn shared_word(&self, rank: usize, index: usize) -> &AtomicU64 {
        let most =
            if self.is_inline && self.rank_flags.is_none() { 1 } else { layout::slot_bytes(self.segment.size) / 8 };
        debug_assert!(index < most);
        self.segment.shared().word(self.offset(rank) + 8 * index)
    }

    #[inline(always)]
    fn offset(&self, rank: usize) -> usize {
        self.first + rank * self.apart
    }

    #[inline(always)]
    fn flag_set(&self) -> &FlagSet {
        &self.segment.flag_sets[self.number as usize % layout::FLAG_SETS]
    }

    /// Address of the result of `bytes`, with more than two ranks.
    #[inline(always)]
    pub fn result(&self, bytes: usize) -> *mut u8 {
        let (number, size) = (self.number as usize, self.segment.size);
        let at = match bytes <= layout::FLAG_INLINE_BYTES {
            true => layout::flag_inline(number % layout::FLAG_SETS, size),
            false => layout::data_slot(number % layout::DATA_SLOTS, size, size),
        };
        self.segment.shared().place(at, bytes)
    }

    /// Signals and waits: after an all-to-all epoch every rank has come.
    #[inline(always)]
    pub fn barrier(&self) -> Result<()> {
        self.signal();
        self.wait()
    }

    /// This rank's data is complete.
    #[inline(always)]
    pub fn signal(&self) {
        if self.is_pair() {
            let value = self.is_inline.then(|| self.values[self.segment.rank].get());
            return self.segment.set_flag(self.number, value, self.peers);
        }
        if let Some(flags) = self.rank_flags {
            // Release pairs with the Acquire in `word::wait_for`.
            self.rank_flag(flags, self.rank()).store(self.number, Ordering::Release);
            self.notify_readers();
        } else if matches!(self.pattern, Pattern::OneToAll(_)) || self.arrive() {
            self.release();
        }
    }

    /// More than two ranks: this rank's data is complete. Returns whether it is the last to come, which then must
    /// [`Epoch::release`].
    #[inline(always)]
    pub fn arrive(&self) -> bool {
        if let Some(core) = &self.core
            && !core.arrive()
        {
            return false;
        }
        // Release: a rank that sees the sum sees the writes before each addition. Acquire: the last one reads them.
        let before = self.flag_set().counter.fetch_add(1, Ordering::AcqRel);
        let missing = self.expected.wrapping_sub(before).wrapping_sub(1);
        if missing >= self.segment.size as u64 {
            self.report_overwritten();
        }
        missing == 0
    }

    /// No rank of this epoch waits for ever because its counter was overwritten.
    #[cold]
    #[inline(never)]
    fn report_overwritten(&self) {
        self.flag_set().release.store(word::OVERWRITTEN, Ordering::Release);
        self.peers.iter().flatten().for_each(|peer| peer.neighbor.notify());
    }

    /// More than two ranks: stores the release word.
    #[inline(always)]
    pub fn release(&self) {
        // Release pairs with the Acquire in `word::wait_for`.
        self.flag_set().release.store(self.number, Ordering::Release);
        self.notify_readers();
    }

    #[inline(always)]
    fn notify_readers(&self) {
        let readers = match self.pattern {
            Pattern::AllToOne(root) => &self.peers[root..=root],
            Pattern::Scan => &self.peers[self.rank() + 1..],
            Pattern::AllToAll | Pattern::OneToAll(_) => self.peers,
        };
        readers.iter().flatten().for_each(|peer| peer.neighbor.notify());
    }

    /// Waits until the data that this rank reads is complete.
    #[inline(always)]
    pub fn wait(&self) -> Result<()> {
        if let Some(flags) = self.rank_flags {
            // Those behind this one first, so that not all begin with one line.
            return others(self.rank(), self.size())
                .try_for_each(|other| word::wait_for(self.rank_flag(flags, other), self.number));
        }
        if !self.is_pair() {
            let release = self.flag_set().release;
            return match &self.core {
                Some(core) => core.wait_for(release, self.number),
                None => word::wait_for(release, self.number),
            };
        }
        let flag = self.segment.wait_for_peer(self.number)?;
        if self.is_inline {
            self.values[1 - self.segment.rank].set(flag.value.load(Ordering::Relaxed));
        }
        Ok(())
    }

    /// Whether each rank sets a flag of its own: nobody comes last, and all data may be read after [`Epoch::wait`].
    #[inline(always)]
    pub fn has_rank_flags(&self) -> bool {
        self.rank_flags.is_some()
    }

    /// Where each rank sets a flag: waits until the data of this one is complete.
    #[inline(always)]
    pub fn wait_for(&self, rank: usize) -> Result<()> {
        match self.rank_flags {
            Some(flags) => word::wait_for(self.rank_flag(flags, rank), self.number),
            None => self.wait(),
        }
    }

    #[inline(always)]
    fn rank_flag(&self, flags: usize, rank: usize) -> &AtomicU64 {
        self.segment.shared().word(flags + rank * layout::RANK_FLAG_BYTES)
    }

    /// This rank has read the data for which it waited.
    #[inline(always)]
    pub fn acknowledge(&self) {
        if self.is_pair() && self.pattern != Pattern::AllToAll {
            self.segment.set_flag(self.number, None, self.peers);
        }
    }
}

/// Whether all ranks must come by before the next epoch may write: its flag set or data slot was last used `places` epochs
/// ago, and only an all-to-all epoch since then proves that nobody reads it any more. The barrier that this demands uses the
/// last flag set that is surely free; hence one less than there are. An inline all-to-all epoch is that barrier itself.
fn needs_barrier(state: &SegmentState, pattern: Pattern, is_inline: bool) -> bool {
    let places = if is_inline { layout::FLAG_SETS } else { layout::DATA_SLOTS } as u64;
    (pattern != Pattern::AllToAll || !is_inline) && state.epoch + 1 > state.last_barrier + places - 2
}

/// All ranks exchange on which cores they are.
fn exchange_cores(segment: &Segment, peers: &[Option<Peer>]) -> Result<()> {
    let epoch = Epoch::begin(segment, peers, Pattern::AllToAll, 8)?;
    epoch.set_word(0, oversubscription::current_core());
    epoch.barrier()?;
    let reported = (0..segment.size).map(|rank| epoch.word(rank, 0)).collect();
    let mut state = segment.state.lock();
    if state.sharing.learn(reported, segment.rank) {
        verbose!(FRAMEWORK, 20, "sm: {} ranks share {} cores", segment.size, state.sharing.shared_cores());
    }
    Ok(())
}

/// After so many epochs ranks exchange their cores: a scheduler that moves a rank to another core does so for long.
const OPERATIONS_PER_CORE_EXCHANGE: u64 = 4096;
