//! Synchronising accesses to windows. MPI 5.0 §12.5.

use super::kinds::{Group, Out, Rank, Raw, Win};
use core::ffi::c_int;

rows! {
    /// Ends an epoch of all processes and begins the next. MPI 5.0 §12.5.1.
    fn Win_fence(assert: Raw<c_int>, win: Win) [] => unsupported

    /// Begins to access the windows of a group. MPI 5.0 §12.5.2.
    fn Win_start(group: Group, assert: Raw<c_int>, win: Win) [] => unsupported

    /// Ends what MPI_Win_start began. MPI 5.0 §12.5.2.
    fn Win_complete(win: Win) [] => unsupported

    /// Opens the window to a group. MPI 5.0 §12.5.2.
    fn Win_post(group: Group, assert: Raw<c_int>, win: Win) [] => unsupported

    /// Waits for the end of what MPI_Win_post began. MPI 5.0 §12.5.2.
    fn Win_wait(win: Win) [] => unsupported

    /// Says whether what MPI_Win_post began has ended. MPI 5.0 §12.5.2.
    fn Win_test(win: Win, flag: Out<c_int>) [] => unsupported

    /// Begins to access one process's window. MPI 5.0 §12.5.3.
    fn Win_lock(lock_type: Raw<c_int>, rank: Rank, assert: Raw<c_int>, win: Win) [] => unsupported

    /// Begins to access the windows of all. MPI 5.0 §12.5.3.
    fn Win_lock_all(assert: Raw<c_int>, win: Win) [] => unsupported

    /// Ends what MPI_Win_lock began. MPI 5.0 §12.5.3.
    fn Win_unlock(rank: Rank, win: Win) [] => unsupported

    /// Ends what MPI_Win_lock_all began. MPI 5.0 §12.5.3.
    fn Win_unlock_all(win: Win) [] => unsupported

    /// Completes all accesses to one process, here and there. MPI 5.0 §12.5.4.
    fn Win_flush(rank: Rank, win: Win) [] => unsupported

    /// Completes all accesses, here and there. MPI 5.0 §12.5.4.
    fn Win_flush_all(win: Win) [] => unsupported

    /// Completes all accesses to one process, here. MPI 5.0 §12.5.4.
    fn Win_flush_local(rank: Rank, win: Win) [] => unsupported

    /// Completes all accesses, here. MPI 5.0 §12.5.4.
    fn Win_flush_local_all(win: Win) [] => unsupported

    /// Makes both copies of the window the same. MPI 5.0 §12.5.4.
    fn Win_sync(win: Win) [] => unsupported
}
