//! Memory that several guests of one host share: QEMU's ivshmem-plain device (docs/specs/ivshmem-spec.txt), whose second
//! region is the memory.
#![allow(unsafe_code)]

use crate::paging;
use crate::pci::Device;
use opal_core::sync::Once;

/// The shared memory as this rank sees it.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// First byte.
    pub base: *mut u8,
    /// Length in bytes.
    pub bytes: usize,
}

// SAFETY: an address range; those who touch it do so with atomics or raw copies.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// The first such device. `Err` with half a sentence if there is none that can be used.
pub fn memory() -> Result<Memory, &'static str> {
    static FOUND: Once<Result<Memory, &'static str>> = Once::new();
    *FOUND.call_once(|| {
        let device = Device::find(VENDOR, DEVICE).ok_or("this machine has no ivshmem device")?;
        let (address, bytes) = device.region(MEMORY).ok_or("its ivshmem device has no memory")?;
        if address.checked_add(bytes).is_none_or(|end| end > paging::window_bytes()) {
            return Err("the firmware put its ivshmem device where this processor's pages do not reach");
        }
        device.enable_memory();
        Ok(Memory { base: paging::in_window(address), bytes: bytes as usize })
    })
}

const VENDOR: u16 = 0x1af4;
const DEVICE: u16 = 0x1110;
const MEMORY: u8 = 2;
