//! Whoever pushes to a conduit himself must wake the peer that sleeps behind it.
#![allow(unsafe_code)] // memory for a conduit, and a transport

use super::*;
use opal_core::Result;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer};
use opal_core::queue::lines::{Consumer, LEAST_POOL_BYTES, Memory, Producer, RING_BYTES};
use std::boxed::Box;
use std::vec::Vec;

#[repr(C, align(64))]
struct Area([u8; RING_BYTES + LEAST_POOL_BYTES + 64]);

/// A transport that counts how often it was asked to wake, and whose other calls nobody should need.
struct Bell {
    woken: AtomicU32,
}

impl Module for Bell {
    fn caps(&self) -> &Caps {
        unreachable!("the link knows them")
    }

    fn address(&self) -> Vec<u8> {
        Vec::new()
    }

    fn add_peer(&self, _peer: Peer<'_>) -> Result<Option<Endpoint>> {
        Ok(None)
    }

    fn remove_peer(&self, _endpoint: Endpoint) {}

    unsafe fn send_inline(
        &self,
        _to: Endpoint,
        _am: AmId,
        _head: u64,
        _payload: *const u8,
        _bytes: usize,
    ) -> core::result::Result<(), Full> {
        Err(Full)
    }

    fn send(
        &self,
        _to: Endpoint,
        _am: AmId,
        _head: u64,
        _bytes: usize,
        _fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        Err(Full)
    }

    fn wake(&self, peer: Endpoint) {
        assert_eq!(peer, Endpoint(5));
        self.woken.fetch_add(1, Ordering::Relaxed);
    }

    fn poll(&self) -> usize {
        0
    }
}

/// A link whose peer sleeps when the word says so, behind a conduit that has carried its first message.
fn link() -> (Link, &'static Bell, &'static AtomicU32) {
    let base = Box::leak(Box::new(Area([0; RING_BYTES + LEAST_POOL_BYTES + 64]))).0.as_mut_ptr();
    let (pool, consumed) = (base.wrapping_add(RING_BYTES), base.wrapping_add(RING_BYTES + LEAST_POOL_BYTES));
    // SAFETY: within the area just leaked.
    let memory = unsafe { Memory::new(base, pool, LEAST_POOL_BYTES, consumed) };
    let asleep: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
    let bell: &'static Bell = Box::leak(Box::new(Bell { woken: AtomicU32::new(0) }));
    let conduit = Box::leak(Box::new(Conduit::new(Producer::new(memory), Consumer::new(memory), asleep, false)));
    // SAFETY: nothing is read.
    let first = unsafe { conduit.producer().push_inline(0, 0, core::ptr::null(), 0, false) };
    assert_eq!(first, Ok(()));
    let link = Link::of_test(bell, Some(conduit));
    (link, bell, asleep)
}

#[test]
fn a_sleeper_is_woken_by_what_is_pushed_for_it() {
    let (link, bell, asleep) = link();
    let conduit = link.conduit.unwrap();
    let data = [7u8; 1000];
    // SAFETY: readable for all of `data`.
    let short = || link.is_sent(unsafe { conduit.push(0, 1, data.as_ptr(), 8) });
    let longer = || crate::raw::send_bytes(&link, 0, 2, &data).is_ok();
    for (sleeps, woken) in [(0, 0), (1, 1), (1, 2), (0, 2)] {
        asleep.store(sleeps, Ordering::Relaxed);
        assert!(short() && longer());
        assert_eq!(bell.woken.load(Ordering::Relaxed), 2 * woken, "each of both wakes who sleeps, and nobody else");
    }
}

#[test]
fn what_was_not_pushed_is_not_sent() {
    let (link, bell, asleep) = link();
    asleep.store(1, Ordering::Relaxed);
    link.conduit.unwrap().close();
    assert!(!link.is_sent(Pushed::No));
    assert!(crate::raw::send_bytes(&link, 0, 2, &[7; 1000]).is_err());
    assert_eq!(bell.woken.load(Ordering::Relaxed), 0);
}
