//! The other processes of the communicator, all of them on this node.

use ompi_core::process;
use ompi_core::shared_pool::Neighbor;

/// Another process of the communicator.
pub struct Peer {
    /// Index of the process.
    pub index: u32,
    /// How it is woken, and its memory.
    pub neighbor: Neighbor,
}

impl Peer {
    /// How a process is reached; the inner `None` is this process itself, the outer one says that it shares no memory.
    pub fn of(index: u32) -> Option<Option<Peer>> {
        if process::get(index).is_self {
            return Some(None);
        }
        Some(Some(Peer { index, neighbor: Neighbor::of(index)? }))
    }
}
