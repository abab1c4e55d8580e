//! Shortcuts: what nearly every access to memory is that this process can load and store itself ([`DirectMemory`]). The datatype is a predefined
//! one whose data is one run, the target a rank, the place in its memory, and an epoch open. For anything else, also for every mistake of the
//! program, they return `false`; nothing was done then, and the complete path comes. MPI_Put of 8 bytes with its flush: 584 instructions by
//! the complete path, 206 by these.
//!
//! [`DirectMemory`]: crate::framework::osc::DirectMemory
#![allow(unsafe_code)]

use super::{Combining, DYNAMIC, Window, can_be_swapped};
use crate::datatype;
use crate::framework::op::{Kernel, Operation};
use crate::framework::osc::{DirectMemory, Module, Part};
use crate::init;
use crate::op::{self, Op};
use alloc::boxed::Box;
use core::ffi::c_int;
use opal_core::framework::memcpy;
use opal_core::sync::{AtomicU64, Ordering, fence};
use opal_core::wait;

/// The memory of every target of one window, by rank; none at all where no target's can be reached.
pub struct DirectParts(Box<[DirectPart]>);

struct DirectPart {
    at: *mut u8,
    // 0 where it cannot be reached, so that nothing is in it.
    bytes: usize,
    unit: u64,
    accumulate_lock: *const AtomicU64,
}

// SAFETY: addresses that hold as long as the window's module; what is done there is up to the program's synchronisation, or atomic.
unsafe impl Send for DirectParts {}
// SAFETY: as above.
unsafe impl Sync for DirectParts {}

impl DirectParts {
    /// Of a window with this module, which is kept as long.
    pub fn of(module: &dyn Module, parts: &[Part]) -> DirectParts {
        let part = |(rank, part): (usize, &Part)| match module.direct(rank) {
            Some(DirectMemory { at, accumulate_lock }) => {
                DirectPart { at, bytes: part.bytes, unit: part.unit as u64, accumulate_lock }
            }
            None => DirectPart { at: core::ptr::null_mut(), bytes: 0, unit: 1, accumulate_lock: core::ptr::null() },
        };
        let all: Box<[DirectPart]> = parts.iter().enumerate().map(part).collect();
        DirectParts(if all.iter().any(|part| part.bytes > 0) { all } else { Box::default() })
    }
}

/// Where an access goes: a target whose memory can be reached.
#[derive(Clone, Copy)]
pub struct DirectPlace {
    window: &'static Window,
    rank: usize,
    displacement: i64,
}

impl DirectPlace {
    /// Of the arguments that C passed. Whoever looks first whether there is one costs other windows next to nothing.
    #[inline(always)]
    pub fn of(handle: usize, rank: c_int, displacement: i64) -> Option<DirectPlace> {
        let rank = rank as u32 as usize;
        let window = if init::is_active() { DYNAMIC.borrow(handle)? } else { return None };
        (rank < window.direct.0.len()).then_some(DirectPlace { window, rank, displacement })
    }

    /// The part, and the address in it, if all of the bytes are in it and an epoch allows the access.
    #[inline(always)]
    fn find(self, bytes: usize) -> Option<(&'static DirectPart, *mut u8)> {
        let DirectPlace { window, rank, .. } = self;
        let part = &window.direct.0[rank];
        // A negative displacement is a number that no part is as long as.
        let offset = (self.displacement as u64).checked_mul(part.unit)? as usize;
        if offset > part.bytes || bytes > part.bytes - offset || !window.epoch.try_lock()?.admits(rank) {
            return None;
        }
        Some((part, part.at.wrapping_add(offset)))
    }
}

impl DirectPart {
    /// The lock word of a part that [`DirectPlace::find`] has found.
    #[inline(always)]
    fn accumulate_lock(&self) -> &AtomicU64 {
        // SAFETY: the part has bytes, so it is of a module's `direct`, which holds as long as the window.
        unsafe { &*self.accumulate_lock }
    }
}

/// MPI_Put of so many bytes.
///
/// # Safety
/// `from` is readable for as many.
#[inline(always)]
pub unsafe fn put(from: *const u8, bytes: usize, place: DirectPlace) -> bool {
    let Some((_, at)) = place.find(bytes) else { return false };
    // SAFETY: in the target's memory, which the program may not let overlap; readable by the caller's promise.
    unsafe { copy(at, from, bytes) };
    true
}

/// MPI_Get of so many bytes.
///
/// # Safety
/// `to` is writable for as many.
#[inline(always)]
pub unsafe fn get(to: *mut u8, bytes: usize, place: DirectPlace) -> bool {
    let Some((_, at)) = place.find(bytes) else { return false };
    // SAFETY: as in `put`.
    unsafe { copy(to, at, bytes) };
    wait::polled_memory();
    true
}

/// MPI_Fetch_and_op of the datatype and the operation with these handles.
///
/// # Safety
/// `origin` is readable, where the operation reads it, and `result` writable for one element.
#[inline(always)]
pub unsafe fn fetch_and_op(origin: *const u8, result: *mut u8, datatype: usize, op: usize, place: DirectPlace) -> bool {
    let bytes = datatype::unit(datatype);
    let Some((operation, kernel)) = combination(datatype, op) else { return false };
    if bytes == 0 || result.is_null() || origin.is_null() && operation != Operation::NoOp {
        return false;
    }
    let Some((part, at)) = place.find(bytes) else { return false };
    let alone = Combining::begin(part.accumulate_lock());
    // SAFETY: as in `put`.
    unsafe { copy(result, at, bytes) };
    match kernel {
        // SAFETY: one element of the kernel's type at each place, by the caller's promise.
        Some(kernel) => unsafe { kernel(origin, at, at, 1) },
        None if operation == Operation::NoOp => {}
        // SAFETY: as in `put`.
        None => unsafe { copy(at, origin, bytes) },
    }
    drop(alone);
    wait::polled_memory();
    true
}

/// MPI_Compare_and_swap of the datatype with this handle.
///
/// # Safety
/// `origin` and `compare` are readable, and `result` writable for one element.
#[inline(always)]
pub unsafe fn compare_and_swap(
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
    datatype: usize,
    place: DirectPlace,
) -> bool {
    let bytes = datatype::unit(datatype);
    let is_right = bytes > 0 && datatype::borrow(datatype).is_some_and(can_be_swapped);
    if !is_right || origin.is_null() || compare.is_null() || result.is_null() {
        return false;
    }
    let Some((part, at)) = place.find(bytes) else { return false };
    let alone = Combining::begin(part.accumulate_lock());
    // SAFETY: as in `put`.
    unsafe { copy(result, at, bytes) };
    // SAFETY: readable by the caller's promise, the result being written.
    if unsafe { is_same(result, compare, bytes) } {
        // SAFETY: as in `put`.
        unsafe { copy(at, origin, bytes) };
    }
    drop(alone);
    wait::polled_memory();
    true
}

/// MPI_Win_flush of one rank.
#[inline(always)]
pub fn flush(handle: usize, rank: c_int) -> bool {
    let Some(DirectPlace { window, rank, .. }) = DirectPlace::of(handle, rank, 0) else { return false };
    let Some(epoch) = window.epoch.try_lock() else { return false };
    if window.direct.0[rank].bytes == 0 || epoch.check_flush(Some(rank)).is_err() {
        return false;
    }
    drop(epoch);
    wait::polled_memory();
    // As in the modules that have such memory.
    fence(Ordering::SeqCst);
    true
}

/// A predefined operation for the elements of a datatype, with its kernel if it computes.
#[inline(always)]
fn combination(datatype: usize, op: usize) -> Option<(Operation, Option<Kernel>)> {
    let op @ Op::Predefined(operation) = op::borrow(op)? else { return None };
    let datatype = datatype::borrow(datatype)?;
    datatype.layout.primitive()?;
    let computes = !matches!(operation, Operation::Replace | Operation::NoOp);
    Some((*operation, if computes { Some(op.kernel(datatype).ok()?) } else { None }))
}

/// # Safety
/// `from` is readable and `to` writable for `bytes` bytes, and they do not overlap.
#[inline(always)]
unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    match bytes {
        // One load and one store. SAFETY: the caller's promise, here and below.
        8 => unsafe { to.copy_from_nonoverlapping(from, 8) },
        // SAFETY: as above.
        4 => unsafe { to.copy_from_nonoverlapping(from, 4) },
        // SAFETY: as above.
        _ => unsafe { memcpy::copy(to, from, bytes) },
    }
}

/// # Safety
/// Both are readable for `bytes` bytes.
#[inline(always)]
unsafe fn is_same(one: *const u8, other: *const u8, bytes: usize) -> bool {
    // SAFETY: the caller's promise, here and below.
    let one = unsafe { core::slice::from_raw_parts(one, bytes) };
    // SAFETY: as above.
    let other = unsafe { core::slice::from_raw_parts(other, bytes) };
    match (one.as_array::<8>(), other.as_array::<8>()) {
        (Some(one), Some(other)) => u64::from_ne_bytes(*one) == u64::from_ne_bytes(*other),
        _ => one == other,
    }
}
