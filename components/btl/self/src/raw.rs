//! The transport's calls.
#![allow(unsafe_code)]

use crate::module::{CAPS, Loopback, Payload};
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer, deliver};
use opal_core::framework::memcpy;
use opal_core::mem::Untrusted;
use opal_core::sync::Ordering;

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
        self.push(am, immediate, || {
            let mut payload = Payload::new(bytes);
            fill(payload.bytes_mut().as_mut_ptr());
            payload
        })
    }

    fn poll(&self) -> usize {
        let mut taken = 0;
        // A receiver may send to this process again: what comes that way is left for the next poll in the end.
        while taken < MESSAGES_PER_POLL {
            let Some(message) = self.pop() else { break };
            let me = self.me.load(Ordering::Relaxed);
            deliver(message.am, me, message.immediate, Untrusted::of(message.payload.bytes()));
            taken += 1;
        }
        taken
    }
}

const MESSAGES_PER_POLL: usize = 64;
