//! Memory that MPI gives to the user: MPI_Alloc_mem.
#![allow(unsafe_code)]

use crate::error::{Class, Fault, Result};
use alloc::alloc::{Layout, alloc, dealloc};

/// A cache line before the memory says how it was allocated, so that the memory itself begins on a cache line. It is the
/// least alignment, too.
const HEAD: usize = 64;
/// Of who asks for more than any device or huge page wants.
const MAX_ALIGNMENT: usize = 1 << 30;
/// Marks a head; freeing something else is found out unless it lies by chance.
const MARK: usize = 0x6f6d_7069_5f6d_656d;

/// `size` bytes on a cache line, or on a multiple of `alignment`, a power of two, if that is more; not null even if `size`
/// is 0.
pub fn allocate(size: usize, alignment: usize) -> Result<*mut u8> {
    let none = || Fault::new(Class::NoMem).because(alloc::format!("{size} bytes are not to be had"));
    let before = alignment.max(HEAD);
    let layout = layout(size, before).ok_or_else(none)?;
    // SAFETY: the layout is at least a head long.
    let base = unsafe { alloc(layout) };
    if base.is_null() {
        return Err(none());
    }
    let at = base.wrapping_add(before);
    // SAFETY: `before` is at least a head, which has room for three words and is aligned for them.
    unsafe { at.wrapping_sub(HEAD).cast::<[usize; 3]>().write([MARK, size, before]) };
    Ok(at)
}

/// Gives it back. Nothing is given back for null, as with C's free and with other libraries.
///
/// # Safety
/// `at` is null or came from [`allocate`] and was not given back.
pub unsafe fn free(at: *mut u8) -> Result<()> {
    let wrong = || Fault::new(Class::Base).argument("base").because("it is no memory of MPI_Alloc_mem");
    if at.is_null() {
        return Ok(());
    }
    if !(at as usize).is_multiple_of(HEAD) {
        return Err(wrong());
    }
    let head = at.wrapping_sub(HEAD);
    // SAFETY: the caller's promise.
    let [mark, size, before] = unsafe { head.cast::<[usize; 3]>().read() };
    let layout = layout(size, before).filter(|_| mark == MARK).ok_or_else(wrong)?;
    // SAFETY: as above; a second call finds no mark, as long as the memory is not in use again.
    unsafe { head.cast::<usize>().write(0) };
    // SAFETY: allocated with this layout.
    unsafe { dealloc(at.wrapping_sub(before), layout) };
    Ok(())
}

/// The alignment that a value of mpi_minimum_memory_alignment asks for (MPI 5.0 §9.2): a power of two in bytes. Other values
/// are no hint that is understood, and are ignored.
pub fn alignment(value: &str) -> Option<usize> {
    value.trim().parse().ok().filter(|bytes: &usize| bytes.is_power_of_two() && *bytes <= MAX_ALIGNMENT)
}

/// `before` bytes for the head, whose last ones it is; as many are the alignment.
fn layout(size: usize, before: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(before)?, before).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_can_be_written_and_given_back() {
        for size in [0, 1, 4096, 1 << 20] {
            for alignment in [1, 64, 128, 4096, 1 << 21] {
                let at = allocate(size, alignment).unwrap();
                assert!((at as usize).is_multiple_of(alignment.max(64)));
                // SAFETY: `size` bytes of our own.
                unsafe { at.write_bytes(0x5a, size) };
                // SAFETY: given back once.
                unsafe { free(at).unwrap() };
            }
        }
        assert_eq!(allocate(usize::MAX - 1, 1).unwrap_err().get(), Class::NoMem as i32);
    }

    #[test]
    fn alignments_are_powers_of_two() {
        assert_eq!(["4096", " 8 ", "1"].map(alignment), [Some(4096), Some(8), Some(1)]);
        assert_eq!(["0", "96", "-64", "much", "9223372036854775808"].map(alignment), [None; 5]);
    }

    #[test]
    fn other_memory_is_refused() {
        #[repr(align(64))]
        struct Lines([u8; 128]);
        let mut lines = Lines([0; 128]);
        // SAFETY: the line before it is readable; nothing is freed, because it has no mark.
        let freed = unsafe { free(lines.0.as_mut_ptr().wrapping_add(64)) };
        assert_eq!(freed.unwrap_err().get(), Class::Base as i32);
        // SAFETY: null.
        unsafe { free(core::ptr::null_mut()).unwrap() };
    }
}
