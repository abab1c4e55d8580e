//! The module: its capabilities, and the calls of `framework::btl`.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::queue::{INLINE_BYTES, Payload, Queue};
use crate::raw;
use alloc::vec::Vec;
use opal_core::framework::btl::{
    AmId, Atomic, AtomicSet, Begun, Caps, Completion, Endpoint, Full, Module, Peer, Registration, Remote, RemoteCaps,
    Width, deliver,
};
use opal_core::mem::Untrusted;
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::{Error, Result};

/// The one module.
pub static MODULE: Loopback = Loopback { me: AtomicU32::new(0), queue: Queue::new() };

/// What it can do. The times are those of a copy within a core's own cache.
pub const CAPS: Caps = Caps {
    immediate_bits: 64,
    inline_bytes: INLINE_BYTES,
    eager_bytes: 8 * 1024,
    send_bytes: 64 * 1024,
    latency_ns: 20,
    bandwidth_mbps: 100_000,
    exclusivity: 65536,
    remote: RemoteCaps {
        put_bytes: usize::MAX,
        get_bytes: usize::MAX,
        atomics_of_4: AtomicSet::ALL,
        atomics_of_8: AtomicSet::ALL,
        atomic_with_processors: true,
        peer_may_compute: true,
    },
    wire_id: 0,
};

/// A transport to this process.
pub struct Loopback {
    // This process, as the caller knows it.
    me: AtomicU32,
    queue: Queue,
}

impl Module for Loopback {
    fn caps(&self) -> &Caps {
        &CAPS
    }

    fn address(&self) -> Vec<u8> {
        Vec::new()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        if !peer.is_self {
            return Ok(None);
        }
        self.me.store(peer.index, Ordering::Relaxed);
        Ok(Some(Endpoint(0)))
    }

    fn remove_peer(&self, _endpoint: Endpoint) {}

    fn send(
        &self,
        _to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        assert!(bytes <= CAPS.send_bytes);
        self.queue.push(am, immediate, || {
            let mut payload = Payload::new(bytes);
            fill(payload.bytes_mut().as_mut_ptr());
            payload
        })
    }

    unsafe fn put(
        &self,
        _to: Endpoint,
        from: *const u8,
        remote: Remote,
        bytes: usize,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        // SAFETY: the caller's promise; memory of the program's, in which it lets nothing overlap.
        unsafe { raw::write(remote.address, from, bytes) };
        Ok(Begun::Done(0))
    }

    unsafe fn get(
        &self,
        _from: Endpoint,
        to: *mut u8,
        remote: Remote,
        bytes: usize,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        // SAFETY: as in `put`.
        unsafe { raw::read(remote.address, to, bytes) };
        Ok(Begun::Done(0))
    }

    unsafe fn atomic(
        &self,
        _to: Endpoint,
        remote: Remote,
        atomic: Atomic,
        width: Width,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        // SAFETY: the caller's promise.
        Ok(Begun::Done(unsafe { raw::atomic(remote.address, atomic, width) }))
    }

    fn own_endpoint(&self) -> Result<Option<Endpoint>> {
        Ok(Some(Endpoint(0)))
    }

    fn register_memory(&self, address: *mut u8, _bytes: usize) -> Result<Registration> {
        Ok(Registration { handle: raw::published(address), key: Vec::new() })
    }

    fn import_key(&self, _of: Endpoint, key: &[u8]) -> Result<u64> {
        if key.is_empty() { Ok(0) } else { Err(Error::Malformed) }
    }

    fn poll(&self) -> usize {
        let mut taken = 0;
        // A handler may send to this process again: such messages are left for the next poll in the end.
        while taken < MESSAGES_PER_POLL {
            let Some(message) = self.queue.pop() else { break };
            let me = self.me.load(Ordering::Relaxed);
            deliver(message.am, me, message.immediate, Untrusted::of(message.payload.bytes()));
            taken += 1;
        }
        taken
    }
}

const MESSAGES_PER_POLL: usize = 64;
