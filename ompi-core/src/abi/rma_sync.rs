//! Synchronising accesses to windows. MPI 5.0 §12.5.

use super::kinds::{Group, Out, Rank, Raw, Win};
use crate::win::{direct, direct_lock, direct_unlock};
use core::ffi::c_int;

rows! {
    /// Ends an epoch of all processes and begins the next. MPI 5.0 §12.5.1.
    fn Win_fence(assert: Raw<c_int>, win: Win) [] => {
        win.fence(assert)
    }

    /// Begins to access the windows of a group. MPI 5.0 §12.5.2.
    fn Win_start(group: Group, assert: Raw<c_int>, win: Win) [] => {
        win.start(&group, assert)
    }

    /// Ends what MPI_Win_start began. MPI 5.0 §12.5.2.
    fn Win_complete(win: Win) [] => {
        win.complete()
    }

    /// Opens the window to a group. MPI 5.0 §12.5.2.
    fn Win_post(group: Group, assert: Raw<c_int>, win: Win) [] => {
        win.post(&group, assert)
    }

    /// Waits for the end of what MPI_Win_post began. MPI 5.0 §12.5.2.
    fn Win_wait(win: Win) [] => {
        win.wait()
    }

    /// Says whether what MPI_Win_post began has ended. MPI 5.0 §12.5.2.
    fn Win_test(win: Win, flag: Out<c_int>) [] => {
        flag.set(c_int::from(win.test()?));
        Ok(())
    }

    /// Begins to access one process's window. MPI 5.0 §12.5.3.
    fn Win_lock(lock_type: Raw<c_int>, rank: Rank, assert: Raw<c_int>, win: Win) [shortcut] => {
        win.lock(lock_type, rank, assert)
    }

    /// Begins to access the windows of all. MPI 5.0 §12.5.3.
    fn Win_lock_all(assert: Raw<c_int>, win: Win) [] => {
        win.lock_all(assert)
    }

    /// Ends what MPI_Win_lock began. MPI 5.0 §12.5.3.
    fn Win_unlock(rank: Rank, win: Win) [shortcut] => {
        win.unlock(rank)
    }

    /// Ends what MPI_Win_lock_all began. MPI 5.0 §12.5.3.
    fn Win_unlock_all(win: Win) [] => {
        win.unlock_all()
    }

    /// Completes all accesses to one process, here and there. MPI 5.0 §12.5.4.
    fn Win_flush(rank: Rank, win: Win) [shortcut] => {
        win.flush(Some(rank))
    }

    /// Completes all accesses, here and there. MPI 5.0 §12.5.4.
    fn Win_flush_all(win: Win) [] => {
        win.flush(None)
    }

    /// Completes all accesses to one process, here. MPI 5.0 §12.5.4.
    fn Win_flush_local(rank: Rank, win: Win) [] => {
        win.flush_local(Some(rank))
    }

    /// Completes all accesses, here. MPI 5.0 §12.5.4.
    fn Win_flush_local_all(win: Win) [] => {
        win.flush_local(None)
    }

    /// Makes both copies of the window the same. MPI 5.0 §12.5.4.
    fn Win_sync(win: Win) [] => {
        win.sync();
        Ok(())
    }
}

#[inline(always)]
unsafe fn shortcut_win_flush(rank: c_int, win: usize) -> bool {
    direct::flush(win, rank)
}

#[inline(always)]
unsafe fn shortcut_win_lock(kind: c_int, rank: c_int, assertion: c_int, win: usize) -> bool {
    direct_lock(win, kind, rank, assertion)
}

#[inline(always)]
unsafe fn shortcut_win_unlock(rank: c_int, win: usize) -> bool {
    direct_unlock(win, rank)
}
