//! The boundary of unsafe code: the user's buffers, and memory that messages are in while they travel.
#![allow(unsafe_code)]

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::comm::{Communicator, Holder};
use ompi_core::data::{Data, no_room};
use ompi_core::datatype::{self, Datatype};
use ompi_core::error::Result;
use ompi_core::framework::part::PartitionedTransfer;
use ompi_core::framework::pml::{self, BusySend, MatchContext, Mode};
use ompi_core::request::{self, Request, handles};
use ompi_core::status::Status;
use opal_core::sync::{AtomicUsize, ConditionalLock, Ordering};

/// The other side of an operation.
pub struct Line {
    /// On this communicator.
    pub comm: Holder,
    /// Its rank.
    pub peer: i32,
}

impl Line {
    /// A round was a message of the user's.
    pub fn count(&self, has_arrived: bool, tag: i32, bytes: usize) {
        pml::selected().count_message(self.comm.get(), has_arrived, self.peer, tag, bytes);
    }

    /// Whether bytes that the peer has at this address can be copied from there.
    pub fn is_lent(&self, at: u64, bytes: usize) -> bool {
        pml::selected().is_lent(self.peer, at, bytes, self.context())
    }

    fn context(&self) -> MatchContext<'_> {
        MatchContext { comm: self.comm.get(), collective: true }
    }
}

/// The user's buffer.
pub struct Region {
    at: *mut u8,
    count: usize,
    partitions: usize,
    datatype: Arc<Datatype>,
}

// SAFETY: the address is the user's, who promises in `new` what may be done there; nothing here changes.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// That of a transfer.
    ///
    /// # Safety
    /// Data may be read (of a send) from when its partition is marked to when the operation completes, or written (of a receive)
    /// while it is under way, to partitions that have not arrived.
    pub unsafe fn new(transfer: &PartitionedTransfer) -> Region {
        let PartitionedTransfer { at, partitions, count, .. } = *transfer;
        Region { at, count, partitions, datatype: transfer.datatype.clone() }
    }

    /// Bytes of data in a partition.
    pub fn partition_bytes(&self) -> usize {
        self.count * self.datatype.layout.size()
    }

    /// Bytes of data in all of them.
    pub fn bytes(&self) -> usize {
        self.partitions * self.partition_bytes()
    }

    /// Starts to send partitions that are marked; the request ends before the operation does.
    pub fn send(&self, partitions: Range<usize>, line: &Line, tag: i32, mode: Mode) -> Result<Request> {
        let data = self.elements(partitions.start * self.count, partitions.len() * self.count);
        // SAFETY: readable by the promise made to `new`.
        unsafe { pml::selected().isend(&data, line.peer, tag, mode, line.context()) }
    }

    /// Likewise a piece of a round that is not the last: the program computes what comes next.
    pub fn send_piece(&self, partitions: Range<usize>, line: &Line, tag: i32) -> Result<BusySend> {
        let data = self.elements(partitions.start * self.count, partitions.len() * self.count);
        // SAFETY: readable by the promise made to `new`.
        unsafe { pml::selected().isend_busy(&data, line.peer, tag, line.context()) }
    }

    /// Where the data lies, if the peer may copy it from there while the program computes.
    pub fn lent_at(&self, line: &Line) -> Option<u64> {
        let data = self.elements(0, self.partitions * self.count);
        let at = data.contiguous().filter(|_| self.bytes() > 0)?;
        pml::selected().lends(&data, line.peer, line.context()).then(|| at.expose_provenance() as u64)
    }

    /// Copies bytes of the packed data from this address of the peer's, which lends them.
    pub fn copy_lent(&self, part: Range<usize>, line: &Line, remote: u64) -> Result<()> {
        let (offset, bytes) = (part.start, part.len());
        if let Some(run) = self.part(part).filter(|run| run.contiguous().is_some()) {
            // SAFETY: writable by the promise made to `new`.
            return unsafe { pml::selected().copy_lent(&run, line.peer, remote, line.context()) };
        }
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
        memory.resize(bytes, 0);
        let data = Data { at: memory.as_mut_ptr(), count: bytes, datatype: datatype::byte() };
        // SAFETY: our own memory, of as many bytes.
        unsafe { pml::selected().copy_lent(&data, line.peer, remote, line.context())? };
        self.unpack(offset, &memory);
        Ok(())
    }

    /// Starts to receive a whole round, at most; the request ends before the operation does, or is cancelled.
    pub fn receive(&self, line: &Line, tag: i32) -> Result<Request> {
        let data = self.elements(0, self.partitions * self.count);
        // SAFETY: writable by the promise made to `new`.
        unsafe { pml::selected().irecv(&data, line.peer, tag, line.context()) }
    }

    /// Starts to receive bytes of the packed data, if they are one run or whole elements; the request ends before the operation
    /// does. `is_last`: of the round. Before that the sender computes what comes next.
    pub fn receive_part(&self, part: Range<usize>, line: &Line, tag: i32, is_last: bool) -> Option<Result<Request>> {
        let data = self.part(part)?;
        Some(if is_last {
            // SAFETY: writable by the promise made to `new`.
            unsafe { pml::selected().irecv(&data, line.peer, tag, line.context()) }
        } else {
            // SAFETY: as above.
            unsafe { pml::selected().irecv_from_busy(&data, line.peer, tag, line.context()) }
        })
    }

    /// Packs partitions that are marked behind what the vector holds.
    pub fn pack(&self, partitions: Range<usize>, to: &mut Vec<u8>) -> Result<()> {
        let data = self.elements(partitions.start * self.count, partitions.len() * self.count);
        let bytes = data.bytes();
        to.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
        let length = to.len();
        let room = to.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: readable by the promise made to `new`; the vector has room for as many bytes.
        unsafe { data.pack(room) };
        // SAFETY: just written.
        unsafe { to.set_len(length + bytes) };
        Ok(())
    }

    /// Unpacks bytes to their place in the packed data; what has no place is dropped.
    pub fn unpack(&self, offset: usize, from: &[u8]) {
        let bytes = from.len().min(self.bytes().saturating_sub(offset));
        if bytes == 0 {
            return;
        }
        if let Some(run) = self.part(offset..offset + bytes) {
            // SAFETY: writable by the promise made to `new`; the bytes are not the user's.
            unsafe { run.unpack(from.as_ptr(), bytes) };
            return;
        }
        let all = self.elements(0, self.partitions * self.count);
        // SAFETY: writable by the promise made to `new`; only the part that arrived is touched.
        let mut convertor = unsafe { all.convertor() };
        convertor.seek(offset);
        // SAFETY: readable for as many bytes, which are not the user's.
        unsafe { convertor.unpack(from.as_ptr(), bytes) };
    }

    fn part(&self, part: Range<usize>) -> Option<Data<'_>> {
        if part.end > self.bytes() {
            return None;
        }
        let all = self.elements(0, self.partitions * self.count);
        if let Some(at) = all.contiguous() {
            return Some(Data { at: at.wrapping_add(part.start), count: part.len(), datatype: datatype::byte() });
        }
        let size = self.datatype.layout.size();
        let whole = part.start.is_multiple_of(size) && part.len().is_multiple_of(size);
        whole.then(|| self.elements(part.start / size, part.len() / size))
    }

    fn elements(&self, first: usize, count: usize) -> Data<'_> {
        Data { at: self.at, count: 0, datatype: &self.datatype }.at_element(first as isize, count)
    }
}

/// A message that travels, with the memory that it is in.
pub struct Parcel(Option<(Request, Vec<u8>)>);

impl Parcel {
    /// Starts to send.
    pub fn send(memory: Vec<u8>, line: &Line, tag: i32, mode: Mode) -> Result<Parcel> {
        let data = Data { at: memory.as_ptr().cast_mut(), count: memory.len(), datatype: datatype::byte() };
        // SAFETY: readable as long as the parcel or `LEFT` has the memory, which is until the request ends.
        let request = unsafe { pml::selected().isend(&data, line.peer, tag, mode, line.context())? };
        Ok(Parcel(Some((request, memory))))
    }

    /// Starts to receive at most as many bytes as the memory has.
    pub fn receive(mut memory: Vec<u8>, line: &Line, tag: i32) -> Result<Parcel> {
        let data = Data { at: memory.as_mut_ptr(), count: memory.len(), datatype: datatype::byte() };
        // SAFETY: writable as long as the parcel or `LEFT` has the memory, which is until the request ends; nobody looks at it
        // until then.
        let request = unsafe { pml::selected().irecv(&data, line.peer, tag, line.context())? };
        Ok(Parcel(Some((request, memory))))
    }

    /// Whether it has arrived, or left.
    pub fn has_ended(&self) -> bool {
        self.0.as_ref().is_none_or(|(request, _)| request.is_complete())
    }

    /// Asks for a receive to be given up, which it was if it has ended then, with a status that says so.
    pub fn cancel(&self) {
        if let Some((request, _)) = &self.0 {
            cancel(request);
        }
    }

    /// What became of it, once it has ended, and the memory.
    pub fn end(mut self) -> (Status, Vec<u8>) {
        let Some((request, memory)) = self.0.take() else { return (Status::EMPTY, Vec::new()) };
        (status_of(request), memory)
    }
}

impl Parcel {
    /// Nobody wants to know what arrives, but it does arrive: the receive stays posted, until [`withdraw`] at the latest.
    pub fn leave(mut self, line: Line) {
        if let Some((request, memory)) = self.0.take() {
            Left { request, memory, line: Some(line) }.keep();
        }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        let Some((request, memory)) = self.0.take() else { return };
        cancel(&request);
        Left { request, memory, line: None }.keep();
    }
}

/// A parcel that nobody waits for any more.
struct Left {
    request: Request,
    memory: Vec<u8>,
    // If it was not cancelled.
    line: Option<Line>,
}

impl Left {
    fn keep(self) {
        let mut left = LEFT.lock();
        left.push(self);
        LEFT_COUNT.store(left.len(), Ordering::Relaxed);
        drop(left);
        sweep();
    }
}

static LEFT: ConditionalLock<Vec<Left>> = ConditionalLock::new(Vec::new());

static LEFT_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Takes back what was left posted on a communicator.
pub fn withdraw(comm: &Communicator) {
    let is_on = |left: &&Left| left.line.as_ref().is_some_and(|line| core::ptr::eq(line.comm.get(), comm));
    LEFT.lock().iter().filter(is_on).for_each(|left| cancel(&left.request));
    sweep();
}

/// Frees those that have ended.
#[inline]
pub fn sweep() {
    if LEFT_COUNT.load(Ordering::Relaxed) != 0 {
        sweep_all();
    }
}

#[cold]
fn sweep_all() {
    let Some(mut left) = LEFT.try_lock() else { return };
    let (mut index, mut ended) = (0, Vec::new());
    while index < left.len() {
        if left[index].request.is_complete() {
            ended.push(left.swap_remove(index));
        } else {
            index += 1;
        }
    }
    LEFT_COUNT.store(left.len(), Ordering::Relaxed);
    // What is freed with the last user of a communicator may come back here.
    drop(left);
    for Left { request, memory: _memory, line: _line } in ended {
        // Nobody waits for it.
        let _status = status_of(request);
    }
}

/// The status of a request that has ended; what went wrong stands in it.
#[inline]
pub fn status_of(request: Request) -> Status {
    if is_done(&request) {
        return Status::EMPTY;
    }
    let mut handle = request.into_handle();
    handles::wait(&mut handle).unwrap_or_else(|fault| Status::failed(fault.get()))
}

/// Asks for a receive to be given up. A send that is under way goes on.
pub fn cancel(request: &Request) {
    // A request of the PML that is in force can be asked; whether it is cancelled its status will say.
    let _asked = handles::cancel(request.id().0 as usize);
}

/// Whether a send was done at once.
pub fn is_done(request: &Request) -> bool {
    *request == request::done()
}
