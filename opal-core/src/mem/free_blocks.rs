//! For a heap: small blocks that were freed, by size. Handles, requests and datatypes come and go in the same few sizes.
//!
//! Each bin is a list through its blocks, a few at most, so that little memory is held back from other sizes.

use core::alloc::Layout;
use core::ptr::NonNull;

/// All blocks of bins have this alignment.
pub const ALIGN: usize = 16;

/// Longer blocks are no bin's.
const BYTES_MAX: usize = 512;
const BINS: usize = BYTES_MAX / ALIGN;
/// Blocks of one bin: 132 KiB in all of them together.
const BLOCKS_MAX: u8 = 16;

#[derive(Clone, Copy)]
struct Bin {
    first: Option<NonNull<Free>>,
    blocks: u8,
}

/// What a block is while nobody uses it.
struct Free {
    next: Option<NonNull<Free>>,
}

/// Lists of blocks of the same size.
pub struct FreeBlocks([Bin; BINS]);

/// The bin of a layout, if it has one.
#[inline(always)]
pub const fn of(layout: Layout) -> Option<usize> {
    match layout.size() {
        size @ 1..=BYTES_MAX if layout.align() <= ALIGN => Some((size - 1) / ALIGN),
        _ => None,
    }
}

/// The size of a bin's blocks.
#[inline(always)]
pub const fn bytes(bin: usize) -> usize {
    (bin + 1) * ALIGN
}

impl Default for FreeBlocks {
    fn default() -> FreeBlocks {
        FreeBlocks::new()
    }
}

impl FreeBlocks {
    /// Empty.
    pub const fn new() -> FreeBlocks {
        FreeBlocks([Bin { first: None, blocks: 0 }; BINS])
    }

    /// Takes a block out.
    #[inline(always)]
    pub fn take(&mut self, bin: usize) -> Option<*mut u8> {
        let bin = &mut self.0[bin];
        let block = bin.first?;
        // SAFETY: blocks in a bin are used by nobody else, and `keep` wrote it.
        bin.first = unsafe { block.read() }.next;
        bin.blocks -= 1;
        Some(block.as_ptr().cast())
    }

    /// Puts a block in. `false`: the bin has enough.
    ///
    /// # Safety
    /// The block has the size and alignment of the bin's, and nobody uses it any more.
    #[inline(always)]
    pub unsafe fn keep(&mut self, bin: usize, block: *mut u8) -> bool {
        let bin = &mut self.0[bin];
        let Some(block) = NonNull::new(block.cast::<Free>()).filter(|_| bin.blocks < BLOCKS_MAX) else { return false };
        // SAFETY: the caller's promise; each block is at least as long and aligned as `Free`.
        unsafe { block.write(Free { next: bin.first }) };
        bin.first = Some(block);
        bin.blocks += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_small_size_has_the_smallest_bin_that_holds_it() {
        for size in 1..=BYTES_MAX {
            let bin = of(Layout::from_size_align(size, 8).unwrap()).unwrap();
            assert!(bytes(bin) >= size && bytes(bin) < size + ALIGN, "{size}");
        }
        for (size, align) in [(0, 1), (BYTES_MAX + 1, 1), (8, 32)] {
            assert_eq!(of(Layout::from_size_align(size, align).unwrap()), None);
        }
    }

    #[test]
    fn the_last_block_comes_first_and_a_full_bin_takes_none() {
        #[derive(Clone, Copy)]
        #[repr(align(16))]
        struct Block(#[expect(dead_code, reason = "room only")] [u8; ALIGN]);
        let mut blocks = [Block([0; ALIGN]); BLOCKS_MAX as usize + 1];
        let places = blocks.each_mut().map(|block| core::ptr::from_mut(block).cast::<u8>());
        let mut bins = FreeBlocks::new();
        assert_eq!(bins.take(0), None);
        let (last, kept) = places.split_last().unwrap();
        for place in kept {
            // SAFETY: a block of this size of ours.
            assert!(unsafe { bins.keep(0, *place) });
        }
        // SAFETY: as above.
        assert!(!unsafe { bins.keep(0, *last) });
        for place in kept.iter().rev() {
            assert_eq!(bins.take(0), Some(*place));
        }
        assert_eq!((bins.take(0), bins.take(1)), (None, None));
    }
}
