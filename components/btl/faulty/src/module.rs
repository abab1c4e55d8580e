//! The module: another one, and what happens to its messages.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::dice::{self, CORRUPTED, DELAYED, DROPPED, DUPLICATED, Fault, REFUSED, REORDERED};
use crate::held::{Held, Queue};
use crate::raw;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer, RemoteCaps, RxMessage};
use opal_core::framework::timer::now_ns;
use opal_core::sync::ConditionalLock;
use opal_core::wait::Timed;

/// A transport with faults. Its endpoints are those of the other one.
pub struct Faulty {
    inner: &'static dyn Module,
    caps: Caps,
    waiting: ConditionalLock<Waiting>,
}

struct Waiting {
    queue: Queue,
    // Whether there are any.
    timed: Timed,
}

impl Faulty {
    /// Over this one.
    pub fn new(inner: &'static dyn Module) -> Faulty {
        let caps = Caps { remote: RemoteCaps::NONE, ..*inner.caps() };
        let waiting = ConditionalLock::new(Waiting { queue: Queue::new(), timed: Timed::new() });
        Faulty { inner, caps, waiting }
    }

    /// A message with one of its bits changed: of the payload, the immediate or the kind.
    fn send_corrupted(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        bit: u64,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let (payload_bits, immediate_bits) = (8 * bytes as u64, u64::from(self.caps.immediate_bits));
        let bit = bit % (payload_bits + immediate_bits + KIND_BITS);
        if bit < payload_bits {
            return self.inner.send(to, am, immediate, bytes, &mut |place| {
                fill(place);
                raw::flip(place, bytes, bit as usize);
            });
        }
        match bit - payload_bits {
            bit if bit < immediate_bits => self.inner.send(to, am, immediate ^ 1 << bit, bytes, fill),
            bit => self.inner.send(to, am ^ 1 << (bit - immediate_bits), immediate, bytes, fill),
        }
    }

    fn send_twice(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let mut payload = Vec::new();
        self.inner.send(to, am, immediate, bytes, &mut |place| {
            payload = filled(bytes, fill);
            raw::copy(place, &payload);
        })?;
        // Without room there is one of it.
        if self.inner.send(to, am, immediate, bytes, &mut |place| raw::copy(place, &payload)).is_ok() {
            DUPLICATED.count();
        }
        Ok(())
    }
}

impl Waiting {
    fn hold(&mut self, held: Held) {
        self.queue.push(held);
        self.timed.set(true);
    }
}

fn filled(bytes: usize, fill: &mut dyn FnMut(*mut u8)) -> Vec<u8> {
    let mut payload = vec![0; bytes];
    fill(payload.as_mut_ptr());
    payload
}

impl Module for Faulty {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn inner(&self) -> Option<&dyn Module> {
        Some(self.inner)
    }

    fn address(&self) -> Vec<u8> {
        self.inner.address()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.inner.add_peer(peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.inner.remove_peer(endpoint);
    }

    fn peer_ended(&self, endpoint: Endpoint) {
        self.inner.peer_ended(endpoint);
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let mut waiting = self.waiting.lock();
        if waiting.queue.is_full() {
            return Err(Full);
        }
        let mut hold = |due_ns, overtaken_by, waiting: &mut Waiting| {
            waiting.hold(Held { to, am, immediate, payload: filled(bytes, fill), due_ns, overtaken_by });
            Ok(())
        };
        let fault = dice::roll();
        match fault {
            Fault::Refuse => {
                REFUSED.count();
                return Err(Full);
            }
            Fault::Delay(ns) => {
                DELAYED.count();
                return hold(now_ns() + ns, None, &mut waiting);
            }
            Fault::Reorder(messages) => {
                REORDERED.count();
                return hold(now_ns() + OVERTAKEN_NS, Some(messages), &mut waiting);
            }
            Fault::Drop => {
                DROPPED.count();
                filled(bytes, fill);
                return Ok(());
            }
            _ if waiting.queue.holds_up(to) => return hold(0, None, &mut waiting),
            Fault::None | Fault::Corrupt(_) | Fault::Duplicate => {}
        }
        match fault {
            Fault::Corrupt(bit) => {
                self.send_corrupted(to, am, immediate, bytes, bit, fill)?;
                CORRUPTED.count();
            }
            Fault::Duplicate => self.send_twice(to, am, immediate, bytes, fill)?,
            _ => self.inner.send(to, am, immediate, bytes, fill)?,
        }
        waiting.queue.passed();
        Ok(())
    }

    fn is_drained(&self) -> bool {
        self.waiting.lock().queue.is_empty() && self.inner.is_drained()
    }

    fn poll(&self) -> usize {
        let mut waiting = self.waiting.lock();
        let Waiting { queue, timed } = &mut *waiting;
        let left = queue.release(now_ns(), |Held { to, am, immediate, payload, .. }| {
            self.inner.send(*to, *am, *immediate, payload.len(), &mut |place| raw::copy(place, payload)).is_ok()
        });
        timed.set(!queue.is_empty());
        drop(waiting);
        left + self.inner.poll()
    }

    fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<RxMessage<'_>> {
        self.inner.poll_peer(from, polls)
    }

    fn consume(&self, from: Endpoint) {
        self.inner.consume(from);
    }
}

const KIND_BITS: u64 = 3;
/// Where nothing follows that could pass.
const OVERTAKEN_NS: u64 = 1_000_000;
