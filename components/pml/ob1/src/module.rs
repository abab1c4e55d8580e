//! The PML's calls.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::context::Routes;
use crate::peers::endpoint as link;
use crate::raw::{Fast, Place, Run};
use crate::recv;
use crate::recv::{probe, requestless as direct};
use crate::state::STATE;
use alloc::boxed::Box;
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched, Mode, Module, Ways};
use ompi_core::request::{self, Request};
use ompi_core::status::Status;
use opal_core::progress;
use opal_core::sync::Ordering;

mod fast_path;
mod send;

/// The one module; its state is [`STATE`].
pub struct Ob1;

/// # Safety
/// The data is writable during the call.
#[inline(never)]
unsafe fn recv_longer(
    data: &Data<'_>,
    source: i32,
    tag: i32,
    lane: MatchContext<'_>,
    status: Option<&mut Status>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let fast = unsafe { Fast::new(data) };
    progress::flush();
    if let Some(got) = direct::receive(&fast, source, tag, lane)? {
        return got.deliver(status);
    }
    // SAFETY: writable until the request completes, which the wait sees to.
    let mut handle = recv::start(unsafe { Place::new(data) }, source, tag, lane)?.into_handle();
    request::handles::wait(&mut handle)?.deliver(status)
}

impl Module for Ob1 {
    fn open_context(&self, context: u32) -> Result<()> {
        STATE.lock().open(context)
    }

    fn close_context(&self, context: u32) {
        STATE.lock().forget(context);
    }

    fn add_comm(&self, comm: &Communicator) -> Result<()> {
        let routes = Box::new(Routes::new(comm)?);
        let mut state = STATE.lock();
        if state.context(comm.context).is_none() {
            state.open(comm.context)?;
        }
        // Release pairs with the Acquire in `pml_data`.
        comm.pml.store(Box::into_raw(routes).cast(), Ordering::Release);
        state.connect(comm);
        Ok(())
    }

    fn remove_comm(&self, comm: &Communicator) {
        STATE.lock().disconnect(comm.context);
        let routes = comm.pml.swap(core::ptr::null_mut(), Ordering::AcqRel).cast::<Routes>();
        if !routes.is_null() {
            // SAFETY: the box that `add_comm` gave up, taken back once because of the swap.
            drop(unsafe { Box::from_raw(routes) });
        }
    }

    fn is_settled(&self, comm: &Communicator) -> bool {
        STATE.lock().is_settled(comm)
    }

    fn reach(&self, process: u32) -> Result<usize> {
        let link = link::to(process)?;
        if link.is_dead() { Err(link.fault()) } else { Ok(link.note_bytes) }
    }

    fn send_control(&self, process: u32, message: &[u8]) -> Result<()> {
        let link = link::to(process)?;
        if link.is_dead() {
            return Err(link.fault());
        }
        STATE.lock().note(link, message);
        Ok(())
    }

    #[inline]
    unsafe fn send(&self, data: &Data<'_>, dest: i32, tag: i32, mode: Mode, lane: MatchContext<'_>) -> Result<()> {
        // SAFETY: readable during this call by the caller's promise.
        if !progress::has_gathered() && unsafe { send::short_data(data, dest, tag, mode, lane) } {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { send::longer(data, dest, tag, mode, lane) }
    }

    #[inline]
    unsafe fn isend(
        &self,
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        lane: MatchContext<'_>,
    ) -> Result<Request> {
        // SAFETY: readable during this call by the caller's promise.
        if unsafe { send::short_data(data, dest, tag, mode, lane) } {
            return Ok(request::done());
        }
        // SAFETY: readable until the request completes by the caller's promise.
        unsafe { send::longer_later(data, dest, tag, mode, lane) }
    }

    #[inline]
    unsafe fn recv(
        &self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        lane: MatchContext<'_>,
        status: Option<&mut Status>,
    ) -> Result<()> {
        // SAFETY: writable during this call by the caller's promise.
        let fast = unsafe { Fast::new(data) };
        if let Some(found) = direct::find(fast.bytes(), source, tag, lane) {
            fast.write(found.payload());
            let got = found.status(source);
            found.take();
            got.write_to(status);
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { recv_longer(data, source, tag, lane, status) }
    }

    #[inline]
    unsafe fn irecv(&self, data: &Data<'_>, source: i32, tag: i32, lane: MatchContext<'_>) -> Result<Request> {
        progress::flush();
        // SAFETY: writable until the request completes by the caller's promise.
        if let Some(run) = unsafe { Run::new(data) }
            && let Some(request) = recv::start_at_once(run, source, tag, lane)
        {
            return Ok(request);
        }
        // SAFETY: writable until the request completes by the caller's promise.
        recv::start(unsafe { Place::new(data) }, source, tag, lane)
    }

    fn short_ways(&self) -> Option<Ways> {
        Some(Ways::of::<Ob1>())
    }

    fn iprobe(&self, source: i32, tag: i32, lane: MatchContext<'_>) -> Result<Option<Status>> {
        progress::flush();
        probe::look(source, tag, lane)
    }

    fn improbe(&self, source: i32, tag: i32, lane: MatchContext<'_>) -> Result<Option<Matched>> {
        progress::flush();
        probe::take(source, tag, lane)
    }

    unsafe fn imrecv(&self, data: &Data<'_>, message: Matched) -> Result<Request> {
        progress::flush();
        // SAFETY: writable until the request completes by the caller's promise.
        recv::start_matched(unsafe { Place::new(data) }, message)
    }
}

#[cfg(ompi_direct = "pml/ob1")]
ompi_core::direct_pml!(Ob1);
