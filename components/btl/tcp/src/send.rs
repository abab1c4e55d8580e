//! Sending on connections: finding the one in use to a peer, connecting at the first message, coalescing, failing over.

use crate::connect;
use crate::connection::Connection;
use crate::state::State;
use crate::transport::Transport;
use crate::tx::{FollowUp, Tx};
use crate::wire::{HEADER_BYTES, Header, LONG_AT, PAD_MAX};
use alloc::vec::Vec;
use opal_core::framework::btl::{AmId, Endpoint, Full};
use opal_core::progress;
use opal_core::sync::Ordering;

impl Transport {
    /// Sends a payload from where it lies.
    #[inline]
    pub fn send(&self, to: Endpoint, am: AmId, immediate: u64, payload: &[u8]) -> Result<(), Full> {
        if payload.len() >= self.limits.gather_bytes {
            return self.send_behind(to, am, immediate, &[], payload);
        }
        let connection = self.connection(to.0).ok_or(Full)?;
        let header = Header { kind: am, pad: 0, bytes: payload.len(), immediate }.encode();
        self.with(connection, |tx| tx.send(&self.limits, &header, payload, false))
    }

    /// Sends a short prefix, and a payload from where it lies.
    pub fn send_behind(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        payload: &[u8],
    ) -> Result<(), Full> {
        let connection = self.connection(to.0).ok_or(Full)?;
        let long = payload.len() >= self.limits.gather_bytes;
        let pad = if long { PAD_MAX - prefix.len() } else { 0 };
        let mut lead = [0; LONG_AT];
        let (before, end) = (HEADER_BYTES + pad, HEADER_BYTES + pad + prefix.len());
        let header = Header { kind: am, pad, bytes: prefix.len() + payload.len(), immediate };
        lead[..HEADER_BYTES].copy_from_slice(&header.encode());
        lead[before..end].copy_from_slice(prefix);
        let awaited = long && connection.has_received.swap(false, Ordering::Relaxed);
        self.with(connection, |tx| tx.send(&self.limits, &lead[..end], payload, awaited))
    }

    /// Sends a payload of `bytes` bytes that `append` adds to the queue.
    pub fn send_filled(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Full> {
        let connection = self.connection(to.0).ok_or(Full)?;
        let header: [u8; HEADER_BYTES] = Header { kind: am, pad: 0, bytes, immediate }.encode();
        self.with(connection, |tx| tx.send_filled(&self.limits, &header, bytes, append))
    }

    /// Writes what was coalesced on any connection.
    pub fn flush(&self) {
        let mut corked = self.corked.lock();
        for id in corked.drain(..) {
            if let Some(connection) = self.connection(id) {
                self.flush_one(connection);
            }
        }
    }

    /// Writes what was coalesced on one connection.
    pub fn flush_one(&self, connection: &Connection) {
        let mut tx = connection.tx.lock();
        tx.uncork();
        self.after_write(connection, &mut tx);
    }

    /// Gives up a connection that was never made, for another one to the same peer. `None` if there is none.
    pub fn fail_over(&self, connection: &Connection) -> Option<&Connection> {
        let other = self.heir(connection)?;
        let mut given_up = connection.tx.lock();
        // Locked second: no connection fails over to one that has failed over.
        let mut tx = other.tx.lock();
        // If its messages took another one, that was the one that is given up, and all of them are in this queue.
        tx.failover = None;
        let queue = given_up.fail_over(other.id);
        connection.is_over.store(true, Ordering::Relaxed);
        self.possible.fetch_sub(1, Ordering::Relaxed);
        if tx.take_over(&queue) == FollowUp::Connect {
            connect::begin(self, other, &mut tx);
        }
        self.after_write(other, &mut tx);
        Some(other)
    }

    /// Where the messages of a connection go that is given up: to one in force, or one that may still be made. If the messages of all
    /// others take another one, then the one that is given up, and one of those that the peer has made takes them back.
    fn heir(&self, connection: &Connection) -> Option<&Connection> {
        let find = |is_fit: fn(&Tx) -> bool| {
            let others = self.to_peer(connection.peer).filter(|other| other.id != connection.id);
            others.into_iter().find(|other| is_fit(&other.tx.lock()))
        };
        find(|tx| tx.failover.is_none() && tx.state == State::Connected)
            .or_else(|| find(|tx| tx.failover.is_none() && tx.state.is_usable()))
            .or_else(|| find(|tx| tx.state.is_usable()))
    }

    #[inline]
    fn with(&self, connection: &Connection, send: impl FnOnce(&mut Tx) -> Result<FollowUp, Full>) -> Result<(), Full> {
        let mut tx = connection.tx.lock();
        if let Some(id) = tx.failover {
            drop(tx);
            return self.with(self.connection(id).ok_or(Full)?, send);
        }
        let follow_up = send(&mut tx)?;
        if follow_up == FollowUp::Connect {
            connect::begin(self, connection, &mut tx);
        }
        self.after_write(connection, &mut tx);
        drop(tx);
        if follow_up == FollowUp::Corked {
            self.corked.lock().push(connection.id);
            progress::note_coalesced();
        }
        Ok(())
    }
}
