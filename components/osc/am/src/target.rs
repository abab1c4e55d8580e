//! The side that is accessed: does what origins ask for, in every pass of progress.

use crate::arrival::{Arrival, Arrivals, Asked};
use crate::raw::{Buffer, Transfer};
use crate::window::Window;
use crate::wire::{HEAD_TAG, Head, Kind};
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use ompi_core::datatype;
use ompi_core::error::{Class, Result};
use ompi_core::framework::osc::Lock;
use ompi_core::framework::pml::{self, MatchContext};
use ompi_core::status::ANY_SOURCE;
use opal_core::sync::ConditionalLock;
use opal_core::{progress, wait};

/// A window that is served.
pub struct Service {
    /// The window.
    pub window: Window,
    // What others ask for; not here while a pass of progress works on it.
    arrivals: ConditionalLock<Option<Arrivals>>,
}

impl Service {
    /// Begins: every pass of progress serves the window as long as it lives.
    pub fn of(window: Window) -> Arc<Service> {
        let arrivals = ConditionalLock::new(Some(Arrivals::new(window.comm.size())));
        let service = Arc::new(Service { window, arrivals });
        SERVICES.lock().push(Arc::downgrade(&service));
        service
    }

    /// Whether nothing that others asked for, and nothing that this process asked for, is under way.
    pub fn is_idle(&self) -> bool {
        self.arrivals.lock().as_ref().is_some_and(Arrivals::is_empty) && self.window.is_settled()
    }
}

static SERVICES: ConditionalLock<Vec<Weak<Service>>> = ConditionalLock::new(Vec::new());

/// Serves all windows; called by one thread at a time.
pub fn poll_all() -> usize {
    // Nothing is locked while messages are sent and received.
    let mut services = core::mem::take(&mut *SERVICES.lock());
    if services.is_empty() {
        return 0;
    }
    let mut moved = 0;
    services.retain(|service| match service.upgrade() {
        Some(service) => {
            moved += poll(&service);
            true
        }
        None => false,
    });
    let mut all = SERVICES.lock();
    services.append(&mut all);
    *all = services;
    drop(all);
    if moved > 0 {
        progress::flush();
        wait::wake_threads();
    }
    moved
}

/// So many messages of a window are looked at before the next window has its turn.
const TURN: usize = 64;

fn poll(service: &Service) -> usize {
    let window = &service.window;
    let mut moved = window.sweep();
    let Some(mut arrivals) = service.arrivals.lock().take() else { return moved };
    moved += receive(window, &mut arrivals);
    let busy = core::mem::take(&mut arrivals.busy);
    for origin in busy {
        moved += serve(window, &mut arrivals, origin);
        if !arrivals.queues[origin].is_empty() {
            arrivals.busy.push(origin);
        }
    }
    while let Some(origin) = arrivals.locks.next_granted() {
        answer(window, &mut arrivals, origin as usize, Kind::Grant, 0);
        moved += 1;
    }
    arrivals.answers.retain(|(_, answer)| !answer.is_complete());
    *service.arrivals.lock() = Some(arrivals);
    moved
}

/// Takes new heads.
fn receive(window: &Window, arrivals: &mut Arrivals) -> usize {
    let context = MatchContext { comm: &window.comm, collective: false };
    for taken in 0..TURN {
        let Ok(Some(matched)) = pml::selected().improbe(ANY_SOURCE, HEAD_TAG, context) else { return taken };
        let origin = matched.status.source as usize;
        if let Ok(head) = Transfer::receive_matched(matched) {
            arrivals.push(origin, head);
        }
    }
    TURN
}

/// Does what can be done of what one origin asked for; how many things.
fn serve(window: &Window, arrivals: &mut Arrivals, origin: usize) -> usize {
    let mut queue = core::mem::take(&mut arrivals.queues[origin]);
    queue.iter_mut().for_each(|arrival| arrival.prepare(window, origin));
    let mut done = 0;
    while let Some(arrival) = queue.pop_front_if(|next| arrivals.is_next_ready(origin, next)) {
        done += 1;
        let ended = match arrival {
            Arrival::Asked(asked) => perform(window, arrivals, origin, *asked),
            Arrival::Coming(_) | Arrival::Malformed => Err(Class::Intern.into()),
        };
        if let Err(fault) = ended
            && arrivals.faults[origin] == 0
        {
            arrivals.faults[origin] = fault.get();
        }
    }
    arrivals.queues[origin] = queue;
    done
}

fn perform(window: &Window, arrivals: &mut Arrivals, origin: usize, asked: Asked) -> Result<()> {
    let Head { kind, count, .. } = asked.head;
    match kind {
        Kind::Put | Kind::Get | Kind::Accumulate | Kind::GetAccumulate | Kind::CompareAndSwap => {
            return access(window, arrivals, origin, &asked);
        }
        Kind::Flush => acknowledge(window, arrivals, origin),
        Kind::Lock => arrivals.locks.ask(origin as u32, if count == 1 { Lock::Exclusive } else { Lock::Shared }),
        Kind::Unlock => {
            let held = arrivals.locks.release(origin as u32);
            acknowledge(window, arrivals, origin);
            if !held {
                return Err(Class::RmaSync.into());
            }
        }
        Kind::Complete => window.with_peer(origin, |peer| peer.completes += 1),
        Kind::Ack => window.with_peer(origin, |peer| {
            peer.acks += 1;
            if count != 0 {
                peer.fault = count as i32;
            }
        }),
        Kind::Grant => window.with_peer(origin, |peer| peer.grants += 1),
        Kind::Post => window.with_peer(origin, |peer| peer.posts += 1),
    }
    Ok(())
}

fn acknowledge(window: &Window, arrivals: &mut Arrivals, origin: usize) {
    let code = core::mem::take(&mut arrivals.faults[origin]);
    answer(window, arrivals, origin, Kind::Ack, code as u64);
}

fn answer(window: &Window, arrivals: &mut Arrivals, origin: usize, kind: Kind, count: u64) {
    let mut message = Vec::new();
    Head::of(kind, count).encode(&mut message);
    // An origin that is gone needs no answer.
    if let Ok(sent) = Transfer::send(message, window.route(origin, HEAD_TAG)) {
        arrivals.answers.push((origin, sent));
    }
}

/// Does an access. Who reads gets an answer whatever went wrong: an empty one then.
fn access(window: &Window, arrivals: &mut Arrivals, origin: usize, asked: &Asked) -> Result<()> {
    let reads = matches!(asked.head.kind, Kind::Get | Kind::GetAccumulate | Kind::CompareAndSwap);
    let route = window.route(origin, asked.head.result_tag);
    match try_access(window, asked) {
        Ok(Done::Written) => Ok(()),
        Ok(Done::Read(old)) => {
            arrivals.answers.push((origin, Transfer::send(old, route)?));
            Ok(())
        }
        Ok(Done::ToBeRead(answer)) => {
            arrivals.answers.push((origin, answer.send(route)?));
            Ok(())
        }
        Err(fault) => {
            if reads {
                arrivals.answers.push((origin, Transfer::send(Vec::new(), route)?));
            }
            Err(fault)
        }
    }
}

enum Done<'a> {
    Written,
    Read(Vec<u8>),
    ToBeRead(Buffer<'a>),
}

fn try_access<'a>(window: &Window, asked: &'a Asked) -> Result<Done<'a>> {
    let Head { kind, operation, displacement, count, basic, .. } = asked.head;
    let datatype = asked.datatype.as_ref().map_err(|code| ompi_core::error::Fault::code(*code))?.get();
    if asked.placed {
        return Ok(Done::Written);
    }
    // Looked at again: what was attached when the message came may have been detached.
    let place = Buffer::in_window(window.memory.place(displacement, count, datatype)?);
    let data = &asked.data[..];
    let combine = || {
        let basic = datatype::borrow(basic as usize).filter(|basic| basic.is_predefined()).ok_or(Class::Type)?;
        place.combine(operation, basic, data)
    };
    match kind {
        Kind::Put if data.len() == place.bytes() => {
            place.write(data);
            Ok(Done::Written)
        }
        Kind::Get => Ok(Done::ToBeRead(place)),
        Kind::Accumulate => combine().map(|()| Done::Written),
        Kind::GetAccumulate => {
            let old = place.read()?;
            if !data.is_empty() {
                combine()?;
            }
            Ok(Done::Read(old))
        }
        Kind::CompareAndSwap if data.len() == 2 * place.bytes() => {
            let (compare, new) = data.split_at(place.bytes());
            let old = place.read()?;
            if old == compare {
                place.write(new);
            }
            Ok(Done::Read(old))
        }
        _ => Err(Class::Truncate.into()),
    }
}
