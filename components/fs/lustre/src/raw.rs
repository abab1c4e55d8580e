//! Lustre's calls.
#![allow(unsafe_code)]

use crate::wire::BYTES;
use core::ffi::{CStr, c_int, c_ulong};
use opal_core::sys::Errno;

/// A descriptor, closed at its end.
pub struct Descriptor(c_int);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: this value's own, and its last use.
        unsafe { libc::close(self.0) };
    }
}

/// Makes a file that has no stripes yet. `Err(EXIST)` if it is there.
pub fn make_without_stripes(path: &CStr, permissions: u32) -> Result<Descriptor, Errno> {
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | DELAY_CREATE;
    loop {
        // SAFETY: a text that ends; the call takes a mode with O_CREAT.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags, permissions) };
        if descriptor >= 0 {
            return Ok(Descriptor(descriptor));
        }
        match last() {
            Errno::INTR => {}
            other => return Err(other),
        }
    }
}

/// Gives it stripes.
pub fn set_stripes(file: &Descriptor, stripes: &[u8; BYTES]) -> Result<(), Errno> {
    // SAFETY: the descriptor is open, and the call reads the structure only.
    match unsafe { libc::ioctl(file.0, SET_STRIPES as _, stripes.as_ptr()) } {
        -1 => Err(last()),
        _ => Ok(()),
    }
}

fn last() -> Errno {
    // SAFETY: this thread's own variable.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    Errno(unsafe { place.read() })
}

/// O_LOV_DELAY_CREATE of lustre_user.h: both flags mean something for terminals only, and together nothing but this.
const DELAY_CREATE: c_int = libc::O_NOCTTY | libc::O_ASYNC;
/// LL_IOC_LOV_SETSTRIPE of lustre_user.h: _IOW('f', 154, long).
const SET_STRIPES: c_ulong = 0x4008_669a;
