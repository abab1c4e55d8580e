//! Parts of the shared pool of a communicator's rank 0, which it gives away.

use crate::flags::segment::Peer;
use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::FRAMEWORK;
use ompi_core::shared_pool::{self, Neighbor, Shared, Wanted};
use opal_core::sync::Ordering;
use opal_core::verbose;

/// Memory that all ranks of a communicator share, until all of them have dropped it.
pub struct Part {
    /// The memory.
    pub shared: Shared,
    // In rank 0's shared pool, which are this process's own.
    given: Option<usize>,
    departed: usize,
}

impl Part {
    /// Gets it from rank 0: all ranks call it at the same place of their program. `None` on all if there is no room.
    pub fn establish(
        (rank, peers): (usize, &[Option<Peer>]),
        (what, wanted): (&str, Wanted),
        executor: &mut dyn Executor,
    ) -> Result<Option<Part>> {
        let size = peers.len();
        let leader = if rank == 0 { &peers[1] } else { &peers[0] };
        let whose = if rank == 0 { Neighbor::own_shared_pool } else { Neighbor::shared_pool };
        let segment = leader.as_ref().and_then(|peer| whose(&peer.neighbor)).ok_or(Class::Intern)?;
        // 0: none; else one more than the offset.
        let mut word = match rank {
            0 => shared_pool::take(segment, wanted).map_or(0, |offset| offset as u64 + 1),
            _ => 0,
        };
        let data = Data { at: (&raw mut word).cast(), count: 8, datatype: datatype::byte() };
        if rank == 0 {
            (1..size).try_for_each(|peer| executor.send(&data, peer))?;
        } else {
            executor.recv(&data, 0)?;
        }
        verbose!(FRAMEWORK, 20, "sm: {what} of {size} ranks: {}", if word == 0 { "no room" } else { "here" });
        let Some(offset) = word.checked_sub(1) else { return Ok(None) };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let shared = Shared::of(segment, offset, wanted.bytes).ok_or_else(|| {
            Fault::new(Class::Intern).because("rank 0 names a place for shared lines that its memory does not have")
        })?;
        Ok(Some(Part { shared, given: (rank == 0).then_some(offset), departed: wanted.departed }))
    }

    /// Memory that a test owns.
    #[cfg(all(test, loom))]
    pub fn of_test(shared: Shared, departed: usize) -> Part {
        Part { shared, given: None, departed }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `ompi_core::shared_pool::take`.
        self.shared.word(self.departed).fetch_add(1, Ordering::Release);
        if let Some(offset) = self.given {
            shared_pool::give_back(offset);
        }
    }
}
