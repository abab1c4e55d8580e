//! The shared memory as words.
#![allow(unsafe_code)]

use hw_x86_64::ivshmem::Memory;
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::sys;
use orte_core::segment::Shared;
use orte_core::segment::layout::HEADER_BYTES;

/// The device's memory from its start.
pub struct Mapping(Memory);

impl Mapping {
    /// All of it.
    pub fn new(memory: Memory) -> Mapping {
        Mapping(memory)
    }

    /// Writes to its start, the first word last: a rank that sees that one sees the others.
    pub fn write(&self, bytes: &[u8; HEADER_BYTES]) {
        for (index, chunk) in bytes.chunks_exact(4).enumerate().rev() {
            let value = chunk.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            // Release pairs with the Acquire in `is_written`.
            self.word(4 * index).store(value, Ordering::Release);
        }
    }

    /// Whether [`Mapping::write`] has been done, in memory that was empty.
    pub fn is_written(&self) -> bool {
        self.word(0).load(Ordering::Acquire) != 0
    }

    /// Copies from its start; what does not exist stays as it is.
    pub fn read(&self, bytes: &mut [u8]) {
        for (index, chunk) in
            bytes.chunks_exact_mut(4).enumerate().take_while(|(index, _)| 4 * index + 4 <= self.bytes())
        {
            chunk.copy_from_slice(&self.word(4 * index).load(Ordering::Relaxed).to_ne_bytes());
        }
    }
}

impl Shared for Mapping {
    fn bytes(&self) -> usize {
        self.0.bytes
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.0.bytes, "a word outside the device's memory");
        // SAFETY: in the memory, aligned; all access to it is atomic, and it is there as long as the machine.
        unsafe { &*self.0.base.wrapping_add(offset).cast::<AtomicU32>() }
    }

    fn sleep(&self, offset: usize, seen: u32, timeout_us: u64) {
        sys::futex_wait(self.word(offset), seen, timeout_us);
    }

    fn wake(&self, _offset: usize) {
        // Other guests look again by themselves; hosted ranks wake up in time.
    }
}
