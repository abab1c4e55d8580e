//! Buffered sends: memory that the user attached, and the copies of messages that wait in it. MPI 5.0 §3.6.
//!
//! A message goes into the first gap that holds it, so that room is found wherever the standard's model (§3.6.4), which
//! frees only from the oldest on, finds some. Nothing of ours lies in the user's memory. A communicator's own buffer
//! comes before its session's, and that before the process's.
//!
//! **Invariant:** nothing is locked while the PML runs.
#![allow(unsafe_code)]

use crate::comm::Communicator;
use crate::data::{self, Data};
use crate::datatype;
use crate::error::{Class, Fault, Result};
use crate::framework::pml::{self, MatchContext, Mode};
use crate::handle::HandleTable;
use crate::request::{Driver, Id, Kind, Request, complete, create};
use crate::status::Status;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::{AtomicU32, ConditionalLock, Ordering};
use opal_core::wait::Subject;
use opal_core::{progress, wait};

/// MPI_BUFFER_AUTOMATIC: the library finds the memory itself.
pub const AUTOMATIC: usize = 2;

/// Whose buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The process's.
    Process,
    /// That of the communicator with this context number.
    Comm(u32),
    /// That of the session with this handle.
    Session(usize),
}

/// The places of messages begin on multiples of this.
const ALIGN: usize = 8;

struct Buffer {
    // AUTOMATIC, or where the user's memory lies.
    at: usize,
    size: usize,
    messages: ConditionalLock<Messages>,
}

struct Messages {
    // By the place in the buffer; by a serial number if the memory is found automatically.
    all: BTreeMap<usize, Message>,
    serial: u64,
    // Automatic: as soon as there are so many messages, those that have left give their memory back.
    sweep_at: usize,
}

struct Message {
    bytes: usize,
    serial: u64,
    // None until the send was started.
    request: Option<Request>,
    // Automatic: where the message lies.
    _memory: Vec<u8>,
}

static BUFFERS: ConditionalLock<BTreeMap<Owner, Arc<Buffer>>> = ConditionalLock::new(BTreeMap::new());

/// Attaches memory at `at`, or [`AUTOMATIC`].
///
/// # Safety
/// The memory is the library's alone, `size` bytes of it, until it is detached.
pub unsafe fn attach(owner: Owner, at: usize, size: usize) -> Result<()> {
    if at == 0 && size > 0 {
        return Err(Fault::new(Class::Buffer)
            .argument("buffer")
            .because("it is a null pointer, but the size is above 0"));
    }
    let messages = Messages { all: BTreeMap::new(), serial: 0, sweep_at: FIRST_SWEEP };
    let mut buffers = BUFFERS.lock();
    if buffers.contains_key(&owner) {
        let why = "a buffer is attached already; detach it first";
        return Err(Fault::new(Class::Buffer).argument("buffer").because(why));
    }
    if size == 0 && at == 0 {
        // What detach returned when there was no buffer: libraries that lend their own give it back like this.
        return Ok(());
    }
    buffers.insert(owner, Arc::new(Buffer { at, size, messages: ConditionalLock::new(messages) }));
    Ok(())
}

/// Waits until all messages have left, then gives up the memory: its address and size. Without a buffer it is as if one of
/// no bytes were attached (MPI 5.0 §3.6).
pub fn detach(owner: Owner) -> Result<(usize, usize)> {
    let Some(buffer) = BUFFERS.lock().remove(&owner) else { return Ok((0, 0)) };
    buffer.drain(u64::MAX)?;
    Ok((buffer.at, if buffer.at == AUTOMATIC { 0 } else { buffer.size }))
}

/// As [`detach`], if there is a buffer at all: when its owner ends.
pub fn drop_owner(owner: Owner) -> Result<()> {
    let buffer = BUFFERS.lock().remove(&owner);
    buffer.map_or(Ok(()), |buffer| buffer.drain(u64::MAX))
}

/// At MPI_Finalize: what was sent is sent (MPI 5.0 §11.2.2), and the process's buffer is its own again.
pub fn drop_world() -> Result<()> {
    let all = BUFFERS.lock().clone();
    all.values().try_for_each(|buffer| buffer.drain(u64::MAX))?;
    BUFFERS.lock().remove(&Owner::Process);
    Ok(())
}

/// Waits until the messages that are in the buffer now have left. Without a buffer there are none.
pub fn flush(owner: Owner) -> Result<()> {
    let Some(buffer) = find(owner) else { return Ok(()) };
    let until = buffer.messages.lock().serial;
    buffer.drain(until)
}

/// Begins [`flush`].
pub fn flush_later(owner: Owner) -> Result<Request> {
    let Some(buffer) = find(owner) else { return Ok(crate::request::done()) };
    let until = buffer.messages.lock().serial;
    let flush = Arc::new(Flush { buffer, until, request: AtomicU32::new(0) });
    let token = FLUSHES.insert(flush.clone()).ok_or(Class::NoMem)?;
    let request = create(Kind::Polled, &Flushes, token as u64).inspect_err(|_| drop(FLUSHES.remove(token)))?;
    flush.request.store(request.id().0, Ordering::Relaxed);
    Ok(request)
}

/// MPI_Bsend: the message lies in the buffer when it returns.
///
/// # Safety
/// The data is readable during the call.
pub unsafe fn send(data: &Data<'_>, dest: i32, tag: i32, comm: &Communicator) -> Result<()> {
    let buffer = find(Owner::Comm(comm.context))
        .or_else(|| of_session(comm))
        .or_else(|| find(Owner::Process))
        .ok_or_else(|| {
            Fault::new(Class::Buffer)
                .because("no buffer is attached; call MPI_Buffer_attach or MPI_Comm_attach_buffer first")
        })?;
    let bytes = data.bytes();
    let (place, at) = buffer.reserve(bytes)?;
    // SAFETY: the caller's promise.
    let mut walk = unsafe { data.convertor() };
    // SAFETY: the place was reserved for these bytes.
    unsafe { walk.pack(at, bytes) };
    let copy = Data { at, count: bytes, datatype: datatype::byte() };
    // SAFETY: the copy stays as it is until the request is complete, which ends the reservation.
    let sent =
        unsafe { pml::selected().isend(&copy, dest, tag, Mode::Standard, MatchContext { comm, collective: false }) };
    buffer.started(place, sent)?;
    // The message is on its way even if the program makes no other call for long.
    progress::flush();
    Ok(())
}

const FIRST_SWEEP: usize = 64;

impl Buffer {
    /// Room for a message: its key and its address.
    fn reserve(&self, bytes: usize) -> Result<(usize, *mut u8)> {
        if self.at == AUTOMATIC {
            return self.reserve_anywhere(bytes);
        }
        let room = bytes.max(1).checked_next_multiple_of(ALIGN).ok_or(Class::Buffer)?;
        if let Some(place) = self.messages.lock().take_gap(room, self.size) {
            return Ok((place, (self.at + place) as *mut u8));
        }
        progress::pass();
        match self.messages.lock().take_gap(room, self.size) {
            Some(place) => Ok((place, (self.at + place) as *mut u8)),
            None => {
                let why = format!(
                    "the attached buffer of {} bytes has no room for {bytes} more; each message needs MPI_BSEND_OVERHEAD, too",
                    self.size
                );
                Err(Fault::new(Class::Buffer).because(why))
            }
        }
    }

    fn reserve_anywhere(&self, bytes: usize) -> Result<(usize, *mut u8)> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes.max(1)).map_err(|_| data::no_room(bytes))?;
        let at = memory.as_mut_ptr();
        let mut messages = self.messages.lock();
        if messages.all.len() >= messages.sweep_at {
            messages.sweep();
            messages.sweep_at = FIRST_SWEEP.max(2 * messages.all.len());
        }
        let serial = messages.next();
        messages.all.insert(serial as usize, Message { bytes, serial, request: None, _memory: memory });
        Ok((serial as usize, at))
    }

    /// The send of a message was started, or could not be.
    fn started(&self, place: usize, sent: Result<Request>) -> Result<()> {
        let mut messages = self.messages.lock();
        let request = sent.inspect_err(|_| drop(messages.all.remove(&place)))?;
        if request.is_complete() {
            let message = messages.all.remove(&place);
            drop(messages);
            drop(message);
            return request.wait().map(drop);
        }
        if let Some(message) = messages.all.get_mut(&place) {
            message.request = Some(request);
        }
        Ok(())
    }

    /// Waits until the messages up to a serial number have left.
    fn drain(&self, until: u64) -> Result<()> {
        progress::flush();
        wait::until_done(wait::awaiting(|| self.is_drained(until), || self.subject(until)))?;
        Ok(())
    }

    /// What the message waits for that was buffered first.
    fn subject(&self, until: u64) -> Subject {
        let Some(messages) = self.messages.try_lock() else { return Subject::UNKNOWN };
        let left = messages.all.values().filter(|message| message.serial <= until);
        let first = left.min_by_key(|message| message.serial).and_then(|message| message.request.as_ref());
        first.map_or(Subject::UNKNOWN, Request::subject)
    }

    fn is_drained(&self, until: u64) -> bool {
        let mut messages = self.messages.lock();
        messages.sweep();
        messages.all.values().all(|message| message.serial > until)
    }
}

impl Messages {
    fn next(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Ends the reservations of messages that have left. What became of them nobody can be told: MPI_Bsend has returned.
    fn sweep(&mut self) {
        self.all.retain(|_, message| match message.request.take() {
            Some(request) if request.is_complete() => {
                let _nobody_to_tell = request.wait();
                false
            }
            request => {
                message.request = request;
                true
            }
        });
    }

    /// The first gap of `room` bytes.
    fn take_gap(&mut self, room: usize, size: usize) -> Option<usize> {
        // Behind the last message first, since looking costs nothing there.
        let end = self.all.last_key_value().map_or(0, |(place, message)| place + message.bytes);
        let place =
            if size.checked_sub(end).is_some_and(|left| left >= room) { Some(end) } else { self.gap(room, size) };
        let place = place?;
        let serial = self.next();
        self.all.insert(place, Message { bytes: room, serial, request: None, _memory: Vec::new() });
        Some(place)
    }

    fn gap(&mut self, room: usize, size: usize) -> Option<usize> {
        self.sweep();
        let mut from = 0;
        for (place, message) in &self.all {
            if place - from >= room {
                return Some(from);
            }
            from = place + message.bytes;
        }
        (size.saturating_sub(from) >= room).then_some(from)
    }
}

fn find(owner: Owner) -> Option<Arc<Buffer>> {
    BUFFERS.lock().get(&owner).cloned()
}

fn of_session(comm: &Communicator) -> Option<Arc<Buffer>> {
    match comm.group.session() {
        0 => None,
        session => find(Owner::Session(session)),
    }
}

struct Flush {
    buffer: Arc<Buffer>,
    until: u64,
    request: AtomicU32,
}

static FLUSHES: HandleTable<Flush> = HandleTable::new();

struct Flushes;

impl Driver for Flushes {
    fn poll(&self, token: u64) {
        let Some(flush) = FLUSHES.get(token as usize) else { return };
        // Of several threads that find the buffer empty one completes the request.
        if flush.buffer.is_drained(flush.until) {
            match flush.request.swap(0, Ordering::Relaxed) {
                0 => {}
                request => complete(Id(request), Status::EMPTY),
            }
        }
    }

    fn release(&self, token: u64) {
        FLUSHES.remove(token as usize);
    }
}
