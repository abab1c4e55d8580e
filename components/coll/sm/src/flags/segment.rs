//! The segment of one communicator, and one rank's record of the epochs so far.

use crate::flags::layout;
use crate::flags::oversubscription::CoreSharing;
use crate::peer::Peer;
use crate::pool_block::PoolBlock;
use alloc::boxed::Box;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::shared_pool::{Shared, Wanted};
use opal_core::sync::{AtomicU64, ConditionalLock};

/// The segment as one rank has it mapped.
pub struct Segment {
    /// This process's rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Two ranks: their flags, by rank and parity.
    pub flags: [[Flag; 2]; 2],
    /// More: their words, by flag set.
    pub flag_sets: Box<[FlagSet]>,
    /// More: whether a rank for which others wait sets a flag of its own, rather than that all count themselves in.
    pub by_flags: bool,
    /// The epochs so far.
    pub state: ConditionalLock<SegmentState>,
    block: PoolBlock,
}

/// A segment and its communicator's other processes, to be woken.
pub type Team<'a> = (&'a Segment, &'a [Option<Peer>]);

/// The flag of one of two ranks in epochs of one parity.
pub struct Flag {
    /// The last such epoch to which the rank has come.
    pub epoch: &'static AtomicU64,
    /// Up to eight bytes that come along.
    pub value: &'static AtomicU64,
}

/// The words of more than two ranks in the epochs of one flag set.
pub struct FlagSet {
    /// Arrivals since the segment was made.
    pub counter: &'static AtomicU64,
    /// The last such epoch whose data is complete.
    pub release: &'static AtomicU64,
}

/// Which ranks write and which ones read in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each writes for each.
    AllToAll,
    /// This rank writes for each.
    OneToAll(usize),
    /// Each writes for this rank.
    AllToOne(usize),
    /// Each writes for those behind it, and waits for none of them: the first ranks may be far ahead.
    Scan,
}

/// The epochs so far: equal on all ranks between operations, but for `pending_ack`.
pub struct SegmentState {
    /// The last one.
    pub epoch: u64,
    /// The last one in which this rank waited for all: before it came, each rank had finished all earlier ones.
    pub last_barrier: u64,
    /// All-to-all epochs in which ranks set flags of their own.
    pub meetings: u64,
    /// Which ranks share cores.
    pub sharing: CoreSharing,
    /// The epoch before which the ranks exchange their cores again.
    pub core_exchange_at: u64,
    /// By flag set: the arrival counter's value when all have come that were to come.
    pub expected: [u64; layout::FLAG_SETS],
    /// Two ranks, by parity: the epoch whose flag of the peer frees this parity's slot and value; 0 if they are free.
    pub pending_ack: [u64; 2],
}

impl Segment {
    /// Gets it from rank 0: all ranks call it at the same place of their program. `None` on all if there is no room.
    pub fn create(
        rank: usize,
        peers: &[Option<Peer>],
        by_flags: bool,
        executor: &mut dyn Executor,
    ) -> Result<Option<Segment>> {
        let size = peers.len();
        let wanted = Wanted {
            bytes: layout::bytes(size),
            spare: 0,
            zeros: layout::head_bytes(size),
            detach_count: layout::DETACH_COUNT,
            users: size as u64,
        };
        let Some(block) = PoolBlock::create((rank, peers), ("flags", wanted), executor)? else { return Ok(None) };
        let segment = Segment::over(block, rank, size, by_flags);
        if !by_flags {
            segment.state.lock().core_exchange_at = 0;
        }
        Ok(Some(segment))
    }

    /// The segment of `size` ranks in memory whose head is all zeros.
    pub fn over(block: PoolBlock, rank: usize, size: usize, by_flags: bool) -> Segment {
        let state = ConditionalLock::new(SegmentState {
            epoch: 0,
            last_barrier: 0,
            meetings: 0,
            sharing: CoreSharing::default(),
            core_exchange_at: u64::MAX,
            expected: [0; layout::FLAG_SETS],
            pending_ack: [0; 2],
        });
        let word = |offset| block.shared.word(offset);
        let flag = |rank, parity| {
            let at = layout::pair_flag(rank, parity);
            Flag { epoch: word(at), value: word(at + 8) }
        };
        let flags = [0, 1].map(|rank| [0, 1].map(|parity| flag(rank, parity)));
        let flag_set =
            |set| FlagSet { counter: word(layout::counter(set, size)), release: word(layout::release(set, size)) };
        let flag_sets = (0..layout::FLAG_SETS).map(flag_set).collect();
        Segment { block, rank, size, flags, flag_sets, by_flags, state }
    }

    /// The memory.
    #[inline(always)]
    pub fn shared(&self) -> &Shared {
        &self.block.shared
    }
}

/// A rank that only waits for others polls everything else once in so many operations.
pub const OPERATIONS_PER_PASS: u64 = 64;
