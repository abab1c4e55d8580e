//! Data that stays at its origin: where the system copies between processes, a put or accumulate that no packet holds is a record with its
//! address, and the target copies it once, when it does the access. A message of the PML would be two copies up to its eager limit, and
//! more messages from there on. Before the first one an origin asks whether the target can.

use crate::access::Access;
use crate::perform::{BLOCK_BYTES, most_lent};
use crate::raw::Placement;
use crate::target::Service;
use crate::window::Lending;
use crate::wire::{HEAD_BYTES, Head, push_access, push_offer};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::error::Result;
use ompi_core::framework::osc::Target;
use ompi_core::request::Request;

/// Begins an access so, under a request if one is `wanted`. `None` if it is none for that.
pub fn begin(
    service: &Arc<Service>,
    access: &Access<'_>,
    head: &Head,
    target: &Target<'_>,
    wanted: bool,
) -> Result<Option<Option<Request>>> {
    let (window, rank) = (&service.window, target.rank);
    let [Some(source), None] = &access.sources else { return Ok(None) };
    let layout = &target.data.datatype.layout;
    let is_run =
        target.data.datatype.predefined != 0 && layout.is_contiguous() && BLOCK_BYTES.is_multiple_of(layout.size());
    if !is_run || source.bytes() > most_lent(access.kind) || rank == window.me() {
        return Ok(None);
    }
    let Some(address) = source.address() else { return Ok(None) };
    let is_possible = window.with_peer(rank, |peer| peer.lending == Lending::Possible);
    if !is_possible || !source.may_be_lent(window.route(rank, 0)) {
        return Ok(None);
    }
    let (number, request) = window.expect(rank, Placement::NONE, wanted)?;
    let append = |packet: &mut Vec<u8>| {
        push_access(packet, &Head { number, lent: true, ..*head }, 0, size_of::<u64>());
        packet.extend_from_slice(&address.to_le_bytes());
        Ok(())
    };
    let whole = HEAD_BYTES + size_of::<u64>();
    let asked = service.ask(rank, whole, append, |peer| peer.note_access(whole));
    if asked.is_err() {
        window.forget(rank, number);
    }
    asked?;
    if wanted {
        // The program may wait for the request without a synchronisation.
        window.send_outboxes(Some(rank))?;
    }
    Ok(Some(request))
}

/// Asks a rank whether it can copy, unless it was asked.
pub fn offer(service: &Arc<Service>, rank: usize) -> Result<()> {
    let window = &service.window;
    if rank == window.me() || window.with_peer(rank, |peer| peer.lending != Lending::Unknown) {
        return Ok(());
    }
    // Memory of the library's own: it is no memory that only some peers have mapped.
    let address = core::ptr::from_ref(&**service).expose_provenance() as u64;
    let append = |packet: &mut Vec<u8>| {
        push_offer(packet, address);
        Ok(())
    };
    service.ask(rank, 2 * size_of::<u64>(), append, |peer| peer.lending = Lending::Offered)
}
