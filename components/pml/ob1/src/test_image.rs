//! Stands in for the image crate in this crate's own unit tests, counts its copies, and holds the transports
//! that the tests send by and the state with one communicator that they begin with.
#![allow(unsafe_code)]

use crate::state::State;
use core::cell::RefCell;
use core::ops::Range;
use ompi_core::process;
use ompi_core::request::Driver;
use opal_core::framework::btl::{
    AmId, Begun, Caps, Completion, Endpoint, Full, Module, Peer, Registration, Remote, Throughput,
};
use opal_core::queue::fifo::{Consumer, MIN_PAYLOAD_RING_BYTES, Memory, Producer, SLOT_RING_BYTES};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::AtomicU32;
use opal_core::{Error, Result};
use std::boxed::Box;
use std::vec::Vec;

opal_core::image![];
opal_core::provide_memcpy!(copy);
opal_core::provide_timer!(ticks, frequency);

/// What was copied: from where, and to where.
pub type Copied = (Range<usize>, Range<usize>);

std::thread_local! {
    static COPIES: RefCell<Vec<Copied>> = const { RefCell::new(Vec::new()) };
}

/// What this thread copied through the framework since it asked last.
pub fn copies() -> Vec<Copied> {
    COPIES.take()
}

unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    let range = |at: usize| at..at + bytes;
    COPIES.with_borrow_mut(|copies| copies.push((range(from.addr()), range(to.addr()))));
    // SAFETY: the contract of `framework::memcpy::copy`.
    unsafe { core::ptr::copy(from, to, bytes) }
}

fn ticks() -> u64 {
    0
}

fn frequency() -> u64 {
    1_000_000_000
}

/// What a test does with what is sent by its transport; the calls that it leaves out send nothing.
pub trait Calls: Send + Sync {
    /// [`Module::send_inline`].
    ///
    /// # Safety
    /// `payload` is readable for `bytes`.
    unsafe fn send_inline(
        &self,
        _am: AmId,
        _immediate: u64,
        _payload: *const u8,
        _bytes: usize,
    ) -> core::result::Result<(), Full> {
        Err(Full)
    }

    /// [`Module::send`].
    fn send(&self, _bytes: usize, _fill: &mut dyn FnMut(*mut u8)) -> core::result::Result<(), Full> {
        Err(Full)
    }

    /// [`Module::send_run`], whose prefix does not matter.
    fn send_run(&self, _run: Range<usize>) -> core::result::Result<(), Full> {
        Err(Full)
    }

    /// [`Module::wake`].
    fn wake(&self) {}

    /// [`Module::throughput`].
    fn throughput(&self) -> Option<Throughput> {
        None
    }

    /// [`Module::has_failed_over`].
    fn has_failed_over(&self) -> bool {
        false
    }

    /// [`Module::get`].
    fn get(&self, _remote: Remote, _to: Range<usize>) -> core::result::Result<Begun, Full> {
        Err(Full)
    }

    /// [`Module::drop_key`].
    fn drop_key(&self, _key: u64) {}

    /// [`Module::register_memory`].
    fn register(&self, _bytes: usize) -> Result<Registration> {
        Err(Error::Unsupported)
    }

    /// [`Module::unregister_memory`].
    fn unregister(&self, _registration: Registration) {}
}

/// A transport to one peer, by which nothing arrives.
#[derive(Default)]
pub struct Transport<T>(pub T);

/// Its endpoint.
pub const ENDPOINT: Endpoint = Endpoint(5);

impl<T: Calls> Module for Transport<T> {
    fn caps(&self) -> &Caps {
        unreachable!("the endpoint knows them")
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
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert_eq!(to, ENDPOINT);
        // SAFETY: the caller's promise.
        unsafe { self.0.send_inline(am, immediate, payload, bytes) }
    }

    fn send(
        &self,
        to: Endpoint,
        _am: AmId,
        _immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        assert_eq!(to, ENDPOINT);
        self.0.send(bytes, fill)
    }

    unsafe fn send_run(
        &self,
        to: Endpoint,
        _am: AmId,
        _immediate: u64,
        _prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert_eq!(to, ENDPOINT);
        self.0.send_run(run.addr()..run.addr() + bytes)
    }

    fn throughput(&self, to: Endpoint) -> Option<Throughput> {
        assert_eq!(to, ENDPOINT);
        self.0.throughput()
    }

    fn has_failed_over(&self, to: Endpoint) -> bool {
        assert_eq!(to, ENDPOINT);
        self.0.has_failed_over()
    }

    unsafe fn get(
        &self,
        from: Endpoint,
        to: *mut u8,
        remote: Remote,
        bytes: usize,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        assert_eq!(from, ENDPOINT);
        self.0.get(remote, to.addr()..to.addr() + bytes)
    }

    fn register_memory(&self, _address: *mut u8, bytes: usize) -> Result<Registration> {
        self.0.register(bytes)
    }

    fn unregister_memory(&self, registration: Registration) {
        self.0.unregister(registration);
    }

    fn drop_key(&self, of: Endpoint, key: u64) {
        assert_eq!(of, ENDPOINT);
        self.0.drop_key(key);
    }

    fn wake(&self, peer: Endpoint) {
        assert_eq!(peer, ENDPOINT);
        self.0.wake();
    }

    fn poll(&self) -> usize {
        0
    }
}

#[repr(C, align(64))]
struct Area([u8; SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES + 64]);

/// A FIFO pair that has carried its first message, which was taken: what goes into it comes out of it. With the word that says
/// whether its peer sleeps.
pub fn fifo_pair() -> (&'static FifoPair, &'static AtomicU32) {
    let base = Box::leak(Box::new(Area([0; SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES + 64]))).0.as_mut_ptr();
    let (pool, consumed) =
        (base.wrapping_add(SLOT_RING_BYTES), base.wrapping_add(SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES));
    // SAFETY: within the area just leaked.
    let memory = unsafe { Memory::new(base, pool, MIN_PAYLOAD_RING_BYTES, consumed) };
    let asleep: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
    let fifo_pair = Box::leak(Box::new(FifoPair::new(Producer::new(memory), Consumer::new(memory), asleep, false)));
    // SAFETY: nothing is read.
    let first = unsafe { fifo_pair.producer().push_inline(0, 0, core::ptr::null(), 0, false) };
    assert_eq!(first, Ok(()));
    assert!(matches!(fifo_pair.consumer().peek(), Ok(Some(_))));
    fifo_pair.take();
    (fifo_pair, asleep)
}

/// The context number of the one communicator of [`state`].
pub const CONTEXT: u32 = 9;

/// With one communicator of these processes.
pub fn state(members: &[u32]) -> State {
    // Requests are made in several tests at once.
    opal_core::sync::raise_threads();
    // A job of its own node.
    process::open(0, 0, 64, |_| 0);
    let mut state = State::new();
    state.open(CONTEXT).unwrap();
    state.context(CONTEXT).unwrap().connect(&members.iter().copied().collect());
    state
}

/// Of requests that nothing happens to.
pub struct Nothing;

impl Driver for Nothing {}

/// For `framework::memory`.
fn watches() -> bool {
    false
}
opal_core::provide_memory!(watches);
