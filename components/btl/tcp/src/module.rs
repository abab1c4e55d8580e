//! One interface's module.

use crate::net::Net;
use crate::pairing;
use crate::wire::{self, Entry};
use alloc::vec::Vec;
use opal_core::framework::btl::{Caps, Endpoint, Peer};
use opal_core::sync::Ordering;
use opal_core::{Error, Result, message, wait};

/// The part of the network behind one interface.
pub struct Module {
    pub net: &'static Net,
    pub port: usize,
    pub caps: Caps,
}

impl Module {
    /// Of one of the network's ports.
    pub fn new(net: &'static Net, port: usize) -> Module {
        let limits = &net.limits;
        let caps = Caps {
            immediate_bits: 64,
            // What lies in one run is written from where it lies.
            inline_bytes: limits.fragment_bytes,
            eager_bytes: limits.eager_bytes,
            send_bytes: limits.fragment_bytes,
            latency_ns: 20_000,
            bandwidth_mbps: net.ports[port].mbps,
            exclusivity: 100,
            put: false,
            get: false,
            wire_id: wire::WIRE_ID,
        };
        Module { net, port, caps }
    }

    /// What this interface's part of the published addresses is.
    pub fn published(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.net.ports[self.port].listeners.iter().for_each(|(entry, _)| entry.push(&mut bytes));
        bytes
    }

    /// Checks what a peer published and chooses its interface for this one, if any.
    pub fn connect(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        if peer.is_self {
            return Ok(None);
        }
        if peer.index >= self.net.job.size {
            return Ok(None);
        }
        let theirs = self.checked(peer)?;
        let ours: Vec<Entry> =
            self.net.ports.iter().flat_map(|port| &port.listeners).map(|(entry, _)| *entry).collect();
        let lower = self.net.job.index < peer.index;
        let pairs = if lower { pairing::pairs(&ours, &theirs) } else { pairing::pairs(&theirs, &ours) };
        let mine = |(low, high): &(usize, usize)| {
            let (own, other) = if lower { (*low, *high) } else { (*high, *low) };
            (ours[own], theirs[other])
        };
        let found = pairs.iter().map(mine).find(|(own, _)| own.interface as usize == self.port);
        let Some((local, remote)) = found else { return Ok(None) };
        match self.net.add(peer.index, self.port, local, remote) {
            Some(endpoint) => Ok(Some(endpoint)),
            None => Err(Error::Exists),
        }
    }

    /// Nothing goes to or comes from a peer any more.
    pub fn forget(&self, endpoint: Endpoint) {
        let Some(connection) = self.net.connection(endpoint.0) else { return };
        self.net.close(connection);
        self.net.receiving.lock().dismiss(endpoint.0);
    }

    fn checked(&self, peer: &Peer<'_>) -> Result<Vec<Entry>> {
        match wire::wire_id_of(peer.address) {
            Some(wire::WIRE_ID) => {}
            theirs => {
                message!(
                    "btl/tcp: process {} speaks wire format {:#010x}, this one {:#010x} ({}); \
                     all processes of a job need the same version of this library",
                    peer.index,
                    theirs.unwrap_or(0),
                    wire::WIRE_ID,
                    wire::FORMAT
                );
                return Err(Error::Mismatch);
            }
        }
        let entries = wire::entries(peer.address).ok_or(Error::Malformed)?;
        if entries.iter().any(|entry| entry.job != self.net.job.number) {
            message!(
                "btl/tcp: process {} published addresses of another job; check how the job was launched",
                peer.index
            );
            return Err(Error::Malformed);
        }
        Ok(entries)
    }
}

impl wait::Sockets for Net {
    fn sleep(&self, at_most_us: u64) -> bool {
        crate::poll::sleep(self, at_most_us)
    }

    fn watch(&self, descriptor: i32) -> bool {
        crate::raw::watch_bell(self, descriptor)
    }

    fn is_needed(&self) -> bool {
        self.possible.load(Ordering::Relaxed) > 0
    }

    fn urge(&self) {
        self.receiving.lock().urge();
    }
}
