//! Eight bytes at the beginning of a file.
#![allow(unsafe_code)]

use opal_core::sys::{Errno, File, MemoryRun};

/// The number; 0 in a new file.
pub fn load(file: &File) -> Result<u64, Errno> {
    let mut bytes = [0u8; 8];
    let run = MemoryRun { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: this function's own bytes.
    match again(|| unsafe { file.read_at(&[run], 0) })? {
        8 => Ok(u64::from_le_bytes(bytes)),
        0 => Ok(0),
        _ => Err(Errno::IO),
    }
}

/// Replaces it.
pub fn store(file: &File, number: u64) -> Result<(), Errno> {
    let mut bytes = number.to_le_bytes();
    let run = MemoryRun { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: this function's own bytes.
    match again(|| unsafe { file.write_at(&[run], 0) })? {
        8 => Ok(()),
        _ => Err(Errno::NOSPC),
    }
}

/// After a signal that came first.
fn again(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}
