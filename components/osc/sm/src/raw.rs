//! The memory of each process, and accesses to it: the only unsafe code.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::osc::{Access, Target};
use ompi_core::win::node::{self, Reach, Words, perform};
use opal_core::shareable::{Joint, Mapped, Owned};

/// One process's memory in a window, as this process can reach it.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where it begins.
    pub at: *mut u8,
    /// Its length.
    pub bytes: usize,
    /// Bytes of a displacement of 1.
    pub unit: i64,
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation, or atomic.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// The memory of a window's processes. It lies in the memory of the window's words, or in what is kept here.
pub struct Parts {
    parts: Box<[Memory]>,
    _kept: Kept,
}

/// What holds parts that do not lie behind the words, or shows those that do to messages.
pub struct Kept {
    /// Parts of the others.
    pub _others: Vec<Mapped>,
    /// That of this process.
    pub _own: Option<Owned>,
    /// All of them, behind the words.
    pub _joint: Option<Joint>,
}

impl Parts {
    /// By rank, with what holds them.
    pub fn new(parts: Box<[Memory]>, kept: Kept) -> Parts {
        Parts { parts, _kept: kept }
    }
}

impl Reach for Parts {
    fn mapped(&self, rank: usize) -> Option<(*mut u8, usize)> {
        let Memory { at, bytes, .. } = self.parts[rank];
        Some((at, bytes))
    }

    #[inline(always)]
    unsafe fn access(&self, words: &Words, access: &Access<'_>, target: &Target<'_>) -> Result<()> {
        let Target { rank, displacement, data } = *target;
        let Memory { at, unit, .. } = self.parts[rank];
        // The caller has checked that it lies in the part.
        let at = at.wrapping_offset((displacement * unit) as isize);
        // SAFETY: in a mapping, which lives as long as the window; the program synchronises accesses to it.
        let place = unsafe { node::MappedData::new(Data { at, ..data }) };
        // SAFETY: the caller's promise.
        unsafe { perform(words, rank, access, &place) }
    }
}
