//! One request. MPI 5.0 §3.7.3, §3.8.4 and §3.9.

use crate::error::{Class, Fault, Result};
use crate::request::slot::*;
use crate::request::slots::*;
use crate::request::{Id, NULL};
use crate::status::Status;
use opal_core::sync::Ordering;
use opal_core::{progress, wait};

/// MPI_Wait. The empty status for a null or inactive request.
#[inline]
pub fn wait(handle: &mut usize) -> Result<Status> {
    progress::flush();
    let Some(slot) = busy(*handle)? else {
        return Ok(Status::EMPTY);
    };
    slot.wait()?;
    Ok(take(slot, handle))
}

/// MPI_Test: `None` while it is under way. As a call of its own a vain one has 26 instructions more.
#[inline(always)]
pub fn test(handle: &mut usize) -> Result<Option<Status>> {
    progress::flush();
    let Some(slot) = busy(*handle)? else {
        return Ok(Some(Status::EMPTY));
    };
    if !slot.is_complete() {
        slot.poll();
        wait::polled_progress();
        if !slot.is_complete() {
            return Ok(None);
        }
    }
    Ok(Some(take(slot, handle)))
}

/// MPI_Request_get_status: as `test`, but the request stays.
pub fn get_status(handle: usize) -> Result<Option<Status>> {
    progress::flush();
    if let Some(status) = look(handle)? {
        return Ok(Some(status));
    }
    wait::polled_progress();
    look(handle)
}

/// As [`get_status`] for one of many requests: makes no progress but this request's own.
pub fn look(handle: usize) -> Result<Option<Status>> {
    let Some(slot) = busy(handle)? else {
        return Ok(Some(Status::EMPTY));
    };
    if !slot.is_complete() {
        slot.poll();
    }
    Ok(slot.is_complete().then(|| slot.look()))
}

/// MPI_Request_free: the handle becomes null; an active operation completes in silence. `Err(MPI_ERR_REQUEST)` for a
/// collective operation that is under way (MPI 5.0 §6.12 and §6.13), for a partitioned one (§4.2.1), and for a one-sided one
/// (§12.3.5); one that has ended is accepted, as in other libraries.
pub fn free(handle: &mut usize) -> Result<()> {
    let slot = find(*handle).ok_or_else(|| invalid(*handle))?;
    let word = slot.word.load(Ordering::Acquire);
    if let Some(what) = never_alone(word).filter(|_| word & STATE == ACTIVE) {
        let why = alloc::format!("a {what} operation that is under way cannot be freed; complete it first");
        return Err(wrong(slot, why));
    }
    let number = *handle as u32;
    *handle = NULL;
    if number == DONE {
        return Ok(());
    }
    slot.detach(number)
}

/// MPI_Cancel: asks for it; the request must be completed all the same. `Err(MPI_ERR_REQUEST)` for a collective
/// operation (MPI 5.0 §6.12 and §6.13), for a partitioned one (§4.2.1) and for a one-sided one (§12.3.5).
pub fn cancel(handle: usize) -> Result<()> {
    let slot = find(handle).ok_or_else(|| invalid(handle))?;
    let word = slot.word.load(Ordering::Acquire);
    if let Some(what) = never_alone(word) {
        let why = alloc::format!("a {what} operation cannot be cancelled");
        return Err(wrong(slot, why));
    }
    if slot.word.load(Ordering::Acquire) & STATE == ACTIVE {
        slot.drive(|driver, token| driver.cancel(token, Id(handle as u32)));
    }
    Ok(())
}

/// MPI_Start. `Err(MPI_ERR_REQUEST)` if it is not persistent or active already.
pub fn start(handle: usize) -> Result<()> {
    let slot = find(handle).ok_or_else(|| invalid(handle))?;
    let word = slot.word.load(Ordering::Acquire);
    if word & (STATE | PERSISTENT) != INACTIVE | PERSISTENT {
        return Err(wrong(slot, "it is not an inactive persistent request".into()));
    }
    slot.change(|word| word & !STATE | ACTIVE);
    let mut started = Ok(());
    slot.drive(|driver, token| started = driver.start(token, Id(handle as u32)));
    if started.is_err() {
        slot.change(|word| word & !STATE | INACTIVE);
    }
    started.map_err(|fault| fault.or_on(slot.context()))
}

/// Whether a handle stands for an operation that was started and not yet completed by the user.
pub fn is_active(handle: usize) -> Result<bool> {
    busy(handle).map(|slot| slot.is_some())
}

/// The slot if there is something to complete; `None` for null and inactive requests.
#[inline(always)]
pub(super) fn busy(handle: usize) -> Result<Option<&'static Slot>> {
    if handle == NULL {
        return Ok(None);
    }
    match find(handle) {
        Some(slot) if slot.word.load(Ordering::Relaxed) & STATE == INACTIVE => Ok(None),
        Some(slot) => Ok(Some(slot)),
        None => Err(invalid(handle)),
    }
}

#[inline(always)]
pub(super) fn take(slot: &'static Slot, handle: &mut usize) -> Status {
    let number = *handle as u32;
    if slot.word.load(Ordering::Relaxed) & PERSISTENT == 0 {
        *handle = NULL;
    }
    slot.take(number)
}

/// What is wrong with a request in force, on what it belongs to.
#[cold]
fn wrong(slot: &Slot, why: alloc::string::String) -> Fault {
    Fault::new(Class::Request).argument("request").because(why).on(slot.context())
}

#[cold]
fn invalid(handle: usize) -> Fault {
    Fault::new(Class::Request)
        .argument("request")
        .because(alloc::format!("{handle:#x} is not a valid request handle; it was completed, freed or never created"))
}
