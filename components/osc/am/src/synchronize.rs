//! Records that synchronise: asked for by the side that accesses, and waited for.

use crate::target::Service;
use crate::window::{Peer, Window, failed};
use crate::wire::{SyncKind, push_sync};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::error::{Fault, Result};

/// Asks a rank for what synchronises; it is not sent yet.
pub fn ask(service: &Arc<Service>, rank: usize, sync: SyncKind) -> Result<()> {
    let append = |packet: &mut Vec<u8>| {
        push_sync(packet, sync);
        Ok(())
    };
    service.ask(rank, size_of::<u64>(), append, |peer| {
        if matches!(sync, SyncKind::Flush | SyncKind::Unlock) {
            (peer.dirty, peer.unflushed_bytes) = (false, 0);
            peer.flushes += 1;
        }
    })
}

/// Waits until a target has answered and nothing to it is under way here; what failed meanwhile.
pub fn settle(service: &Service, rank: usize) -> Result<()> {
    let window = &service.window;
    let is_settled = |asked: u64, peer: &mut Peer| peer.acks >= asked && peer.pending == 0;
    let asked = window.with_peer(rank, |peer| {
        peer.outbox.send()?;
        Ok::<_, Fault>((!is_settled(peer.flushes, peer)).then_some(peer.flushes))
    })?;
    if let Some(asked) = asked {
        window.wait_for(rank, |peer| is_settled(asked, peer))?;
    }
    take_failure(window, rank)
}

/// What failed at a rank and was not told yet.
pub fn take_failure(window: &Window, rank: usize) -> Result<()> {
    match window.with_peer(rank, |peer| peer.failure.take()) {
        None => Ok(()),
        Some(failure) => Err(failed(rank, failure)),
    }
}
