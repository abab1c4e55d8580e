//! The boundary of unsafe code: user buffers and the data pointer of a communicator.
#![allow(unsafe_code)]

mod buffer;
pub mod counters;
pub mod frame;
#[cfg(test)]
mod tests;

pub use self::buffer::{BorrowedBuffer, Contiguous, UserBuffer, send_bytes};

use crate::peers::endpoint::Connected;
use crate::peers::table::PeerTable;
use alloc::boxed::Box;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::pml::Traffic;
use opal_core::sync::Ordering;

/// The peers of a communicator.
///
/// # Panics
/// If the communicator was not added: a mistake above this component.
#[inline(always)]
pub fn peer_table(comm: &Communicator) -> &PeerTable {
    let table = comm.pml_data().cast::<PeerTable>();
    assert!(!table.is_null(), "a communicator in use was added");
    // SAFETY: not null, so it is the table that `add_comm` or `count` stored; it lives until `remove_comm`, which ends all use.
    unsafe { &*table }
}

/// The same where they were found before, in the same call.
///
/// # Safety
/// [`peer_table`] has found them.
#[inline(always)]
pub unsafe fn same_peer_table(comm: &Communicator) -> &PeerTable {
    // SAFETY: the caller's promise.
    unsafe { &*comm.pml_data().cast::<PeerTable>() }
}

/// Gives a communicator its peers. Those that it had the caller has taken away.
pub fn set_peer_table(comm: &Communicator, peers: PeerTable) {
    // Release pairs with the Acquire in `pml_data`.
    comm.pml.store(Arc::into_raw(Arc::new(peers)).cast_mut().cast(), Ordering::Release);
}

/// Takes its peers away. Nobody uses them any more.
pub fn remove_peer_table(comm: &Communicator) {
    let peers = comm.pml.swap(core::ptr::null_mut(), Ordering::AcqRel).cast::<PeerTable>();
    if !peers.is_null() {
        // SAFETY: what `set_peer_table` has stored, taken back once because of the swap.
        drop(unsafe { Arc::from_raw(peers) });
    }
}

/// From now on the user's messages on a communicator are counted; where. The state is locked.
pub fn count(comm: &Communicator) -> Arc<Traffic> {
    if let Some(traffic) = peer_table(comm).traffic() {
        return traffic.clone();
    }
    let traffic = Arc::new(Traffic::new(comm.context, comm.peers().members().to_vec().into()));
    // SAFETY: `peer_table` has found it there, `set_peer_table` has stored it. Others may look at it meanwhile and later: the new one keeps it.
    let before = unsafe { Arc::from_raw(comm.pml.load(Ordering::Relaxed).cast::<PeerTable>()) };
    set_peer_table(comm, PeerTable::counting(before, traffic.clone()));
    traffic
}

/// Frees an endpoint of a process of another job.
///
/// # Safety
/// [`crate::peers::endpoint::take_left`] returned it, and nobody uses it any more.
pub unsafe fn free_endpoint(left: &'static Connected) {
    // SAFETY: a box that `connected_beyond_job` leaked; the caller's promise.
    drop(unsafe { Box::from_raw(core::ptr::from_ref(left).cast_mut()) });
}
