//! Giving away lines in this process's commons, for the communicators whose rank 0 it is.

use crate::wire;
use ompi_core::commons::{self, Wanted};
use opal_core::framework::shmem::Segment;

pub use commons::give_back;

/// Lines for as many ranks in `commons`, this process's own: their offset; `None` if there is no room.
pub fn take(commons: Segment, ranks: usize) -> Option<usize> {
    let bytes = wire::bytes(ranks);
    commons::take(
        commons,
        Wanted { bytes, zeros: wire::head_bytes(ranks), departed: wire::DEPARTED, users: ranks as u64 },
    )
}
