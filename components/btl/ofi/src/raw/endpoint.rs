//! An endpoint in a fabric, with its queue and its buffers. What libfabric opens here is never closed: the process owns it to its end.
#![allow(unsafe_code)]

use super::buffers::Buffers;
use super::provider::{Library, Offer, Reach};
use crate::abi::{
    ADDR_UNSPEC, AvAttr, COMPLETION, CQ_FORMAT_MSG, CqAttr, CqEntry, CqError, EAGAIN, EAVAIL, ENABLE, FiAddr, Fid,
    FidAv, FidCq, FidDomain, FidEp, FidFabric, FidMr, GETWAIT, INJECT, MR_LOCAL, Message, RECV, SEND, TRANSMIT,
    WAIT_FD, WAIT_NONE,
};
use crate::wire::FABRIC_ADDRESS_MAX;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int};
use core::ptr::{null, null_mut};
use opal_core::framework::memcpy;
use opal_core::mem::Untrusted;
use opal_core::sys::text_of;

/// How many completions are read at once.
pub const EVENTS: usize = 16;

/// An endpoint. One thread at a time uses it, as FI_THREAD_DOMAIN says.
pub struct Fabric {
    library: Library,
    fabric: &'static FidFabric,
    av: &'static FidAv,
    cq: &'static FidCq,
    pub(super) ep: &'static FidEp,
    sends: Buffers,
    receives: Buffers,
    /// One context for each operation on memory of a peer.
    pub(super) operations: Buffers,
    pub(super) domain: &'static FidDomain,
    pub(super) reach: Reach,
    inject_bytes: usize,
    wait: Option<i32>,
}

// SAFETY: the objects belong to the process, not to a thread; who shares them keeps to one thread at a time.
unsafe impl Send for Fabric {}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// It goes on; a completion follows.
    Begun,
    /// There is no room; after progress there may be.
    Full,
    /// The fabric refuses, by this error of libfabric's.
    Refused(c_int),
}

/// What the completion queue says.
pub enum Read {
    /// So many operations have completed: buffers, and how many bytes came.
    Done(usize),
    /// An operation failed.
    Failed(Failure),
    /// The queue itself is broken, by this error.
    Broken(c_int),
}

/// A completed operation.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// This buffer was sent.
    Sent(u32),
    /// So many bytes came into this buffer.
    Received(u32, usize),
    /// This operation on memory of a peer is complete.
    Reached(u32),
    /// It is none of ours.
    Foreign,
}

/// An operation that failed.
pub struct Failure {
    /// Which.
    pub event: Event,
    /// libfabric's word for it, and what the provider says.
    pub words: String,
}

impl Fabric {
    /// Opens the endpoint of an offer, with so many buffers of so many bytes each. `Err` with half a sentence.
    pub fn open(library: Library, offer: &Offer, counts: (u32, u32), buffer_bytes: usize) -> Result<Fabric, String> {
        let info = offer.info;
        let check = |what: &str, result: c_int| match result {
            0 => Ok(()),
            error => Err(format!("{what} says: {}", library.words(-error))),
        };
        let mut fabric: *const FidFabric = null();
        // SAFETY: attributes of a record of fi_getinfo, and room for an address; for all calls below likewise.
        check("fi_fabric", unsafe { (library.open_fabric)(info.fabric, &mut fabric, null_mut()) })?;
        // SAFETY: without an error the address is that of an object, which is never closed; for all below likewise.
        let fabric = unsafe { &*fabric };
        let mut domain: *const FidDomain = null();
        // SAFETY: see above.
        check("fi_domain", unsafe { (fabric.ops.domain)(fabric, info, &mut domain, null_mut()) })?;
        // SAFETY: see above.
        let domain = unsafe { &*domain };
        let attributes =
            AvAttr { kind: 0, rx_ctx_bits: 0, count: 0, ep_per_node: 0, name: null(), map_addr: null(), flags: 0 };
        let mut av: *const FidAv = null();
        // SAFETY: see above.
        check("fi_av_open", unsafe { (domain.ops.av_open)(domain, &attributes, &mut av, null_mut()) })?;
        // SAFETY: see above.
        let av = unsafe { &*av };
        let reach = Reach::of(offer);
        let entries = (counts.0 + counts.1 + reach.operations) as usize + EVENTS;
        let (cq, can_wait) = match open_cq(domain, entries, WAIT_FD) {
            Ok(cq) => (cq, true),
            Err(_) => {
                (open_cq(domain, entries, WAIT_NONE).map_err(|error| check("fi_cq_open", error).unwrap_err())?, false)
            }
        };
        let mut ep: *const FidEp = null();
        // SAFETY: see above.
        check("fi_endpoint", unsafe { (domain.ops.endpoint)(domain, info, &mut ep, null_mut()) })?;
        // SAFETY: see above.
        let ep = unsafe { &*ep };
        // SAFETY: an endpoint and what it can be bound to; for the next two as well.
        check("fi_ep_bind", unsafe { (ep.fid.ops.bind)(&ep.fid, &av.fid, 0) })?;
        // SAFETY: see above.
        check("fi_ep_bind", unsafe { (ep.fid.ops.bind)(&ep.fid, &cq.fid, TRANSMIT | RECV) })?;
        // SAFETY: see above.
        check("fi_enable", unsafe { (ep.fid.ops.control)(&ep.fid, ENABLE, null_mut()) })?;
        let mut sends = Buffers::new(counts.0, buffer_bytes);
        let mut receives = Buffers::new(counts.1, buffer_bytes);
        // SAFETY: fi_getinfo's records have all attributes.
        if unsafe { (*info.domain).mr_mode } & MR_LOCAL != 0 {
            register(domain, &mut sends, SEND).map_err(|error| check("fi_mr_reg", error).unwrap_err())?;
            register(domain, &mut receives, RECV).map_err(|error| check("fi_mr_reg", error).unwrap_err())?;
        }
        // SAFETY: fi_getinfo's records have all attributes.
        let inject_bytes = unsafe { (*info.tx).inject_bytes };
        let wait = can_wait.then(|| descriptor(cq)).flatten();
        let operations = Buffers::new(reach.operations, if reach.has_atomics { OPERANDS_BYTES } else { 0 });
        Ok(Fabric { library, fabric, av, cq, ep, sends, receives, operations, domain, reach, inject_bytes, wait })
    }

    /// What libfabric calls an error.
    pub fn words(&self, error: c_int) -> String {
        self.library.words(error)
    }

    /// How many buffers there are to send, and to receive.
    pub fn counts(&self) -> (u32, u32) {
        (self.sends.count(), self.receives.count())
    }

    /// By which descriptor its completions show, if the provider has one.
    pub fn wait_descriptor(&self) -> Option<i32> {
        self.wait
    }

    /// The endpoint's address in the fabric. `Err` with half a sentence.
    pub fn address(&self) -> Result<Vec<u8>, String> {
        let mut bytes = alloc::vec![0; FABRIC_ADDRESS_MAX];
        let mut length = bytes.len();
        // SAFETY: an endpoint, and room for so many bytes.
        let result = unsafe { (self.ep.cm.get().name)(&self.ep.fid, bytes.as_mut_ptr().cast(), &mut length) };
        match result {
            0 if length <= FABRIC_ADDRESS_MAX => {
                bytes.truncate(length);
                Ok(bytes)
            }
            0 => Err(format!(
                "its address has {length} bytes, more than the {FABRIC_ADDRESS_MAX} that there is room for"
            )),
            error => Err(format!("fi_getname says: {}", self.words(-error))),
        }
    }

    /// Makes a peer known by its address, of the same format and length as this process's own.
    pub fn insert(&self, address: &[u8]) -> Result<FiAddr, c_int> {
        // A provider may read as many bytes as its longest address has.
        let mut bytes = [0u8; 2 * FABRIC_ADDRESS_MAX];
        bytes[..address.len()].copy_from_slice(address);
        let mut number: FiAddr = ADDR_UNSPEC;
        // SAFETY: one address with zeros behind it, and room for one number.
        let inserted = unsafe { (self.av.ops.insert)(self.av, bytes.as_ptr().cast(), 1, &mut number, 0, null_mut()) };
        match inserted {
            1 if number != ADDR_UNSPEC => Ok(number),
            error if error < 0 => Err(-error),
            _ => Err(libc::EINVAL),
        }
    }

    /// An address for people.
    pub fn address_text(&self, address: &[u8]) -> String {
        let mut bytes = [0u8; 2 * FABRIC_ADDRESS_MAX];
        let length = address.len().min(FABRIC_ADDRESS_MAX);
        bytes[..length].copy_from_slice(&address[..length]);
        let (mut text, mut room) = ([0 as c_char; TEXT_BYTES], TEXT_BYTES - 1);
        // SAFETY: an address with zeros behind it, and room for so many characters.
        unsafe { (self.av.ops.text)(self.av, bytes.as_ptr().cast(), text.as_mut_ptr(), &mut room) };
        // SAFETY: it ends with a zero, since the last one was not offered.
        unsafe { text_of(text.as_ptr()) }
    }

    /// Writes head and payload into a buffer that is not under way.
    pub fn fill(&self, slot: u32, head: &[u8], bytes: usize, fill: &mut dyn FnMut(*mut u8)) {
        assert!(head.len() + bytes <= self.sends.buffer_bytes(), "a message of {bytes} bytes fits no buffer");
        let place = self.sends.at(slot);
        // SAFETY: the buffer has room for it, by the assertion.
        unsafe { memcpy::copy(place, head.as_ptr(), head.len()) };
        fill(place.wrapping_add(head.len()));
    }

    /// Sends the first bytes of a buffer.
    pub fn send(&self, slot: u32, bytes: usize, to: FiAddr) -> Posted {
        let (place, context) = (self.sends.at(slot), self.sends.context(slot));
        let msg = self.ep.msg.get();
        if bytes > self.inject_bytes {
            // SAFETY: the buffer and its context stay as they are until the completion; a number that `insert` gave.
            return posted(unsafe { (msg.send)(self.ep, place.cast(), bytes, self.sends.descriptor, to, context) });
        }
        let run = libc::iovec { iov_base: place.cast(), iov_len: bytes };
        let message = Message { runs: &run, descriptors: &self.sends.descriptor, count: 1, to, context, data: 0 };
        // fi_inject would be shorter, but leaves no completion: nobody would know whether the message has left.
        // SAFETY: as above.
        posted(unsafe { (msg.send_message)(self.ep, &message, INJECT | COMPLETION) })
    }

    /// Lets a message come into a buffer.
    pub fn receive(&self, slot: u32) -> Posted {
        let (place, context) = (self.receives.at(slot), self.receives.context(slot));
        let (bytes, descriptor) = (self.receives.buffer_bytes(), self.receives.descriptor);
        let receive = self.ep.msg.get().receive;
        // SAFETY: the buffer is nobody else's until the completion is read and `received` was looked at.
        posted(unsafe { receive(self.ep, place.cast(), bytes, descriptor, ADDR_UNSPEC, context) })
    }

    /// What came into a buffer, of so many bytes.
    pub fn received(&self, slot: u32, bytes: usize) -> Untrusted<'static> {
        let bytes = bytes.min(self.receives.buffer_bytes());
        // SAFETY: buffers live for ever; the caller lets nothing come into it before it has looked.
        unsafe { Untrusted::new(self.receives.at(slot), bytes) }
    }

    /// Makes progress, and says what has completed.
    pub fn read(&self, events: &mut [Event; EVENTS]) -> Read {
        let mut entries = [CqEntry { context: null(), flags: 0, bytes: 0 }; EVENTS];
        // SAFETY: room for so many entries, of the format that the queue was opened with.
        let count = unsafe { (self.cq.ops.read)(self.cq, entries.as_mut_ptr().cast(), EVENTS) };
        match count {
            0.. => {
                let count = (count as usize).min(EVENTS);
                for (event, entry) in events.iter_mut().zip(&entries[..count]) {
                    *event = self.event(entry.context, entry.bytes);
                }
                Read::Done(count)
            }
            _ if count == -EAGAIN => Read::Done(0),
            _ if count == -EAVAIL => self.failure(),
            error => Read::Broken(-error as c_int),
        }
    }

    /// Whether a process may sleep on `wait_descriptor`: nothing has come that the descriptor would not show.
    pub fn may_sleep(&self) -> bool {
        let queue: *const Fid = &self.cq.fid;
        if self.fabric.ops.size <= core::mem::offset_of!(crate::abi::FabricOps, trywait) {
            return true;
        }
        // SAFETY: one object of this fabric.
        let result = unsafe { (self.fabric.ops.trywait)(self.fabric, &queue, 1) };
        result == 0
    }

    fn event(&self, context: *const crate::abi::Context, bytes: usize) -> Event {
        match (self.receives.slot(context), self.sends.slot(context)) {
            (Some(slot), _) => Event::Received(slot, bytes),
            (_, Some(slot)) => Event::Sent(slot),
            _ => self.operations.slot(context).map_or(Event::Foreign, Event::Reached),
        }
    }

    #[cold]
    fn failure(&self) -> Read {
        let mut error = CqError {
            context: null(),
            flags: 0,
            bytes: 0,
            buffer: null(),
            data: 0,
            tag: 0,
            lost_bytes: 0,
            errno: 0,
            provider_errno: 0,
            details: null(),
            details_bytes: 0,
        };
        // SAFETY: room for one entry.
        let count = unsafe { (self.cq.ops.read_error)(self.cq, &mut error, 0) };
        if count == -EAGAIN {
            return Read::Done(0);
        }
        if count < 0 {
            return Read::Broken(-count as c_int);
        }
        let mut text = [0 as c_char; TEXT_BYTES];
        // SAFETY: what the entry says, and room for so many characters.
        let words = unsafe {
            (self.cq.ops.words)(self.cq, error.provider_errno, error.details, text.as_mut_ptr(), TEXT_BYTES - 1)
        };
        // SAFETY: what was just written, or a text of libfabric's own.
        let words = unsafe { text_of(words) };
        let event = self.event(error.context, error.bytes);
        Read::Failed(Failure { event, words: format!("{} ({words})", self.words(error.errno)) })
    }
}

fn open_cq(domain: &'static FidDomain, entries: usize, wait_object: c_int) -> Result<&'static FidCq, c_int> {
    let attributes = CqAttr {
        size: entries,
        flags: 0,
        format: CQ_FORMAT_MSG,
        wait_object,
        signaling_vector: 0,
        wait_condition: 0,
        wait_set: null(),
    };
    let mut cq: *const FidCq = null();
    // SAFETY: a domain, attributes, and room for an address.
    match unsafe { (domain.ops.cq_open)(domain, &attributes, &mut cq, null_mut()) } {
        // SAFETY: without an error the address is that of an object, which is never closed.
        0 => Ok(unsafe { &*cq }),
        error => Err(error),
    }
}

fn register(domain: &'static FidDomain, buffers: &mut Buffers, access: u64) -> Result<(), c_int> {
    let (memory, bytes) = buffers.memory();
    let mut region: *const FidMr = null();
    let register = domain.mr.register;
    // SAFETY: memory that stays for ever, and room for an address.
    match unsafe { register(&domain.fid, memory.cast(), bytes, access, 0, access, 0, &mut region, null_mut()) } {
        0 => {
            // SAFETY: without an error the address is that of a region, which is never closed.
            buffers.descriptor = unsafe { (*region).descriptor };
            Ok(())
        }
        error => Err(error),
    }
}

fn descriptor(cq: &'static FidCq) -> Option<i32> {
    let mut descriptor: c_int = -1;
    // SAFETY: a queue with a descriptor to wait for, and room for its number.
    let result = unsafe { (cq.fid.ops.control)(&cq.fid, GETWAIT, (&raw mut descriptor).cast()) };
    (result == 0 && descriptor >= 0).then_some(descriptor)
}

pub(super) fn posted(result: isize) -> Posted {
    match result {
        0 => Posted::Begun,
        _ if result == -EAGAIN => Posted::Full,
        error => Posted::Refused(-error as c_int),
    }
}

const TEXT_BYTES: usize = 256;
/// Of an atomic operation: operand, what is expected, and what was found, 8 bytes each.
const OPERANDS_BYTES: usize = 24;
