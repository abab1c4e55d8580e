//! One interface's module: its abilities, its peers, and the calls of `framework::btl`.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::pair::{self, Own};
use crate::pairing;
use crate::params::{self, Limits};
use crate::path::Path;
use crate::poll::Tcp;
use crate::raw;
use crate::record::Protect;
use crate::transport::Token;
use crate::wire::{self, AddressRecord};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{
    self, AmId, BrokenPath, Caps, Endpoint, Full, PREFIX_BYTES_MAX, Peer, ProcessName, RemoteCaps, RxMessage,
    Throughput,
};
use opal_core::framework::reachable::Weight;
use opal_core::mem::Untrusted;
use opal_core::sync::Ordering;
use opal_core::{Error, Result, message, progress, wait};

/// The part of the transport behind one interface.
pub struct Module {
    tcp: &'static Tcp,
    interface: usize,
    /// It is the only one, and chooses among all interfaces.
    is_alone: bool,
    caps: Caps,
}

/// What a module promises, over an interface of this speed.
pub fn caps(limits: &Limits, bandwidth_mbps: u32) -> Caps {
    Caps {
        immediate_bits: 64,
        // What lies in one run is written from where it lies.
        inline_bytes: limits.fragment_bytes,
        eager_bytes: limits.eager_bytes,
        send_bytes: limits.fragment_bytes,
        latency_ns: 20_000,
        bandwidth_mbps,
        exclusivity: 100,
        remote: RemoteCaps::NONE,
        wire_id: wire::WIRE_ID,
    }
}

impl Module {
    /// Of the transport's interface with this number.
    pub fn new(tcp: &'static Tcp, interface: usize) -> Module {
        let caps = caps(&tcp.transport.limits, tcp.transport.interfaces[interface].mbps);
        Module { tcp, interface, is_alone: false, caps }
    }

    /// Of all of them: for processes of other jobs alone.
    pub fn of_any_interface(tcp: &'static Tcp) -> Module {
        Module { is_alone: true, ..Module::new(tcp, 0) }
    }

    /// Checks what a peer published and chooses its interface for this one, if any.
    fn connect(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        let transport = &self.tcp.transport;
        // A process whose job needs no sockets publishes nothing.
        if peer.is_self || peer.address.is_empty() {
            return Ok(None);
        }
        if peer.index >= transport.job.size {
            return self.connect_beyond_job(peer);
        }
        let theirs = self.checked_records(peer, peer.address, transport.job.number)?;
        let ours = self.ours();
        let lower = transport.job.index < peer.index;
        let (found, pairs) = self.choose(&ours, &theirs, lower);
        let Some(ends) = found else {
            if pairs.is_empty() && self.interface == 0 && !theirs.is_empty() {
                self.say_apart(peer, &ours, &theirs);
            }
            return Ok(None);
        };
        let (guess, spare) = self.guesses(&ours, &theirs, ends, pairs);
        match transport.add_guessing(peer.index, self.interface, (ends.local, ends.remote), guess, spare) {
            Some(endpoint) => Ok(Some(endpoint)),
            None => Err(Error::Exists),
        }
    }

    /// As `connect` for a process of another job, which has published for such only if it can be reached by them.
    fn connect_beyond_job(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        let transport = &self.tcp.transport;
        let Some(own) = transport.own.get() else { return Ok(None) };
        btl::check_wire_id("btl/tcp", peer.index, wire::wire_id_of(peer.address), wire::WIRE_ID, wire::FORMAT)?;
        let (other, records) = pair::identity(peer.address).ok_or(Error::Malformed)?;
        let theirs = self.checked_records(peer, records, other.name.job)?;
        let ours = self.ours();
        let (found, pairs) = self.choose(&ours, &theirs, own.name < other.name);
        let Some(ends) = found else { return Ok(None) };
        let (guess, spare) = self.guesses(&ours, &theirs, ends, pairs);
        let endpoint = transport.add_beyond_job(peer.index, (ends.local, ends.remote), guess, spare, own.pair(&other));
        endpoint.map(Some).ok_or(Error::OutOfResource)
    }

    /// All addresses of this process.
    fn ours(&self) -> Vec<AddressRecord> {
        let listeners = self.tcp.transport.interfaces.iter().flat_map(|interface| &interface.listeners);
        listeners.map(|(record, _)| *record).collect()
    }

    /// The ends of this module's connection, if it has one, and of all modules'. `lower`: this process is the lower of both.
    fn choose(
        &self,
        ours: &[AddressRecord],
        theirs: &[AddressRecord],
        lower: bool,
    ) -> (Option<Path>, Vec<(usize, usize)>) {
        let pairs = pairing::connections(ours, theirs, lower);
        let mine = |(own, other): &(usize, usize)| Path { local: ours[*own], remote: theirs[*other] };
        let is_own = |path: &Path| self.is_alone || path.local.interface as usize == self.interface;
        (pairs.iter().map(mine).find(is_own), pairs)
    }

    /// Between which addresses this process makes a connection with these ends, first and then. What other modules make of `pairs` has
    /// a connection of its own, and what is spare is needed once.
    fn guesses(
        &self,
        ours: &[AddressRecord],
        theirs: &[AddressRecord],
        ends: Path,
        pairs: Vec<(usize, usize)>,
    ) -> (Path, Vec<Path>) {
        let is_first =
            pairs.first().is_some_and(|(own, other)| ours[*own] == ends.local && theirs[*other] == ends.remote);
        if !is_first || ends.local.network == ends.remote.network {
            return (ends, Vec::new());
        }
        let others = if self.is_alone { &[] } else { pairs.get(1..).unwrap_or(&[]) };
        let transport = &self.tcp.transport;
        // No path leaves the networks for which the connection is protected as it is.
        let protect = transport.protection(&ends.local, &ends.remote);
        let is_spare = |pair: &(usize, usize)| {
            !others.contains(pair) && transport.protection(&ours[pair.0], &theirs[pair.1]) == protect
        };
        let attempts = pairing::attempts(ours, theirs).into_iter().filter(|(pair, _)| is_spare(pair));
        let mut attempts: Vec<(Path, Weight)> = attempts
            .map(|((own, other), weight)| (Path { local: ours[own], remote: theirs[other] }, weight))
            .take(SPARE_MOST)
            .collect();
        let weight = attempts.iter().find(|(path, _)| *path == ends).map_or(Weight::NONE, |(_, weight)| *weight);
        // Where both are on one network, or nobody knows better, the connection takes its own ends.
        let guess = match attempts.first() {
            Some((best, other)) if other.nearness > weight.nearness => *best,
            _ => ends,
        };
        attempts.retain(|(path, weight)| *path != guess && *weight != Weight::NONE);
        let spare: Vec<Path> = attempts.into_iter().map(|(path, _)| path).collect();
        (guess, spare)
    }

    /// Nobody can guess a way. The processes of a node may be in network namespaces of their own.
    fn say_apart(&self, peer: &Peer<'_>, ours: &[AddressRecord], theirs: &[AddressRecord]) {
        let is_apart = |own: &AddressRecord| theirs.iter().all(|record| record.network != own.network);
        if !ours.iter().all(is_apart) {
            return;
        }
        let is_loopback = ours.iter().all(|record| record.loopback);
        if self.tcp.transport.job.one_node && peer.same_node && is_loopback {
            message!(
                "btl/tcp: process {} is on this node in another network namespace, and a job on one node listens on the \
                 loopback alone; name the interfaces that join the two with `--mca btl_tcp_if_include`",
                peer.index
            );
        } else {
            message!(
                "btl/tcp: none of the addresses of {} ({}) can be reached from one of this process ({}): they are of other families, lead \
                 to this host itself, or lead nowhere; name interfaces that join the two with `--mca btl_tcp_if_include`",
                btl::peer_named(peer.index),
                listed(theirs),
                listed(ours)
            );
        }
    }

    /// The records that a peer of this job published.
    fn checked_records(&self, peer: &Peer<'_>, published: &[u8], job: u64) -> Result<Vec<AddressRecord>> {
        btl::check_wire_id("btl/tcp", peer.index, wire::wire_id_of(peer.address), wire::WIRE_ID, wire::FORMAT)?;
        let records = wire::records(published).ok_or(Error::Malformed)?;
        if records.iter().any(|record| record.job != job) {
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

    fn address_beyond_job(&self, name: ProcessName) -> Vec<u8> {
        let transport = &self.tcp.transport;
        let own = match transport.own.get() {
            Some(own) => own,
            None => match Own::new(name) {
                Ok(own) => transport.own.call_once(|| own),
                // Without random numbers nobody can prove anything.
                Err(_) => return Vec::new(),
            },
        };
        let mut bytes = Vec::new();
        if self.interface == 0 {
            own.push(&mut bytes);
        }
        match self.is_alone {
            true => self.ours().iter().for_each(|record| record.push(&mut bytes)),
            false => bytes.extend(btl::Module::address(self)),
        }
        bytes
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.connect(&peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        let Some(connection) = self.tcp.transport.connection(endpoint.0) else { return };
        self.tcp.transport.take_leave(connection);
        self.tcp.transport.close(connection);
        self.tcp.poller.lock().remove(endpoint.0);
    }

    fn throughput(&self, to: Endpoint) -> Option<Throughput> {
        // What the user says of speeds is the proportion.
        if !params::IF_SPEED.text().trim().is_empty() {
            return None;
        }
        self.tcp.transport.connection(to.0)?.tx.lock().throughput()
    }

    fn has_failed_over(&self, to: Endpoint) -> bool {
        self.tcp.transport.connection(to.0).is_some_and(|connection| connection.tx.lock().failover.is_some())
    }

    fn path_detail(&self, to: Endpoint) -> String {
        let transport = &self.tcp.transport;
        let name = &transport.interfaces[self.interface].name;
        match transport.connection(to.0).map(|connection| connection.protect) {
            Some(Protect::None) | None => name.clone(),
            Some(protect) => format!("{name}, {}", protect.name()),
        }
    }

    fn broken_paths(&self) -> Vec<BrokenPath> {
        // One answer covers all interfaces.
        if self.interface == 0 { self.tcp.transport.broken_paths() } else { Vec::new() }
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
            self.tcp.transport.finish();
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
        let (payload, frame) = poller.peek(&self.tcp.transport, from.0)?;
        let (at, bytes) = (payload.as_ptr(), payload.len());
        // SAFETY: the frame lies in its connection's buffer until `consume`: the caller is the only thread and neither
        // polls nor reads before.
        let payload = unsafe { Untrusted::new(at, bytes) };
        Some(RxMessage { am: frame.kind, immediate: frame.immediate, payload })
    }

    fn consume(&self, from: Endpoint) {
        self.tcp.poller.lock().consume(&self.tcp.transport, from.0);
    }
}

impl wait::Sockets for Tcp {
    fn sleep(&self, at_most_us: u64) -> bool {
        Tcp::sleep(self, at_most_us)
    }

    fn watch(&self, descriptor: i32) -> bool {
        raw::watch_waker(&self.transport.epoll, Token::Waker.encode(), descriptor)
    }

    fn is_needed(&self) -> bool {
        self.transport.possible.load(Ordering::Relaxed) > 0
    }

    fn poll_now(&self) {
        self.poller.lock().poll_now();
    }
}

/// For people.
fn listed(records: &[AddressRecord]) -> String {
    let addresses: Vec<String> = records.iter().map(|record| format!("{}", record.address)).collect();
    addresses.join(", ")
}

/// So many pairs of addresses are tried where no connection can be made, at the same time.
const SPARE_MOST: usize = 16;
