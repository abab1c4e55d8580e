//! The system calls.
#![allow(unsafe_code)]

use crate::address::Nonce;
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use opal_core::{Error, Result};

/// Where a nonce lies for the life of the process. Peers write to it what lies in it.
pub struct NonceCell(&'static UnsafeCell<Nonce>);

// SAFETY: nobody in this process reads or writes it after it was made; others know its address only.
unsafe impl Send for NonceCell {}
// SAFETY: as above.
unsafe impl Sync for NonceCell {}

impl NonceCell {
    /// With this in it.
    pub fn new(nonce: Nonce) -> NonceCell {
        NonceCell(Box::leak(Box::new(UnsafeCell::new(nonce))))
    }

    /// Its address.
    pub fn address(&self) -> u64 {
        self.0.get() as u64
    }
}

/// Reads a peer's memory.
pub fn read(pid: i32, remote: u64, to: &mut [u8]) -> Result<()> {
    // SAFETY: an exclusive slice.
    unsafe { transfer(Direction::From, pid, remote, to.as_mut_ptr(), to.len()) }
}

/// Writes a peer's memory.
pub fn write(pid: i32, remote: u64, from: &[u8]) -> Result<()> {
    // SAFETY: a slice, which is only read.
    unsafe { transfer(Direction::To, pid, remote, from.as_ptr().cast_mut(), from.len()) }
}

/// From now on the descendants of that process may reach into this one. Where the system knows no such rule it refuses the
/// call, and nothing needs to be allowed.
pub fn allow_descendants_of(pid: u32) {
    // SAFETY: PR_SET_PTRACER takes a process number and touches no memory.
    let _ = unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::c_ulong::from(pid), 0, 0, 0) };
}

/// Of a copy, as seen from the peer.
#[derive(Clone, Copy)]
pub enum Direction {
    From,
    To,
}

/// The kernel stops where a page is missing, after 2 GiB, and wherever else it likes: goes on until all is done.
///
/// # Safety
/// `local` is writable (`From`) or readable (`To`) for `bytes`.
pub unsafe fn transfer(direction: Direction, pid: i32, remote: u64, local: *mut u8, bytes: usize) -> Result<()> {
    let end = usize::try_from(remote).ok().and_then(|remote| remote.checked_add(bytes));
    let (Ok(remote), Some(_)) = (usize::try_from(remote), end) else { return Err(Error::Invalid) };
    let mut done = 0;
    while done < bytes {
        let here = libc::iovec { iov_base: local.wrapping_add(done).cast(), iov_len: bytes - done };
        let there = libc::iovec { iov_base: (remote + done) as *mut libc::c_void, iov_len: bytes - done };
        let (here, there) = (&raw const here, &raw const there);
        let moved = match direction {
            // SAFETY: `here` lies in what the caller may write; `there` is the other process's and checked by the kernel.
            Direction::From => unsafe { libc::process_vm_readv(pid, here, 1, there, 1, 0) },
            // SAFETY: `here` lies in what the caller may read; `there` as above.
            Direction::To => unsafe { libc::process_vm_writev(pid, here, 1, there, 1, 0) },
        };
        match usize::try_from(moved) {
            Ok(0) => return Err(Error::Invalid),
            Ok(moved) => done += moved.min(bytes - done),
            Err(_) => refused()?,
        }
    }
    Ok(())
}

/// `Ok`: try again.
#[cold]
fn refused() -> Result<()> {
    // SAFETY: the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: valid for the thread's life.
    match unsafe { *errno } {
        libc::EINTR => Ok(()),
        libc::ESRCH => Err(Error::Unreachable),
        libc::EPERM | libc::EACCES | libc::ENOSYS => Err(Error::Permission),
        libc::EFAULT => Err(Error::Invalid),
        libc::ENOMEM => Err(Error::OutOfResource),
        _ => Err(Error::System),
    }
}
