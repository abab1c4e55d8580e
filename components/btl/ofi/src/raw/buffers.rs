//! Buffers of one length, each with room for what a provider keeps of the operation that uses it.

use crate::abi::Context;
use alloc::boxed::Box;
use core::ffi::c_void;
use core::ptr::null_mut;
use opal_core::mem;

/// So many buffers. They stay where they are as long as the process lives, since a provider may write to them at any time.
pub struct Buffers {
    bytes: *mut u8,
    contexts: *mut Context,
    count: u32,
    buffer_bytes: usize,
    /// By which the provider knows the memory, where it wants it registered.
    pub descriptor: *mut c_void,
}

impl Buffers {
    /// Zeros, which take no memory until they are used.
    pub fn new(count: u32, buffer_bytes: usize) -> Buffers {
        let words = |bytes: usize| -> *mut u64 { Box::leak(mem::zeroed::<u64>(bytes.div_ceil(8))).as_mut_ptr() };
        Buffers {
            bytes: words(count as usize * buffer_bytes).cast(),
            contexts: words(count as usize * size_of::<Context>()).cast(),
            count,
            buffer_bytes,
            descriptor: null_mut(),
        }
    }

    /// How many.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// All of it.
    pub fn memory(&self) -> (*mut u8, usize) {
        (self.bytes, self.count as usize * self.buffer_bytes)
    }

    /// Where one lies.
    pub fn at(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.count, "there is no buffer {slot}");
        self.bytes.wrapping_add(slot as usize * self.buffer_bytes)
    }

    /// The context of one.
    pub fn context(&self, slot: u32) -> *mut Context {
        assert!(slot < self.count, "there is no buffer {slot}");
        self.contexts.wrapping_add(slot as usize)
    }

    /// Which one a context belongs to.
    pub fn slot(&self, context: *const Context) -> Option<u32> {
        let offset = context.addr().checked_sub(self.contexts.addr())?;
        let slot = u32::try_from(offset / size_of::<Context>()).ok()?;
        (slot < self.count && offset.is_multiple_of(size_of::<Context>())).then_some(slot)
    }

    /// The length of each.
    pub fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }
}
