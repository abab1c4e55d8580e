//! Recorded collective operations: what an algorithm asked for, kept to be run later and often.
//!
//! [`Recorder`] is the executor that records; [`Schedule`] what it recorded, with the memory and the references that it
//! needs; [`Run`] one execution, moved on whenever somebody makes progress. Waits of the algorithm (`send`, `recv`,
//! `finish`) are the places where a run stops until messages have come or gone, so that a recorded operation sends the
//! same messages and combines the same operands in the same order as the blocking one.
#![allow(unsafe_code)]

use crate::data::{self, Data, Room};
use crate::datatype::{self, Datatype};
use crate::error::{Fault, Result};
use crate::executor::Executor;
use crate::op::Op;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::progress;

/// One thing to do. Ranks are those of the communicator.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the fields are the arguments of `Executor`'s methods
pub enum Step<'a> {
    /// [`Executor::send`].
    Send { data: Data<'a>, to: usize },
    /// [`Executor::recv`].
    Recv { data: Data<'a>, from: usize },
    /// [`Executor::start_send`].
    StartSend { data: Data<'a>, to: usize },
    /// [`Executor::start_recv`].
    StartRecv { data: Data<'a>, from: usize },
    /// [`Executor::finish`].
    Finish,
    /// [`Executor::copy`].
    Copy { from: Data<'a>, to: Data<'a> },
    /// [`Executor::reduce`].
    Reduce { op: Op, input: Data<'a>, inout: Data<'a> },
}

impl Step<'_> {
    /// Whether it calls a function of the program's.
    fn calls_program(&self) -> bool {
        matches!(self, Step::Reduce { op, .. } if !matches!(op, Op::Predefined(_)))
    }
}

/// Records every step.
pub struct Recorder {
    rank: usize,
    size: usize,
    schedule: Schedule,
}

impl Recorder {
    /// For one rank's part in an operation of `size` ranks.
    ///
    /// # Safety
    /// Whenever the schedule runs, all data passed to this executor is readable where it is sent, copied or reduced
    /// from, and writable where it is received, copied or reduced to. A datatype without a handle lives as long as the
    /// schedule.
    pub unsafe fn new(rank: usize, size: usize) -> Recorder {
        Recorder { rank, size, schedule: Schedule::default() }
    }

    /// What was recorded.
    pub fn into_schedule(self) -> Schedule {
        self.schedule
    }

    fn push(&mut self, step: Step<'static>) -> Result<()> {
        let steps = &mut self.schedule.steps;
        steps.try_reserve(1).map_err(|_| data::no_room(size_of_val(&**steps)))?;
        steps.push(step);
        Ok(())
    }

    /// The same data with its datatype kept alive by the schedule.
    fn keep(&mut self, data: &Data<'_>) -> Result<Data<'static>> {
        let kept = &mut self.schedule.datatypes;
        let same = |kept: &Arc<Datatype>| core::ptr::eq(&**kept, data.datatype);
        if !data.datatype.is_predefined() && !kept.iter().rev().any(same) {
            kept.try_reserve(1).map_err(|_| data::no_room(size_of_val(&**kept)))?;
            kept.extend(datatype::keep(data.datatype));
        }
        // SAFETY: predefined types never end, the schedule holds what has a handle, and `new`'s caller vouches for
        // others; nobody gets at it without borrowing the schedule.
        let datatype: &'static Datatype = unsafe { &*core::ptr::from_ref(data.datatype) };
        Ok(Data { at: data.at, count: data.count, datatype })
    }
}

impl Executor for Recorder {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        let data = self.keep(data)?;
        self.push(Step::Send { data, to })
    }

    fn recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        let data = self.keep(data)?;
        self.push(Step::Recv { data, from })
    }

    fn start_send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        let data = self.keep(data)?;
        self.push(Step::StartSend { data, to })
    }

    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        let data = self.keep(data)?;
        self.push(Step::StartRecv { data, from })
    }

    fn finish(&mut self) -> Result<()> {
        self.push(Step::Finish)
    }

    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
        let (from, to) = (self.keep(from)?, self.keep(to)?);
        self.push(Step::Copy { from, to })
    }

    fn reduce(&mut self, op: &Op, input: &Data<'_>, inout: &Data<'_>) -> Result<()> {
        let (input, inout) = (self.keep(input)?, self.keep(inout)?);
        self.push(Step::Reduce { op: *op, input, inout })
    }

    fn scratch<'d>(&mut self, like: &Data<'d>) -> Result<Data<'d>> {
        let mut room = Room::new(like.count, like.datatype)?;
        let rooms = &mut self.schedule.rooms;
        rooms.try_reserve(1).map_err(|_| data::no_room(size_of_val(&**rooms)))?;
        // The memory stays where it is when the room moves.
        let data = Data { at: room.at(), ..*like };
        rooms.push(room);
        Ok(data)
    }
}

/// One rank's part in an operation. At most one [`Run`] at a time uses it, because of the rooms.
#[derive(Default)]
pub struct Schedule {
    steps: Vec<Step<'static>>,
    // Written through the addresses in the steps.
    rooms: Vec<Room>,
    datatypes: Vec<Arc<Datatype>>,
}

impl Schedule {
    /// What is to be done, in this order.
    pub fn steps(&self) -> &[Step<'_>] {
        &self.steps
    }

    /// Bytes of temporary memory, and how many datatypes it keeps alive.
    pub fn holds(&self) -> (usize, usize) {
        (self.rooms.len(), self.datatypes.len())
    }
}

// SAFETY: addresses of buffers, which the user leaves alone until the operation is complete (MPI 5.0 §6.12), and of the
// rooms, which only the one run uses.
unsafe impl Send for Schedule {}
// SAFETY: as above; nothing in it changes after recording.
unsafe impl Sync for Schedule {}

/// Where the messages of a schedule travel.
pub trait Port {
    /// A message under way.
    type Message;

    /// Starts a send; `None` if it is done already.
    ///
    /// # Safety
    /// The data stays readable until the message has ended.
    unsafe fn send(&self, data: &Data<'_>, to: usize) -> Result<Option<Self::Message>>;

    /// Starts a receive; `None` if it is done already.
    ///
    /// # Safety
    /// The data stays writable, and is not read, until the message has ended.
    unsafe fn recv(&self, data: &Data<'_>, from: usize) -> Result<Option<Self::Message>>;

    /// Whether it has ended. Makes no progress.
    fn has_ended(&self, message: &Self::Message) -> bool;

    /// How one that has ended did.
    fn end(&self, message: Self::Message) -> Result<()>;
}

/// One execution of a schedule.
pub struct Run<M> {
    next: usize,
    started: Vec<M>,
    // The message that a `Send` or `Recv` waits for.
    awaited: Option<M>,
    // A `Finish`, a fault or the end waits for all that was started.
    finishing: bool,
    fault: Option<Fault>,
}

impl<M> Run<M> {
    /// At the beginning.
    pub const fn new() -> Run<M> {
        Run { next: 0, started: Vec::new(), awaited: None, finishing: false, fault: None }
    }

    /// How many steps were begun: what a caller compares to see whether anything moved.
    pub fn position(&self) -> usize {
        self.next
    }

    /// A message that is waited for.
    pub fn awaited(&self) -> Option<&M> {
        self.awaited.as_ref().or(self.started.last())
    }

    /// Goes as far as possible without waiting. The result when the operation has ended: everything that was started is
    /// done then, also after a failure, behind which no further step is begun.
    ///
    /// No lock is held and nothing of the library's is borrowed but the run itself while an operation of the user runs.
    ///
    /// # Safety
    /// It is always the same schedule, which no other run uses; its data may be used as [`Recorder::new`] says.
    pub unsafe fn advance<P: Port<Message = M>>(&mut self, schedule: &Schedule, port: &P) -> Option<Result<()>> {
        loop {
            if !self.settle(port) {
                return None;
            }
            if self.fault.is_some() || self.next == schedule.steps.len() {
                if self.started.is_empty() {
                    return Some(self.fault.take().map_or(Ok(()), Err));
                }
                self.finishing = true;
                continue;
            }
            let step = &schedule.steps[self.next];
            if step.calls_program() && progress::leaves_to_program() {
                return None;
            }
            self.next += 1;
            // SAFETY: the caller's promise.
            if let Err(fault) = unsafe { self.perform(step, port) } {
                self.fault.get_or_insert(fault);
            }
        }
    }

    /// Whether nothing is waited for any more.
    fn settle<P: Port<Message = M>>(&mut self, port: &P) -> bool {
        if let Some(message) = self.awaited.take() {
            if !port.has_ended(&message) {
                self.awaited = Some(message);
                return false;
            }
            self.note(port.end(message));
        }
        while self.finishing {
            match self.started.pop() {
                Some(message) if port.has_ended(&message) => self.note(port.end(message)),
                Some(message) => {
                    self.started.push(message);
                    return false;
                }
                None => self.finishing = false,
            }
        }
        true
    }

    fn note(&mut self, ended: Result<()>) {
        if let Err(fault) = ended {
            self.fault.get_or_insert(fault);
        }
    }

    /// # Safety
    /// That of `advance`.
    unsafe fn perform<P: Port<Message = M>>(&mut self, step: &Step<'_>, port: &P) -> Result<()> {
        match step {
            // SAFETY: the caller's promise.
            Step::Send { data, to } => self.awaited = unsafe { port.send(data, *to)? },
            // SAFETY: the caller's promise.
            Step::Recv { data, from } => self.awaited = unsafe { port.recv(data, *from)? },
            Step::StartSend { data, to } => {
                self.started.try_reserve(1).map_err(|_| data::no_room(size_of::<M>()))?;
                // SAFETY: the caller's promise.
                self.started.extend(unsafe { port.send(data, *to)? });
            }
            Step::StartRecv { data, from } => {
                self.started.try_reserve(1).map_err(|_| data::no_room(size_of::<M>()))?;
                // SAFETY: the caller's promise.
                self.started.extend(unsafe { port.recv(data, *from)? });
            }
            Step::Finish => self.finishing = true,
            // SAFETY: the caller's promise.
            Step::Copy { from, to } => unsafe { data::copy(from, to)? },
            Step::Reduce { op, input, inout } => {
                debug_assert_eq!(input.count, inout.count);
                // SAFETY: the caller's promise.
                unsafe { op.reduce(input.at, inout.at, inout.count, inout.datatype)? };
            }
        }
        Ok(())
    }
}

impl<M> Default for Run<M> {
    fn default() -> Self {
        Run::new()
    }
}
