//! Sends.

use crate::context::Route;
use crate::peers::endpoint::Link;
use crate::raw::{Fast, Place};
use crate::state::STATE;
use crate::wire;
use ompi_core::error::Result;
use ompi_core::framework::pml::Mode;
use ompi_core::request::{self, Driver, Id, Kind, Request};
use opal_core::framework::btl::Full;
use opal_core::sync::Ordering;
use opal_core::wait::Backoff;

/// Sends that are not complete at once have nothing to do for their requests: they cannot be cancelled.
pub struct Sends;

impl Driver for Sends {}

static SENDS: Sends = Sends;

/// Tries to send all of it now: a short message that has none before it waiting.
#[inline(always)]
pub fn at_once(data: &Fast<'_, '_>, link: &'static Link, immediate: u64) -> core::result::Result<(), Full> {
    // Acquire pairs with the Release where packets leave the queue.
    if link.queued.load(Ordering::Acquire) != 0 {
        return Err(Full);
    }
    data.send(link, wire::EAGER, immediate)
}

/// A blocking send of a short message that found no room: as soon as there is some.
#[cold]
#[inline(never)]
pub fn when_there_is_room(data: &Fast<'_, '_>, link: &'static Link, immediate: u64) -> Result<()> {
    let mut idle = Backoff::new();
    loop {
        idle.step()?;
        if link.is_dead() {
            return Err(link.fault());
        }
        if at_once(data, link, immediate).is_ok() {
            return Ok(());
        }
    }
}

/// Starts a send that was not done at once.
#[inline(never)]
pub fn start(place: Place, route: &Route, immediate: u64, mode: Mode) -> Result<Request> {
    let link = route.link;
    if link.is_dead() {
        return Err(link.fault());
    }
    let request = request::create(Kind::Send, &SENDS, 0)?;
    let mut state = STATE.lock();
    if place.bytes() > link.eager_bytes {
        state.announce(link, immediate, request.id(), place);
        return Ok(request);
    }
    let cookie = (mode == Mode::Synchronous).then(|| state.expect_acknowledge(link.process, immediate, request.id()));
    start_eager(&mut state, place, link, immediate, cookie, request.id());
    Ok(request)
}

fn start_eager(
    state: &mut crate::state::State,
    mut place: Place,
    link: &'static Link,
    immediate: u64,
    cookie: Option<u64>,
    request: Id,
) {
    let bytes = place.bytes();
    let sent = match cookie {
        _ if link.queued.load(Ordering::Relaxed) != 0 => Err(Full),
        None => place.send_whole(link, wire::EAGER, immediate),
        Some(cookie) => place.send_part(link.path(), wire::SYNCHRONOUS, immediate, cookie, 0, bytes),
    };
    match (sent, cookie) {
        (Ok(()), None) => request::complete(request, ompi_core::status::Status::EMPTY),
        (Ok(()), Some(_)) => {}
        (Err(Full), _) => state.queue_eager(link, immediate, place, cookie, request),
    }
}
