//! The user's buffers, and how bytes get into and out of them.

use crate::peers::endpoint::Endpoint;
use crate::protocol::selection::Memory;
use crate::wire;
use alloc::boxed::Box;
use core::ops::Range;
use ompi_core::data::Data;
use ompi_core::framework::bml::Path;
use opal_core::datatype::Convertor;
use opal_core::framework::btl::{AmId, Begun, Completion, Fill, Full, Remote};
use opal_core::framework::rcache::{Lease, Registrations, UseKey};
use opal_core::framework::{memcpy, smsc};
use opal_core::inspect::Fact;
use opal_core::mem::{Crc32c, Untrusted, copy_streaming};
use opal_core::queue::small::copy_small;

/// A user's buffer for as long as an operation needs it.
#[derive(Default)]
pub struct UserBuffer {
    at: Address,
    bytes: usize,
    // For data that is not one run.
    convertor: Option<Box<Convertor>>,
}

#[derive(Clone, Copy)]
struct Address(*mut u8);

impl Default for Address {
    fn default() -> Address {
        Address(core::ptr::null_mut())
    }
}

// SAFETY: an address in the user's buffer, which the user leaves alone until the operation completes (MPI 5.0 §3.7.3).
unsafe impl Send for Address {}

impl UserBuffer {
    /// What a debugger needs to know of it.
    pub const FACTS: [Fact; 2] = [
        Fact::number("buffer.address", core::mem::offset_of!(UserBuffer, at)),
        Fact::number("buffer.bytes", core::mem::offset_of!(UserBuffer, bytes)),
    ];

    /// Where `data` lies.
    ///
    /// # Safety
    /// The data is readable (to send) or writable (to receive) until the buffer is dropped.
    #[inline(always)]
    pub unsafe fn new(data: &Data<'_>) -> UserBuffer {
        let (at, convertor) = match data.contiguous() {
            Some(at) => (at, None),
            // SAFETY: the caller's promise.
            None => (data.at, Some(unsafe { boxed_convertor(data) })),
        };
        UserBuffer { at: Address(at), bytes: data.bytes(), convertor }
    }

    /// Writes a message of a few bytes that fits, to one run, without a call; says whether it was one.
    #[inline(always)]
    pub fn write_small(&self, from: Untrusted<'_>) -> bool {
        let small = from.len() <= SMALL_BYTES.min(self.bytes) && self.convertor.is_none();
        if small {
            // SAFETY: the run is writable for `bytes` by the contract of `new`, and the message is not longer.
            unsafe { copy_small(self.at.0, from.as_ptr(), from.len()) };
        }
        small
    }

    /// That is one run.
    #[inline(always)]
    pub fn of(run: Contiguous) -> UserBuffer {
        UserBuffer { at: run.at, bytes: run.bytes, convertor: None }
    }

    /// Over memory that outlives it.
    #[cfg(test)]
    pub fn over(data: &mut [u8]) -> UserBuffer {
        UserBuffer { at: Address(data.as_mut_ptr()), bytes: data.len(), convertor: None }
    }

    /// Bytes of data.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it lies, if it is one run.
    pub fn contiguous(&self) -> Option<Contiguous> {
        self.convertor.is_none().then_some(Contiguous { at: self.at, bytes: self.bytes })
    }

    /// The best mechanism by which a process can copy it; `None`: it cannot be copied once.
    pub fn peers_mechanism(&self, endpoint: &Endpoint) -> Option<smsc::Mechanism> {
        self.contiguous()?.peers_mechanism(endpoint.smsc_endpoint.as_ref()?)
    }

    /// Of which memory it is, for a process.
    pub fn memory(&self, endpoint: &Endpoint) -> Memory {
        Memory::of(self.peers_mechanism(endpoint).as_ref())
    }

    /// Writes what fits, from the beginning; returns how many bytes.
    #[inline(always)]
    pub fn write(&mut self, from: Untrusted<'_>) -> usize {
        let bytes = from.len().min(self.bytes);
        match &mut self.convertor {
            None => copy_any(self.at.0, from.as_ptr(), bytes),
            // SAFETY: `from` is readable for its length, and is no part of the user's buffer.
            Some(convertor) => _ = unsafe { convertor.unpack(from.as_ptr(), bytes) },
        }
        bytes
    }

    /// Writes at a byte of the message; the caller has checked that it fits.
    pub fn write_at(&mut self, offset: usize, from: Untrusted<'_>) {
        assert!(offset + from.len() <= self.bytes);
        match &mut self.convertor {
            None => copy_any(self.at.0.wrapping_add(offset), from.as_ptr(), from.len()),
            Some(convertor) => {
                if convertor.position() != offset {
                    convertor.seek(offset);
                }
                // SAFETY: `from` is readable for its length, and is no part of the user's buffer.
                unsafe { convertor.unpack(from.as_ptr(), from.len()) };
            }
        }
    }

    /// The same around the caches, if it is one run.
    pub fn stream_at(&mut self, offset: usize, from: Untrusted<'_>) {
        if self.convertor.is_some() {
            return self.write_at(offset, from);
        }
        assert!(offset + from.len() <= self.bytes);
        // SAFETY: the buffer is writable for what was asserted, by the contract of `new`; `from` is no part of it.
        unsafe { copy_streaming(self.at.0.wrapping_add(offset), from.as_ptr(), from.len()) };
    }

    /// Calls `fill` with the part of it, if it is one run; the caller has checked that it is within.
    pub fn with_contiguous(&mut self, offset: usize, bytes: usize, fill: Fill<'_>) -> bool {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        if self.convertor.is_some() || bytes == 0 {
            return false;
        }
        // SAFETY: within the user's buffer, which is writable by the contract of `new` and which nobody else touches
        // while the receive is under way (MPI 5.0 §3.7.3).
        fill(unsafe { core::slice::from_raw_parts_mut(self.at.0.wrapping_add(offset), bytes) });
        true
    }

    /// Sends all of it as one message.
    pub fn send_whole(&mut self, endpoint: &Endpoint, am: AmId, immediate: u64) -> core::result::Result<(), Full> {
        let (at, bytes) = (self.at.0, self.bytes);
        match &mut self.convertor {
            None => send_run(endpoint, am, immediate, at, bytes),
            Some(_) if is_held_back(endpoint, am) => Err(Full),
            Some(convertor) => endpoint.module.send(endpoint.btl_endpoint, am, immediate, bytes, &mut |to| {
                // SAFETY: the transport gives room for exactly `bytes`, outside the user's buffer.
                unsafe { convertor.pack(to, bytes) };
            }),
        }
    }

    /// Sends `bytes` bytes from `offset` on, behind a number.
    pub fn send_part(
        &mut self,
        path: Path,
        am: AmId,
        immediate: u64,
        prefix: u64,
        offset: usize,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert!(offset + bytes <= self.bytes);
        if self.convertor.is_none() {
            let run = self.at.0.wrapping_add(offset);
            // SAFETY: the buffer is readable for what was asserted, by the contract of `new`.
            return unsafe { path.module.send_run(path.endpoint, am, immediate, &prefix.to_le_bytes(), run, bytes) };
        }
        let whole = bytes + wire::PREFIX_BYTES;
        path.module.send(path.endpoint, am, immediate, whole, &mut |to| {
            let prefix = prefix.to_le_bytes();
            // SAFETY: the transport gives room for `whole` bytes, of which the prefix is the first.
            unsafe { copy_small(to, prefix.as_ptr(), wire::PREFIX_BYTES) };
            let to = to.wrapping_add(wire::PREFIX_BYTES);
            if let Some(convertor) = &mut self.convertor {
                if convertor.position() != offset {
                    convertor.seek(offset);
                }
                // SAFETY: behind the prefix there is room for `bytes`, outside the user's buffer.
                unsafe { convertor.pack(to, bytes) };
            }
        })
    }
}

/// A buffer that is one run, for copies that are made without the state's lock. Used only while its operation is
/// under way.
#[derive(Clone, Copy)]
pub struct Contiguous {
    at: Address,
    bytes: usize,
}

impl Contiguous {
    /// Where `data` lies, if it is one run.
    ///
    /// # Safety
    /// As [`UserBuffer::new`], until the run is no longer used.
    #[inline(always)]
    pub unsafe fn new(data: &Data<'_>) -> Option<Contiguous> {
        Some(Contiguous { at: Address(data.contiguous()?), bytes: data.bytes() })
    }

    /// Bytes at an address.
    ///
    /// # Safety
    /// As [`Contiguous::new`].
    #[inline(always)]
    pub unsafe fn at(at: *mut u8, bytes: usize) -> Contiguous {
        Contiguous { at: Address(at), bytes }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its address, as a peer is told.
    pub fn address(&self) -> u64 {
        self.at.0 as u64
    }

    /// The CRC32C of its first bytes.
    pub fn checksum(&self, bytes: usize) -> u32 {
        assert!(bytes <= self.bytes);
        // SAFETY: a part of the buffer, which is readable while its operation is under way.
        unsafe { Crc32c::new().with_raw(self.at.0, bytes) }.value()
    }

    /// The best mechanism by which a peer can copy it, where it is long enough for that.
    pub fn peers_mechanism(&self, peer: &smsc::Endpoint) -> Option<smsc::Mechanism> {
        peer.peers_mechanism(self.at.0, self.bytes)
            .filter(|mechanism| self.bytes >= mechanism.module.caps().min_bytes)
            .copied()
    }

    /// Fills a part of it from a peer's memory.
    pub fn read_from(&self, peer: &smsc::Endpoint, remote: u64, offset: usize, bytes: usize) -> opal_core::Result<()> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        let to = self.at.0.wrapping_add(offset);
        // SAFETY: a part of the buffer, which is writable while its operation is under way.
        unsafe { peer.copy_from(remote, to, bytes) }
    }

    /// Has a transport fill a part of it from a peer's memory.
    pub fn get_from(
        &self,
        path: Path,
        remote: Remote,
        part: Range<usize>,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        assert!(part.start < part.end && part.end <= self.bytes);
        let to = self.at.0.wrapping_add(part.start);
        // SAFETY: a part of the buffer, which is writable while its operation is under way, and nobody else's (MPI 5.0 §3.7.3); the operation
        // goes on until `done` is called. What the peer has registered is its own to say: the transport reads nothing else.
        unsafe { path.module.get(path.endpoint, to, remote, part.len(), done) }
    }

    /// Registers all of it.
    pub fn acquire(&self, with: &Registrations, use_key: UseKey<'_>) -> opal_core::Result<Lease> {
        with.acquire(self.at.0, self.bytes, use_key)
    }

    /// Writes a part of it to a peer's memory.
    pub fn write_to(&self, peer: &smsc::Endpoint, remote: u64, offset: usize, bytes: usize) -> opal_core::Result<()> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        let from = self.at.0.wrapping_add(offset);
        // SAFETY: a part of the buffer, which is readable while its operation is under way.
        unsafe { peer.copy_to(remote, from, bytes) }
    }
}

/// Data of a blocking call: as [`UserBuffer`], but nothing is built for it. Lives inside the call.
pub struct BorrowedBuffer<'a, 'd> {
    data: &'a Data<'d>,
    bytes: usize,
    // Where it lies if it is one run.
    run: Option<*mut u8>,
}

impl<'a, 'd> BorrowedBuffer<'a, 'd> {
    /// Where `data` lies.
    ///
    /// # Safety
    /// The data is readable (to send) or writable (to receive) as long as this lives.
    #[inline(always)]
    pub unsafe fn new(data: &'a Data<'d>) -> BorrowedBuffer<'a, 'd> {
        BorrowedBuffer { data, bytes: data.bytes(), run: data.contiguous() }
    }

    /// Bytes of data.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sends all of it as one message.
    #[inline(always)]
    pub fn send(&self, endpoint: &Endpoint, am: AmId, immediate: u64) -> core::result::Result<(), Full> {
        if let Some(at) = self.run {
            return send_run(endpoint, am, immediate, at, self.bytes);
        }
        self.send_packed(endpoint, am, immediate)
    }

    /// Without a convertor: 64 bytes in blocks of 8 one way 0.150 instead of 0.240 µs, together with a receive that makes none.
    #[inline(never)]
    fn send_packed(&self, endpoint: &Endpoint, am: AmId, immediate: u64) -> core::result::Result<(), Full> {
        let Data { at, count, datatype } = *self.data;
        // SAFETY: readable while this lives, by the contract of `new`; the queue gives room for `bytes`, outside the user's
        // buffer.
        let mut fill = |to| _ = unsafe { datatype.layout.pack(at, count, to, self.bytes) };
        if let Some(fifo_pair) = endpoint.fifo_pair
            && endpoint.is_sent(fifo_pair.push_with(am, immediate, self.bytes, fill))
        {
            return Ok(());
        }
        if is_held_back(endpoint, am) {
            return Err(Full);
        }
        endpoint.module.send(endpoint.btl_endpoint, am, immediate, self.bytes, &mut fill)
    }

    /// Writes what fits.
    #[inline(always)]
    pub fn write(&self, from: Untrusted<'_>) {
        let bytes = from.len().min(self.bytes);
        match self.run {
            Some(at) => copy_any(at, from.as_ptr(), bytes),
            None => {
                let Data { at, count, datatype } = *self.data;
                // SAFETY: writable while this lives, by the contract of `new`; `from` is no part of the user's buffer.
                unsafe { datatype.layout.unpack(at, count, from.as_ptr(), bytes) };
            }
        }
    }
}

/// Sends a message of our own.
pub fn send_bytes(endpoint: &Endpoint, am: AmId, immediate: u64, payload: &[u8]) -> core::result::Result<(), Full> {
    send_run(endpoint, am, immediate, payload.as_ptr().cast_mut(), payload.len())
}

#[inline(always)]
fn send_run(
    endpoint: &Endpoint,
    am: AmId,
    immediate: u64,
    at: *mut u8,
    bytes: usize,
) -> core::result::Result<(), Full> {
    if bytes <= endpoint.inline_bytes {
        if is_held_back(endpoint, am) {
            return Err(Full);
        }
        // SAFETY: the callers' buffers are readable for `bytes`.
        return unsafe { endpoint.module.send_inline(endpoint.btl_endpoint, am, immediate, at, bytes) };
    }
    if let Some(fifo_pair) = endpoint.fifo_pair {
        // SAFETY: as above; an eager message fits.
        if endpoint.is_sent(unsafe { fifo_pair.push_run(am, immediate, at, bytes) }) {
            return Ok(());
        }
    }
    if is_held_back(endpoint, am) {
        return Err(Full);
    }
    endpoint.module.send(endpoint.btl_endpoint, am, immediate, bytes, &mut |to| copy_any(to, at, bytes))
}

/// Whether an eager message must wait because the peer has said XOFF. Asked before the transport's own calls, to which
/// sends to a peer with a FIFO pair come at least once in each pass over its ring.
#[inline(always)]
fn is_held_back(endpoint: &Endpoint, am: AmId) -> bool {
    am == wire::EAGER && endpoint.is_stopped()
}

/// Copies between a user's buffer and a transport's. Private to this file, whose callers have the right to both.
#[inline(always)]
fn copy_any(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes <= SMALL_BYTES {
        // SAFETY: both valid for `bytes`: one by the contract of `UserBuffer::new` or `BorrowedBuffer::new` and the checks of lengths
        // before the call, the other by the transport's.
        unsafe { copy_small(to, from, bytes) };
    } else {
        // SAFETY: as above.
        unsafe { memcpy::copy(to, from, bytes) };
    }
}

/// # Safety
/// As [`UserBuffer::new`].
#[cold]
#[inline(never)]
unsafe fn boxed_convertor(data: &Data<'_>) -> Box<Convertor> {
    // SAFETY: the caller's promise.
    Box::new(unsafe { data.convertor() })
}

/// What [`copy_small`] copies.
const SMALL_BYTES: usize = 64;
