//! Sends: the fast path of nearly every one, and the slow path of all others.

use crate::peers::endpoint::Queued;
use crate::peers::table::{PeerTable, Route};
use crate::protocol::flow_control;
use crate::protocol::selection::Protocol;
use crate::raw::{BorrowedBuffer, Contiguous, UserBuffer, peer_table};
use crate::{send, wire};
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Mode};
use ompi_core::request::{self, Request};
use ompi_core::status::PROC_NULL;
use opal_core::framework::memcpy;
use opal_core::progress;
use opal_core::queue::fifo::INLINE_BYTES;
use opal_core::sync::Ordering;

/// The fast path: pushes one run to the FIFO pair of a transport that gives its queues away. It calls nothing, so that the
/// caller saves no register; `false`: nothing was done. At most [`INLINE_BYTES`] bytes. `COUNTS` as of [`super::Direct`].
///
/// # Safety
/// `at` is readable for `bytes`.
#[inline(always)]
pub unsafe fn push_inline<const COUNTS: bool>(
    at: *const u8,
    bytes: usize,
    dest: i32,
    tag: i32,
    context: MatchContext<'_>,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { push_to::<COUNTS>(peer_table(context.comm), at, bytes, dest, tag, context.collective) }
}

/// The same for data of any datatype. Messages that are counted do not go this way.
///
/// # Safety
/// The data is readable.
#[inline(always)]
pub unsafe fn push_inline_data(data: &Data<'_>, dest: i32, tag: i32, mode: Mode, context: MatchContext<'_>) -> bool {
    let (bytes, peers) = (data.bytes(), peer_table(context.comm));
    if bytes > INLINE_BYTES || mode == Mode::Synchronous || peers.traffic().is_some() {
        return false;
    }
    // SAFETY: the caller's promise.
    data.contiguous().is_some_and(|at| unsafe { push_to::<false>(peers, at, bytes, dest, tag, context.collective) })
}

/// # Safety
/// As [`push_inline`].
#[inline(always)]
unsafe fn push_to<const COUNTS: bool>(
    peers: &PeerTable,
    at: *const u8,
    bytes: usize,
    dest: i32,
    tag: i32,
    collective: bool,
) -> bool {
    let Some(route) = peers.fast(dest) else { return false };
    let Some(Queued { endpoint, fifo_pair }) = route.queued else { return false };
    // Acquire pairs with the Release where packets leave the queue.
    if bytes > endpoint.fast_path_bytes || endpoint.queued.load(Ordering::Acquire) != 0 {
        return false;
    }
    let immediate = wire::envelope(route.context_bits | u64::from(collective), tag);
    // Before the push, over which one word is kept instead of two.
    // SAFETY: the peer has that queue, and the communicator is in use.
    let counts = COUNTS.then(|| unsafe { peers.counts.peer(dest) });
    // While this thread has the queue, so that no other one counts.
    let leaving = || _ = counts.map(|counts| counts.pushed(bytes));
    // SAFETY: the caller's promise.
    endpoint.is_sent(unsafe { fifo_pair.push(wire::EAGER, immediate, at, bytes, leaving) })
}

/// As [`push_inline`] for an eager message of any length, and with all that a blocking send does.
///
/// # Safety
/// `at` is readable for `bytes`.
#[inline(always)]
pub unsafe fn push_eager<const COUNTS: bool>(
    at: *const u8,
    bytes: usize,
    dest: i32,
    tag: i32,
    context: MatchContext<'_>,
) -> bool {
    let peers = peer_table(context.comm);
    let Some(route) = peers.fast(dest) else { return false };
    let Some(Queued { endpoint, fifo_pair }) = route.queued else { return false };
    // Acquire pairs with the Release where packets leave the queue.
    if bytes > endpoint.eager_bytes || progress::has_coalesced() || endpoint.queued.load(Ordering::Acquire) != 0 {
        return false;
    }
    let immediate = wire::envelope(route.context_bits | u64::from(context.collective), tag);
    if !COUNTS {
        // SAFETY: the caller's promise.
        return endpoint.is_sent(unsafe { fifo_pair.push_run(wire::EAGER, immediate, at, bytes) });
    }
    // SAFETY: as in `push_to`.
    let counts = unsafe { peers.counts.peer(dest) };
    endpoint.is_sent(fifo_pair.push_with(wire::EAGER, immediate, bytes, |to| {
        counts.pushed(bytes);
        // SAFETY: the queue gives room for `bytes`, outside the caller's memory; readable by the caller's promise.
        unsafe { memcpy::copy(to, at, bytes) };
    }))
}

/// Counts a send, if a tool wants it. One that then fails is counted, too.
#[inline(always)]
fn count_sent(data: &Data<'_>, dest: i32, tag: i32, context: MatchContext<'_>) {
    if let Some(traffic) = peer_table(context.comm).traffic().filter(|_| !context.collective) {
        traffic.sent(dest, tag, data.bytes());
    }
}

/// A blocking send of anything.
///
/// # Safety
/// The data is readable during the call.
#[inline(never)]
pub unsafe fn blocking(data: &Data<'_>, dest: i32, tag: i32, mode: Mode, context: MatchContext<'_>) -> Result<()> {
    count_sent(data, dest, tag, context);
    progress::flush();
    // SAFETY: the caller's promise.
    let fast = unsafe { BorrowedBuffer::new(data) };
    match pending(&fast, dest, tag, mode, context)? {
        None => Ok(()),
        Some(pending)
            if pending.eager && send::when_there_is_room(&fast, pending.route.endpoint, pending.immediate)? =>
        {
            Ok(())
        }
        Some(pending) => {
            // SAFETY: the buffer lives until the request completes, which the wait sees to.
            let place = unsafe { UserBuffer::new(data) };
            send::start(place, pending.route, pending.immediate, mode)?.wait().map(drop)
        }
    }
}

/// A nonblocking send of anything.
///
/// # Safety
/// The data is readable until the request completes.
#[inline(never)]
pub unsafe fn nonblocking(
    data: &Data<'_>,
    dest: i32,
    tag: i32,
    mode: Mode,
    context: MatchContext<'_>,
) -> Result<Request> {
    count_sent(data, dest, tag, context);
    // SAFETY: the caller's promise.
    let fast = unsafe { BorrowedBuffer::new(data) };
    match pending(&fast, dest, tag, mode, context)? {
        None => Ok(request::done()),
        // SAFETY: the caller's promise.
        Some(pending) => send::start(unsafe { UserBuffer::new(data) }, pending.route, pending.immediate, mode),
    }
}

/// A nonblocking send that its receiver copies alone, however short it is for that. `None`: it is not for a single copy, and nothing
/// was done.
///
/// # Safety
/// As [`nonblocking`].
#[inline(never)]
pub unsafe fn left_to_receiver(
    data: &Data<'_>,
    dest: i32,
    tag: i32,
    context: MatchContext<'_>,
) -> Option<Result<Request>> {
    if dest == PROC_NULL || Protocol::forced().is_some() {
        return None;
    }
    let route = match peer_table(context.comm).to(dest, context.comm) {
        Ok(route) => route,
        Err(fault) => return Some(Err(fault)),
    };
    // SAFETY: the caller's promise; only its address is looked at.
    let run = unsafe { Contiguous::new(data)? };
    run.peers_mechanism(route.endpoint.smsc_endpoint.as_ref()?)?;
    count_sent(data, dest, tag, context);
    progress::flush();
    let envelope = wire::envelope(route.context_bits | u64::from(context.collective), tag);
    // SAFETY: the caller's promise.
    Some(send::start_by_rts(unsafe { UserBuffer::new(data) }, route, envelope))
}

/// A message that has not been sent yet.
struct PendingSend {
    route: Route,
    immediate: u64,
    // It may go as soon as there is room; otherwise by rendezvous, or it waits for ACK.
    eager: bool,
}

/// Sends an eager message if there is room; `None`: nothing is left to do.
#[inline(always)]
fn pending(
    data: &BorrowedBuffer<'_, '_>,
    dest: i32,
    tag: i32,
    mode: Mode,
    context: MatchContext<'_>,
) -> Result<Option<PendingSend>> {
    if dest == PROC_NULL {
        return Ok(None);
    }
    let route = peer_table(context.comm).to(dest, context.comm)?;
    let immediate = wire::envelope(route.context_bits | u64::from(context.collective), tag);
    let eager = mode != Mode::Synchronous && data.bytes() <= route.endpoint.eager_bytes;
    let sent = eager && send::try_eager(data, route.endpoint, immediate).is_ok();
    if route.endpoint.fifo_pair.is_none() {
        flow_control::poll_if_due(route.endpoint, data.bytes());
    }
    Ok((!sent).then(|| PendingSend { route, immediate, eager: eager && !route.endpoint.is_stopped() }))
}
