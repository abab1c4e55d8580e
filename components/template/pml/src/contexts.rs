//! The context numbers in which messages are matched, and the processes that they come from.

use crate::unwritten::not_written;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;

/// 4. From now on messages for this number may arrive, before anybody here knows their communicator.
pub fn open(_context: u32) -> Result<()> {
    not_written()
}

/// Forgets a number that no peer was told.
pub fn close(_context: u32) {}

/// 5. The peers' numbers are known: what arrived early is matched from now on.
pub fn connect(_comm: &Communicator) -> Result<()> {
    not_written()
}

/// Forgets what arrived unmatched; the number is free when no request is pending on it any more.
pub fn forget(_comm: &Communicator) {}

/// Whether nothing is posted, waits or moves. Nothing ever was.
pub fn is_quiesced(_comm: &Communicator) -> bool {
    true
}

/// 6. Connects to a process by the paths of `ompi_core::framework::bml`; the most bytes of a control message to it.
pub fn reach(_process: u32) -> Result<usize> {
    not_written()
}
