//! Copies to and from shared memory and other processes: the unsafe code of the algorithms.
#![allow(unsafe_code)]

use crate::buffer::packed;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use opal_core::framework::smsc;
use opal_core::progress;

/// Reads contiguous bytes of a peer's memory.
pub fn read(endpoint: &smsc::Endpoint, remote: u64, to: &Data<'_>) -> opal_core::Result<()> {
    in_steps(endpoint, to, |at, done, bytes| {
        // SAFETY: part of a target among the module's arguments or of the executor's scratch; contiguous, says the caller.
        unsafe { endpoint.copy_from(remote.wrapping_add(done as u64), at, bytes) }
    })
}

/// Writes contiguous bytes to a peer's memory.
pub fn write(endpoint: &smsc::Endpoint, remote: u64, from: &Data<'_>) -> opal_core::Result<()> {
    in_steps(endpoint, from, |at, done, bytes| {
        // SAFETY: as above, of a source or of scratch that was written before.
        unsafe { endpoint.copy_to(remote.wrapping_add(done as u64), at, bytes) }
    })
}

fn in_steps(
    endpoint: &smsc::Endpoint,
    run: &Data<'_>,
    mut copy: impl FnMut(*mut u8, usize, usize) -> opal_core::Result<()>,
) -> opal_core::Result<()> {
    let (all, most) = (run.bytes(), endpoint.max_bytes());
    for done in (0..all).step_by(most) {
        if done > 0 {
            progress::pass();
        }
        copy(run.at.wrapping_add(done), done, most.min(all - done))?;
    }
    Ok(())
}

/// Copies an argument to a slot of `room` bytes, a word in one go. `Err(Truncate)` if there are more.
#[inline(always)]
pub fn store(executor: &mut dyn Executor, from: &Data<'_>, at: *mut u8, room: usize) -> Result<()> {
    let bytes = from.bytes();
    match from.contiguous().filter(|_| bytes <= room) {
        // SAFETY: an argument of the module's methods, and this rank's slot, which is long enough.
        Some(from) if unsafe { is_moved(bytes, from, at) } => Ok(()),
        _ => executor.copy(from, &packed(at, room)),
    }
}

/// Copies from a slot into an argument, likewise.
#[inline(always)]
pub fn load(executor: &mut dyn Executor, at: *mut u8, to: &Data<'_>) -> Result<()> {
    let bytes = to.bytes();
    match to.contiguous() {
        Some(to) => load_run(executor, at, to, bytes),
        None => executor.copy(&packed(at, bytes), to),
    }
}

/// Copies `bytes` from a slot into contiguous bytes of an argument, likewise.
#[inline(always)]
pub fn load_run(executor: &mut dyn Executor, at: *mut u8, to: *mut u8, bytes: usize) -> Result<()> {
    // SAFETY: data of a slot, for which the caller has waited; the methods' contract makes targets writable.
    match unsafe { is_moved(bytes, at, to) } {
        true => Ok(()),
        false => executor.copy(&packed(at, bytes), &packed(to, bytes)),
    }
}

/// Copies between two arguments, likewise.
#[inline(always)]
pub fn copy(executor: &mut dyn Executor, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let bytes = from.bytes();
    match (from.contiguous(), to.contiguous().filter(|_| bytes <= to.bytes())) {
        // SAFETY: arguments of the module's methods; the target is long enough.
        (Some(from), Some(to)) if unsafe { is_moved(bytes, from, to) } => Ok(()),
        _ => executor.copy(from, to),
    }
}

/// Moves four or eight bytes; returns whether there are so many.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes`; they do not overlap.
#[inline(always)]
unsafe fn is_moved(bytes: usize, from: *const u8, to: *mut u8) -> bool {
    match bytes {
        // SAFETY: the caller's promise.
        8 => unsafe { from.copy_to_nonoverlapping(to, 8) },
        // SAFETY: likewise.
        4 => unsafe { from.copy_to_nonoverlapping(to, 4) },
        _ => return false,
    }
    true
}
