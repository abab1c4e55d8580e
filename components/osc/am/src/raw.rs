//! Messages and memory: the only unsafe code.
#![allow(unsafe_code)]

use crate::memory::Place;
use alloc::vec::Vec;
use ompi_core::accumulate;
use ompi_core::comm::Communicator;
use ompi_core::data::{Data, no_room};
use ompi_core::datatype::{self, Datatype};
use ompi_core::error::Result;
use ompi_core::framework::op::Operation;
use ompi_core::framework::pml::{self, MatchContext, Mode};
use ompi_core::request::{Request, handles};
use opal_core::datatype::Convertor;
use opal_core::framework::memcpy;

/// To or from whom, with which tag.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    /// The window's own communicator.
    pub comm: &'a Communicator,
    /// A rank of it.
    pub rank: usize,
    /// The tag.
    pub tag: i32,
}

impl Route<'_> {
    fn context(&self) -> MatchContext<'_> {
        MatchContext { comm: self.comm, collective: false }
    }
}

/// A message under way, with the memory that it is sent from or received to unless that is the user's or a window's.
pub struct Transfer {
    request: Option<Request>,
    // What is sent, or no bytes and room for what is received.
    bytes: Vec<u8>,
    is_receive: bool,
}

impl Transfer {
    /// Sends bytes.
    pub fn send(bytes: Vec<u8>, route: Route<'_>) -> Result<Transfer> {
        let data = Data { at: bytes.as_ptr().cast_mut(), count: bytes.len(), datatype: datatype::byte() };
        // SAFETY: the vector lives, unchanged, as long as the request: `finish` and `drop` see to it.
        let request = unsafe { start_send(&data, route)? };
        Ok(Transfer { request: Some(request), bytes, is_receive: false })
    }

    /// Receives at most so many bytes.
    pub fn receive(bytes: usize, route: Route<'_>) -> Result<Transfer> {
        let mut memory = room(bytes)?;
        let data = Data { at: memory.as_mut_ptr(), count: bytes, datatype: datatype::byte() };
        // SAFETY: as in `send`; nobody looks at the bytes before `finish`.
        let request = unsafe { start_receive(&data, route)? };
        Ok(Transfer { request: Some(request), bytes: memory, is_receive: true })
    }

    /// Receives a message of whatever length; `None` if none is here.
    pub fn receive_any(route: Route<'_>) -> Result<Option<Transfer>> {
        let found = pml::selected().improbe(route.rank as i32, route.tag, route.context())?;
        let Some(matched) = found else { return Ok(None) };
        let count = matched.status.bytes() as usize;
        let mut bytes = room(count)?;
        let data = Data { at: bytes.as_mut_ptr(), count, datatype: datatype::byte() };
        // SAFETY: as in `receive`.
        let request = unsafe { pml::selected().imrecv(&data, matched)? };
        Ok(Some(Transfer { request: Some(request), bytes, is_receive: true }))
    }

    /// Whether it has ended. Makes no progress.
    pub fn is_complete(&self) -> bool {
        self.request.as_ref().is_none_or(Request::is_complete)
    }

    /// Waits for its end; the bytes of one that has memory of its own.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let mut bytes = core::mem::take(&mut self.bytes);
        if let Some(request) = self.request.take() {
            let received = request.wait()?.bytes() as usize;
            if self.is_receive {
                // SAFETY: that many were received to where the vector begins.
                unsafe { bytes.set_len(received.min(bytes.capacity())) };
            }
        }
        Ok(bytes)
    }

    /// Ends a receive that nothing will come for.
    pub fn cancel(mut self) -> Result<()> {
        if let Some(request) = self.request.take() {
            let mut handle = request.into_handle();
            handles::cancel(handle)?;
            handles::wait(&mut handle)?;
        }
        Ok(())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        // The PML still has the address: the memory is nobody's from now on.
        if !self.is_complete() {
            core::mem::forget(core::mem::take(&mut self.bytes));
        }
    }
}

/// Data that may be used until the operation that it belongs to has ended.
pub struct Buffer<'a>(Data<'a>);

impl<'a> Buffer<'a> {
    /// Of the user's.
    ///
    /// # Safety
    /// That of `Module::access`: readable or writable, as it is used here, until the operation is complete.
    pub unsafe fn new(data: Data<'a>) -> Buffer<'a> {
        Buffer(data)
    }

    /// Of a window.
    pub fn in_window(place: Place<'a>) -> Buffer<'a> {
        Buffer(place.data())
    }

    /// Bytes of data.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Whether it has no gaps.
    pub fn is_run(&self) -> bool {
        self.0.contiguous().is_some()
    }

    /// So many bytes of data without gaps, from an offset on.
    ///
    /// # Panics
    /// If it has gaps, or is not as long.
    pub fn part(&self, from: usize, bytes: usize) -> Buffer<'static> {
        let run = self.0.contiguous().filter(|_| from <= self.bytes() && bytes <= self.bytes() - from);
        let at = run.expect("part of a run").wrapping_add(from);
        Buffer(Data { at, count: bytes, datatype: datatype::byte() })
    }

    /// Appends the data.
    #[inline(always)]
    pub fn append_to(&self, to: &mut Vec<u8>) -> Result<()> {
        let bytes = self.bytes();
        match self.0.contiguous() {
            Some(run) if bytes == size_of::<u64>() => {
                // SAFETY: readable by the contract of the constructors.
                let word = unsafe { run.cast::<[u8; size_of::<u64>()]>().read() };
                to.extend_from_slice(&word);
                Ok(())
            }
            Some(run) if bytes > 0 => {
                to.try_reserve(bytes).map_err(|_| no_room(bytes))?;
                // SAFETY: readable by the contract of the constructors.
                to.extend_from_slice(unsafe { core::slice::from_raw_parts(run, bytes) });
                Ok(())
            }
            _ => self.append_any(bytes, to),
        }
    }

    fn append_any(&self, bytes: usize, to: &mut Vec<u8>) -> Result<()> {
        let before = to.len();
        to.try_reserve(bytes).map_err(|_| no_room(bytes))?;
        // SAFETY: readable by the contract of the constructors; there is room behind `before`.
        unsafe { self.0.pack(to.as_mut_ptr().wrapping_add(before)) };
        // SAFETY: so many bytes were just written there.
        unsafe { to.set_len(before + bytes) };
        Ok(())
    }

    /// A copy of the data.
    #[inline(always)]
    pub fn read(&self) -> Result<Copied> {
        let bytes = self.bytes();
        if bytes > SHORT_BYTES {
            let mut copy = Vec::new();
            self.append_any(bytes, &mut copy)?;
            return Ok(Copied::Long(copy));
        }
        let mut copy = [0; SHORT_BYTES];
        // SAFETY: readable by the contract of the constructors; the copy has room for it.
        unsafe { self.0.pack(copy.as_mut_ptr()) };
        Ok(Copied::Short(copy, bytes))
    }

    /// Where it begins, if it is one run.
    pub fn address(&self) -> Option<u64> {
        self.0.contiguous().map(|run| run.expose_provenance() as u64)
    }

    /// Whether the target may copy it from where it is, as far as this side knows.
    pub fn may_be_lent(&self, route: Route<'_>) -> bool {
        pml::selected().lends(&self.0, route.rank as i32, route.context())
    }

    /// Fills a run of bytes from an address in an origin's memory.
    pub fn copy_lent(&self, route: Route<'_>, remote: u64) -> Result<()> {
        // SAFETY: writable by the contract of the constructors.
        unsafe { pml::selected().copy_lent(&self.0, route.rank as i32, remote, route.context()) }
    }

    /// Copies a run of bytes to an address in a target's memory.
    pub fn copy_to_remote(&self, route: Route<'_>, remote: u64) -> Result<()> {
        // SAFETY: readable by the contract of the constructors.
        unsafe { pml::selected().copy_to_remote(&self.0, route.rank as i32, remote, route.context()) }
    }

    /// Overwrites the data; what is longer is cut off.
    #[inline(always)]
    pub fn write(&self, from: &[u8]) {
        // SAFETY: writable by the contract of the constructors; `from` is memory of the library's own.
        unsafe { self.0.unpack(from.as_ptr(), from.len()) };
    }

    /// Sends the data.
    pub fn send(&self, route: Route<'_>) -> Result<Transfer> {
        // SAFETY: readable until the operation is complete, which waits for the transfer.
        let request = unsafe { start_send(&self.0, route)? };
        Ok(Transfer { request: Some(request), bytes: Vec::new(), is_receive: false })
    }

    /// Receives to it.
    pub fn receive(&self, route: Route<'_>) -> Result<Transfer> {
        // SAFETY: writable until the operation is complete, which waits for the transfer.
        let request = unsafe { start_receive(&self.0, route)? };
        Ok(Transfer { request: Some(request), bytes: Vec::new(), is_receive: false })
    }

    /// Where the data goes, piece by piece.
    pub fn placement(&self) -> Placement {
        match self.0.contiguous() {
            Some(run) => Placement::Run(run, self.bytes()),
            // SAFETY: writable until the operation is complete, which waits for the last piece.
            None => Placement::Any(unsafe { self.0.convertor() }),
        }
    }

    /// Combines the data with as much other data, all of one basic type.
    pub fn combine(&self, operation: Operation, basic: &Datatype, input: &[u8]) -> Result<()> {
        // SAFETY: readable and writable by the contract of the constructors; the input is memory of the library's own.
        unsafe { accumulate::combine(&self.0, operation, basic, input.as_ptr(), input.len()) }
    }
}

/// A copy of data.
pub enum Copied {
    /// So many bytes.
    Short([u8; SHORT_BYTES], usize),
    /// More.
    Long(Vec<u8>),
}

impl Copied {
    /// The bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Copied::Short(copy, bytes) => &copy[..*bytes],
            Copied::Long(copy) => copy,
        }
    }

    /// The same in memory that can be sent.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Copied::Short(copy, bytes) => copy[..bytes].into(),
            Copied::Long(copy) => copy,
        }
    }
}

/// Every basic type is as short.
pub const SHORT_BYTES: usize = 32;

/// A place of the user's for data that comes in pieces.
pub enum Placement {
    /// One run: where the next byte goes, and how many are missing.
    Run(*mut u8, usize),
    /// Any other.
    Any(Convertor),
}

// SAFETY: an address; that it may be written until the operation is complete is the contract of `Buffer::new`.
unsafe impl Send for Placement {}

impl Placement {
    /// Where an answer without data goes.
    pub const NONE: Placement = Placement::Run(core::ptr::null_mut(), 0);

    /// The next bytes; how many are missing then.
    #[inline]
    pub fn fill(&mut self, from: &[u8]) -> usize {
        match self {
            Placement::Run(at, missing) => {
                let bytes = from.len().min(*missing);
                // SAFETY: writable by the contract of `Buffer::new`; `from` is memory of the library's own.
                unsafe { memcpy::copy(*at, from.as_ptr(), bytes) };
                (*at, *missing) = (at.wrapping_add(bytes), *missing - bytes);
                *missing
            }
            Placement::Any(convertor) => {
                // SAFETY: as above.
                unsafe { convertor.unpack(from.as_ptr(), from.len()) };
                convertor.total() - convertor.position()
            }
        }
    }
}

/// # Safety
/// That of `pml::Module::isend`.
unsafe fn start_send(data: &Data<'_>, route: Route<'_>) -> Result<Request> {
    // SAFETY: the caller's promise.
    unsafe { pml::selected().isend(data, route.rank as i32, route.tag, Mode::Standard, route.context()) }
}

/// # Safety
/// That of `pml::Module::irecv`.
unsafe fn start_receive(data: &Data<'_>, route: Route<'_>) -> Result<Request> {
    // SAFETY: the caller's promise.
    unsafe { pml::selected().irecv(data, route.rank as i32, route.tag, route.context()) }
}

fn room(bytes: usize) -> Result<Vec<u8>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
    Ok(memory)
}

/// Runs `work` with so many bytes from an address in an origin's memory.
pub fn with_lent<R>(bytes: usize, route: Route<'_>, remote: u64, work: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    let mut memory = room(bytes)?;
    Buffer(Data { at: memory.as_mut_ptr(), count: bytes, datatype: datatype::byte() }).copy_lent(route, remote)?;
    // SAFETY: all of them were just written.
    unsafe { memory.set_len(bytes) };
    work(&memory)
}

/// Whether this process can copy from and to so many bytes of a rank's memory.
pub fn can_copy(route: Route<'_>, remote: u64, bytes: usize) -> bool {
    pml::selected().is_lent(route.rank as i32, remote, bytes, route.context())
}

/// Gives memory of `user_memory` back.
pub fn free(at: *mut u8) -> Result<()> {
    // SAFETY: the window that owned it has ended, and with it all that uses it.
    unsafe { ompi_core::user_memory::free(at) }
}
