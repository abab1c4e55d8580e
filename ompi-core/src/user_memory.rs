//! Memory that MPI gives to the user: MPI_Alloc_mem.
#![allow(unsafe_code)]

use crate::error::{Class, Fault, Result};
use alloc::alloc::{Layout, alloc, dealloc};

/// A cache line before the memory says how long it is, so that the memory itself begins on a cache line.
const HEAD: usize = 64;
/// Marks a head; freeing something else is found out unless it lies by chance.
const MARK: usize = 0x6f6d_7069_5f6d_656d;

/// `size` bytes on a cache line; not null even if `size` is 0.
pub fn allocate(size: usize) -> Result<*mut u8> {
    let none = || Fault::new(Class::NoMem).because(alloc::format!("{size} bytes are not to be had"));
    let layout = layout(size).ok_or_else(none)?;
    // SAFETY: the layout is at least a head long.
    let head = unsafe { alloc(layout) };
    if head.is_null() {
        return Err(none());
    }
    // SAFETY: the head has room for two words and is aligned for them.
    unsafe { head.cast::<[usize; 2]>().write([MARK, size]) };
    Ok(head.wrapping_add(HEAD))
}

/// Gives it back.
///
/// # Safety
/// `at` is null or came from [`allocate`] and was not given back.
pub unsafe fn free(at: *mut u8) -> Result<()> {
    let wrong = || Fault::new(Class::Base).argument("base").because("it is no memory of MPI_Alloc_mem");
    if at.is_null() || !(at as usize).is_multiple_of(HEAD) {
        return Err(wrong());
    }
    let head = at.wrapping_sub(HEAD);
    // SAFETY: the caller's promise.
    let [mark, size] = unsafe { head.cast::<[usize; 2]>().read() };
    let layout = layout(size).filter(|_| mark == MARK).ok_or_else(wrong)?;
    // SAFETY: as above; a second call finds no mark, as long as the memory is not in use again.
    unsafe { head.cast::<usize>().write(0) };
    // SAFETY: allocated with this layout.
    unsafe { dealloc(head, layout) };
    Ok(())
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, HEAD).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_can_be_written_and_given_back() {
        for size in [0, 1, 4096, 1 << 20] {
            let at = allocate(size).unwrap();
            assert!((at as usize).is_multiple_of(64));
            // SAFETY: `size` bytes of our own.
            unsafe { at.write_bytes(0x5a, size) };
            // SAFETY: given back once.
            unsafe { free(at).unwrap() };
        }
        assert_eq!(allocate(usize::MAX - 1).unwrap_err().get(), Class::NoMem as i32);
    }

    #[test]
    fn other_memory_is_refused() {
        #[repr(align(64))]
        struct Lines([u8; 128]);
        let mut lines = Lines([0; 128]);
        // SAFETY: the line before it is readable; nothing is freed, because it has no mark.
        let freed = unsafe { free(lines.0.as_mut_ptr().wrapping_add(64)) };
        assert_eq!(freed.unwrap_err().get(), Class::Base as i32);
    }
}
