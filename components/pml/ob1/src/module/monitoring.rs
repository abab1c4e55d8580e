//! The fast path while messages are counted. A message that leaves it is counted where the slow path does.

use super::{Monitoring, Ob1};
use crate::raw::peer_table;
use ompi_core::comm::Communicator;
use ompi_core::framework::pml::{Done, FastPath, Taken};
use ompi_core::request::Request;
use ompi_core::status::Status;

#[inline(always)]
fn sent(taken: Taken, comm: &Communicator, dest: i32, tag: i32, bytes: usize) -> Taken {
    if taken == Taken::Yes
        && let Some(traffic) = peer_table(comm).traffic()
    {
        traffic.sent_inline(dest, tag, bytes);
    }
    taken
}

#[inline(always)]
fn received(comm: &Communicator, got: &Status) {
    if let Some(traffic) = peer_table(comm).traffic() {
        traffic.received_inline(got.source, got.tag, got.bytes() as usize);
    }
}

impl FastPath for Monitoring {
    #[inline(always)]
    unsafe fn send(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> Taken {
        // SAFETY: the caller's promise.
        sent(unsafe { <Ob1 as FastPath>::send(at, bytes, dest, tag, comm) }, comm, dest, tag, bytes)
    }

    #[inline(always)]
    unsafe fn send_eager(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> bool {
        // SAFETY: the caller's promise.
        let is_sent = unsafe { Ob1::send_eager(at, bytes, dest, tag, comm) };
        sent(if is_sent { Taken::Yes } else { Taken::No }, comm, dest, tag, bytes);
        is_sent
    }

    #[inline(always)]
    unsafe fn isend(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> Taken {
        // SAFETY: the caller's promise.
        sent(unsafe { <Ob1 as FastPath>::isend(at, bytes, dest, tag, comm) }, comm, dest, tag, bytes)
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
        let mut own = Status::EMPTY;
        // SAFETY: the caller's promise.
        let done = unsafe { <Ob1 as FastPath>::recv(at, capacity, source, tag, comm, Some(&mut own)) }?;
        received(comm, &own);
        own.write_to(status);
        Some(done)
    }

    #[inline(always)]
    unsafe fn recv_any(
        at: *mut u8,
        capacity: usize,
        tag: i32,
        comm: &Communicator,
        status: Option<&mut Status>,
    ) -> bool {
        let mut own = Status::EMPTY;
        // SAFETY: the caller's promise.
        let is_done = unsafe { Ob1::recv_any(at, capacity, tag, comm, Some(&mut own)) };
        if is_done {
            received(comm, &own);
            own.write_to(status);
        }
        is_done
    }

    #[inline(always)]
    unsafe fn irecv(at: *mut u8, capacity: usize, source: i32, tag: i32, comm: &Communicator) -> Option<Request> {
        // SAFETY: the caller's promise.
        unsafe { <Ob1 as FastPath>::irecv(at, capacity, source, tag, comm) }
    }
}
