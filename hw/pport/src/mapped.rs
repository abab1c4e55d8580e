//! A card whose registers are memory: a resource file of PCI, or any file that a driver lets one map.
#![allow(unsafe_code)]

use crate::{Port, Refused};
use hw_fpga::{CONTROL_OFFSET, DATA_OFFSET, STATUS_OFFSET};
use rustix::fs::{Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// Mapped registers.
pub struct Mapped {
    base: *mut u8,
    stride: usize,
}

// SAFETY: a register is read and written whole, by whatever thread.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// The registers lie `offset` bytes from the file's beginning, `stride` bytes from one to the next.
    pub fn open(path: &str, offset: usize, stride: usize) -> Result<Mapped, Refused> {
        let last = offset.checked_add(stride.saturating_mul(CONTROL_OFFSET.into()));
        if stride == 0 || last.is_none_or(|last| last >= PAGE) {
            return Err(Refused("the registers do not lie within the first page of the file"));
        }
        let file = rustix::fs::open(path, OFlags::RDWR | OFlags::SYNC | OFlags::CLOEXEC, Mode::empty());
        let file =
            file.map_err(|_| Refused("the file of the card's registers cannot be opened for reading and writing"))?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the system's choice.
        let at = unsafe { rustix::mm::mmap(core::ptr::null_mut(), PAGE, protection, flags, &file, 0) };
        let at = at.map_err(|_| Refused("the card's registers cannot be mapped"))?;
        // SAFETY: `offset` is within the page, by the check above.
        let base = unsafe { at.cast::<u8>().add(offset) };
        Ok(Mapped { base, stride })
    }

    fn register(&self, number: u16) -> *mut u8 {
        // SAFETY: within the mapped page, by the check in `open`; the mapping is never undone.
        unsafe { self.base.add(self.stride * usize::from(number)) }
    }
}

impl Port for Mapped {
    fn put_data(&self, value: u8) {
        // A node that arrives at a barrier shows what it did before: memory writes come before the device's.
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        // SAFETY: a mapped register.
        unsafe { self.register(DATA_OFFSET).write_volatile(value) }
    }

    fn put_control(&self, value: u8) {
        // SAFETY: a mapped register.
        unsafe { self.register(CONTROL_OFFSET).write_volatile(value) }
    }

    fn status(&self) -> u8 {
        // SAFETY: a mapped register.
        let value = unsafe { self.register(STATUS_OFFSET).read_volatile() };
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        value
    }

    fn settle(&self) -> bool {
        // A read waits for the writes before it (PCI ordering) and takes longer than the machine.
        (0..SETTLE_READS).for_each(|_| _ = self.status());
        true
    }

    fn name(&self) -> &str {
        "mapped registers"
    }
}

const PAGE: usize = 4096;
const SETTLE_READS: usize = 4;
