//! The executor of blocking collectives: runs each step as it is asked for.
#![allow(unsafe_code)]

use super::Executor;
use crate::comm::Communicator;
use crate::data::{self, Data, Room};
use crate::error::{Class, Fault, Result};
use crate::framework::coll::Call;
use crate::framework::pml::{self, MatchContext, Mode};
use crate::op::Op;
use crate::request::{self, Request};
use alloc::format;
use alloc::vec::Vec;
use core::any::Any;

/// Runs one blocking collective on `comm`.
///
/// # Safety
/// The call's data is readable (sources) or writable (targets), and sources overlap no target.
#[inline(always)]
pub unsafe fn run(comm: &Communicator, call: &Call<'_>) -> Result<()> {
    let function = call.function();
    let module = comm.coll().of(function)?;
    // SAFETY: the module passes parts of its arguments, which the caller vouches for, and of the executor's scratch memory.
    let mut executor = unsafe { Immediate::new(comm.merged(), function as i32) };
    // SAFETY: the caller's promise.
    let called = unsafe { module.call(call, &mut executor) };
    if !executor.has_allocated() {
        // Nothing to drop: the drop is a function call.
        core::mem::forget(executor);
        return called;
    }
    called.and(executor.finish())
}

/// Waits until all ranks of `comm` have called it.
#[inline(always)]
pub fn barrier(comm: &Communicator) -> Result<()> {
    // SAFETY: there is no data.
    unsafe { run(comm, &Call::Barrier) }
}

/// The communicator on which an executor runs every step at once, for all its ranks; `None` for any other executor.
pub fn communicator_of(executor: &dyn Executor) -> Option<&Communicator> {
    executor.communicator()?.downcast_ref()
}

/// Runs every step at once over the PML.
pub struct Immediate<'a> {
    context: MatchContext<'a>,
    tag: i32,
    started: Vec<Request>,
    rooms: Vec<Room>,
}

impl<'a> Immediate<'a> {
    /// For one operation on `comm`, an intracommunicator, whose messages carry `tag` on the collective context.
    ///
    /// # Safety
    /// Until the executor is dropped, all data passed to it is readable where it is sent, copied or reduced from, and
    /// writable where it is received, copied or reduced to.
    pub unsafe fn new(comm: &'a Communicator, tag: i32) -> Immediate<'a> {
        Immediate { context: MatchContext { comm, collective: true }, tag, started: Vec::new(), rooms: Vec::new() }
    }

    #[inline(always)]
    fn has_allocated(&self) -> bool {
        self.started.capacity() != 0 || self.rooms.capacity() != 0
    }
}

impl Executor for Immediate<'_> {
    fn rank(&self) -> usize {
        self.context.comm.rank as usize
    }

    fn size(&self) -> usize {
        self.context.comm.size()
    }

    fn send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        // SAFETY: readable by the contract of `new`.
        unsafe { pml::selected().send(data, to as i32, self.tag, Mode::Standard, self.context) }
    }

    fn recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        // SAFETY: writable by the contract of `new`.
        let received = unsafe { pml::selected().recv(data, from as i32, self.tag, self.context, None) };
        received.map_err(|fault| in_collective(fault, self.tag))
    }

    fn start_send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        self.started.try_reserve(1).map_err(|_| data::no_room(data.bytes()))?;
        // SAFETY: readable by the contract of `new` until `finish`, which drop calls.
        let request = unsafe { pml::selected().isend(data, to as i32, self.tag, Mode::Standard, self.context) }?;
        if request != request::done() {
            self.started.push(request);
        }
        Ok(())
    }

    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.started.try_reserve(1).map_err(|_| data::no_room(data.bytes()))?;
        // SAFETY: writable by the contract of `new` until `finish`, which drop calls.
        let request = unsafe { pml::selected().irecv(data, from as i32, self.tag, self.context) }?;
        self.started.push(request);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        // Every request completes, whatever became of those before it.
        request::wait_all(self.started.drain(..)).map_err(|fault| in_collective(fault, self.tag))
    }

    fn communicator(&self) -> Option<&dyn Any> {
        Some(self.context.comm)
    }

    // The send first: it is mostly done at once, and the receive then needs no request.
    fn exchange(&mut self, out: &Data<'_>, to: usize, into: &Data<'_>, from: usize) -> Result<()> {
        // SAFETY: readable by the contract of `new` until it is waited for below.
        let sent = unsafe { pml::selected().isend(out, to as i32, self.tag, Mode::Standard, self.context) }?;
        let received = self.recv(into, from);
        if sent == request::done() {
            return received;
        }
        let sent = request::wait_all([sent]);
        received.and(sent)
    }

    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
        // SAFETY: by the contract of `new`.
        unsafe { data::copy(from, to) }
    }

    fn reduce(&mut self, op: &Op, input: &Data<'_>, inout: &Data<'_>) -> Result<()> {
        debug_assert_eq!(input.count, inout.count);
        // SAFETY: by the contract of `new`.
        unsafe { op.reduce(input.at, inout.at, inout.count, inout.datatype) }
    }

    // A kernel writes the result elsewhere; functions of users know two operands only.
    fn combine(&mut self, op: &Op, first: &Data<'_>, second: &Data<'_>, to: &Data<'_>) -> Result<()> {
        debug_assert!(first.count == to.count && second.count == to.count);
        if matches!(op, Op::Predefined(_)) && to.count > 0 {
            let kernel = op.kernel(to.datatype)?;
            // SAFETY: by the contract of `new`; predefined operations work on predefined types, which have no gaps but in
            // themselves.
            unsafe { kernel(first.at, second.at, to.at, to.count) };
            return Ok(());
        }
        if to.at != second.at {
            self.copy(second, to)?;
        }
        self.reduce(op, first, to)
    }

    fn scratch<'d>(&mut self, like: &Data<'d>) -> Result<Data<'d>> {
        let mut room = Room::new(like.count, like.datatype)?;
        let data = Data { at: room.at(), ..*like };
        self.rooms.push(room);
        Ok(data)
    }
}

impl Drop for Immediate<'_> {
    fn drop(&mut self) {
        // An algorithm that fails midway leaves requests behind that still use the buffers.
        if !self.started.is_empty() {
            let _ = self.finish();
        }
    }
}

/// A message that is too long means that ranks differ in what they pass; its tag is none of the program's.
#[cold]
fn in_collective(fault: Fault, tag: i32) -> Fault {
    if fault.get() != Class::Truncate as i32 {
        return fault;
    }
    let what = fault.reason().replace(&format!(" with tag {tag}"), " of this collective operation");
    let why = format!("{what}; the counts and datatypes of all ranks must describe the same amount of data");
    fault.because(why)
}
