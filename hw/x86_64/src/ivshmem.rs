//! Memory that the ranks of a job share. Several guests of one host: QEMU's ivshmem-plain device
//! (docs/specs/ivshmem-spec.txt), whose BAR 2 is the memory. One machine alone uses a part of
//! its own memory.
#![allow(unsafe_code)]

use crate::paging;
use crate::pci::Device;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The shared memory as this rank sees it.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// First byte.
    pub base: *mut u8,
    /// Length in bytes.
    pub bytes: usize,
    /// This machine's own, empty when it starts: no launcher has prepared it.
    pub own: bool,
}

// SAFETY: an address range; it is touched with atomics or raw copies only.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Looks for the first such device, for all ranks of this machine: its registers are asked before any rank uses it.
pub fn find() {
    let found = match Device::find(VENDOR, DEVICE).map(|device| (device, device.region(MEMORY))) {
        None => Found::NoDevice,
        Some((_, None)) => Found::NoMemory,
        Some((device, Some((address, bytes)))) => {
            if address.checked_add(bytes).is_none_or(|end| end > paging::window_bytes()) {
                Found::TooFar
            } else {
                device.enable_memory();
                ADDRESS.store(address, Ordering::Relaxed);
                BYTES.store(bytes, Ordering::Relaxed);
                Found::Memory
            }
        }
    };
    // Release pairs with the Acquire in `memory`.
    FOUND.store(found as u32, Ordering::Release);
}

/// Takes a part of the machine's own memory instead, and clears it.
///
/// # Safety
/// Nobody else uses it, and the window is mapped.
#[cfg(feature = "image")]
pub unsafe fn take(own: crate::memory::Range) {
    // SAFETY: as the caller says.
    unsafe { paging::in_window(own.start).write_bytes(0, own.bytes() as usize) };
    ADDRESS.store(own.start, Ordering::Relaxed);
    BYTES.store(own.bytes(), Ordering::Relaxed);
    // Release pairs with the Acquire in `memory`.
    FOUND.store(Found::Own as u32, Ordering::Release);
}

/// The memory that [`find`] found. `Err` with half a sentence if there is none that can be used.
pub fn memory() -> Result<Memory, &'static str> {
    match FOUND.load(Ordering::Acquire) {
        found if found == Found::Memory as u32 || found == Found::Own as u32 => {
            let (address, bytes) = (ADDRESS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
            Ok(Memory { base: paging::in_window(address), bytes: bytes as usize, own: found == Found::Own as u32 })
        }
        found if found == Found::NoMemory as u32 => Err("its ivshmem device has no memory"),
        found if found == Found::TooFar as u32 => {
            Err("the firmware put its ivshmem device where this processor's pages do not reach")
        }
        _ => Err("this machine has no ivshmem device"),
    }
}

#[derive(Clone, Copy)]
#[repr(u32)]
enum Found {
    NoDevice = 0,
    NoMemory = 1,
    TooFar = 2,
    Memory = 3,
    Own = 4,
}

#[unsafe(link_section = ".shared")]
static FOUND: AtomicU32 = AtomicU32::new(Found::NoDevice as u32);
#[unsafe(link_section = ".shared")]
static ADDRESS: AtomicU64 = AtomicU64::new(0);
#[unsafe(link_section = ".shared")]
static BYTES: AtomicU64 = AtomicU64::new(0);

const VENDOR: u16 = 0x1af4;
const DEVICE: u16 = 0x1110;
const MEMORY: u8 = 2;
