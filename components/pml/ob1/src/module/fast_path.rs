//! The fast path: the user's runs straight to and from a transport's queue.

use super::{Direct, send};
use crate::raw::{Contiguous, same_peer_table};
use crate::recv;
use crate::recv::requestless;
use ompi_core::comm::Communicator;
use ompi_core::framework::pml::{Done, FastPath, MatchContext, Taken};
use ompi_core::request::Request;
use ompi_core::status::Status;
use opal_core::framework::memcpy;
use opal_core::mem::Untrusted;
use opal_core::progress;
use opal_core::queue::fifo::INLINE_BYTES;
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::queue::small::copy_small;

impl<const COUNTS: bool> FastPath for Direct<COUNTS> {
    #[inline(always)]
    unsafe fn send(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> Taken {
        if progress::has_coalesced() {
            return Taken::No;
        }
        // SAFETY: the caller's promise.
        unsafe { Self::isend(at, bytes, dest, tag, comm) }
    }

    #[inline(always)]
    unsafe fn send_eager(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> bool {
        // SAFETY: the caller's promise.
        unsafe { send::push_eager::<COUNTS>(at, bytes, dest, tag, user(comm)) }
    }

    #[inline(always)]
    unsafe fn isend(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> Taken {
        if bytes > INLINE_BYTES {
            return Taken::NotInline;
        }
        // SAFETY: the caller's promise.
        match unsafe { send::push_inline::<COUNTS>(at, bytes, dest, tag, user(comm)) } {
            true => Taken::Yes,
            false => Taken::No,
        }
    }

    #[inline(always)]
    unsafe fn recv(
        at: *mut u8,
        capacity: usize,
        source: i32,
        tag: i32,
        comm: &Communicator,
        status: Option<&mut Status>,
    ) -> Option<Done> {
        let found = requestless::find(capacity, source, tag, user(comm))?;
        let payload = found.payload();
        let got = found.status(source);
        if payload.len() > INLINE_BYTES {
            let fifo_pair = found.leave()?;
            count_received::<COUNTS>(comm, source, payload.len());
            // SAFETY: writable by the caller's promise, and not shorter than the payload, which is the FIFO pair's next.
            return Some(unsafe { take_eager(at, payload, fifo_pair, status, got.source, got.tag) });
        }
        // SAFETY: as above.
        unsafe { copy_small(at, payload.as_ptr(), payload.len()) };
        count_received::<COUNTS>(comm, source, payload.len());
        found.take();
        got.write_to(status);
        Some(Done::YES)
    }

    #[inline(always)]
    unsafe fn recv_any(
        at: *mut u8,
        capacity: usize,
        tag: i32,
        comm: &Communicator,
        status: Option<&mut Status>,
    ) -> bool {
        let Some((source, found)) = requestless::find_any(capacity, tag, user(comm)) else { return false };
        let (payload, got) = (found.payload(), found.status(source));
        if payload.len() > INLINE_BYTES {
            // SAFETY: writable by the caller's promise, and not shorter than the payload, which stays until it is taken.
            unsafe { memcpy::copy(at, payload.as_ptr(), payload.len()) };
        } else {
            // SAFETY: as above.
            unsafe { copy_small(at, payload.as_ptr(), payload.len()) };
        }
        count_received::<COUNTS>(comm, source, payload.len());
        found.take();
        got.write_to(status);
        true
    }

    #[inline(always)]
    unsafe fn irecv(at: *mut u8, capacity: usize, source: i32, tag: i32, comm: &Communicator) -> Option<Request> {
        if progress::has_coalesced() {
            return None;
        }
        // SAFETY: the caller's promise.
        recv::start_fast(unsafe { Contiguous::at(at, capacity) }, source, tag, user(comm))
    }
}

/// Takes the next message of a FIFO pair, which is longer than a slot: the copy is a call, for which this function saves the registers.
///
/// # Safety
/// `at` is writable for the payload, which is that of the next message of the FIFO pair; there is one thread.
#[inline(never)]
unsafe fn take_eager(
    at: *mut u8,
    payload: Untrusted<'_>,
    fifo_pair: &FifoPair,
    status: Option<&mut Status>,
    source: i32,
    tag: i32,
) -> Done {
    // SAFETY: the caller's promise.
    unsafe { memcpy::copy(at, payload.as_ptr(), payload.len()) };
    fifo_pair.take();
    Status::new(source, tag, payload.len() as u64).write_to(status);
    Done::YES
}

// While no other thread can take a message; of a peer whose queue was found.
#[inline(always)]
fn count_received<const COUNTS: bool>(comm: &Communicator, source: i32, bytes: usize) {
    if COUNTS {
        // SAFETY: the queue was found there.
        let peers = unsafe { same_peer_table(comm) };
        // SAFETY: the peer has that queue, and the communicator is in use.
        unsafe { peers.counts.peer(source) }.received(bytes);
    }
}

#[inline(always)]
fn user(comm: &Communicator) -> MatchContext<'_> {
    MatchContext { comm, collective: false }
}
