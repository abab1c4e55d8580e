//! What carries messages, with its worker. What UCX opens here is never closed: the process owns it to its end.
#![allow(unsafe_code)]

use super::arrivals::{Arrivals, Batch, KINDS, arrived};
use super::library::Library;
use super::mover::Mover;
use super::offer::Offer;
use super::port::{Ep, Port, Posted, posted};
use crate::abi::{
    ASYNC_MODE_POLL, CallbackElement, EVENT_FD, EVENT_RECV, EVENT_SEND, FEATURE_AM, Handle, OK, Status,
    THREAD_MODE_SERIALIZED, Worker, callback_element_bytes,
};
use crate::wire::{HEADER_BYTES, Place};
use alloc::string::String;
use core::ffi::{c_uint, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use opal_core::framework::memcpy;

/// Interfaces with one worker: for messages, and perhaps for memory. One thread at a time uses it.
pub struct Interface {
    pub(super) library: Library,
    async_context: Handle,
    worker: *mut Worker,
    messages: Port,
    pub(super) memory: Option<Mover>,
    arrivals: Arrivals,
}

// SAFETY: the objects belong to the process, not to a thread; who shares them keeps to one thread at a time.
unsafe impl Send for Interface {}

impl Interface {
    /// Opens the interface of an offer, and the one that moves memory. `Err` with half a sentence.
    pub fn open(
        library: Library,
        offer: &Offer,
        memory: Option<&Offer>,
        fragment_bytes: usize,
    ) -> Result<Interface, String> {
        let arrivals = Arrivals::new();
        let mut async_context = null_mut();
        // UCX's own thread would need its locks, which no function of it takes: connections are accepted while this process polls.
        // SAFETY: room for an address.
        let created = unsafe { (library.ucs_async_context_create)(ASYNC_MODE_POLL, &mut async_context) };
        library.check("ucs_async_context_create", created)?;
        let mut worker = null_mut();
        // SAFETY: a context, and room for an address.
        let created = unsafe { (library.uct_worker_create)(async_context, THREAD_MODE_SERIALIZED, &mut worker) };
        library.check("uct_worker_create", created)?;
        let domain = library.domain_of(offer)?;
        let messages = Port::open(&library, worker, &domain, offer, &arrivals, (FEATURE_AM, Some(fragment_bytes)))?;
        messages.check()?;
        for am in KINDS {
            // SAFETY: an interface, and a callback whose argument stays as long as the process lives.
            let set = unsafe { (library.uct_iface_set_am_handler)(messages.iface, am, arrived, arrivals.kind(am), 0) };
            library.check("uct_iface_set_am_handler", set)?;
        }
        let memory = memory.map(|offer| Mover::open(&library, worker, offer, &arrivals)).transpose()?;
        Ok(Interface { library, async_context, worker, messages, memory, arrivals })
    }

    /// What UCX calls a status.
    pub fn words(&self, status: Status) -> String {
        self.library.words(status)
    }

    /// The longest message with its header.
    pub fn longest(&self) -> usize {
        self.messages.attr.am.max_bcopy
    }

    /// What the device is said to have: nanoseconds of a short message, and 10⁶ bits per second.
    pub fn speed(&self) -> (u32, u32) {
        let attr = &self.messages.attr;
        let seconds = attr.latency_s + attr.overhead_s;
        let bytes = attr.dedicated_bandwidth + attr.shared_bandwidth;
        ((seconds * 1e9) as u32, ((bytes * 8e-6) as u32).max(1))
    }

    /// Where this process is reached for messages, and for memory.
    pub fn places(&self) -> (Place<'_>, Option<Place<'_>>) {
        (self.messages.place(), self.memory.as_ref().map(|memory| memory.port.place()))
    }

    /// By which descriptor arrivals show, if the transport has one.
    pub fn wait_descriptor(&self) -> Option<i32> {
        let flags = self.messages.attr.event_flags;
        if flags & EVENT_FD == 0 || flags & EVENT_RECV == 0 {
            return None;
        }
        let mut descriptor = -1;
        // SAFETY: an interface with this ability, and room for a number.
        let status = unsafe { (self.library.uct_iface_event_fd_get)(self.messages.iface, &mut descriptor) };
        (status == OK && descriptor >= 0).then_some(descriptor)
    }

    /// Whether a process may sleep on `wait_descriptor`: nothing has come that the descriptor would not show.
    pub fn may_sleep(&self) -> bool {
        let events = (self.messages.attr.event_flags & (EVENT_SEND | EVENT_RECV)) as c_uint;
        // SAFETY: an interface, and events that it has.
        let armed = unsafe { (self.library.uct_iface_event_arm)(self.messages.iface, events) };
        armed == OK && self.arrivals.is_empty()
    }

    /// Whether everything has left this process.
    pub fn is_flushed(&self) -> bool {
        let iface = self.messages.iface;
        // SAFETY: an interface; without a completion it only says how things stand.
        let flush = unsafe { (*iface).ops.flush };
        // SAFETY: as above.
        unsafe { flush(iface, 0, null_mut()) == OK }
    }

    /// Whether a peer at this place is reached for messages.
    pub fn reaches(&self, place: &Place<'_>) -> bool {
        self.messages.reaches(&self.library, place)
    }

    /// A peer at this place, for messages. It need not be connected yet.
    pub fn connect(&self, place: &Place<'_>) -> Result<Ep, Status> {
        self.messages.connect(&self.library, place)
    }

    /// Sends a header, and a payload that `fill` writes: only if there is room.
    pub fn send(
        &self,
        to: Ep,
        am: u8,
        head: &[u8; HEADER_BYTES],
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> Posted {
        assert!(HEADER_BYTES + bytes <= self.longest(), "a message of {bytes} bytes is longer than all are");
        let mut packed = Packed { head, bytes, fill };
        // SAFETY: an endpoint of an interface whose operations are there.
        let am_bcopy = unsafe { (*self.messages.iface).ops.am_bcopy };
        // SAFETY: `pack` writes as many bytes as the longest message has, at most; its argument lives during the call.
        posted(unsafe { am_bcopy(to.0, am, pack, (&raw mut packed).cast(), 0) })
    }

    /// Sends a header, and a payload that lies in one run.
    ///
    /// # Safety
    /// `payload` is readable for `bytes`.
    pub unsafe fn send_run(
        &self,
        to: Ep,
        am: u8,
        head: &[u8; HEADER_BYTES],
        payload: *const u8,
        bytes: usize,
    ) -> Posted {
        match self.is_short(bytes) {
            // SAFETY: the caller's promise.
            true => unsafe { self.send_short(to, am, head, payload, bytes) },
            false => self.send(to, am, head, bytes, &mut |place| {
                // SAFETY: UCT's buffer has room for so many bytes, and the payload is readable by the caller's promise.
                unsafe { memcpy::copy(place, payload, bytes) };
            }),
        }
    }

    /// Whether a payload is so short that [`Interface::send_short`] takes it.
    fn is_short(&self, bytes: usize) -> bool {
        bytes <= SHORT_BYTES && HEADER_BYTES + bytes <= self.messages.attr.am.max_short
    }

    /// Sends a header and a short payload, which UCT copies at once.
    ///
    /// # Safety
    /// `payload` is readable for `bytes`.
    unsafe fn send_short(&self, to: Ep, am: u8, head: &[u8; HEADER_BYTES], payload: *const u8, bytes: usize) -> Posted {
        assert!(self.is_short(bytes), "{bytes} bytes are not short");
        let (first, rest) = head.split_first_chunk().expect("it is longer than a word");
        let mut message = [MaybeUninit::<u8>::uninit(); HEADER_BYTES - 8 + SHORT_BYTES];
        let place: *mut u8 = message.as_mut_ptr().cast();
        // SAFETY: room for the rest of the header.
        unsafe { memcpy::copy(place, rest.as_ptr(), rest.len()) };
        // SAFETY: room for a short payload behind it, which is readable by the caller's promise.
        unsafe { memcpy::copy(place.wrapping_add(rest.len()), payload, bytes) };
        let length = (rest.len() + bytes) as c_uint;
        // SAFETY: an endpoint of an interface whose operations are there.
        let am_short = unsafe { (*self.messages.iface).ops.am_short };
        // SAFETY: so many bytes were written.
        let status = unsafe { am_short(to.0, am, u64::from_ne_bytes(*first), place.cast(), length) };
        posted(isize::from(status))
    }

    /// Sends a header alone. Nothing of it stays in this process's memory, which the receiver may have no more when it looks.
    pub fn send_empty(&self, to: Ep, am: u8, head: &[u8; HEADER_BYTES]) -> Posted {
        // SAFETY: nothing is read.
        unsafe { self.send_short(to, am, head, core::ptr::dangling(), 0) }
    }

    /// Makes progress; what has come goes to the arrivals.
    pub fn progress(&mut self) {
        let mut element = self.worker.cast::<CallbackElement>();
        let bytes = callback_element_bytes(self.library.version());
        loop {
            // SAFETY: the worker's elements end with one that has no function.
            let CallbackElement { call, arg, .. } = unsafe { *element };
            let Some(call) = call else { return };
            // SAFETY: what UCT has put there, with its argument.
            unsafe { call(arg) };
            element = element.wrapping_byte_add(bytes);
        }
    }

    /// Accepts connections, and does what else UCX does now and then.
    pub fn accept(&mut self) {
        // SAFETY: the context of this worker.
        unsafe { (self.library.ucs_async_poll)(self.async_context) };
    }

    /// Takes what has come.
    pub fn take(&mut self, empty: Batch) -> Batch {
        self.arrivals.take(empty)
    }
}

/// What is written into UCT's buffer.
struct Packed<'a> {
    head: &'a [u8; HEADER_BYTES],
    bytes: usize,
    fill: &'a mut dyn FnMut(*mut u8),
}

/// `uct_pack_callback_t`.
unsafe extern "C" fn pack(place: *mut c_void, packed: *mut c_void) -> usize {
    // SAFETY: what `send` handed over, which lives during the call.
    let packed = unsafe { &mut *packed.cast::<Packed<'_>>() };
    let place: *mut u8 = place.cast();
    // SAFETY: UCT's buffer has room for the longest message.
    unsafe { memcpy::copy(place, packed.head.as_ptr(), HEADER_BYTES) };
    (packed.fill)(place.wrapping_add(HEADER_BYTES));
    HEADER_BYTES + packed.bytes
}

/// What goes through the stack.
const SHORT_BYTES: usize = 1024;
