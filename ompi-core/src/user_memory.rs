//! Memory that MPI gives to the user: MPI_Alloc_mem.
#![allow(unsafe_code)]

use crate::error::{Class, Fault, Result};
#[cfg(not(ompi_bare))]
use crate::parameters::ALLOC_MEM_SHAREABLE;
use alloc::alloc::{Layout, alloc, dealloc};
use alloc::collections::BTreeMap;
#[cfg(not(ompi_bare))]
use opal_core::shareable;
use opal_core::sync::ConditionalLock;
#[cfg(not(ompi_bare))]
use opal_core::sys::Mapping;

/// Such memory begins on a cache line. It is the least alignment, too.
const LINE: usize = 64;
/// Less is not worth a question to the system.
const ASKS_FROM: u128 = 256 << 10;
/// From so many bytes on, zeros are pages of the system's own, which has them at hand only when they are read.
#[cfg(not(ompi_bare))]
const MAPPED_FROM: usize = 128 << 10;
/// The least a mapping is aligned to.
#[cfg(not(ompi_bare))]
const PAGE: usize = 4096;
/// More than any device or huge page wants.
const MAX_ALIGNMENT: usize = 1 << 30;

/// What the user has: how it was allocated, by address. A wrong address is looked up here, and nothing is read where it points.
static GIVEN: ConditionalLock<BTreeMap<usize, Origin>> = ConditionalLock::new(BTreeMap::new());

/// Where memory comes from.
enum Origin {
    Heap(Layout),
    #[cfg(not(ompi_bare))]
    Shareable,
    #[cfg(not(ompi_bare))]
    Mapped(Mapping),
}

/// As [`allocate`], but memory that the processes of a node can map, where there is such: MPI_Win_create makes windows over it, and messages
/// from and to it are copied once.
pub fn allocate_shareable(size: usize, alignment: usize) -> Result<*mut u8> {
    #[cfg(not(ompi_bare))]
    if ALLOC_MEM_SHAREABLE.flag()
        && check_left(size as u128).is_ok()
        && let Some(at) = shareable::allocate(size, alignment.max(LINE))
    {
        GIVEN.lock().insert(at.addr(), Origin::Shareable);
        return Ok(at);
    }
    allocate(size, alignment)
}

/// `size` bytes on a cache line, or on a multiple of `alignment`, a power of two, if that is more; not null even if `size`
/// is 0.
pub fn allocate(size: usize, alignment: usize) -> Result<*mut u8> {
    let layout = Layout::from_size_align(size.max(1), alignment.max(LINE)).map_err(|_| none(size))?;
    // SAFETY: the layout is at least a byte long.
    let at = unsafe { alloc(layout) };
    if at.is_null() {
        return Err(none(size));
    }
    GIVEN.lock().insert(at.addr(), Origin::Heap(layout));
    Ok(at)
}

/// As [`allocate`], of zeros. Of what is long only those pages take memory that somebody has written to.
pub fn allocate_zeros(size: usize, alignment: usize) -> Result<*mut u8> {
    #[cfg(not(ompi_bare))]
    if size >= MAPPED_FROM {
        return map_zeros(size, alignment);
    }
    let at = allocate(size, alignment)?;
    // SAFETY: that many bytes, which nobody else knows yet.
    unsafe { at.write_bytes(0, size) };
    Ok(at)
}

#[cfg(not(ompi_bare))]
fn map_zeros(size: usize, alignment: usize) -> Result<*mut u8> {
    // A mapping begins on some page.
    let spare = alignment.saturating_sub(PAGE);
    let mapping = size.checked_add(spare).and_then(|whole| Mapping::of_this_process(whole).ok());
    let mapping = mapping.ok_or_else(|| none(size))?;
    let at = mapping.place(0, size);
    let at = at.wrapping_add(at.addr().next_multiple_of(alignment.max(1)) - at.addr());
    GIVEN.lock().insert(at.addr(), Origin::Mapped(mapping));
    Ok(at)
}

#[cold]
fn none(size: usize) -> Fault {
    Fault::new(Class::NoMem).because(alloc::format!("{size} bytes of memory cannot be allocated"))
}

/// Gives it back. Nothing is given back for null, as with C's free and with other libraries.
///
/// # Safety
/// Nobody uses the memory at `at` any more, if it is memory of [`allocate`] or [`allocate_shareable`]; otherwise it may be any address.
pub unsafe fn free(at: *mut u8) -> Result<()> {
    if at.is_null() {
        return Ok(());
    }
    let Some(origin) = GIVEN.lock().remove(&at.addr()) else {
        return Err(Fault::new(Class::Base)
            .argument("base")
            .because("it is not an address that MPI_Alloc_mem returned"));
    };
    match origin {
        // SAFETY: allocated with this layout, and in the table until now, so not given back yet.
        Origin::Heap(layout) => unsafe { dealloc(at, layout) },
        #[cfg(not(ompi_bare))]
        // SAFETY: the caller's promise; in the table until now.
        Origin::Shareable => unsafe { shareable::free(at) },
        #[cfg(not(ompi_bare))]
        Origin::Mapped(mapping) => drop(mapping),
    }
    Ok(())
}

/// `Err(NoMem)` if the machine has not so many bytes left for all that ask for them together; a few are never refused. A system that gives memory away before it
/// is there would end the process when it is written.
pub fn check_left(bytes: u128) -> Result<()> {
    // To ask takes as long as to make a window.
    if bytes < ASKS_FROM {
        return Ok(());
    }
    match left() {
        Some(left) if bytes > u128::from(left) => {
            let why = alloc::format!("{bytes} bytes are wanted on this machine, which has {left} left");
            Err(Fault::new(Class::NoMem).because(why))
        }
        _ => Ok(()),
    }
}

/// What the machine has left, as far as the system says.
fn left() -> Option<u64> {
    let text = opal_core::sys::read_file("/proc/meminfo")?;
    let text = core::str::from_utf8(&text).ok()?;
    let kib =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    let (memory, swap): (u64, u64) = (kib("MemAvailable:")?, kib("SwapFree:").unwrap_or(0));
    memory.checked_add(swap)?.checked_mul(1024)
}

/// The alignment that a value of mpi_minimum_memory_alignment asks for (MPI 5.0 §9.2): a power of two in bytes. Other values
/// are no hint that is understood, and are ignored.
pub fn alignment(value: &str) -> Option<usize> {
    value.trim().parse().ok().filter(|bytes: &usize| bytes.is_power_of_two() && *bytes <= MAX_ALIGNMENT)
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
    fn zeros_are_zeros_again() {
        for size in [0, 1, 4096, MAPPED_FROM - 1, MAPPED_FROM, MAPPED_FROM + 4097] {
            for alignment in [1, 64, 4096, 8192, 1 << 21] {
                for _ in 0..2 {
                    let at = allocate_zeros(size, alignment).unwrap();
                    assert!((at as usize).is_multiple_of(alignment.max(64)));
                    // SAFETY: `size` bytes of our own; so below.
                    assert!(unsafe { core::slice::from_raw_parts(at, size) }.iter().all(|byte| *byte == 0));
                    // SAFETY: as above.
                    unsafe { at.write_bytes(0x5a, size) };
                    // SAFETY: given back once.
                    unsafe { free(at).unwrap() };
                }
            }
        }
        for size in [usize::MAX, usize::MAX - 8192] {
            assert_eq!(allocate_zeros(size, 1 << 21).unwrap_err().get(), Class::NoMem as i32);
        }
    }

    #[test]
    fn what_the_machine_has_not_is_refused() {
        check_left(1 << 20).unwrap();
        assert_eq!(check_left(1 << 60).unwrap_err().get(), Class::NoMem as i32);
    }

    #[test]
    fn alignments_are_powers_of_two() {
        assert_eq!(["4096", " 8 ", "1"].map(alignment), [Some(4096), Some(8), Some(1)]);
        assert_eq!(["0", "96", "-64", "much", "9223372036854775808"].map(alignment), [None; 5]);
    }

    #[test]
    fn other_memory_is_refused() {
        let at = allocate(100, 1).unwrap();
        let own = [0u8; 128];
        // In the middle of it, the program's own, and nowhere.
        for wrong in [at.wrapping_add(64), own.as_ptr().cast_mut(), core::ptr::without_provenance_mut(64)] {
            // SAFETY: no memory of `allocate` begins there.
            assert_eq!(unsafe { free(wrong) }.unwrap_err().get(), Class::Base as i32);
        }
        // SAFETY: given back once; the second call gives nothing back.
        let freed = [unsafe { free(at) }, unsafe { free(at) }];
        assert_eq!(freed.map(|result| result.map_err(|fault| fault.get())), [Ok(()), Err(Class::Base as i32)]);
        // SAFETY: null.
        unsafe { free(core::ptr::null_mut()).unwrap() };
    }
}
