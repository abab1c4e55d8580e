//! Memory of a window's targets that this process can load and store itself ([`DirectMemory`]), as the shortcuts of [`super::direct`] look for
//! it.
#![allow(unsafe_code)]

use crate::framework::osc::{Accumulates, DirectMemory, Module, Part};
use alloc::boxed::Box;

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
    accumulates: Option<Accumulates<'static>>,
}

// SAFETY: addresses that hold as long as the window's module; what is done there is up to the program's synchronisation, or atomic.
unsafe impl Send for DirectParts {}
// SAFETY: as above.
unsafe impl Sync for DirectParts {}

impl DirectParts {
    /// Of a window with this module, which is kept as long.
    pub fn of(module: &dyn Module, parts: &[Part]) -> DirectParts {
        let part = |(rank, part): (usize, &Part)| match module.direct(rank) {
            Some(DirectMemory { at, accumulates }) => {
                // SAFETY: as long as the window's module, which these values do not outlive: a window drops them first.
                let accumulates = unsafe { core::mem::transmute::<Accumulates<'_>, Accumulates<'static>>(accumulates) };
                DirectPart { at, bytes: part.bytes, unit: part.unit as u64, accumulates: Some(accumulates) }
            }
            None => DirectPart { at: core::ptr::null_mut(), bytes: 0, unit: 1, accumulates: None },
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
    /// How accumulates in a part that has bytes are atomic.
    #[inline(always)]
    pub fn accumulates(&self) -> Option<Accumulates<'_>> {
        self.accumulates
    }
}
