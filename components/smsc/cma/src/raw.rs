//! The system calls.
#![allow(unsafe_code)]

use crate::address::Nonce;
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use opal_core::framework::smsc::{LocalRun, Piece};
use opal_core::sys::MemoryRun;
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
    unsafe { transfer::<1>(Direction::From, pid, Sides::PiecesThere(&[piece], to.as_mut_ptr())) }
}

/// Writes a peer's memory.
pub fn write(pid: i32, remote: u64, from: &[u8]) -> Result<()> {
    let piece = Piece { at: remote, bytes: from.len() };
    // SAFETY: a slice, which is only read.
    unsafe { transfer::<1>(Direction::To, pid, Sides::PiecesThere(&[piece], from.as_ptr().cast_mut())) }
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

/// Where a copy's bytes lie: a list on one side, one behind the other on the other side.
#[derive(Clone, Copy)]
pub enum Sides<'a> {
    /// Pieces of the peer's memory, and where their bytes lie here.
    PiecesThere(&'a [Piece], *mut u8),
    /// Where the bytes lie in the peer, and runs of memory here.
    RunsHere(u64, &'a [LocalRun]),
}

impl Sides<'_> {
    /// Entries of the list.
    fn entries(&self) -> usize {
        match self {
            Sides::PiecesThere(pieces, _) => pieces.len(),
            Sides::RunsHere(_, runs) => runs.len(),
        }
    }

    /// One of them. `Err(Invalid)` for what no memory is.
    fn entry(&self, index: usize) -> Result<MemoryRun> {
        match self {
            Sides::PiecesThere(pieces, _) => there(pieces[index].at, pieces[index].bytes),
            Sides::RunsHere(_, runs) => Ok(MemoryRun { iov_base: runs[index].at.cast(), iov_len: runs[index].bytes }),
        }
    }

    /// So many bytes of the other side, of which `done` come before.
    fn opposite(&self, done: usize, bytes: usize) -> Result<MemoryRun> {
        match self {
            Sides::PiecesThere(_, local) => Ok(MemoryRun { iov_base: local.wrapping_add(done).cast(), iov_len: bytes }),
            Sides::RunsHere(remote, _) => there(remote.checked_add(done as u64).ok_or(Error::Invalid)?, bytes),
        }
    }
}

/// Memory of the peer.
fn there(at: u64, bytes: usize) -> Result<MemoryRun> {
    let at = usize::try_from(at).ok().filter(|at| at.checked_add(bytes).is_some()).ok_or(Error::Invalid)?;
    Ok(MemoryRun { iov_base: at as *mut libc::c_void, iov_len: bytes })
}

/// Copies. The kernel stops where a page is missing, after 2 GiB, and wherever else it likes: goes on until all is done. A call takes up
/// to `N` entries of the list.
///
/// # Safety
/// What lies here is writable (`From`) or readable (`To`).
pub unsafe fn transfer<const N: usize>(direction: Direction, pid: i32, sides: Sides<'_>) -> Result<()> {
    let (entries, mut index, mut skip, mut done) = (sides.entries(), 0, 0, 0);
    while index < entries {
        let (mut list, mut count, mut wanted) = ([EMPTY; N], 0, 0);
        for (place, number) in list.iter_mut().zip(index..entries) {
            let entry = sides.entry(number)?;
            let skip = if count == 0 { skip } else { 0 };
            let iov_base = entry.iov_base.cast::<u8>().wrapping_add(skip).cast();
            *place = MemoryRun { iov_base, iov_len: entry.iov_len - skip };
            wanted += place.iov_len;
            count += 1;
        }
        if wanted == 0 {
            (index, skip) = (index + count, 0);
            continue;
        }
        let one = sides.opposite(done, wanted)?;
        let (list, one) = ((list.as_ptr(), count as libc::c_ulong), (&raw const one, 1));
        let ((here, here_count), (there, there_count)) = match sides {
            Sides::PiecesThere(..) => (one, list),
            Sides::RunsHere(..) => (list, one),
        };
        let moved = match direction {
            // SAFETY: `here` is what the caller may write; `there` is the other process's and checked by the kernel.
            Direction::From => unsafe { libc::process_vm_readv(pid, here, here_count, there, there_count, 0) },
            // SAFETY: `here` is what the caller may read; `there` as above.
            Direction::To => unsafe { libc::process_vm_writev(pid, here, here_count, there, there_count, 0) },
        };
        match usize::try_from(moved) {
            Ok(0) => return Err(Error::Invalid),
            Ok(moved) => {
                let mut moved = moved.min(wanted);
                done += moved;
                while index < entries {
                    let left = sides.entry(index)?.iov_len - skip;
                    if moved < left {
                        break;
                    }
                    (moved, index, skip) = (moved - left, index + 1, 0);
                }
                skip += moved;
            }
            Err(_) => refused()?,
        }
    }
    Ok(())
}

const EMPTY: MemoryRun = MemoryRun { iov_base: core::ptr::null_mut(), iov_len: 0 };

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
