//! One interface's module: its abilities, its peers, and the calls of `framework::btl`.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::pairing;
use crate::poll::Tcp;
use crate::raw;
use crate::record::Protect;
use crate::wire::{self, AddressRecord};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, PREFIX_BYTES_MAX, Peer, RxMessage};
use opal_core::mem::Untrusted;
use opal_core::sync::Ordering;
use opal_core::{Error, Result, message, progress, wait};

/// The part of the transport behind one interface.
pub struct Module {
    tcp: &'static Tcp,
    interface: usize,
    caps: Caps,
}

impl Module {
    /// Of the transport's interface with this number.
    pub fn new(tcp: &'static Tcp, interface: usize) -> Module {
        let limits = &tcp.transport.limits;
        let caps = Caps {
            immediate_bits: 64,
            // What lies in one run is written from where it lies.
            inline_bytes: limits.fragment_bytes,
            eager_bytes: limits.eager_bytes,
            send_bytes: limits.fragment_bytes,
            latency_ns: 20_000,
            bandwidth_mbps: tcp.transport.interfaces[interface].mbps,
            exclusivity: 100,
            put: false,
            get: false,
            wire_id: wire::WIRE_ID,
        };
        Module { tcp, interface, caps }
    }

    /// Checks what a peer published and chooses its interface for this one, if any.
    fn connect(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        let transport = &self.tcp.transport;
        if peer.is_self || peer.index >= transport.job.size {
            return Ok(None);
        }
        let theirs = self.checked_records(peer)?;
        let listeners = transport.interfaces.iter().flat_map(|interface| &interface.listeners);
        let ours: Vec<AddressRecord> = listeners.map(|(record, _)| *record).collect();
        let lower = transport.job.index < peer.index;
        let pairs = if lower { pairing::pairs(&ours, &theirs) } else { pairing::pairs(&theirs, &ours) };
        let mine = |(low, high): &(usize, usize)| {
            let (own, other) = if lower { (*low, *high) } else { (*high, *low) };
            (ours[own], theirs[other])
        };
        let found = pairs.iter().map(mine).find(|(own, _)| own.interface as usize == self.interface);
        let Some((local, remote)) = found else {
            if pairs.is_empty() && self.interface == 0 {
                self.say_apart(peer, &ours, &theirs);
            }
            return Ok(None);
        };
        match transport.add(peer.index, self.interface, local, remote) {
            Some(endpoint) => Ok(Some(endpoint)),
            None => Err(Error::Exists),
        }
    }

    /// The processes of a node may be in network namespaces of their own.
    fn say_apart(&self, peer: &Peer<'_>, ours: &[AddressRecord], theirs: &[AddressRecord]) {
        let is_apart = |own: &AddressRecord| theirs.iter().all(|record| record.network != own.network);
        if self.tcp.transport.job.one_node && peer.same_node && ours.iter().all(is_apart) && !theirs.is_empty() {
            message!(
                "btl/tcp: process {} is on this node in another network namespace, and a job on one node listens on the \
                 loopback alone; name the interfaces that join the two with `--mca btl_tcp_if_include`",
                peer.index
            );
        }
    }

    fn checked_records(&self, peer: &Peer<'_>) -> Result<Vec<AddressRecord>> {
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
        let records = wire::records(peer.address).ok_or(Error::Malformed)?;
        if records.iter().any(|record| record.job != self.tcp.transport.job.number) {
            message!(
                "btl/tcp: process {} published addresses of another job; check how the job was launched",
                peer.index
            );
            return Err(Error::Malformed);
        }
        Ok(records)
    }
}

impl btl::Module for Module {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let listeners = &self.tcp.transport.interfaces[self.interface].listeners;
        listeners.iter().for_each(|(record, _)| record.push(&mut bytes));
        bytes
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.connect(&peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        let Some(connection) = self.tcp.transport.connection(endpoint.0) else { return };
        self.tcp.transport.close(connection);
        self.tcp.poller.lock().remove(endpoint.0);
    }

    fn path_detail(&self, to: Endpoint) -> String {
        let transport = &self.tcp.transport;
        let name = &transport.interfaces[self.interface].name;
        match transport.connection(to.0).map(|connection| connection.protect) {
            Some(Protect::None) | None => name.clone(),
            Some(protect) => format!("{name}, {}", protect.name()),
        }
    }

    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert!(bytes <= self.caps.inline_bytes);
        if bytes == 0 {
            return self.tcp.transport.send(to, am, immediate, &[]);
        }
        // SAFETY: `payload` is readable for `bytes` by the caller's promise, and `bytes` is not 0.
        self.tcp.transport.send(to, am, immediate, unsafe { core::slice::from_raw_parts(payload, bytes) })
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        assert!(bytes <= self.caps.send_bytes);
        self.tcp.transport.send_filled(to, am, immediate, bytes, |queue| raw::append(queue, bytes, fill))
    }

    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert!(prefix.len() <= PREFIX_BYTES_MAX && prefix.len() + bytes <= self.caps.send_bytes);
        if bytes == 0 {
            return self.tcp.transport.send(to, am, immediate, prefix);
        }
        // SAFETY: `run` is readable for `bytes` by the caller's promise, and `bytes` is not 0.
        self.tcp.transport.send_behind(to, am, immediate, prefix, unsafe { core::slice::from_raw_parts(run, bytes) })
    }

    fn flush(&self, to: Endpoint) {
        if let Some(connection) = self.tcp.transport.connection(to.0) {
            self.tcp.transport.flush_one(connection);
        }
    }

    fn flush_all(&self) {
        if self.interface == 0 {
            self.tcp.transport.flush();
        }
    }

    fn is_drained(&self) -> bool {
        self.interface != 0 || self.tcp.transport.is_drained()
    }

    fn finish(&self) {
        if self.interface == 0 {
            self.tcp.poller.lock().finish();
        }
    }

    fn poll(&self) -> usize {
        // One poll covers all interfaces.
        if self.interface != 0 {
            return 0;
        }
        // Empty polls come often, and mostly nothing was coalesced.
        if progress::has_coalesced() {
            self.tcp.transport.flush();
        }
        let moved = self.tcp.poll();
        if progress::has_coalesced() {
            self.tcp.transport.flush();
        }
        moved
    }

    fn poll_peer(&self, from: Endpoint, _polls: u32) -> Option<RxMessage<'_>> {
        let mut poller = self.tcp.poller.lock();
        let (payload, frame) = poller.peek(from.0)?;
        let (at, bytes) = (payload.as_ptr(), payload.len());
        // SAFETY: the frame lies in its connection's buffer until `consume`: the caller is the only thread and neither
        // polls nor reads before.
        let payload = unsafe { Untrusted::new(at, bytes) };
        Some(RxMessage { am: frame.kind, immediate: frame.immediate, payload })
    }

    fn consume(&self, from: Endpoint) {
        self.tcp.poller.lock().consume(from.0);
    }
}

impl wait::Sockets for Tcp {
    fn sleep(&self, at_most_us: u64) -> bool {
        Tcp::sleep(self, at_most_us)
    }

    fn watch(&self, descriptor: i32) -> bool {
        raw::watch_waker(&self.transport, descriptor)
    }

    fn is_needed(&self) -> bool {
        self.transport.possible.load(Ordering::Relaxed) > 0
    }

    fn poll_now(&self) {
        self.poller.lock().poll_now();
    }
}
