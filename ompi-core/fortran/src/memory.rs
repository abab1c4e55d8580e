//! Room for what a call converts: on the stack while it is small.

use core::ffi::c_void;

unsafe extern "C" {
    safe fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Memory of malloc, with the given back at its end.
pub struct Memory(*mut c_void);

impl Memory {
    /// That many bytes, if there are.
    pub fn new(bytes: usize) -> Option<Memory> {
        let memory = malloc(bytes.max(1));
        (!memory.is_null()).then_some(Memory(memory))
    }

    /// Where it lies.
    pub fn start(&self) -> *mut c_void {
        self.0
    }

    /// For somebody who keeps it.
    pub fn leave(self) -> *mut c_void {
        let memory = self.0;
        core::mem::forget(self);
        memory
    }

    /// Takes what was left.
    ///
    /// # Safety
    /// `memory` came from `leave`, and nobody else takes it.
    pub unsafe fn take(memory: *mut c_void) -> Memory {
        Memory(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: malloc gave it, and nobody else has it.
        unsafe { free(self.0) };
    }
}

const SMALL: usize = 32;

/// Handles as C has them.
pub struct List {
    small: [usize; SMALL],
    large: Option<Memory>,
    count: usize,
}

impl List {
    /// That many, all zero; nothing where there is no memory.
    pub fn new(count: usize) -> Option<List> {
        let mut list = List { small: [0; SMALL], large: None, count };
        if count > SMALL {
            list.large = Some(Memory::new(count.checked_mul(size_of::<usize>())?)?);
            let pointer = list.pointer();
            for at in 0..count {
                // SAFETY: there is room for that many words.
                unsafe { pointer.wrapping_add(at).write(0) };
            }
        }
        Some(list)
    }

    /// For C.
    pub fn pointer(&mut self) -> *mut usize {
        match &self.large {
            Some(memory) => memory.start().cast(),
            None => self.small.as_mut_ptr(),
        }
    }

    /// To fill it.
    pub fn slice(&mut self) -> &mut [usize] {
        let (pointer, count) = (self.pointer(), self.count);
        // SAFETY: `new` wrote that many words there.
        unsafe { core::slice::from_raw_parts_mut(pointer, count) }
    }

    /// To read it.
    pub fn as_slice(&self) -> &[usize] {
        match &self.large {
            // SAFETY: `new` wrote that many words there.
            Some(memory) => unsafe { core::slice::from_raw_parts(memory.start().cast(), self.count) },
            None => &self.small[..self.count],
        }
    }
}

const SHORT: usize = 256;

/// A text with a NUL behind it.
pub struct Terminated {
    short: [u8; SHORT],
    long: Option<Memory>,
}

impl Terminated {
    /// A copy; nothing where there is no memory.
    pub fn new(bytes: &[u8]) -> Option<Terminated> {
        let mut text = Terminated { short: [0; SHORT], long: None };
        if bytes.len() < SHORT {
            text.short[..bytes.len()].copy_from_slice(bytes);
            return Some(text);
        }
        let memory = Memory::new(bytes.len() + 1)?;
        let start: *mut u8 = memory.start().cast();
        // SAFETY: the memory has room for one byte more.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        // SAFETY: this is the byte more.
        unsafe { start.wrapping_add(bytes.len()).write(0) };
        text.long = Some(memory);
        Some(text)
    }

    /// For C, while it lives.
    pub fn address(&self) -> usize {
        match &self.long {
            Some(memory) => memory.start() as usize,
            None => self.short.as_ptr() as usize,
        }
    }
}
