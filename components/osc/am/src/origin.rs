//! The side that accesses: turns an access into a record, and into messages of the PML where it is long.

use crate::access::Access;
use crate::direct;
use crate::lent;
use crate::pending::Messages;
use crate::raw::{Buffer, Transfer};
use crate::synchronize::ask;
use crate::target::Service;
use crate::wire::{HEAD_BYTES, Head, Kind, SyncKind, Tags, push_access};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::accumulate;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::osc::Target;
use ompi_core::request::{self, Request};

/// Begins an access; with `wanted` under a request.
pub fn begin(
    service: &Arc<Service>,
    access: &Access<'_>,
    target: &Target<'_>,
    wanted: bool,
) -> Result<Option<Request>> {
    let Target { rank, displacement, data } = *target;
    let window = &service.window;
    let bytes: usize = access.sources().map(Buffer::bytes).sum();
    let mut description = Vec::new();
    if data.datatype.predefined == 0 {
        data.datatype.layout.describe(&mut description);
    }
    let head = Head {
        kind: access.kind,
        operation: access.operation,
        datatype: data.datatype.predefined as u16,
        basic: basic(access, &data)?,
        apart: false,
        lent: false,
        displacement,
        count: data.count as u64,
        number: 0,
    };
    let whole = HEAD_BYTES + description.len() + bytes;
    let read_bytes = access.result.as_ref().map_or(0, Buffer::bytes);
    let fits = window.with_peer(rank, |peer| peer.unflushed_bytes < PORTION_BYTES && peer.outbox.fits(whole))
        || make_room(service, rank, whole)?;
    if !fits || read_bytes > direct::LEAST_READ {
        if direct::access(service, access, target)? {
            return Ok(wanted.then(request::done));
        }
        lent::offer(service, rank)?;
    }
    if !fits && let Some(request) = lent::begin(service, access, &head, target, wanted)? {
        return Ok(request);
    }
    if !fits || read_bytes > READ_BYTES {
        return begin_apart(service, access, head, &description, rank, wanted);
    }
    let (number, request) = match &access.result {
        Some(result) => window.expect(rank, result.placement(), wanted)?,
        None => (0, wanted.then(request::done)),
    };
    let append = |packet: &mut Vec<u8>| {
        push_access(packet, &Head { number, ..head }, description.len(), bytes);
        packet.extend_from_slice(&description);
        access.sources().try_for_each(|source| source.append_to(packet))
    };
    let asked = service.ask(rank, whole, append, |peer| peer.note_access(whole + read_bytes));
    if asked.is_err() && access.result.is_some() {
        window.forget(rank, number);
    }
    asked?;
    if access.result.is_some() && wanted {
        // The program may wait for the request without a synchronisation.
        window.send_outboxes(Some(rank))?;
    }
    Ok(request)
}

/// With messages of the PML for data, result and, if it is long, too, the description.
fn begin_apart(
    service: &Arc<Service>,
    access: &Access<'_>,
    head: Head,
    description: &[u8],
    rank: usize,
    wanted: bool,
) -> Result<Option<Request>> {
    let window = &service.window;
    let number = window.next_tag_number();
    let tags = Tags::of(number);
    let head = Head { apart: true, number, ..head };
    let room = window.with_peer(rank, |peer| peer.outbox.room())?;
    let here = if HEAD_BYTES + description.len() <= room { description } else { &[] };
    let mut messages = Messages::default();
    if let Some(result) = &access.result {
        messages.result = Some((number, result.receive(window.route(rank, tags.result))?));
    }
    let append = |packet: &mut Vec<u8>| {
        push_access(packet, &head, here.len(), 0);
        packet.extend_from_slice(here);
        Ok(())
    };
    let asked = service.ask(rank, HEAD_BYTES + here.len(), append, |peer| peer.note_access(HEAD_BYTES));
    if let Err(fault) = asked.and_then(|()| window.send_outboxes(Some(rank))) {
        messages.finish(true)?;
        return Err(fault);
    }
    let sent = &mut messages.sent;
    if here.len() < description.len() {
        sent.push(Transfer::send(description.into(), window.route(rank, tags.description))?);
    }
    let route = window.route(rank, tags.data);
    match &access.sources {
        [Some(source), None] => sent.push(source.send(route)?),
        [None, None] => {}
        _ => {
            let mut data = Vec::new();
            access.sources().try_for_each(|source| source.append_to(&mut data))?;
            sent.push(Transfer::send(data, route)?);
        }
    }
    let request = window.track(rank, messages, wanted)?;
    service.activate();
    Ok(request)
}

/// Sees to it that a record of so many bytes may be asked of a rank; whether one packet can hold it.
#[cold]
fn make_room(service: &Arc<Service>, rank: usize, whole: usize) -> Result<bool> {
    let (room, unflushed) =
        service.window.with_peer(rank, |peer| Ok::<_, Fault>((peer.outbox.room()?, peer.unflushed_bytes)))?;
    if unflushed >= PORTION_BYTES {
        limit_unflushed(service, rank)?;
    }
    Ok(whole <= room)
}

/// What a target has not done yet takes memory here and there: at most two portions of it.
fn limit_unflushed(service: &Arc<Service>, rank: usize) -> Result<()> {
    let flushes = service.window.with_peer(rank, |peer| peer.flushes);
    ask(service, rank, SyncKind::Flush)?;
    service.window.send_marked(rank)?;
    service.window.wait_for(rank, |peer| peer.acks >= flushes)
}

/// The handle of the basic type of all data, for operations that combine; 0 for others.
#[inline(always)]
fn basic(access: &Access<'_>, data: &Data<'_>) -> Result<u16> {
    if !matches!(access.kind, Kind::Accumulate | Kind::GetAccumulate) {
        return Ok(0);
    }
    if data.datatype.predefined != 0 {
        return Ok(data.datatype.predefined as u16);
    }
    let none = || Fault::new(Class::Type).argument("target_datatype").because("its data is not all of one basic type");
    accumulate::basic(data.datatype).map(|basic| basic.predefined as u16).ok_or_else(none)
}

/// Up to so many bytes that are read come in packets.
const READ_BYTES: usize = 4096;
/// Then a flush is asked for, and the one before it waited for.
const PORTION_BYTES: usize = 1 << 20;
