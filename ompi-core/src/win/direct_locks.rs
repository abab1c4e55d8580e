//! Shortcuts of MPI_Win_lock and MPI_Win_unlock, as those of accesses ([`super::direct`]): a lock that nobody is in the way of. For anything
//! else they return `false`; nothing was done then, and the complete path comes.

use super::{Window, borrow};
use crate::framework::osc::Lock;
use crate::init;
use core::ffi::c_int;
use opal_core::wait;

/// MPI_Win_lock of one rank.
#[inline(always)]
pub fn direct_lock(handle: usize, kind: c_int, rank: c_int, assertion: c_int) -> bool {
    let Some((window, rank)) = with_direct_memory(handle, rank) else { return false };
    let Some(lock) = Lock::of(kind).filter(|_| assertion == 0 && window.admits_locks()) else { return false };
    if window.epoch.try_lock().is_none_or(|mut epoch| epoch.lock(rank, true).is_err()) {
        return false;
    }
    let is_taken = window.module.try_lock(rank, lock);
    if !is_taken {
        drop(window.epoch.lock().unlock(rank));
    }
    is_taken
}

/// MPI_Win_unlock of one rank that was locked without MPI_MODE_NOCHECK.
#[inline(always)]
pub fn direct_unlock(handle: usize, rank: c_int) -> bool {
    let Some((window, rank)) = with_direct_memory(handle, rank) else { return false };
    if !window.epoch.try_lock().is_some_and(|epoch| epoch.holds(rank)) || window.module.unlock(rank).is_err() {
        return false;
    }
    wait::polled_memory();
    window.epoch.lock().unlock(rank).is_ok()
}

/// A window, and a rank in it; `None` where this process reaches no memory of it.
#[inline(always)]
fn with_direct_memory(handle: usize, rank: c_int) -> Option<(&'static Window, usize)> {
    let rank = rank as u32 as usize;
    let window = if init::is_active() { borrow(handle)? } else { return None };
    (rank < window.direct.ranks()).then_some((window, rank))
}
