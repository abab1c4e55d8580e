//! The rings of one communicator: two for each rank, one for its input and one for its results.
//!
//! Head and tails only grow, over all operations of the communicator, and all ranks know from the arguments of each call how
//! many steps it has: no rank waits for the others at its end.

use super::layout::{self, Geometry, Slots};
use super::window::Window;
use crate::params;
use crate::peer::Peer;
use crate::pool_block::PoolBlock;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::shared_pool::Wanted;
use opal_core::sync::{AtomicU64, ConditionalLock};

/// The rings of one communicator as one rank has them.
pub struct Rings {
    /// The memory.
    pub block: PoolBlock,
    /// This process's rank.
    pub rank: usize,
    /// Ranks, slots and their bytes.
    pub geometry: Geometry,
    /// By ring.
    pub slots: [Slots; layout::RINGS],
    /// Bytes of a piece.
    pub piece: usize,
    /// The operations so far.
    pub state: ConditionalLock<RingState>,
}

/// The operations so far: equal on all ranks between operations, but for `cached_tails`.
pub struct RingState {
    /// By ring: steps so far.
    pub steps: [u64; layout::RINGS],
    /// By ring.
    pub windows: [Window; layout::RINGS],
    /// On both rings.
    pub operations: u64,
    /// By ring: the least of all tails when this rank last loaded them.
    pub cached_tails: [u64; layout::RINGS],
}

/// The parameters of rings: equal on all ranks, or no rings are made.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Bytes of a piece.
    pub piece: usize,
    ring: usize,
}

impl Sizes {
    /// As the parameters are now.
    pub fn by_parameters() -> Sizes {
        let ring = params::PIPELINE_RING.size().clamp(RING_LEAST, RING_MOST);
        Sizes { piece: params::PIPELINE_PIECE.size().clamp(1, ring / layout::SLOTS_LEAST), ring }
    }

    /// Differs where they do.
    pub fn fingerprint(&self) -> u64 {
        (self.piece as u64) << 32 | self.ring as u64
    }
}

/// One of a rank's two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// The rank's contribution.
    Input = 0,
    /// The rank's part of a result.
    Result = 1,
}

impl Rings {
    /// Allocates them at rank 0, as large as there is room for: all ranks call it at the same place of their program. `None` on
    /// all if there is room for none.
    pub fn create(
        (rank, peers): (usize, &[Option<Peer>]),
        sizes: Sizes,
        executor: &mut dyn Executor,
    ) -> Result<Option<Rings>> {
        let mut geometries = geometries(peers.len(), sizes).peekable();
        while let Some(geometry) = geometries.next() {
            let wanted = Wanted {
                bytes: geometry.bytes(),
                // Half of what is left is for communicators to come.
                spare: if geometries.peek().is_some() { geometry.bytes() } else { 0 },
                zeros: geometry.head_bytes(),
                detach_count: layout::DETACH_COUNT,
                users: geometry.ranks as u64,
            };
            if let Some(block) = PoolBlock::create((rank, peers), ("rings", wanted), executor)? {
                return Ok(Some(Rings::over(block, rank, geometry, sizes.piece)));
            }
        }
        Ok(None)
    }

    /// Rings for pieces of `piece` bytes in memory whose head is all zeros.
    pub fn over(block: PoolBlock, rank: usize, geometry: Geometry, piece: usize) -> Rings {
        let state = RingState {
            steps: [0; layout::RINGS],
            windows: [Window::first(geometry.slots); layout::RINGS],
            operations: 0,
            cached_tails: [0; layout::RINGS],
        };
        let slots = core::array::from_fn(|ring| geometry.slots_of(ring));
        Rings { block, rank, geometry, slots, piece, state: ConditionalLock::new(state) }
    }

    /// Bytes of a piece, and of all pieces of a ring.
    pub fn capacity(&self) -> (usize, usize) {
        (self.piece, self.piece * self.geometry.slots)
    }

    /// The word at an offset.
    #[inline(always)]
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        self.block.shared.word(offset)
    }
}

// The largest rings that `ranks` ranks may have, then shorter ones.
fn geometries(ranks: usize, Sizes { piece, ring }: Sizes) -> impl Iterator<Item = Geometry> {
    let slot_bytes = piece.next_multiple_of(64);
    let most = ring.min((ALL_BYTES / ranks).max(RING_LEAST));
    let lengths = (0..).map_while(move |halvings| Some(most >> halvings).filter(|bytes| *bytes >= RING_LEAST));
    lengths.map(move |bytes: usize| Geometry {
        ranks,
        slots: (bytes / slot_bytes).max(layout::SLOTS_LEAST),
        slot_bytes,
    })
}

const RING_LEAST: usize = 64 << 10;
const RING_MOST: usize = 16 << 20;
/// Of all input rings; those for results are as large together as one of these for each rank but one.
const ALL_BYTES: usize = 4 << 20;
