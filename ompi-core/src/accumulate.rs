//! What accumulates of one-sided communication do with memory, for the components that do it. MPI 5.0 §12.3.4.
#![allow(unsafe_code)]

use crate::data::{Data, Room};
use crate::datatype::{self, Datatype};
use crate::error::{Class, Result};
use crate::framework::op::{Kernel, Operation};
use crate::op::{Op, PACKED};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::datatype::Primitive;
use opal_core::sync::Once;

/// A predefined datatype of the basic type that all data of `datatype` is of: the same on all processes, and MPI_BYTE for bytes.
/// `None` if there is none.
pub fn basic(datatype: &Datatype) -> Option<&'static Datatype> {
    if datatype.predefined != 0 {
        return datatype::borrow(datatype.predefined as usize);
    }
    let wanted = datatype.layout.primitive()?;
    let known = BASIC.call_once(all_basic).iter().find(|(primitive, _)| *primitive == wanted)?;
    Some(known.1)
}

/// The first predefined datatype of each basic type: about thirty.
static BASIC: Once<Vec<(Primitive, &'static Datatype)>> = Once::new();

fn all_basic() -> Vec<(Primitive, &'static Datatype)> {
    let mut found: Vec<(Primitive, &'static Datatype)> = Vec::new();
    let known = (datatype::NULL + 1..2 * datatype::NULL).filter_map(datatype::borrow);
    for known in known.filter(|known| known.predefined != 0 && known.predefined != PACKED && known.is_committed()) {
        if let Some(primitive) = known.layout.primitive()
            && found.iter().all(|(other, _)| *other != primitive)
        {
            found.push((primitive, known));
        }
    }
    found
}

/// Combines the data at `target` with `bytes` packed bytes at `input`: all of them of the type `basic`.
///
/// `Err(Truncate)` if the lengths differ, `Err(Op)` if the operation is not defined for the type; nothing is written then.
///
/// # Safety
/// The target's data is readable and writable, `input` readable for `bytes`, and they do not overlap.
pub unsafe fn combine(
    target: &Data<'_>,
    operation: Operation,
    basic: &Datatype,
    input: *const u8,
    bytes: usize,
) -> Result<()> {
    let size = basic.layout.size();
    if bytes != target.bytes() || size == 0 || !bytes.is_multiple_of(size) {
        return Err(Class::Truncate.into());
    }
    match operation {
        Operation::NoOp => return Ok(()),
        Operation::Replace => {
            // SAFETY: the caller's promise.
            unsafe { target.unpack(input, bytes) };
            return Ok(());
        }
        _ => {}
    }
    let kernel = Op::Predefined(operation).kernel(basic)?;
    let count = bytes / size;
    match target.contiguous() {
        Some(at) if is_dense(basic) => {
            // SAFETY: `count` elements without gaps at both places, which do not overlap by the caller's promise.
            unsafe { kernel(input, at, at, count) };
            Ok(())
        }
        _ if is_dense(basic) => {
            // SAFETY: the caller's promise.
            unsafe { combine_blocks(target, kernel, size, input) };
            Ok(())
        }
        _ => {
            // SAFETY: readable by the caller's promise.
            let mut old = unsafe { target.packed()? };
            // SAFETY: the caller's promise; the copy is as long.
            unsafe { combine_copy(&mut old, kernel, basic, input)? };
            // SAFETY: writable by the caller's promise; the copy is as long.
            unsafe { target.unpack(old.as_ptr(), bytes) };
            Ok(())
        }
    }
}

/// A part of data with gaps, packed: it stays in the cache.
#[repr(align(64))]
struct Block([MaybeUninit<u8>; 8192]);

/// Combines data with gaps, block by block, with as many packed bytes at `input`: elements of `size` bytes without gaps.
///
/// # Safety
/// That of [`combine`], for a kernel of these elements.
unsafe fn combine_blocks(target: &Data<'_>, kernel: Kernel, size: usize, input: *const u8) {
    let mut block = Block([const { MaybeUninit::uninit() }; _]);
    let at = block.0.as_mut_ptr().cast::<u8>();
    let most = block.0.len() / size * size;
    // SAFETY: readable by the caller's promise; so below.
    let mut out = unsafe { target.convertor() };
    // SAFETY: writable.
    let mut into = unsafe { target.convertor() };
    let mut done = 0;
    loop {
        // SAFETY: a buffer of this length of our own.
        let bytes = unsafe { out.pack(at, most) };
        if bytes == 0 {
            return;
        }
        // SAFETY: whole elements in both places, since blocks and data are of such; apart from each other.
        unsafe { kernel(input.wrapping_add(done), at, at, bytes / size) };
        // SAFETY: so many bytes were just written.
        unsafe { into.unpack(at, bytes) };
        done += bytes;
    }
}

/// Combines packed data with as much other packed data, all of the type `basic`. Errors as of [`combine`].
pub fn combine_packed(old: &mut [u8], operation: Operation, basic: &Datatype, input: &[u8]) -> Result<()> {
    let size = basic.layout.size();
    if input.len() != old.len() || size == 0 || !old.len().is_multiple_of(size) {
        return Err(Class::Truncate.into());
    }
    match operation {
        Operation::NoOp => Ok(()),
        Operation::Replace => {
            old.copy_from_slice(input);
            Ok(())
        }
        _ => {
            let kernel = Op::Predefined(operation).kernel(basic)?;
            // SAFETY: two slices of the same length, a multiple of the size.
            unsafe { combine_copy(old, kernel, basic, input.as_ptr()) }
        }
    }
}

/// Whether elements follow each other without gaps.
fn is_dense(basic: &Datatype) -> bool {
    basic.layout.run_of(2) == Some(0)
}

/// Combines packed data with as many bytes at `input`.
///
/// # Safety
/// `input` is readable for as many bytes and does not overlap; they are a multiple of the size of `basic`, for which the kernel is.
unsafe fn combine_copy(old: &mut [u8], kernel: Kernel, basic: &Datatype, input: *const u8) -> Result<()> {
    if !is_dense(basic) {
        // SAFETY: the caller's promise.
        return unsafe { combine_padded(old, kernel, basic, input) };
    }
    let at = old.as_mut_ptr();
    // SAFETY: as many elements without gaps at both places, which do not overlap by the caller's promise.
    unsafe { kernel(input, at, at, old.len() / basic.layout.size()) };
    Ok(())
}

/// As [`combine_copy`], for elements that have gaps in memory, which kernels expect.
///
/// # Safety
/// That of [`combine_copy`].
unsafe fn combine_padded(old: &mut [u8], kernel: Kernel, basic: &Datatype, input: *const u8) -> Result<()> {
    let (bytes, count) = (old.len(), old.len() / basic.layout.size());
    let (mut first, mut second) = (Room::new(count, basic)?, Room::new(count, basic)?);
    let [first, second] = [first.at(), second.at()].map(|at| Data { at, count, datatype: basic });
    // SAFETY: there is room for `count` elements; readable by the caller's promise.
    unsafe { first.unpack(input, bytes) };
    // SAFETY: there is room for `count` elements, and the slice is as long.
    unsafe { second.unpack(old.as_ptr(), bytes) };
    // SAFETY: `count` elements each, in memory of their own.
    unsafe { kernel(first.at, second.at, second.at, count) };
    // SAFETY: `count` elements, which have as many bytes of data as the slice.
    unsafe { second.pack(old.as_mut_ptr()) };
    Ok(())
}
