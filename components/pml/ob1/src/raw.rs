//! The boundary of unsafe code: user buffers and the data pointer of a communicator.
#![allow(unsafe_code)]

mod buffer;
#[cfg(test)]
mod tests;

pub use self::buffer::{BorrowedBuffer, Contiguous, UserBuffer, send_bytes};

use crate::peers::table::PeerTable;
use ompi_core::comm::Communicator;

/// The peers of a communicator.
///
/// # Panics
/// If the communicator was not added: a mistake above this component.
#[inline(always)]
pub fn peer_table(comm: &Communicator) -> &PeerTable {
    let table = comm.pml_data().cast::<PeerTable>();
    assert!(!table.is_null(), "a communicator in use was added");
    // SAFETY: not null, so it is the box that `add_comm` stored; it lives until `remove_comm`, which ends all use.
    unsafe { &*table }
}
