//! Sends.

use crate::peers::backlog::QueuedSend;
use crate::peers::endpoint::Endpoint;
use crate::peers::table::Route;
use crate::protocol::operation::OperationState;
use crate::protocol::rts_data;
use crate::raw::{BorrowedBuffer, UserBuffer};
use crate::state::STATE;
use crate::{subject, wire};
use ompi_core::error::Result;
use ompi_core::framework::pml::Mode;
use ompi_core::request::{self, Driver, Id, Kind, Request};
use ompi_core::status::Status;
use opal_core::framework::btl::Full;
use opal_core::sync::Ordering;
use opal_core::wait::{Backoff, Subject};

/// Requests of sends need nothing from their driver: sends cannot be cancelled.
pub struct Sends;

impl Driver for Sends {
    fn subject(&self, _token: u64, id: Id) -> Subject {
        subject::of_send(id)
    }
}

static SENDS: Sends = Sends;

/// Tries to send an eager message, if none waits before it.
#[inline(always)]
pub fn try_eager(
    data: &BorrowedBuffer<'_, '_>,
    endpoint: &'static Endpoint,
    immediate: u64,
) -> core::result::Result<(), Full> {
    // Acquire pairs with the Release where packets leave the queue.
    if endpoint.queued.load(Ordering::Acquire) != 0 && (endpoint.is_stopped() || endpoint.has_backlog()) {
        return Err(Full);
    }
    data.send(endpoint, wire::EAGER, immediate)
}

/// A blocking send of an eager message that found no room: waits until there is some. `false`: the peer has said XOFF meanwhile,
/// so that the message must be announced.
#[cold]
#[inline(never)]
pub fn when_there_is_room(data: &BorrowedBuffer<'_, '_>, endpoint: &'static Endpoint, immediate: u64) -> Result<bool> {
    let mut idle = Backoff::new();
    loop {
        idle.step_for(|| subject::of_room(endpoint, immediate))?;
        if endpoint.is_dead() {
            return Err(endpoint.fault());
        }
        if try_eager(data, endpoint, immediate).is_ok() {
            return Ok(true);
        }
        if endpoint.is_stopped() {
            return Ok(false);
        }
    }
}

/// Starts a send by an RTS alone: the sender copies nothing unless the receiver asks for it.
pub fn start_by_rts(buffer: UserBuffer, route: Route, envelope: u64) -> Result<Request> {
    let endpoint = route.endpoint;
    if endpoint.is_dead() {
        return Err(endpoint.fault());
    }
    let request = request::create(Kind::Send, &SENDS, 0)?;
    STATE.lock().send_rts(endpoint, envelope, request.id(), buffer, 0);
    Ok(request)
}

/// Starts a send that has not left yet.
#[inline(never)]
pub fn start(buffer: UserBuffer, route: Route, envelope: u64, mode: Mode) -> Result<Request> {
    let endpoint = route.endpoint;
    if endpoint.is_dead() {
        return Err(endpoint.fault());
    }
    let request = request::create(Kind::Send, &SENDS, 0)?;
    let id = request.id();
    let mut state = STATE.lock();
    if buffer.bytes() > endpoint.eager_bytes {
        let along = rts_data::bytes(endpoint, &buffer);
        state.send_rts(endpoint, envelope, id, buffer, along);
        return Ok(request);
    }
    if endpoint.is_stopped() {
        state.announce(endpoint, envelope, id, buffer);
        return Ok(request);
    }
    let sync = (mode == Mode::Synchronous)
        .then(|| state.operations.begin(endpoint.process, envelope, id, OperationState::AwaitingAck));
    let mut send = QueuedSend { envelope, buffer, sync, request: id };
    if endpoint.has_backlog() || send.send(endpoint).is_err() {
        state.queue_eager(endpoint, send);
    } else if sync.is_none() {
        request::complete(id, Status::EMPTY);
    }
    Ok(request)
}
