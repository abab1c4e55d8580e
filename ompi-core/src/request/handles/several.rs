//! Arrays of requests: all, any, some. MPI 5.0 §3.7.5.

use super::one::{self, busy, take};
use crate::error::Result;
use crate::framework::pml::subject;
use crate::request::NULL;
use crate::request::slot::*;
use crate::request::slots::*;
use crate::status::Status;
use opal_core::sync::{Ordering, threads_possible};
use opal_core::wait::Subject;
use opal_core::{progress, wait};

/// MPI_Waitall. `statuses` is `None` for MPI_STATUSES_IGNORE, else as long as `handles`.
///
/// All requests are completed, whatever fails; then `Err(MPI_ERR_IN_STATUS)` with the code of each in its status, 0 for
/// those that succeeded. Without a failure MPI_ERROR in the statuses is left alone.
pub fn wait_all(handles: &mut [usize], mut statuses: Option<&mut [Status]>) -> Result<()> {
    progress::flush();
    let mut failed = None;
    let mut index = 0;
    while index < handles.len() {
        // What most often stands here is complete and nobody wants its status.
        if statuses.is_none() {
            index += take_quietly(&mut handles[index..]);
        }
        let Some(handle) = handles.get_mut(index) else { break };
        let status = one::wait(handle)?;
        note(&mut statuses, [index, index], status, &mut failed);
        index += 1;
    }
    in_status(failed)
}

/// MPI_Testall: completes all or none.
pub fn test_all(handles: &mut [usize], mut statuses: Option<&mut [Status]>) -> Result<bool> {
    progress::flush();
    if !all_complete(handles)? {
        poll_all(handles)?;
        wait::polled_progress();
        if !all_complete(handles)? {
            return Ok(false);
        }
    }
    let mut failed = None;
    for (index, handle) in handles.iter_mut().enumerate() {
        let status = one::wait(handle)?;
        note(&mut statuses, [index, index], status, &mut failed);
    }
    in_status(failed).map(|()| true)
}

/// MPI_Waitany: the index and status of one that completed; `None` if no handle is active (MPI_UNDEFINED).
pub fn wait_any(handles: &mut [usize]) -> Result<Option<(usize, Status)>> {
    progress::flush();
    announce_all(handles);
    let mut found = Ok(None);
    let search = |handles: &mut [usize]| {
        found = match complete_one(handles) {
            Ok(Any::None) => Ok(None),
            Ok(Any::Pending) => return false,
            Ok(Any::One(index, status)) => Ok(Some((index, status))),
            Err(fault) => Err(fault),
        };
        true
    };
    wait::until_done(AnyOf { handles, search })?;
    found
}

/// A wait for any of several requests.
struct AnyOf<'a, S> {
    handles: &'a mut [usize],
    search: S,
}

impl<S: FnMut(&mut [usize]) -> bool> wait::Awaited for AnyOf<'_, S> {
    #[inline(always)]
    fn is_done(&mut self) -> bool {
        (self.search)(self.handles)
    }

    fn subject(&self) -> Subject {
        let mut active = self.handles.iter().filter_map(|handle| busy(*handle).ok()?);
        match (active.next(), active.count() as i32) {
            (None, _) => Subject::UNKNOWN,
            (Some(only), 0) => only.subject(),
            (Some(_), others) => {
                let kind = subject::ANY_OF;
                Subject { kind, tag: others + 1, context: subject::NO_CONTEXT, ..Subject::UNKNOWN }
            }
        }
    }
}

/// Has the thread that completes one of them wake this one.
fn announce_all(handles: &[usize]) {
    if threads_possible() {
        handles.iter().filter_map(|handle| find(*handle)).for_each(|slot| slot.announce());
    }
}

/// What [`test_any`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Any {
    /// No handle is active: flag is true, index MPI_UNDEFINED, the status empty.
    None,
    /// All active ones are under way.
    Pending,
    /// This one completed.
    One(usize, Status),
}

/// MPI_Testany.
pub fn test_any(handles: &mut [usize]) -> Result<Any> {
    progress::flush();
    match complete_one(handles)? {
        // A program that looks in vain looks often: nothing is looked at twice unless something moved.
        Any::Pending if wait::polled_progress() => complete_one(handles),
        found => Ok(found),
    }
}

/// MPI_Waitsome: how many completed, their places in `indices` and their statuses in the same order; `None` if no handle
/// is active (MPI_UNDEFINED). `Err(MPI_ERR_IN_STATUS)` when an operation failed: the number is then in `count`.
pub fn wait_some(
    handles: &mut [usize],
    indices: &mut [i32],
    mut statuses: Option<&mut [Status]>,
    count: &mut Option<usize>,
) -> Result<()> {
    progress::flush();
    announce_all(handles);
    let mut ended = Ok(());
    let search = |handles: &mut [usize]| {
        ended = some(handles, indices, &mut statuses, count);
        ended.is_err() || *count != Some(0)
    };
    wait::until_done(AnyOf { handles, search })?;
    ended
}

/// MPI_Testsome: as [`wait_some`], but `count` may be 0.
pub fn test_some(
    handles: &mut [usize],
    indices: &mut [i32],
    mut statuses: Option<&mut [Status]>,
    count: &mut Option<usize>,
) -> Result<()> {
    progress::flush();
    some(handles, indices, &mut statuses, count)?;
    if *count == Some(0) && wait::polled_progress() {
        some(handles, indices, &mut statuses, count)?;
    }
    Ok(())
}

/// Takes plain requests that are complete and did not fail from the front, without their statuses; returns how many.
#[inline(always)]
fn take_quietly(handles: &mut [usize]) -> usize {
    let quick = handles.iter_mut().take_while(|handle| **handle == DONE as usize).map(|handle| *handle = NULL).count();
    if quick == handles.len() {
        return quick;
    }
    // One lock for all that need it: six instructions less for each.
    let mut list = LIST.lock();
    for (index, handle) in handles.iter_mut().enumerate().skip(quick) {
        if *handle == DONE as usize {
            *handle = NULL;
            continue;
        }
        let Ok(number @ 0..=HIGHEST) = u32::try_from(*handle) else { return index };
        let Some(slot) = slot(number & INDEX_MASK) else { return index };
        // Acquire pairs with the Release in `complete`. One comparison for all that a handle in force and its state must say.
        let word = slot.word.load(Ordering::Acquire);
        let wanted = COMPLETE | number >> INDEX_BITS << GENERATION_SHIFT;
        if word & (GENERATION | STATE | PERSISTENT | DETACHED | QUERIED | POLLED) != wanted {
            return index;
        }
        if slot.status().error != 0 {
            return index;
        }
        slot.free_into(&mut list, word);
        *handle = NULL;
    }
    handles.len()
}

fn all_complete(handles: &[usize]) -> Result<bool> {
    for handle in handles {
        if busy(*handle)?.is_some_and(|slot| !slot.is_complete()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn poll_all(handles: &[usize]) -> Result<()> {
    for handle in handles {
        if let Some(slot) = busy(*handle)? {
            slot.poll();
        }
    }
    Ok(())
}

fn complete_one(handles: &mut [usize]) -> Result<Any> {
    let mut active = false;
    for (index, handle) in handles.iter_mut().enumerate() {
        let Some(slot) = busy(*handle)? else { continue };
        if slot.is_complete() || slot.poll() && slot.is_complete() {
            return Ok(Any::One(index, take(slot, handle)));
        }
        active = true;
    }
    Ok(if active { Any::Pending } else { Any::None })
}

fn some(
    handles: &mut [usize],
    indices: &mut [i32],
    statuses: &mut Option<&mut [Status]>,
    count: &mut Option<usize>,
) -> Result<()> {
    let (mut active, mut ended, mut failed) = (false, 0, None);
    for (index, handle) in handles.iter_mut().enumerate() {
        let Some(slot) = busy(*handle)? else { continue };
        active = true;
        if !(slot.is_complete() || slot.poll() && slot.is_complete()) {
            continue;
        }
        let status = take(slot, handle);
        indices[ended] = index as i32;
        note(statuses, [ended, index], status, &mut failed);
        ended += 1;
    }
    *count = active.then_some(ended);
    in_status(failed)
}

/// The first operation of several that failed.
#[derive(Clone, Copy)]
struct Failed {
    /// Its request's place in the array.
    request: usize,
    status: Status,
}

/// Writes a status; from the first failure on with its error code, and zero in those before. The places are those of the
/// status and of the request in their arrays.
#[inline(always)]
fn note(
    statuses: &mut Option<&mut [Status]>,
    [index, request]: [usize; 2],
    status: Status,
    failed: &mut Option<Failed>,
) {
    if status.error != 0 && failed.is_none() {
        *failed = Some(Failed { request, status });
        if let Some(all) = statuses {
            all[..index].iter_mut().for_each(|earlier| earlier.error = 0);
        }
    }
    if let Some(all) = statuses {
        let error = if failed.is_some() { status.error } else { all[index].error };
        all[index] = status;
        all[index].error = error;
    }
}

fn in_status(failed: Option<Failed>) -> Result<()> {
    failed.map_or(Ok(()), |failed| Err(failed.status.fault_among(failed.request)))
}

/// Of any request's number (MPI 5.0 §19.3: handles are converted to C's int and back).
const HIGHEST: u32 = i32::MAX as u32;
