//! The mapping, and copies to and from it: the only unsafe code.
#![allow(unsafe_code)]

use ompi_core::accumulate;
use ompi_core::data::{self, Data};
use ompi_core::datatype::Datatype;
use ompi_core::error::Result;
use ompi_core::framework::op::Operation;
use opal_core::sync::AtomicU64;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags};

/// Memory that the processes of a window share.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation, or atomic.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Maps a file that nobody can cut off, from an offset on that is a multiple of the page's length.
pub fn map(file: BorrowedFd<'_>, offset: u64, bytes: usize) -> rustix::io::Result<Mapping> {
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), bytes, protection, flags, file, offset) }?;
    Ok(Mapping { base: base.cast(), bytes })
}

impl Mapping {
    /// The word at an offset.
    ///
    /// # Panics
    /// If there is no aligned word: offsets come from the layout, never from a peer.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes);
        // SAFETY: aligned and within the mapping, by the check above and because mappings begin on pages; it lives as long as
        // `self`.
        unsafe { &*self.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// The address of `bytes` bytes at an offset.
    ///
    /// # Panics
    /// If they are not all in it.
    pub fn place(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset);
        self.base.wrapping_add(offset)
    }
}

/// One process's memory in a window, as this process can reach it.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where it begins.
    pub at: *mut u8,
    /// Its length.
    pub bytes: usize,
}

// SAFETY: as for `Mapping`.
unsafe impl Send for Memory {}
// SAFETY: as for `Mapping`.
unsafe impl Sync for Memory {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `map` made it, and nobody has an address in it any more: the window has ended.
        let unmapped = unsafe { rustix::mm::munmap(self.base.cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Data that may be used during a call.
#[derive(Clone, Copy)]
pub struct Buffer<'a>(Data<'a>);

impl<'a> Buffer<'a> {
    /// Of the user's, or of the window where the layout says that it lies.
    ///
    /// # Safety
    /// Readable or writable, as it is used here.
    pub unsafe fn new(data: Data<'a>) -> Buffer<'a> {
        Buffer(data)
    }

    /// Copies the data to another place.
    pub fn copy_to(&self, to: &Buffer<'_>) -> Result<()> {
        // SAFETY: readable and writable by the contract of `new`; the program may not let them overlap (MPI 5.0 §12.3).
        unsafe { data::copy(&self.0, &to.0) }
    }

    /// Combines it with the data at another place, which is changed.
    pub fn combine_into(&self, to: &Buffer<'_>, operation: Operation, basic: &Datatype) -> Result<()> {
        let bytes = self.0.bytes();
        if let Some(at) = self.0.contiguous() {
            // SAFETY: as in `copy_to`.
            return unsafe { accumulate::combine(&to.0, operation, basic, at, bytes) };
        }
        // SAFETY: readable by the contract of `new`.
        let packed = unsafe { self.0.packed()? };
        // SAFETY: as in `copy_to`; the copy is memory of the library's own.
        unsafe { accumulate::combine(&to.0, operation, basic, packed.as_ptr(), bytes) }
    }

    /// Whether the bytes at both places, of equal length, are the same.
    pub fn equals(&self, other: &Buffer<'_>) -> Result<bool> {
        // SAFETY: readable by the contract of `new`.
        let one = unsafe { self.0.packed()? };
        // SAFETY: likewise.
        Ok(one == unsafe { other.0.packed()? })
    }

    /// Its datatype.
    pub fn datatype(&self) -> &'a Datatype {
        self.0.datatype
    }
}
