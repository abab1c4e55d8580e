//! The system calls.
#![allow(unsafe_code)]

use crate::address::Nonce;
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use opal_core::framework::smsc::Piece;
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
    let piece = Piece { at: remote, bytes: to.len() };
    // SAFETY: an exclusive slice.
    unsafe { transfer::<1>(Direction::From, pid, &[piece], to.as_mut_ptr()) }
}

/// Writes a peer's memory.
pub fn write(pid: i32, remote: u64, from: &[u8]) -> Result<()> {
    let piece = Piece { at: remote, bytes: from.len() };
    // SAFETY: a slice, which is only read.
    unsafe { transfer::<1>(Direction::To, pid, &[piece], from.as_ptr().cast_mut()) }
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

/// Copies pieces of the peer's memory, which lie one behind the other here. The kernel stops where a page is missing, after 2 GiB, and
/// wherever else it likes: goes on until all is done. A call takes up to `N` pieces.
///
/// # Safety
/// `local` is writable (`From`) or readable (`To`) for the bytes of all pieces.
pub unsafe fn transfer<const N: usize>(direction: Direction, pid: i32, pieces: &[Piece], local: *mut u8) -> Result<()> {
    let (mut index, mut skip, mut done) = (0, 0, 0);
    while index < pieces.len() {
        let (mut there, mut count, mut wanted) = ([EMPTY; N], 0, 0);
        for (place, piece) in there.iter_mut().zip(&pieces[index..]) {
            let end = usize::try_from(piece.at).ok().and_then(|at| Some((at, at.checked_add(piece.bytes)?)));
            let Some((at, _)) = end else { return Err(Error::Invalid) };
            let skip = if count == 0 { skip } else { 0 };
            *place = libc::iovec { iov_base: (at + skip) as *mut libc::c_void, iov_len: piece.bytes - skip };
            wanted += piece.bytes - skip;
            count += 1;
        }
        if wanted == 0 {
            (index, skip) = (index + count, 0);
            continue;
        }
        let here = libc::iovec { iov_base: local.wrapping_add(done).cast(), iov_len: wanted };
        let (here, there) = (&raw const here, there.as_ptr());
        let moved = match direction {
            // SAFETY: `here` lies in what the caller may write; `there` is the other process's and checked by the kernel.
            Direction::From => unsafe { libc::process_vm_readv(pid, here, 1, there, count as libc::c_ulong, 0) },
            // SAFETY: `here` lies in what the caller may read; `there` as above.
            Direction::To => unsafe { libc::process_vm_writev(pid, here, 1, there, count as libc::c_ulong, 0) },
        };
        match usize::try_from(moved) {
            Ok(0) => return Err(Error::Invalid),
            Ok(moved) => {
                let mut moved = moved.min(wanted);
                done += moved;
                while index < pieces.len() && moved >= pieces[index].bytes - skip {
                    moved -= pieces[index].bytes - skip;
                    (index, skip) = (index + 1, 0);
                }
                skip += moved;
            }
            Err(_) => refused()?,
        }
    }
    Ok(())
}

const EMPTY: libc::iovec = libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 };

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
