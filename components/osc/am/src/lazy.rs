//! The lock that was asked for last, of which nobody knows yet whether it was granted: it travels with the first access, which the
//! target does when it has granted it. One of the process at most, over all windows: two locks that are taken in another order
//! than the program asked for them could each wait for the other.

use crate::origin::ask;
use crate::target::Service;
use crate::wire::SyncKind;
use alloc::sync::{Arc, Weak};
use ompi_core::error::Result;
use opal_core::sync::ConditionalLock;

struct Last {
    service: Weak<Service>,
    rank: usize,
    // Flushes that were asked for before: the answer to the next one comes when the lock is granted.
    flushes: u64,
}

static LAST: ConditionalLock<Option<Last>> = ConditionalLock::new(None);

/// A lock of a rank was asked for.
pub fn keep(service: &Arc<Service>, rank: usize) {
    let flushes = service.window.with_peer(rank, |peer| peer.flushes);
    *LAST.lock() = Some(Last { service: Arc::downgrade(service), rank, flushes });
}

/// Waits until it is granted, if there is one.
pub fn acquire() -> Result<()> {
    let last = LAST.lock().take();
    let Some(Last { service, rank, flushes }) = last else { return Ok(()) };
    let Some(service) = service.upgrade() else { return Ok(()) };
    let window = &service.window;
    if window.with_peer(rank, |peer| peer.flushes == flushes) {
        ask(&service, rank, SyncKind::Flush)?;
        window.send_marked(rank)?;
    }
    window.wait_for(rank, |peer| peer.acks > flushes)
}
