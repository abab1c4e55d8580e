//! The shared memory as words.
#![allow(unsafe_code)]

use hw_x86_64::ivshmem::Memory;
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::sys;
use orte_core::segment::Shared;

/// The device's memory from its start.
pub struct Mapping(Memory);

impl Mapping {
    /// All of it.
    pub fn new(memory: Memory) -> Mapping {
        Mapping(memory)
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
