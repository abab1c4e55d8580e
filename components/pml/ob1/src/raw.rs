//! The boundary of unsafe code: user buffers and the data pointer of a communicator.
#![allow(unsafe_code)]

mod buffer;
pub mod frame;
#[cfg(test)]
mod tests;

pub use self::buffer::{BorrowedBuffer, Contiguous, UserBuffer, send_bytes};

use crate::peers::endpoint::Connected;
use crate::peers::table::PeerTable;
use alloc::boxed::Box;
use ompi_core::comm::Communicator;
use ompi_core::framework::pml::PeerTraffic;
use opal_core::sync::Ordering;

/// What counts the user's messages with a rank, if a tool asked for it: one load.
///
/// # Safety
/// The table has a peer of this rank.
#[inline(always)]
pub unsafe fn counted(peers: &PeerTable, rank: i32) -> Option<&PeerTraffic> {
    // Acquire pairs with the Release where it is stored.
    let first = peers.counts.load(Ordering::Acquire);
    if first.is_null() {
        return None;
    }
    // SAFETY: not null, so the first of as many as there are peers; they live as long as the table.
    Some(unsafe { &*first.wrapping_add(rank as u32 as usize) })
}

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

/// Frees an endpoint of a process of another job.
///
/// # Safety
/// [`crate::peers::endpoint::take_left`] returned it, and nobody uses it any more.
pub unsafe fn free_endpoint(left: &'static Connected) {
    // SAFETY: a box that `connected_beyond_job` leaked; the caller's promise.
    drop(unsafe { Box::from_raw(core::ptr::from_ref(left).cast_mut()) });
}
