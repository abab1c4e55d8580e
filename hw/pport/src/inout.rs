//! The processor's own port instructions.
#![allow(unsafe_code)]

use crate::{Port, Refused};
use hw_fpga::{CONTROL_OFFSET, DATA_OFFSET, STATUS_OFFSET};

/// A port at an address of the input and output space.
pub struct InOut {
    base: u16,
}

impl InOut {
    /// At this base address, 0x378 for the first port of a PC. Under Linux it asks for the right to use three ports.
    pub fn open(base: u16) -> Result<InOut, Refused> {
        let end = base.checked_add(CONTROL_OFFSET).ok_or(Refused("the port's address is beyond 0xffff"))?;
        allowed(base, end - base + 1)?;
        Ok(InOut { base })
    }

    /// Without asking: the emulation answers instead of the processor.
    #[cfg(not(ompi_bare))]
    pub(crate) const fn trapped(base: u16) -> InOut {
        InOut { base }
    }
}

impl Port for InOut {
    fn put_data(&self, value: u8) {
        // SAFETY: `open` was given the right, or the emulation catches the fault.
        unsafe { out(self.base + DATA_OFFSET, value) }
    }

    fn put_control(&self, value: u8) {
        // SAFETY: as above.
        unsafe { out(self.base + CONTROL_OFFSET, value) }
    }

    fn status(&self) -> u8 {
        // SAFETY: as above.
        unsafe { input(self.base + STATUS_OFFSET) }
    }

    fn settle(&self) -> bool {
        // A port access takes about a microsecond, the machine 50 ns and at most one round of turns, 0.7 us.
        (0..SETTLE_READS).for_each(|_| _ = self.status());
        true
    }

    fn name(&self) -> &str {
        "in and out"
    }
}

/// # Safety
/// The process may access the port, or the fault is caught.
#[inline(never)]
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_pport_out(port: u16, value: u8) {
    // SAFETY: the caller's promise. No `nomem`: what was written before is visible before the wire moves.
    unsafe { core::arch::asm!("out dx, al", in("dx") port, in("al") value, options(nostack, preserves_flags)) }
}

/// # Safety
/// As [`ompi_pport_out`].
#[inline(never)]
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_pport_in(port: u16) -> u8 {
    let value: u8;
    // SAFETY: the caller's promise.
    unsafe { core::arch::asm!("in al, dx", in("dx") port, out("al") value, options(nostack, preserves_flags)) }
    value
}

/// # Safety
/// As [`ompi_pport_out`].
unsafe fn out(port: u16, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { ompi_pport_out(port, value) }
}

/// # Safety
/// As [`ompi_pport_out`].
unsafe fn input(port: u16) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { ompi_pport_in(port) }
}

#[cfg(ompi_bare)]
fn allowed(_base: u16, _count: u16) -> Result<(), Refused> {
    Ok(())
}

#[cfg(not(ompi_bare))]
fn allowed(base: u16, count: u16) -> Result<(), Refused> {
    // SAFETY: ioperm takes numbers.
    match unsafe { libc::ioperm(base.into(), count.into(), 1) } {
        0 => Ok(()),
        _ => Err(Refused("ioperm refuses: it wants root (CAP_SYS_RAWIO); without root use ppdev")),
    }
}

const SETTLE_READS: usize = 2;
