//! The module: its capabilities and its peers. Each verb has a file of its own.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::params::EAGER_LIMIT;
use crate::raw::{Interface, Run};
use crate::selection::TransportKind;
use crate::state::State;
use crate::wire::{Address, FORMAT, HEADER_BYTES, LABEL, WIRE_ID};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{
    AmId, Begun, Caps, Completion, Endpoint, Full, Job, Module, Peer, Registration, Remote, RemoteCaps,
};
use opal_core::sync::{ConditionalLock, Once};
use opal_core::{Error, Result, message, sys, wait};
use opal_fabric::head;

/// The one module.
pub static UCT: Once<Uct> = Once::new();

/// Messages by one interface.
pub struct Uct {
    caps: Caps,
    kind: TransportKind,
    /// Transports and devices, for people.
    path: String,
    /// What is published.
    address: Vec<u8>,
    pub state: ConditionalLock<State>,
}

impl Uct {
    /// Over an interface. `Err` with half a sentence.
    pub fn new(
        interface: Interface,
        version: [u8; 2],
        (kind, path): (TransportKind, String),
        job: &Job,
    ) -> core::result::Result<Uct, String> {
        let (messages, memory) = interface.places();
        let address = Address { longest: interface.longest() as u32, version, messages, memory };
        let address = address.encode().ok_or("its address is too long")?;
        let payload = interface.longest() - HEADER_BYTES;
        let (put_bytes, get_bytes) = interface.reach();
        let (latency_ns, bandwidth_mbps) = match kind {
            // What UCT computes for it from the system's nominal speed of the interface, 100 Mb/s and less, misleads.
            TransportKind::Sockets => (SOCKETS_LATENCY_NS, SOCKETS_MBPS),
            _ => interface.speed(),
        };
        let caps = Caps {
            immediate_bits: 64,
            inline_bytes: INLINE_BYTES.min(payload),
            eager_bytes: EAGER_LIMIT.size().clamp(INLINE_BYTES.min(payload), payload),
            send_bytes: payload,
            latency_ns,
            bandwidth_mbps,
            exclusivity: EXCLUSIVITY,
            // What moves memory copies it by the system: the peer may compute, and there are no atomic operations.
            remote: RemoteCaps { put_bytes, get_bytes, peer_may_compute: get_bytes > 0, ..RemoteCaps::NONE },
            wire_id: WIRE_ID,
        };
        Ok(Uct { caps, kind, path, address, state: ConditionalLock::new(State::new(interface, *job)) })
    }

    /// Has sleeps end when something comes. `false`: nobody tells a process that sleeps, since the transport has no descriptor.
    pub fn watch(&self) -> bool {
        let descriptor = self.state.lock().interface.wait_descriptor();
        descriptor.is_some_and(|descriptor| wait::watch_queue(descriptor, is_quiet))
    }

    /// Checks a peer's address against this process's own. `Err` after a message.
    fn check<'a>(&self, rank: u32, bytes: &'a [u8]) -> Result<Address<'a>> {
        let parsed = (Address::parse(&self.address), Address::parse(bytes));
        let (own, theirs) = head::addresses(LABEL, rank, bytes, (WIRE_ID, FORMAT), parsed)?;
        let named = |address: &Address<'_>| {
            let [major, minor] = address.version;
            format!("{} of UCX {major}.{minor}", String::from_utf8_lossy(address.messages.transport))
        };
        let (mine, its) = (named(&own), named(&theirs));
        if mine != its {
            message!(
                "btl/uct: no transport in common with rank {rank}: this process uses {mine}, rank {rank} {its}; name one that all hosts \
                 have, by --mca btl_uct_transports, and give all hosts the same UCX"
            );
            return Err(Error::Mismatch);
        }
        let kind =
            |address: &Address<'_>| (address.longest, address.messages.device.len(), address.messages.interface.len());
        if kind(&own) != kind(&theirs) {
            message!(
                "btl/uct: rank {rank} and this process have messages or addresses of different lengths ({:?}, {:?}): give both the same \
                 btl_uct_fragment_size, and name devices of one network by --mca btl_uct_devices",
                kind(&theirs),
                kind(&own)
            );
            return Err(Error::Mismatch);
        }
        Ok(theirs)
    }
}

impl Module for Uct {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        self.address.clone()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        let rank = peer.index;
        let mut state = self.state.lock();
        if !head::may_add(&peer, &state.job, &state.peers)? {
            return Ok(None);
        }
        let is_of_node = self.kind == TransportKind::Node;
        if is_of_node && !peer.same_node {
            return Ok(None);
        }
        let address = self.check(rank, peer.address)?;
        if !state.interface.reaches(&address.messages) {
            if is_of_node {
                return Ok(None);
            }
            message!(
                "btl/uct: {} of this process does not reach rank {rank}, as UCX says: name devices of one network by --mca \
                 btl_uct_devices",
                self.path
            );
            return Err(Error::Unreachable);
        }
        match state.interface.connect(&address.messages) {
            Ok(ep) => {
                let memory = address.memory.and_then(|place| state.interface.connect_memory(&place));
                state.add(rank, peer.index, ep, memory);
                Ok(Some(Endpoint(rank)))
            }
            Err(status) => {
                let why = state.interface.words(status);
                message!("btl/uct: {} makes no endpoint for rank {rank}: {why}", self.path);
                Err(Error::Unreachable)
            }
        }
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.state.lock().leaves(endpoint.0);
    }

    fn peer_ended(&self, endpoint: Endpoint) {
        self.state.lock().ended.note(endpoint.0, sys::monotonic_ns());
    }

    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let mut state = self.state.lock();
        let (ep, head) = state.begin(to.0, immediate).ok_or(Full)?;
        // SAFETY: the caller's promise.
        let posted = unsafe { state.interface.send_run(ep, am, &head, payload, bytes) };
        if state.sent(to.0, posted) { Ok(()) } else { Err(Full) }
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        self.send_filled(to, am, immediate, bytes, fill)
    }

    unsafe fn put(
        &self,
        to: Endpoint,
        from: *const u8,
        remote: Remote,
        bytes: usize,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        let run = Run { at: from.cast_mut(), bytes, remote: remote.address };
        self.state.lock().reach(to.0, remote, done, |state, slot, ep, key| {
            // SAFETY: the caller's promise.
            unsafe { state.interface.put(slot, ep, run, key) }
        })
    }

    unsafe fn get(
        &self,
        from: Endpoint,
        to: *mut u8,
        remote: Remote,
        bytes: usize,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        let run = Run { at: to, bytes, remote: remote.address };
        self.state.lock().reach(from.0, remote, done, |state, slot, ep, key| {
            // SAFETY: the caller's promise.
            unsafe { state.interface.get(slot, ep, run, key) }
        })
    }

    fn register_memory(&self, address: *mut u8, bytes: usize) -> Result<Registration> {
        self.expose(address, bytes)
    }

    fn unregister_memory(&self, registration: Registration) {
        self.hide(&registration);
    }

    fn import_key(&self, _of: Endpoint, key: &[u8]) -> Result<u64> {
        self.keep_key(key)
    }

    fn drop_key(&self, _of: Endpoint, key: u64) {
        self.forget_key(key);
    }

    fn path_detail(&self, _to: Endpoint) -> String {
        self.path.clone()
    }

    fn is_drained(&self) -> bool {
        self.state.lock().is_drained()
    }

    fn finish(&self) {
        self.state.lock().leave();
    }

    fn poll(&self) -> usize {
        self.poll_once()
    }
}

/// Whether a process may sleep, as UCT wants it asked before each sleep.
fn is_quiet() -> bool {
    UCT.get().is_none_or(|uct| uct.state.lock().interface.may_sleep())
}

/// What pml/ob1 sends without a request.
const INLINE_BYTES: usize = 1024;
/// Above btl/tcp: a fabric that was taken is used for what it reaches. Below btl/ofi.
const EXCLUSIVITY: u32 = 140;
/// As btl/ofi has it for the system's sockets.
const SOCKETS_LATENCY_NS: u32 = 12_000;
const SOCKETS_MBPS: u32 = 10_000;
