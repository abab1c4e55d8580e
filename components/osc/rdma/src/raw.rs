//! Calls of the transport, and data of a target as the layers above want it.
#![allow(unsafe_code)]

use crate::operation::Operation;
use crate::peer::{Direction, Peer};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::{Data, no_room};
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Result};
use ompi_core::win::node::TargetData;
use opal_core::framework::btl::{Atomic, Begun, Completion, Full, Remote, Width};
use opal_core::wait::Backoff;

/// Memory of this component's for an operation.
pub struct Scratch {
    at: *mut u8,
    bytes: usize,
}

// SAFETY: memory that nobody else has; who writes to it, and when, the operation's life says.
unsafe impl Send for Scratch {}
// SAFETY: as above.
unsafe impl Sync for Scratch {}

impl Scratch {
    /// Zeros.
    pub fn new(bytes: usize) -> Result<Scratch> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
        memory.resize(bytes, 0u8);
        Ok(Scratch { at: Box::into_raw(memory.into_boxed_slice()).cast(), bytes })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let whole = core::ptr::slice_from_raw_parts_mut(self.at, self.bytes);
        // SAFETY: made by `new`, and nobody has it any more.
        drop(unsafe { Box::from_raw(whole) });
    }
}

/// Data of another process.
pub struct Distant<'a> {
    peer: &'a Peer,
    // Its address is one of the other process's, and never used as one of this one's.
    data: Data<'a>,
}

impl<'a> Distant<'a> {
    /// At an address there; the caller has checked that it lies in the target's memory.
    pub fn new(peer: &'a Peer, at: u64, data: Data<'a>) -> Distant<'a> {
        Distant { peer, data: Data { at: core::ptr::without_provenance_mut(at as usize), ..data } }
    }

    /// Begins to move all of it, if both sides are one run; otherwise nothing is begun.
    ///
    /// # Safety
    /// `local` is readable or writable, as the direction says, until the operation is complete.
    pub unsafe fn begin(&self, direction: Direction, local: &Data<'_>) -> Result<Option<Arc<Operation>>> {
        let (Some(at), Some(_)) = (local.contiguous(), self.data.contiguous()) else { return Ok(None) };
        let operation = Operation::new(&self.peer.flow, None);
        // SAFETY: the caller's promise.
        let begun = unsafe { self.begin_pieces(&operation, direction, at) };
        if begun.is_err() {
            // The program may use its memory again when this returns.
            self.peer.wait(&operation)?;
        }
        begun.map(|()| Some(operation))
    }

    /// Moves all of it, to its end.
    ///
    /// # Safety
    /// `local` is readable or writable, as the direction says.
    unsafe fn move_all(&self, direction: Direction, local: &Data<'_>) -> Result<()> {
        let bytes = local.bytes();
        if bytes != self.data.bytes() {
            return Err(Class::Truncate.into());
        }
        let run = local.contiguous();
        let scratch = if run.is_none() { Some(Scratch::new(bytes)?) } else { None };
        let at = scratch.as_ref().map(|scratch| scratch.at).or(run).unwrap_or_default();
        if direction == Direction::Put && run.is_none() {
            // SAFETY: the caller's promise; there is room.
            unsafe { local.pack(at) };
        }
        let operation =
            Operation::new(&self.peer.flow, scratch.map(|scratch| Box::new(scratch) as Box<dyn Send + Sync>));
        // SAFETY: the caller's promise; or memory of the operation's.
        let begun = unsafe { self.begin_pieces(&operation, direction, at) };
        // Also if not all was begun: the program's memory is used until then.
        let ended = self.peer.wait(&operation);
        begun.and(ended)?;
        if direction == Direction::Get && run.is_none() {
            // SAFETY: the caller's promise; the bytes were just written.
            unsafe { local.unpack(at, bytes) };
        }
        Ok(())
    }

    /// # Safety
    /// `at` is readable or writable for all bytes of the data until the operation is complete.
    unsafe fn begin_pieces(&self, operation: &Arc<Operation>, direction: Direction, at: *mut u8) -> Result<()> {
        let most = self.peer.most(direction);
        let (mut done, mut begun) = (0, Ok(()));
        let mut run = |there: usize, bytes: usize| {
            let mut skip = 0;
            while skip < bytes && begun.is_ok() {
                let now = most.min(bytes - skip);
                let (remote, here) = (self.peer.remote((there + skip) as u64), at.wrapping_add(done));
                // SAFETY: within what the caller promises, since all runs together are as long as the data.
                begun = unsafe { begin_one(self.peer, operation, direction, remote, here, now) };
                skip += now;
                done += now;
            }
            begun.is_ok()
        };
        match self.data.contiguous() {
            Some(there) => _ = run(there.addr(), self.data.bytes()),
            None => {
                let place = |offset| self.data.at.wrapping_offset(offset).addr();
                self.data.datatype.layout.runs_from(0, self.data.bytes(), &mut |one| run(place(one.offset), one.bytes));
            }
        }
        begun
    }
}

impl TargetData for Distant<'_> {
    fn datatype(&self) -> &Datatype {
        self.data.datatype
    }

    fn bytes(&self) -> usize {
        self.data.bytes()
    }

    unsafe fn write(&self, from: &Data<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.move_all(Direction::Put, from) }
    }

    unsafe fn read(&self, to: &Data<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.move_all(Direction::Get, to) }
    }
}

/// # Safety
/// `here` is readable or writable for `bytes` until the operation is complete.
unsafe fn begin_one(
    peer: &Peer,
    operation: &Arc<Operation>,
    direction: Direction,
    remote: Remote,
    here: *mut u8,
    bytes: usize,
) -> Result<()> {
    let (module, endpoint) = (peer.path.module, peer.path.endpoint);
    begin(peer, operation, |done| match direction {
        // SAFETY: the caller's promise; the peer has registered what its key names, here and below.
        Direction::Put => unsafe { module.put(endpoint, here, remote, bytes, done) },
        // SAFETY: as above.
        Direction::Get => unsafe { module.get(endpoint, here, remote, bytes, done) },
    })
}

/// Begins an atomic operation on an aligned word of a peer's.
pub fn begin_atomic(peer: &Peer, operation: &Arc<Operation>, word: Remote, atomic: Atomic) -> Result<()> {
    let (module, endpoint) = (peer.path.module, peer.path.endpoint);
    // SAFETY: the peer has registered its words, whose address is a multiple of 8 (`wire.rs`).
    begin(peer, operation, |done| unsafe { module.atomic(endpoint, word, atomic, Width::Eight, done) })
}

/// Begins one operation of the transport, when there is room for it.
fn begin(
    peer: &Peer,
    operation: &Arc<Operation>,
    start: impl Fn(Completion) -> core::result::Result<Begun, Full>,
) -> Result<()> {
    let mut backoff = Backoff::new();
    loop {
        operation.begins();
        let kept = Arc::into_raw(operation.clone());
        let token = kept.expose_provenance() as u64;
        match start(Completion { call: ended, token }) {
            Ok(Begun::Later) => return Ok(()),
            Ok(Begun::Done(found)) => {
                ended(token, Ok(found));
                return Ok(());
            }
            Err(Full) => {
                operation.begins_not();
                // SAFETY: made above, and nobody else has this reference.
                drop(unsafe { Arc::from_raw(kept) });
            }
        }
        peer.check()?;
        backoff.step_for(|| peer.subject())?;
    }
}

/// The transport's word that an operation has ended.
fn ended(token: u64, ended: opal_core::Result<u64>) {
    let kept = core::ptr::with_exposed_provenance::<Operation>(token as usize);
    // SAFETY: the token of `begin`, which kept a reference for this one call.
    let operation = unsafe { Arc::from_raw(kept) };
    operation.ends(ended);
}
