//! Completing, testing and cancelling requests. MPI 5.0 §3.7 and §3.8.4.

use super::kinds::{Array, Count, Out, OutArray, Request, StatusOut};
use crate::status::Status;
use core::ffi::c_int;

rows! {
    /// Waits for a request. MPI 5.0 §3.7.3.
    fn Wait(request: Out<usize>, status: StatusOut) [] => unsupported

    /// Says whether a request is complete, and if so completes it. MPI 5.0 §3.7.3.
    fn Test(request: Out<usize>, flag: Out<c_int>, status: StatusOut) [] => unsupported

    /// Marks a request for deletion once its operation is done. MPI 5.0 §3.7.3.
    fn Request_free(request: Out<usize>) [] => unsupported

    /// Waits for one of several requests. MPI 5.0 §3.7.5.
    fn Waitany(count: Count, array_of_requests: OutArray<usize>, index: Out<c_int>, status: StatusOut) [] => unsupported

    /// Completes one of several requests if one is done. MPI 5.0 §3.7.5.
    fn Testany(
        count: Count, array_of_requests: OutArray<usize>, index: Out<c_int>, flag: Out<c_int>, status: StatusOut,
    ) [] => unsupported

    /// Waits for all of several requests. MPI 5.0 §3.7.5.
    fn Waitall(count: Count, array_of_requests: OutArray<usize>, array_of_statuses: OutArray<Status>) [] => unsupported

    /// Completes several requests if all are done. MPI 5.0 §3.7.5.
    fn Testall(
        count: Count, array_of_requests: OutArray<usize>, flag: Out<c_int>, array_of_statuses: OutArray<Status>,
    ) [] => unsupported

    /// Waits until at least one of several requests is done and completes all that are. MPI 5.0 §3.7.5.
    fn Waitsome(
        incount: Count, array_of_requests: OutArray<usize>, outcount: Out<c_int>, array_of_indices: OutArray<c_int>,
        array_of_statuses: OutArray<Status>,
    ) [] => unsupported

    /// Completes those of several requests that are done. MPI 5.0 §3.7.5.
    fn Testsome(
        incount: Count, array_of_requests: OutArray<usize>, outcount: Out<c_int>, array_of_indices: OutArray<c_int>,
        array_of_statuses: OutArray<Status>,
    ) [] => unsupported

    /// Says whether a request is complete without freeing it. MPI 5.0 §3.7.6.
    fn Request_get_status(request: Request, flag: Out<c_int>, status: StatusOut) [] => unsupported

    /// Finds one complete request among several without freeing it. MPI 5.0 §3.7.6.
    fn Request_get_status_any(
        count: Count, array_of_requests: Array<usize>, index: Out<c_int>, flag: Out<c_int>, status: StatusOut,
    ) [] => unsupported

    /// Says whether all of several requests are complete without freeing them. MPI 5.0 §3.7.6.
    fn Request_get_status_all(
        count: Count, array_of_requests: Array<usize>, flag: Out<c_int>, array_of_statuses: OutArray<Status>,
    ) [] => unsupported

    /// Finds those of several requests that are complete without freeing them. MPI 5.0 §3.7.6.
    fn Request_get_status_some(
        incount: Count, array_of_requests: Array<usize>, outcount: Out<c_int>, array_of_indices: OutArray<c_int>,
        array_of_statuses: OutArray<Status>,
    ) [] => unsupported

    /// Marks a pending operation for cancellation. MPI 5.0 §3.8.4.
    fn Cancel(request: Out<usize>) [] => unsupported
}
