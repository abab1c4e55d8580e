//! Puts and gets that no message carries: where the system copies between processes and the target has said where its memory lies, the
//! origin copies a run of bytes itself, once, and the target need not be inside MPI. The first long access, which is a message, asks for
//! it ([`crate::lent::offer`]). Not in dynamic windows: only the target knows what is attached to them.
//!
//! The access is complete when this returns. It must not come before the lock that was asked for is granted: a get waits for that, a put goes
//! behind the lock in its packet.

use crate::access::Access;
use crate::deferred_locks;
use crate::target::Service;
use crate::wire::Kind;
use alloc::sync::Arc;
use ompi_core::error::Result;
use ompi_core::framework::osc::Target;

/// Does an access so. `false` if it is none for that.
pub fn access(service: &Arc<Service>, access: &Access<'_>, target: &Target<'_>) -> Result<bool> {
    let (window, rank) = (&service.window, target.rank);
    let buffer = match (access.kind, &access.sources, &access.result) {
        (Kind::Put, [Some(source), None], _) => source,
        (Kind::Get, _, Some(result)) => result,
        _ => return Ok(false),
    };
    let bytes = buffer.bytes();
    let is_run = buffer.is_run() && target.data.datatype.layout.is_contiguous() && bytes == target.data.bytes();
    let Some(base) = window.with_peer(rank, |peer| peer.base) else { return Ok(false) };
    if !is_run || bytes > MOST_BYTES {
        return Ok(false);
    }
    let part = window.parts[rank];
    let offset = target.displacement.checked_mul(part.unit).and_then(|offset| usize::try_from(offset).ok());
    let Some(offset) = offset.filter(|offset| offset.checked_add(bytes).is_some_and(|end| end <= part.bytes)) else {
        return Ok(false);
    };
    let Some(remote) = base.checked_add(offset as u64) else { return Ok(false) };
    match access.kind {
        Kind::Put if !window.with_peer(rank, |peer| peer.is_granted()) => return Ok(false),
        _ => deferred_locks::wait_for_grant(service, rank)?,
    }
    let route = window.route(rank, 0);
    let copied = match access.kind {
        Kind::Put => buffer.copy_to_remote(route, remote),
        _ => buffer.copy_lent(route, remote),
    };
    if copied.is_err() {
        // A message tells what is wrong, if anything is: the system may have taken a permission back.
        window.with_peer(rank, |peer| peer.base = None);
    }
    Ok(copied.is_ok())
}

/// The longest data that is copied so. Longer data is a message, of which both sides copy a half at the same time: to be read, 64 KiB take
/// 0.8 of the time of a message, 128 KiB 1.2.
const MOST_BYTES: usize = 64 << 10;
/// The longest data to be read that comes in a packet all the same, with what else is asked for.
pub const LEAST_READ: usize = 2 << 10;
