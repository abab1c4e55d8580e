//! The module: its capabilities, and the calls of `framework::btl`.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::queue::{INLINE_BYTES, Payload, Queue};
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer, deliver};
use opal_core::framework::memcpy;
use opal_core::mem::Untrusted;
use opal_core::sync::{AtomicU32, Ordering};

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
    put: false,
    get: false,
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

    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        // SAFETY: `payload` is readable for `bytes` by the caller's promise, and the place is new.
        self.send(to, am, immediate, bytes, &mut |place| unsafe { memcpy::copy(place, payload, bytes) })
    }

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
