//! Pages that devices read and write: whole pages of the heap that lie in one piece of physical memory.
#![allow(unsafe_code)]

use crate::memory::PAGE;
use crate::paging;
use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use core::ptr::NonNull;

/// Pages that a device knows. They are never given back, as devices stay at work until the machine ends.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    /// First byte, at the beginning of a page.
    pub base: NonNull<u8>,
    /// The same as devices see it.
    pub physical: u64,
    /// Length in bytes, of whole pages.
    pub bytes: usize,
}

// SAFETY: an address range, whose users see to who writes it when.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `bytes` bytes of zeros. `None` if the heap has none left, or none in one piece.
    pub fn new(bytes: usize) -> Option<Pages> {
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE as usize)?;
        let layout = Layout::from_size_align(bytes, PAGE as usize).ok()?;
        // SAFETY: the length is not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let physical = paging::physical(base.as_ptr());
        let is_one_piece = (0..bytes).step_by(PAGE as usize).all(|offset| {
            let wanted = physical.and_then(|physical| physical.checked_add(offset as u64));
            paging::physical(base.as_ptr().wrapping_add(offset)) == wanted
        });
        match physical {
            Some(physical) if is_one_piece => Some(Pages { base, physical, bytes }),
            _ => {
                // SAFETY: allocated above with this layout, and nobody has seen it.
                unsafe { dealloc(base.as_ptr(), layout) };
                None
            }
        }
    }
}
