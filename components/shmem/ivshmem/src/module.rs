//! Slices of the device's memory.

use hw_x86_64::ivshmem::{self, Memory};
use opal_core::framework::shmem::{Address, Inherited, Module, Segment, Slice};
use opal_core::sync::Once;
use opal_core::{Error, Result, sys};

/// The memory of this job.
pub struct Ivshmem {
    memory: Memory,
    inherited: Inherited,
    /// This rank's own slice, once created.
    own: Once<Slice>,
}

impl Ivshmem {
    /// Checks that all slices lie in the device's memory; else half a sentence.
    pub fn new(inherited: Inherited) -> core::result::Result<Ivshmem, &'static str> {
        let memory = ivshmem::memory()?;
        match inherited.fits(memory.bytes as u64, sys::page_size() as u64) {
            true => Ok(Ivshmem { memory, inherited, own: Once::new() }),
            false => Err("the device's memory does not hold a receive segment for each rank"),
        }
    }

    fn part(&self, slice: &Slice) -> Result<Segment> {
        let (offset, bytes) = slice.place(&self.inherited, sys::page_size() as u64)?;
        Ok(Segment { base: self.memory.base.wrapping_add(offset as usize), bytes })
    }
}

impl Module for Ivshmem {
    fn create(&self, bytes: usize) -> Result<Segment> {
        if self.own.is_completed() {
            return Err(Error::Exists);
        }
        let slice = Slice::own(&self.inherited, bytes, sys::page_size() as u64)?;
        let segment = self.part(&slice)?;
        self.own.call_once(|| slice);
        Ok(segment)
    }

    fn address(&self) -> Address {
        self.own.get().expect("address is asked for after create").encode()
    }

    fn attach(&self, address: &Address) -> Result<Segment> {
        self.part(&Slice::decode(address).ok_or(Error::Malformed)?)
    }

    fn detach(&self, _segment: Segment) {
        // The device's memory is always there.
    }
}
