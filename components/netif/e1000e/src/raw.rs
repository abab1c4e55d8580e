//! Registers and rings: everything that the card reads or writes, too.
#![allow(unsafe_code)]

use crate::registers::BYTES;
use crate::ring::{Descriptor, PLACES};
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};
use hw_x86_64::dma::Pages;
use hw_x86_64::paging;
use hw_x86_64::pci::Device;

/// The registers, in the window.
pub struct Registers(NonNull<u8>);

// SAFETY: an address; each access is one instruction.
unsafe impl Send for Registers {}
// SAFETY: as above.
unsafe impl Sync for Registers {}

impl Registers {
    /// Of region 0 of a card. `Err` with half a sentence.
    pub fn of(device: Device) -> Result<Registers, &'static str> {
        let (address, bytes) = device.region(0).ok_or("the firmware gave its card no addresses")?;
        if bytes < BYTES {
            return Err("its card has fewer registers than an 82574L");
        }
        if address.checked_add(bytes).is_none_or(|end| end > paging::window_bytes()) {
            return Err("the firmware put its card where this processor's pages do not reach");
        }
        device.enable_bus_master();
        NonNull::new(paging::in_window(address)).map(Registers).ok_or("the firmware gave its card no addresses")
    }

    /// Reads one.
    pub fn read(&self, register: usize) -> u32 {
        // SAFETY: a register of the card, in the window.
        unsafe { self.place(register).read_volatile() }
    }

    /// Writes one; what was written to memory before is there when the card sees it.
    pub fn write(&self, register: usize, value: u32) {
        // Release: x86 keeps stores in order, the compiler does not.
        fence(Ordering::Release);
        // SAFETY: as above; callers write what the datasheet lets software write.
        unsafe { self.place(register).write_volatile(value) }
    }

    fn place(&self, register: usize) -> *mut u32 {
        assert!((register as u64) < BYTES && register.is_multiple_of(4), "no register is at {register:#x}");
        self.0.as_ptr().wrapping_add(register).cast()
    }
}

/// A ring of descriptors with a buffer for each.
pub struct Ring {
    descriptors: Pages,
    buffers: Pages,
}

impl Ring {
    /// All zeros; `None` where memory is short.
    pub fn new() -> Option<Ring> {
        let descriptors = Pages::new(PLACES * size_of::<Descriptor>())?;
        Some(Ring { descriptors, buffers: Pages::new(PLACES * BUFFER_BYTES)? })
    }

    /// Where the card finds it.
    pub fn physical(&self) -> u64 {
        self.descriptors.physical
    }

    /// Where the card finds a buffer.
    pub fn buffer(&self, place: usize) -> u64 {
        self.buffers.physical + (place % PLACES * BUFFER_BYTES) as u64
    }

    /// Reads a descriptor; what the card wrote before it marked it done is seen afterwards.
    pub fn read(&self, place: usize) -> Descriptor {
        // SAFETY: within the ring.
        let descriptor = unsafe { self.descriptor(place).read_volatile() };
        // Acquire: the loads of the buffer stay behind it.
        fence(Ordering::Acquire);
        descriptor
    }

    /// Writes one that is not the card's.
    pub fn write(&mut self, place: usize, descriptor: Descriptor) {
        // SAFETY: within the ring.
        unsafe { self.descriptor(place).write_volatile(descriptor) }
    }

    /// The buffer of a place that is not the card's. Whoever asks gives the place to nobody while it looks.
    pub fn bytes(&self, place: usize) -> &'static [u8] {
        // SAFETY: within the buffers, which live as long as the machine; the place is not the card's, as `ring::Turn` says.
        unsafe { core::slice::from_raw_parts(self.bytes_at(place), BUFFER_BYTES) }
    }

    /// The same to be written.
    pub fn bytes_mut(&mut self, place: usize) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts_mut(self.bytes_at(place), BUFFER_BYTES) }
    }

    fn bytes_at(&self, place: usize) -> *mut u8 {
        self.buffers.base.as_ptr().wrapping_add(place % PLACES * BUFFER_BYTES)
    }

    fn descriptor(&self, place: usize) -> *mut Descriptor {
        self.descriptors.base.cast::<Descriptor>().as_ptr().wrapping_add(place % PLACES)
    }
}

/// As [`crate::registers::RCTL`] says.
pub const BUFFER_BYTES: usize = 2048;
