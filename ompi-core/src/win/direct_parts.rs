//! Memory of a window's targets that this process can load and store itself ([`DirectMemory`]), as the shortcuts of [`super::direct`] look for
//! it.
#![allow(unsafe_code)]

use crate::framework::osc::{DirectMemory, Module, Part};
use alloc::boxed::Box;
use opal_core::sync::AtomicU64;

/// The memory of every target of one window, by rank; none at all where no target's can be reached.
pub struct DirectParts(Box<[DirectPart]>);

/// One target's.
pub struct DirectPart {
    /// Where it begins.
    pub at: *mut u8,
    /// 0 where it cannot be reached, so that nothing is in it.
    pub bytes: usize,
    /// Bytes of a displacement of 1.
    pub unit: u64,
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

    /// How many targets there are; 0 where none can be reached.
    #[inline(always)]
    pub fn ranks(&self) -> usize {
        self.0.len()
    }

    /// One target's.
    #[inline(always)]
    pub fn part(&self, rank: usize) -> &DirectPart {
        &self.0[rank]
    }
}

impl DirectPart {
    /// The lock word of a part that has bytes.
    #[inline(always)]
    pub fn accumulate_lock(&self) -> &AtomicU64 {
        // SAFETY: the part has bytes, so it is of a module's `direct`, which holds as long as the window.
        unsafe { &*self.accumulate_lock }
    }
}
