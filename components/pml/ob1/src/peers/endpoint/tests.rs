//! Code that pushes to a FIFO pair without the transport must wake the peer that sleeps on it.
#![allow(unsafe_code)] // pushes what it owns

use super::*;
use crate::test_image::{Calls, Transport, fifo_pair};
use std::boxed::Box;

/// Counts how often the transport was asked to wake.
#[derive(Default)]
struct Waker {
    woken: AtomicU32,
}

impl Calls for Waker {
    fn wake(&self) {
        self.woken.fetch_add(1, Ordering::Relaxed);
    }
}

/// A endpoint whose peer sleeps when the word says so.
fn endpoint() -> (Endpoint, &'static Waker, &'static AtomicU32) {
    let (fifo_pair, asleep) = fifo_pair();
    let transport: &'static Transport<Waker> = Box::leak(Box::default());
    (Endpoint::of_test(transport, Some(fifo_pair)), &transport.0, asleep)
}

#[test]
fn a_sleeper_is_woken_by_what_is_pushed_for_it() {
    let (endpoint, transport, asleep) = endpoint();
    let fifo_pair = endpoint.fifo_pair.unwrap();
    let data = [7u8; 1000];
    // SAFETY: readable for all of `data`.
    let short = || endpoint.is_sent(unsafe { fifo_pair.push(0, 1, data.as_ptr(), 8, || ()) });
    let longer = || crate::raw::send_bytes(&endpoint, 0, 2, &data).is_ok();
    for (sleeps, woken) in [(0, 0), (1, 1), (1, 2), (0, 2)] {
        asleep.store(sleeps, Ordering::Relaxed);
        assert!(short() && longer());
        assert_eq!(
            transport.woken.load(Ordering::Relaxed),
            2 * woken,
            "each of both wakes a peer that sleeps, and no other"
        );
    }
}

#[test]
fn what_was_not_pushed_is_not_sent() {
    let (endpoint, transport, asleep) = endpoint();
    asleep.store(1, Ordering::Relaxed);
    endpoint.fifo_pair.unwrap().close();
    assert!(!endpoint.is_sent(Pushed::No));
    // SAFETY: nothing is read.
    assert_eq!(unsafe { endpoint.fifo_pair.unwrap().push(0, 1, core::ptr::null(), 0, || ()) }, Pushed::No);
    assert!(crate::raw::send_bytes(&endpoint, 0, 2, &[7; 1000]).is_err());
    assert_eq!(transport.woken.load(Ordering::Relaxed), 0);
}
