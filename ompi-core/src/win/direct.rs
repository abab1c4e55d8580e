//! Shortcuts: what nearly every access to memory is that this process can load and store itself ([`DirectMemory`]). The datatype is a predefined
//! one whose data is one run, the target a rank, the place in its memory, and an epoch open. For anything else, also for every mistake of the
//! program, they return `false`; nothing was done then, and the complete path comes. MPI_Put of 8 bytes with its flush: 584 instructions by
//! the complete path, 206 by these.
//!
//! [`DirectMemory`]: crate::framework::osc::DirectMemory
#![allow(unsafe_code)]

use super::direct_parts::DirectPart;
use super::instruction::{self, Instruction, LOCKED_IS_FENCE};
use super::{Combining, DYNAMIC, Window, can_be_swapped};
use crate::datatype::{self, Datatype};
use crate::framework::op::{Kernel, Operation};
use crate::framework::osc::Accumulates;
use crate::init;
use crate::op::{self, Op};
use core::ffi::c_int;
use opal_core::framework::memcpy;
use opal_core::wait;

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
        (rank < window.direct.ranks()).then_some(DirectPlace { window, rank, displacement })
    }

    /// An instruction has changed elements there; whether it was a fence for what came before, too.
    #[inline(always)]
    fn note_instruction(self, is_fence: bool) {
        match is_fence {
            true => self.window.unfenced.note_fence(),
            false => self.window.unfenced.note_store(),
        }
    }

    /// The part, and the address in it, if all of the bytes are in it and an epoch allows the access.
    #[inline(always)]
    fn find(self, bytes: usize) -> Option<(&'static DirectPart, *mut u8)> {
        let DirectPlace { window, rank, .. } = self;
        let part = window.direct.part(rank);
        // A negative displacement is a number that no part is as long as.
        let offset = (self.displacement as u64).checked_mul(part.unit)? as usize;
        if offset > part.bytes || bytes > part.bytes - offset || !window.epoch.try_lock()?.admits(rank) {
            return None;
        }
        Some((part, part.at.wrapping_add(offset)))
    }
}

/// MPI_Put of so many bytes.
///
/// # Safety
/// `from` is readable for as many.
#[inline(always)]
pub unsafe fn put(from: *const u8, bytes: usize, place: DirectPlace) -> bool {
    let Some((_, at)) = place.find(bytes) else { return false };
    place.window.unfenced.note_store();
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

/// MPI_Accumulate of so many elements of the datatype and with the operation that have these handles.
///
/// # Safety
/// `origin` is readable for as many.
#[inline(always)]
pub unsafe fn accumulate(origin: *const u8, count: usize, datatype: usize, op: usize, place: DirectPlace) -> bool {
    let bytes = datatype::unit(datatype);
    let Some((operation, basic)) = combination(datatype, op) else { return false };
    if bytes == 0 || origin.is_null() || operation == Operation::NoOp {
        return false;
    }
    let Some((part, at)) = place.find(bytes * count) else { return false };
    let Some(Accumulates { gate, by_instruction, lock }) = part.accumulates() else { return false };
    if count <= by_instruction
        && gate.is_open()
        && let Some(instruction) = Instruction::of(operation, basic, at)
        && let Some(_inside) = gate.enter()
    {
        // SAFETY: one for this address, inside of the gate; in the target's memory, and readable by the caller's promise.
        unsafe { instruction.apply(at, origin, count) };
        place.note_instruction(instruction.is_fence(false));
        return true;
    }
    let Some(combine) = Combine::of(operation, basic).filter(|_| gate.is_shut()) else { return false };
    place.window.unfenced.note_store();
    let _alone = Combining::begin(lock);
    // SAFETY: elements of its type at both places, as in `put`.
    unsafe { combine.run(origin, at, count, bytes) };
    true
}

/// Whether the operation with this handle is MPI_NO_OP, so that what is said of the origin means nothing.
#[inline(always)]
pub fn reads_no_origin(op: usize) -> bool {
    matches!(op::borrow(op), Some(Op::Predefined(Operation::NoOp)))
}

/// MPI_Fetch_and_op of the datatype and the operation with these handles.
///
/// # Safety
/// That of [`get_accumulate`] for one element.
#[inline(always)]
pub unsafe fn fetch_and_op(origin: *const u8, result: *mut u8, datatype: usize, op: usize, place: DirectPlace) -> bool {
    // SAFETY: the caller's promise.
    unsafe { get_accumulate(origin, result, 1, datatype, op, place) }
}

/// MPI_Get_accumulate of so many elements of the datatype and with the operation that have these handles.
///
/// # Safety
/// `origin` is readable, where the operation reads it, and `result` writable for as many elements; they do not overlap.
#[inline(always)]
pub unsafe fn get_accumulate(
    origin: *const u8,
    result: *mut u8,
    count: usize,
    datatype: usize,
    op: usize,
    place: DirectPlace,
) -> bool {
    let bytes = datatype::unit(datatype);
    let Some((operation, basic)) = combination(datatype, op) else { return false };
    if bytes == 0 || result.is_null() || origin.is_null() && operation != Operation::NoOp {
        return false;
    }
    let Some((part, at)) = place.find(bytes * count) else { return false };
    let Some(Accumulates { gate, by_instruction, lock }) = part.accumulates() else { return false };
    if gate.is_open()
        && let Some(instruction) = Instruction::of(operation, basic, at)
        && (count <= by_instruction || operation == Operation::NoOp)
        && let Some(inside) = gate.enter()
    {
        // SAFETY: one for this address, inside of the gate; the rest as in `put`, and by the caller's promise.
        unsafe { instruction.fetch(at, origin, result, count) };
        drop(inside);
        place.note_instruction(instruction.is_fence(true));
        wait::polled_memory();
        return true;
    }
    let Some(combine) = Combine::of(operation, basic).filter(|_| gate.is_shut()) else { return false };
    place.window.unfenced.note_store();
    let alone = Combining::begin(lock);
    // SAFETY: as in `put`.
    unsafe { copy(result, at, bytes * count) };
    // SAFETY: elements of its type at both places, as above.
    unsafe { combine.run(origin, at, count, bytes) };
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
    let Some(basic) = datatype::borrow(datatype).filter(|basic| bytes > 0 && can_be_swapped(basic)) else {
        return false;
    };
    if origin.is_null() || compare.is_null() || result.is_null() {
        return false;
    }
    let Some((part, at)) = place.find(bytes) else { return false };
    let Some(Accumulates { gate, lock, .. }) = part.accumulates() else { return false };
    if let Some(inside) = gate.enter()
        // SAFETY: inside of the gate; the rest as in `put`, and by the caller's promise.
        && unsafe { instruction::compare_and_swap(basic, at, origin, compare, result) }
    {
        drop(inside);
        place.note_instruction(LOCKED_IS_FENCE);
        wait::polled_memory();
        return true;
    }
    if !gate.is_shut() {
        return false;
    }
    place.window.unfenced.note_store();
    let alone = Combining::begin(lock);
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
    if window.direct.part(rank).bytes == 0 || epoch.check_flush(Some(rank)).is_err() {
        return false;
    }
    drop(epoch);
    wait::polled_memory();
    window.unfenced.flush();
    true
}

/// A predefined operation, and a datatype whose data is all of one basic type.
#[inline(always)]
fn combination(datatype: usize, op: usize) -> Option<(Operation, &'static Datatype)> {
    let Op::Predefined(operation) = op::borrow(op)? else { return None };
    let datatype = datatype::borrow(datatype)?;
    datatype.layout.primitive()?;
    Some((*operation, datatype))
}

/// What is done with elements by one who holds the accumulate lock.
enum Combine {
    Nothing,
    Copy,
    Compute(Kernel),
}

impl Combine {
    /// `None` where the operation does not know the type.
    #[inline(always)]
    fn of(operation: Operation, basic: &Datatype) -> Option<Combine> {
        match operation {
            Operation::NoOp => Some(Combine::Nothing),
            Operation::Replace => Some(Combine::Copy),
            _ => Op::Predefined(operation).kernel(basic).ok().map(Combine::Compute),
        }
    }

    /// # Safety
    /// `count` elements of so many bytes are readable at `origin`, unless nothing is done, and writable at `at`; they do not overlap.
    #[inline(always)]
    unsafe fn run(self, origin: *const u8, at: *mut u8, count: usize, bytes: usize) {
        match self {
            Combine::Nothing => {}
            // SAFETY: the caller's promise, here and below.
            Combine::Copy => unsafe { copy(at, origin, bytes * count) },
            // SAFETY: as above.
            Combine::Compute(kernel) => unsafe { kernel(origin, at, at, count) },
        }
    }
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
