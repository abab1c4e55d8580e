//! Blocks of shared memory for one communicator, allocated from the shared pool of its rank 0 (`ompi_core::shared_pool`).

use crate::peer::Peer;
use crate::subject;
use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::FRAMEWORK;
use ompi_core::shared_pool::{self, Neighbor, Shared, Wanted};
use opal_core::sync::Ordering;
use opal_core::verbose;

/// Memory that all ranks of a communicator share, until all of them have dropped it.
pub struct PoolBlock {
    /// The memory.
    pub shared: Shared,
    // At rank 0: the offset in this process's own pool.
    allocated_at: Option<usize>,
    // Offset of the word in which each rank counts itself out.
    detach_count: usize,
}

impl PoolBlock {
    /// Allocates it at rank 0: all ranks call it at the same place of their program. `None` on all if there is no room.
    pub fn create(
        (rank, peers): (usize, &[Option<Peer>]),
        (purpose, wanted): (&str, Wanted),
        executor: &mut dyn Executor,
    ) -> Result<Option<PoolBlock>> {
        let size = peers.len();
        let leader = if rank == 0 { &peers[1] } else { &peers[0] };
        let pool_of = if rank == 0 { Neighbor::own_shared_pool } else { Neighbor::shared_pool };
        let pool = leader.as_ref().and_then(|peer| pool_of(&peer.neighbor)).ok_or(Class::Intern)?;
        // 0: none; else one more than the offset.
        let mut word = match rank {
            0 => shared_pool::take(pool, wanted).map_or(0, |offset| offset as u64 + 1),
            _ => 0,
        };
        let data = Data { at: (&raw mut word).cast(), count: 8, datatype: datatype::byte() };
        if rank == 0 {
            (1..size).try_for_each(|peer| executor.send(&data, peer))?;
        } else {
            executor.recv(&data, 0)?;
        }
        verbose!(FRAMEWORK, 20, "sm: {purpose} of {size} ranks: {}", if word == 0 { "no room" } else { "here" });
        let Some(offset) = word.checked_sub(1) else { return Ok(None) };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let shared = Shared::of(pool, offset, wanted.bytes).ok_or_else(|| {
            Fault::new(Class::Intern).because("rank 0 gave an offset that its shared pool does not have")
        })?;
        subject::add(&shared, wanted.bytes, peers, executor);
        Ok(Some(PoolBlock { shared, allocated_at: (rank == 0).then_some(offset), detach_count: wanted.detach_count }))
    }

    /// Memory that a test owns.
    #[cfg(all(test, loom))]
    pub fn of_test(shared: Shared, detach_count: usize) -> PoolBlock {
        PoolBlock { shared, allocated_at: None, detach_count }
    }
}

impl Drop for PoolBlock {
    fn drop(&mut self) {
        subject::remove(&self.shared);
        // Release pairs with the Acquire in `ompi_core::shared_pool::take`.
        self.shared.word(self.detach_count).fetch_add(1, Ordering::Release);
        if let Some(offset) = self.allocated_at {
            shared_pool::give_back(offset);
        }
    }
}
