//! Completing, testing and cancelling requests. MPI 5.0 §3.7 and §3.8.4.

use super::kinds::{Array, Count, Out, OutArray, OutPtr, Request, StatusOut, array, array_mut};
use super::tell::tell_if_heard;
use crate::error::{Fault, Result};
use crate::request::generalized;
use crate::request::handles::{self, Any};
use crate::status::{Status, UNDEFINED};
use alloc::vec::Vec;
use core::ffi::c_int;
use opal_core::{progress, wait};

rows! {
    /// Waits for a request. MPI 5.0 §3.7.3.
    fn Wait(request: Out<usize>, status: StatusOut) [] => {
        let mut handle = request.get();
        let ended = handles::wait(&mut handle);
        request.set(handle);
        tell_if_heard();
        ended?.deliver(status)
    }

    /// Says whether a request is complete, and if so completes it. MPI 5.0 §3.7.3.
    fn Test(request: Out<usize>, flag: Out<c_int>, status: StatusOut) [] => {
        let mut handle = request.get();
        let ended = handles::test(&mut handle);
        request.set(handle);
        let ended = ended?;
        flag.set(c_int::from(ended.is_some()));
        ended.map_or(Ok(()), |ended| {
            // Not of a vain call, which is made again and again.
            tell_if_heard();
            ended.deliver(status)
        })
    }

    /// Marks a request for deletion once its operation is done. MPI 5.0 §3.7.3.
    fn Request_free(request: Out<usize>) [] => {
        let mut handle = request.get();
        handles::free(&mut handle)?;
        request.set(handle);
        Ok(())
    }

    /// Waits for one of several requests. MPI 5.0 §3.7.5.
    fn Waitany(count: Count, array_of_requests: OutArray<usize>, index: Out<c_int>, status: StatusOut) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array_mut(array_of_requests, count, "array_of_requests")? };
        let ended = handles::wait_any(requests);
        tell_if_heard();
        any(ended.map_err(among)?, index, status)
    }

    /// Completes one of several requests if one is done. MPI 5.0 §3.7.5.
    fn Testany(
        count: Count, array_of_requests: OutArray<usize>, index: Out<c_int>, flag: Out<c_int>, status: StatusOut,
    ) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array_mut(array_of_requests, count, "array_of_requests")? };
        let ended = handles::test_any(requests);
        tell_if_heard();
        let found = match ended.map_err(among)? {
            Any::Pending => {
                flag.set(0);
                index.set(UNDEFINED);
                return Ok(());
            }
            Any::None => None,
            Any::One(place, ended) => Some((place, ended)),
        };
        flag.set(1);
        any(found, index, status)
    }

    /// Waits for all of several requests. MPI 5.0 §3.7.5.
    fn Waitall(count: Count, array_of_requests: OutArray<usize>, array_of_statuses: OutArray<Status>) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array_mut(array_of_requests, count, "array_of_requests")? };
        // SAFETY: MPI_STATUSES_IGNORE or `count` elements by the standard.
        let ended = handles::wait_all(requests, unsafe { statuses(array_of_statuses, count) });
        tell_if_heard();
        ended.map_err(among)
    }

    /// Completes several requests if all are done. MPI 5.0 §3.7.5.
    fn Testall(
        count: Count, array_of_requests: OutArray<usize>, flag: Out<c_int>, array_of_statuses: OutArray<Status>,
    ) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array_mut(array_of_requests, count, "array_of_requests")? };
        // SAFETY: MPI_STATUSES_IGNORE or `count` elements by the standard.
        let done = handles::test_all(requests, unsafe { statuses(array_of_statuses, count) });
        tell_if_heard();
        // A failed operation has completed, too (MPI 5.0 §3.7.5).
        flag.set(c_int::from(*done.as_ref().unwrap_or(&true)));
        done.map(drop).map_err(among)
    }

    /// Waits until at least one of several requests is done and completes all that are. MPI 5.0 §3.7.5.
    fn Waitsome(
        incount: Count, array_of_requests: OutArray<usize>, outcount: Out<c_int>, array_of_indices: OutArray<c_int>,
        array_of_statuses: OutArray<Status>,
    ) [] => {
        // SAFETY: the array has `incount` elements by the standard.
        let requests = unsafe { array_mut(array_of_requests, incount, "array_of_requests")? };
        // SAFETY: as above.
        let indices = unsafe { array_mut(array_of_indices, incount, "array_of_indices")? };
        let mut count = Some(0);
        // SAFETY: MPI_STATUSES_IGNORE or `incount` elements by the standard.
        let ended = handles::wait_some(requests, indices, unsafe { statuses(array_of_statuses, incount) }, &mut count);
        tell_if_heard();
        outcount.set(count.map_or(UNDEFINED, |count| count as c_int));
        ended.map_err(among)
    }

    /// Completes those of several requests that are done. MPI 5.0 §3.7.5.
    fn Testsome(
        incount: Count, array_of_requests: OutArray<usize>, outcount: Out<c_int>, array_of_indices: OutArray<c_int>,
        array_of_statuses: OutArray<Status>,
    ) [] => {
        // SAFETY: the array has `incount` elements by the standard.
        let requests = unsafe { array_mut(array_of_requests, incount, "array_of_requests")? };
        // SAFETY: as above.
        let indices = unsafe { array_mut(array_of_indices, incount, "array_of_indices")? };
        let mut count = Some(0);
        // SAFETY: MPI_STATUSES_IGNORE or `incount` elements by the standard.
        let ended = handles::test_some(requests, indices, unsafe { statuses(array_of_statuses, incount) }, &mut count);
        tell_if_heard();
        outcount.set(count.map_or(UNDEFINED, |count| count as c_int));
        ended.map_err(among)
    }

    /// Says whether a request is complete without freeing it. MPI 5.0 §3.7.6.
    fn Request_get_status(request: Request, flag: Out<c_int>, status: StatusOut) [] => {
        let ended = handles::get_status(request)?;
        flag.set(c_int::from(ended.is_some()));
        ended.map_or(Ok(()), |ended| ended.deliver(status))
    }

    /// Finds one complete request among several without freeing it. MPI 5.0 §3.7.6.
    fn Request_get_status_any(
        count: Count, array_of_requests: Array<usize>, index: Out<c_int>, flag: Out<c_int>, status: StatusOut,
    ) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array(array_of_requests, count, "array_of_requests")? };
        let mut active = false;
        progress::flush();
        wait::polled_progress();
        for (place, request) in requests.iter().enumerate() {
            if !handles::is_active(*request).map_err(among)? {
                continue;
            }
            active = true;
            if let Some(ended) = handles::look(*request)? {
                flag.set(1);
                return any(Some((place, ended)), index, status);
            }
        }
        flag.set(c_int::from(!active));
        if active {
            index.set(UNDEFINED);
            return Ok(());
        }
        any(None, index, status)
    }

    /// Says whether all of several requests are complete without freeing them. MPI 5.0 §3.7.6.
    fn Request_get_status_all(
        count: Count, array_of_requests: Array<usize>, flag: Out<c_int>, array_of_statuses: OutArray<Status>,
    ) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array(array_of_requests, count, "array_of_requests")? };
        let mut ended = Vec::with_capacity(count);
        progress::flush();
        wait::polled_progress();
        for request in requests {
            let Some(status) = handles::look(*request).map_err(among)? else {
                flag.set(0);
                return Ok(());
            };
            ended.push(status);
        }
        flag.set(1);
        // SAFETY: MPI_STATUSES_IGNORE or `count` elements by the standard.
        several(&ended, |place| place, unsafe { statuses(array_of_statuses, count) })
    }

    /// Finds those of several requests that are complete without freeing them. MPI 5.0 §3.7.6.
    fn Request_get_status_some(
        incount: Count, array_of_requests: Array<usize>, outcount: Out<c_int>, array_of_indices: OutArray<c_int>,
        array_of_statuses: OutArray<Status>,
    ) [] => {
        // SAFETY: the array has `incount` elements by the standard.
        let requests = unsafe { array(array_of_requests, incount, "array_of_requests")? };
        // SAFETY: as above.
        let indices = unsafe { array_mut(array_of_indices, incount, "array_of_indices")? };
        // SAFETY: MPI_STATUSES_IGNORE or `incount` elements by the standard.
        let statuses = unsafe { statuses(array_of_statuses, incount) };
        let (mut active, mut found) = (false, Vec::new());
        progress::flush();
        wait::polled_progress();
        for (place, request) in requests.iter().enumerate() {
            if !handles::is_active(*request).map_err(among)? {
                continue;
            }
            active = true;
            if let Some(ended) = handles::look(*request)? {
                indices[found.len()] = place as c_int;
                found.push(ended);
            }
        }
        outcount.set(if active { found.len() as c_int } else { UNDEFINED });
        several(&found, |place| indices[place] as usize, statuses)
    }

    /// Marks a pending operation for cancellation. MPI 5.0 §3.8.4.
    fn Cancel(request: Out<usize>) [] => {
        generalized::cancel(request.get()).unwrap_or_else(|| handles::cancel(request.get()))
    }
}

/// What is wrong with one of several requests is wrong with the array.
fn among(fault: Fault) -> Fault {
    fault.renamed("request", "array_of_requests")
}

/// What the calls for one of several requests return: index and status; MPI_UNDEFINED and the empty status if none was
/// active.
fn any(found: Option<(usize, Status)>, index: OutPtr<c_int>, status: Option<&mut Status>) -> Result<()> {
    let Some((place, ended)) = found else {
        index.set(UNDEFINED);
        // The empty status has an error code, too (MPI 5.0 §3.7.3): no operation's, so nothing else would set it.
        if let Some(status) = status {
            *status = Status::EMPTY;
        }
        return Ok(());
    };
    index.set(place as c_int);
    ended.deliver(status)
}

/// Fills the statuses of operations that have ended; error codes stand in them only if one of them failed (MPI 5.0
/// §3.7.5). `request_of` is the place of a status's request in the array.
fn several(ended: &[Status], request_of: impl Fn(usize) -> usize, statuses: Option<&mut [Status]>) -> Result<()> {
    let failed = ended.iter().enumerate().find(|(_, status)| status.error != 0);
    for (to, ended) in statuses.into_iter().flatten().zip(ended) {
        let error = if failed.is_some() { ended.error } else { to.error };
        *to = *ended;
        to.error = error;
    }
    failed.map_or(Ok(()), |(place, status)| Err(status.fault_among(request_of(place))))
}

/// An array of statuses, or MPI_STATUSES_IGNORE.
///
/// # Safety
/// Null, or `count` statuses that nobody else looks at.
unsafe fn statuses(at: *mut Status, count: usize) -> Option<&'static mut [Status]> {
    // SAFETY: the caller's promise.
    (!at.is_null()).then(|| unsafe { core::slice::from_raw_parts_mut(at, count) })
}
