//! The side that accesses: turns an access into messages.

use crate::raw::{Buffer, Transfer};
use crate::window::Window;
use crate::wire::{HEAD_BYTES, HEAD_TAG, Head, INLINE_BYTES, Kind};
use alloc::vec::Vec;
use ompi_core::accumulate;
use ompi_core::data::Data;
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::op::Operation;
use ompi_core::framework::osc::Target;
use ompi_core::request::Request;

/// What is to be done, with buffers that may be used until it is.
pub struct Access<'a> {
    /// What the target is asked for.
    pub kind: Kind,
    /// Of an accumulate.
    pub operation: Operation,
    /// What is sent, in this order.
    pub sources: Vec<Buffer<'a>>,
    /// Where what was read goes.
    pub result: Option<Buffer<'a>>,
}

/// Begins an access; with `wanted` under a request.
pub fn begin(window: &Window, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
    let Target { rank, displacement, data } = *target;
    let bytes: usize = access.sources.iter().map(Buffer::bytes).sum();
    let (result_tag, data_tag) = window.tags();
    let apart = bytes > INLINE_BYTES;
    let mut description = Vec::new();
    let head = Head {
        operation: access.operation,
        datatype: told(data.datatype, &mut description),
        basic: basic(access, &data)?,
        displacement,
        result_tag,
        data_tag: if apart { data_tag } else { HEAD_TAG },
        description: description.len() as u64,
        bytes: bytes as u64,
        ..Head::of(access.kind, data.count as u64)
    };
    let mut message = Vec::with_capacity(HEAD_BYTES + description.len() + if apart { 0 } else { bytes });
    head.encode(&mut message);
    message.extend_from_slice(&description);
    if !apart {
        access.sources.iter().try_for_each(|source| source.append_to(&mut message))?;
    }
    let mut transfers = Vec::new();
    if let Some(result) = &access.result {
        transfers.push(result.receive(window.route(rank, result_tag))?);
    }
    // Before it is sent: a flush in another thread may come right after.
    window.with_peer(rank, |peer| peer.dirty = true);
    match Transfer::send(message, window.route(rank, HEAD_TAG)) {
        Ok(sent) => transfers.push(sent),
        Err(fault) => {
            transfers.into_iter().try_for_each(Transfer::cancel)?;
            return Err(fault);
        }
    }
    if apart {
        for source in &access.sources {
            transfers.push(source.send(window.route(rank, data_tag))?);
        }
    }
    window.track(rank, transfers, wanted)
}

/// The handle of a datatype that all processes have; else 0 and its description.
fn told(datatype: &Datatype, description: &mut Vec<u8>) -> u32 {
    if datatype.predefined == 0 {
        datatype.layout.describe(description);
    }
    datatype.predefined
}

/// The handle of the basic type of all data, for operations that combine; 0 for others.
fn basic(access: &Access<'_>, data: &Data<'_>) -> Result<u32> {
    if !matches!(access.kind, Kind::Accumulate | Kind::GetAccumulate) {
        return Ok(0);
    }
    let none = || Fault::new(Class::Type).argument("target_datatype").because("its data is not all of one basic type");
    accumulate::basic(data.datatype).map(|basic| basic.predefined).ok_or_else(none)
}
