//! What UCT hands over while it makes progress: messages, ends of operations, and peers that it lost. It is copied here, and looked at when
//! UCT is left again.
#![allow(unsafe_code)]

use crate::abi::{Completion, EpObject, OK, Status};
use crate::wire::LEAVES;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{c_uint, c_void};
use opal_core::framework::memcpy;
use opal_core::mem::Untrusted;

/// What has come.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Messages in the order in which they came.
    pub messages: Vec<Message>,
    /// Operations on memory that ended, and how.
    pub ended: Vec<(u32, Status)>,
    /// Endpoints whose peers are gone, and why.
    pub failed: Vec<(*mut EpObject, Status)>,
}

// SAFETY: the addresses of endpoints are compared and never followed.
unsafe impl Send for Batch {}

/// A message: its number among UCT's, and where it lies.
#[derive(Clone, Copy)]
pub struct Message {
    /// Its kind.
    pub am: u8,
    at: usize,
    bytes: usize,
}

impl Batch {
    /// A message with its header.
    pub fn bytes(&self, message: Message) -> Untrusted<'_> {
        Untrusted::of(&self.bytes[message.at..message.at + message.bytes])
    }

    /// Makes it empty, and keeps its memory, unless that is much.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.messages.clear();
        self.ended.clear();
        self.failed.clear();
    }

    fn add(&mut self, am: u8, data: *const u8, bytes: usize) {
        let at = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(at, 0);
        self.bytes.reserve(bytes);
        // SAFETY: UCT's data has so many bytes during the call, and the room for it was just made.
        unsafe { memcpy::copy(self.bytes.as_mut_ptr().wrapping_add(at), data, bytes) };
        // SAFETY: so many are written now.
        unsafe { self.bytes.set_len(at + bytes) };
        self.messages.push(Message { am, at, bytes });
    }
}

/// Where UCT's callbacks write. It stays where it is as long as the process lives; they run inside calls of UCT, and the one who calls
/// UCT is the one who looks.
pub struct Arrivals(*mut Batch);

// SAFETY: under the lock of whoever owns the interface.
unsafe impl Send for Arrivals {}

/// The argument of a callback for one kind of messages.
struct Kind {
    am: u8,
    batch: *mut Batch,
}

/// An operation on memory as UCT knows it.
#[repr(C)]
pub struct Operation {
    pub completion: Completion,
    slot: u32,
    batch: *mut Batch,
}

impl Arrivals {
    /// An empty one.
    pub fn new() -> Arrivals {
        Arrivals(Box::leak(Box::default()))
    }

    /// Takes what has come, and leaves an empty batch whose memory is used again.
    pub fn take(&mut self, empty: Batch) -> Batch {
        // SAFETY: the batch lives for ever, and no call of UCT is under way.
        let batch = unsafe { &mut *self.0 };
        core::mem::replace(batch, empty)
    }

    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        // SAFETY: as in `take`.
        let batch = unsafe { &*self.0 };
        batch.messages.is_empty() && batch.ended.is_empty() && batch.failed.is_empty()
    }

    /// The argument of [`arrived`] for messages of a kind.
    pub fn kind(&self, am: u8) -> *mut c_void {
        (&raw mut *Box::leak(Box::new(Kind { am, batch: self.0 }))).cast()
    }

    /// The argument of [`failed`].
    pub fn failures(&self) -> *mut c_void {
        self.0.cast()
    }

    /// So many operations; they stay where they are.
    pub fn operations(&self, count: u32) -> *mut Operation {
        let completion = || Completion { call: ended, count: 0, status: OK };
        let all: Box<[Operation]> =
            (0..count).map(|slot| Operation { completion: completion(), slot, batch: self.0 }).collect();
        Box::leak(all).as_mut_ptr()
    }
}

/// `uct_am_callback_t`: a message has come.
pub unsafe extern "C" fn arrived(kind: *mut c_void, data: *mut c_void, bytes: usize, _flags: c_uint) -> Status {
    // SAFETY: what `Arrivals::kind` returned, which stays.
    let kind = unsafe { &*kind.cast::<Kind>() };
    // SAFETY: nobody else uses the batch while UCT is called.
    let batch = unsafe { &mut *kind.batch };
    batch.add(kind.am, data.cast(), bytes);
    OK
}

/// `uct_error_handler_t`: a peer is gone.
pub unsafe extern "C" fn failed(batch: *mut c_void, ep: *mut EpObject, status: Status) -> Status {
    // SAFETY: what `Arrivals::failures` returned; nobody else uses it while UCT is called.
    let batch = unsafe { &mut *batch.cast::<Batch>() };
    batch.failed.push((ep, status));
    OK
}

/// `uct_completion_callback_t`: an operation has ended.
unsafe extern "C" fn ended(completion: *mut Completion) {
    // SAFETY: UCT hands back what `Arrivals::operations` made, at whose beginning the completion stands.
    let operation = unsafe { &*completion.cast::<Operation>() };
    // SAFETY: nobody else uses the batch while UCT is called.
    let batch = unsafe { &mut *operation.batch };
    batch.ended.push((operation.slot, operation.completion.status));
}

/// Kinds of messages: am ids, and what says that a process leaves.
pub const KINDS: core::ops::RangeInclusive<u8> = 0..=LEAVES;
const KEPT_BYTES: usize = 1 << 20;
const ALIGNMENT: usize = 16;
