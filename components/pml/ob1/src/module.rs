//! The PML's calls.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::checksum;
use crate::facts;
use crate::peers::endpoint;
use crate::peers::table::PeerTable;
use crate::raw::{self, BorrowedBuffer, Contiguous, UserBuffer, peer_table};
use crate::recv;
use crate::recv::{batch, probe, requestless};
use crate::state::STATE;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::pml::{BusySend, EntryPoints, MatchContext, Matched, Mode, Module, PathInfo, Traffic};
use ompi_core::process;
use ompi_core::request::{self, Request};
use ompi_core::status::Status;
use opal_core::framework::btl;
use opal_core::inspect::Fact;
use opal_core::progress;

mod fast_path;
mod lent;
mod paths;
mod send;

/// The one module; its state is [`STATE`].
pub struct Ob1;

/// Its fast path; `COUNTS` while messages are counted. One that leaves it is counted where the slow path does.
pub struct Direct<const COUNTS: bool>;

/// Counts a message that a receive took without matching. The state is locked, or there is one thread.
#[inline(always)]
fn count_received(got: &Status, context: MatchContext<'_>) {
    if let Some(traffic) = peer_table(context.comm).traffic().filter(|_| !context.collective) {
        traffic.received(got.source, got.tag, got.bytes() as usize);
    }
}

/// # Safety
/// The data is writable during the call.
#[inline(never)]
unsafe fn recv_slow(
    data: &Data<'_>,
    source: i32,
    tag: i32,
    context: MatchContext<'_>,
    status: Option<&mut Status>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let fast = unsafe { BorrowedBuffer::new(data) };
    progress::flush();
    if let Some(got) = requestless::receive(&fast, source, tag, context)? {
        count_received(&got, context);
        return got.deliver(status);
    }
    // SAFETY: writable until the request completes, which the wait sees to.
    let mut handle = recv::start(unsafe { UserBuffer::new(data) }, source, tag, context, false)?.into_handle();
    request::handles::wait(&mut handle)?.deliver(status)
}

impl Module for Ob1 {
    fn open_context(&self, context: u32) -> Result<()> {
        STATE.lock().open(context)
    }

    fn facts(&self) -> &'static [&'static [Fact]] {
        facts::ALL
    }

    fn close_context(&self, context: u32) {
        STATE.lock().forget(context);
    }

    fn add_comm(&self, comm: &Communicator) -> Result<()> {
        let peers = PeerTable::new(comm)?;
        let mut state = STATE.lock();
        if state.context(comm.context).is_none() {
            state.open(comm.context)?;
        }
        raw::set_peer_table(comm, peers);
        state.connect(comm);
        Ok(())
    }

    fn remove_comm(&self, comm: &Communicator) {
        STATE.lock().disconnect(comm.context);
        raw::remove_peer_table(comm);
    }

    fn has_parted(&self, process: u32) -> bool {
        checksum::has_parted(process)
    }

    fn remove_process(&self, process: u32) {
        STATE.lock().forget_process(process);
        if checksum::is_on() {
            checksum::leave(process);
        }
        if let Some(left) = endpoint::take_left(process) {
            // SAFETY: the table gave it away, once. Its users are peer tables of communicators that have the process, which are gone;
            // passes of progress, of which none runs; and calls that hold the state's lock, to which nothing of the process is left.
            unsafe { raw::free_endpoint(left) };
        }
    }

    fn is_quiesced(&self, comm: &Communicator) -> bool {
        STATE.lock().is_quiesced(comm)
    }

    fn is_drained(&self) -> bool {
        checksum::is_drained()
    }

    fn is_done_beyond_job(&self) -> bool {
        STATE.lock().is_done_from(process::count() as u32)
    }

    fn process_ended(&self, process: u32) {
        if let Some(endpoint) = endpoint::existing(process) {
            endpoint.tell_ended();
        }
    }

    fn is_lost(&self, process: u32) -> bool {
        endpoint::existing(process).is_some_and(|endpoint| endpoint.is_dead())
    }

    fn reach(&self, process: u32) -> Result<usize> {
        let endpoint = endpoint::to(process)?;
        if endpoint.is_dead() { Err(endpoint.fault()) } else { Ok(endpoint.oob_bytes) }
    }

    fn send_oob(&self, process: u32, message: &[u8]) -> Result<()> {
        let endpoint = endpoint::to(process)?;
        if endpoint.is_dead() {
            return Err(endpoint.fault());
        }
        STATE.lock().oob(endpoint, message);
        Ok(())
    }

    fn count_traffic(&self, comm: &Communicator) -> Option<Arc<Traffic>> {
        let mut state = STATE.lock();
        let traffic = raw::count(comm);
        state.context(comm.context)?.count(traffic.clone());
        Some(traffic)
    }

    fn set_counting(&self, is_wanted: bool) {
        if !checksum::is_on() {
            btl::replace_drain(if is_wanted { batch::counting_fifo_pair } else { batch::fifo_pair });
        }
    }

    fn count_message(&self, comm: &Communicator, has_arrived: bool, rank: i32, tag: i32, bytes: usize) {
        let Some(traffic) = peer_table(comm).traffic() else { return };
        // As for those that this component receives itself.
        let _counting = STATE.lock();
        if has_arrived { traffic.received(rank, tag, bytes) } else { traffic.sent(rank, tag, bytes) }
    }

    fn path_info(&self, process: u32) -> Option<PathInfo> {
        Some(paths::of(endpoint::existing(process)?))
    }

    #[inline]
    unsafe fn send(&self, data: &Data<'_>, dest: i32, tag: i32, mode: Mode, context: MatchContext<'_>) -> Result<()> {
        // SAFETY: readable during this call by the caller's promise.
        if !progress::has_coalesced() && unsafe { send::push_inline_data(data, dest, tag, mode, context) } {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { send::blocking(data, dest, tag, mode, context) }
    }

    #[inline]
    unsafe fn isend(
        &self,
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        context: MatchContext<'_>,
    ) -> Result<Request> {
        // SAFETY: readable during this call by the caller's promise.
        if unsafe { send::push_inline_data(data, dest, tag, mode, context) } {
            return Ok(request::done());
        }
        // SAFETY: readable until the request completes by the caller's promise.
        unsafe { send::nonblocking(data, dest, tag, mode, context) }
    }

    #[inline]
    unsafe fn recv(
        &self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        context: MatchContext<'_>,
        status: Option<&mut Status>,
    ) -> Result<()> {
        // SAFETY: writable during this call by the caller's promise.
        let fast = unsafe { BorrowedBuffer::new(data) };
        if let Some(found) = requestless::find(fast.bytes(), source, tag, context) {
            fast.write(found.payload());
            let got = found.status(source);
            count_received(&got, context);
            found.take();
            got.write_to(status);
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { recv_slow(data, source, tag, context, status) }
    }

    #[inline]
    unsafe fn irecv(&self, data: &Data<'_>, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Request> {
        progress::flush();
        // SAFETY: writable until the request completes by the caller's promise.
        if let Some(run) = unsafe { Contiguous::new(data) }
            && let Some(request) = recv::start_fast(run, source, tag, context)
        {
            return Ok(request);
        }
        // SAFETY: writable until the request completes by the caller's promise.
        recv::start(unsafe { UserBuffer::new(data) }, source, tag, context, false)
    }

    unsafe fn isend_busy(&self, data: &Data<'_>, dest: i32, tag: i32, context: MatchContext<'_>) -> Result<BusySend> {
        // SAFETY: readable until the request completes by the caller's promise.
        match unsafe { send::left_to_receiver(data, dest, tag, context) } {
            Some(started) => Ok(BusySend::LeftToReceiver(started?)),
            // SAFETY: as above.
            None => Ok(BusySend::Shared(unsafe { self.isend(data, dest, tag, Mode::Standard, context)? })),
        }
    }

    unsafe fn irecv_from_busy(
        &self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        context: MatchContext<'_>,
    ) -> Result<Request> {
        progress::flush();
        // SAFETY: writable until the request completes by the caller's promise.
        recv::start(unsafe { UserBuffer::new(data) }, source, tag, context, true)
    }

    fn lends(&self, data: &Data<'_>, dest: i32, context: MatchContext<'_>) -> bool {
        lent::lends(data, dest, context)
    }

    fn is_lent(&self, source: i32, remote: u64, bytes: usize, context: MatchContext<'_>) -> bool {
        lent::is_lent(source, remote, bytes, context)
    }

    unsafe fn copy_lent(&self, data: &Data<'_>, source: i32, remote: u64, context: MatchContext<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        lent::copy(unsafe { Contiguous::new(data) }, source, remote, context)
    }

    unsafe fn copy_to_remote(&self, data: &Data<'_>, dest: i32, remote: u64, context: MatchContext<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        lent::copy_to(unsafe { Contiguous::new(data) }, dest, remote, context)
    }

    fn fast_path(&self) -> Option<EntryPoints> {
        Some(EntryPoints::of::<Direct<false>>())
    }

    fn counting_fast_path(&self) -> Option<EntryPoints> {
        Some(EntryPoints::of::<Direct<true>>())
    }

    fn iprobe(&self, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Status>> {
        progress::flush();
        probe::iprobe(source, tag, context)
    }

    fn improbe(&self, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Matched>> {
        progress::flush();
        probe::improbe(source, tag, context)
    }

    unsafe fn imrecv(&self, data: &Data<'_>, message: Matched) -> Result<Request> {
        progress::flush();
        // SAFETY: writable until the request completes by the caller's promise.
        recv::start_matched(unsafe { UserBuffer::new(data) }, message)
    }
}

#[cfg(ompi_direct = "pml/ob1")]
ompi_core::direct_pml!(Ob1);
