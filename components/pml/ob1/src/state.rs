//! Everything that changes, behind one lock.

use crate::context::{Announced, Body, Context, Message, Receive, Stored};
use crate::peers::backlog::Outgoing;
use crate::peers::endpoint as link;
use crate::protocol::placement::Placement;
use crate::protocol::rendezvous::Operation;
use crate::protocol::rts_data::{Leading, Leads};
use crate::protocol::selection::Ways;
use crate::slab::Slab;
use crate::wire::Envelope;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use ompi_core::comm::{Communicator, context};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::pml;
use ompi_core::request::{self, Id};
use ompi_core::status::Status;
use opal_core::mem::Untrusted;
use opal_core::sync::ConditionalLock;
use opal_core::verbose;

/// The one state.
pub static STATE: ConditionalLock<State> = ConditionalLock::new(State::new());

/// What is posted, what arrived, what is under way.
pub struct State {
    contexts: Vec<Option<Box<Context>>>,
    /// Long messages and synchronous sends under way.
    pub operations: Slab<Operation>,
    /// Whole messages of which a part is in its place: one per process at most.
    pub landings: Vec<Placement>,
    /// For cookies: never the same twice for one place in the table for a long time.
    pub serial: u64,
    /// Per process, what waits for room.
    pub outgoing: Vec<Outgoing>,
    /// Processes with something in `outgoing`.
    pub busy: Vec<u32>,
    /// Cookies of our own: operations that this process copies for, in order.
    pub copies: VecDeque<u64>,
    /// Those of receives whose second half nobody had claimed when this process was done with the first.
    pub second_halves: VecDeque<u64>,
    /// Per process, which way its long messages come best.
    pub ways: Vec<Option<Box<Ways>>>,
    /// Per process, the message that was announced last.
    pub leading: Vec<Leading>,
    /// Leads of messages that nobody receives yet.
    pub leads: Leads,
    /// Messages taken by matched probes.
    pub matched: Slab<(u32, Status, u32, Message)>,
}

impl State {
    /// Nothing yet.
    pub const fn new() -> State {
        State {
            contexts: Vec::new(),
            operations: Slab::new(),
            landings: Vec::new(),
            serial: 0,
            outgoing: Vec::new(),
            busy: Vec::new(),
            copies: VecDeque::new(),
            second_halves: VecDeque::new(),
            ways: Vec::new(),
            leading: Vec::new(),
            leads: Leads::new(),
            matched: Slab::new(),
        }
    }

    /// Makes a context number known.
    pub fn open(&mut self, number: u32) -> Result<()> {
        let index = number as usize;
        if self.contexts.len() <= index {
            self.contexts.resize_with(index + 1, || None);
        }
        if self.contexts[index].is_some() {
            let reason = alloc::format!("context number {number} is in use already");
            return Err(Fault::new(Class::Intern).because(reason));
        }
        self.contexts[index] = Some(Box::new(Context::new()));
        Ok(())
    }

    /// The communicator is complete: what came early is matched now.
    pub fn connect(&mut self, comm: &Communicator) {
        let Some(context) = self.context(comm.context) else { return };
        context.connect(comm.peers().members());
        for (envelope, message) in core::mem::take(&mut context.early) {
            self.message(envelope, message);
        }
    }

    /// A context number that no peer was told is not used after all.
    pub fn forget(&mut self, number: u32) {
        if let Some(place) = self.contexts.get_mut(number as usize) {
            *place = None;
        }
    }

    /// The communicator is gone.
    pub fn disconnect(&mut self, number: u32) {
        for collective in [false, true] {
            loop {
                let Some(context) = self.context(number) else { return };
                let Some((_, _, message)) = context.lane(collective).take_any() else { break };
                self.discard(message);
            }
        }
        let Some(context) = self.context(number) else { return };
        context.close();
        self.close_if_idle(number);
    }

    /// Gives a closing context's number back when nothing is posted any more.
    pub fn close_if_idle(&mut self, number: u32) {
        if self.context(number).is_some_and(|context| context.closing && !context.is_posted()) {
            self.contexts[number as usize] = None;
            if number > context::SELF {
                context::release(number);
            }
        }
    }

    /// The context with a number that may be anything.
    #[inline(always)]
    pub fn context(&mut self, number: u32) -> Option<&mut Context> {
        self.contexts.get_mut(number as usize)?.as_deref_mut()
    }

    /// The context of a communicator that was added.
    #[inline(always)]
    pub fn context_of(&mut self, comm: &Communicator) -> &mut Context {
        self.context(comm.context).expect("a communicator in use has a context")
    }

    /// A whole message arrived.
    #[inline(always)]
    pub fn whole(&mut self, process: u32, immediate: u64, payload: Untrusted<'_>, cookie: Option<u64>) {
        let envelope = Envelope::of(immediate);
        let Some(context) = self.context(envelope.context) else {
            return stray(process, envelope);
        };
        let Some(source) = context.rank_of(process) else {
            return self.without_rank(process, envelope, Body::Whole(Stored::new(payload), cookie));
        };
        let closing = context.closing;
        match context.lane(envelope.collective).arrive(source, envelope.tag) {
            Some(receive) => {
                finish(receive, Status::new(source as i32, envelope.tag, 0), envelope.context, payload);
                if let Some(cookie) = cookie {
                    self.acknowledge(process, cookie);
                }
                if closing {
                    self.close_if_idle(envelope.context);
                }
            }
            None if closing => {}
            None => {
                let message = Message { process, body: Body::Whole(Stored::new(payload), cookie) };
                context.lane(envelope.collective).keep(source, envelope.tag, message);
            }
        }
    }

    /// A message in its stored form arrived.
    pub fn message(&mut self, envelope: Envelope, message: Message) {
        let Some(context) = self.context(envelope.context) else {
            stray(message.process, envelope);
            return self.discard(message);
        };
        let Some(source) = context.rank_of(message.process) else {
            return self.without_rank(message.process, envelope, message.body);
        };
        let closing = context.closing;
        match context.lane(envelope.collective).arrive(source, envelope.tag) {
            Some(receive) => {
                let status = Status::new(source as i32, envelope.tag, 0);
                self.give(receive, status, envelope.context, message);
                self.close_if_idle(envelope.context);
            }
            None if closing => self.discard(message),
            None => context.lane(envelope.collective).keep(source, envelope.tag, message),
        }
    }

    // Nobody will receive it.
    fn discard(&mut self, message: Message) {
        if let Body::Announced(Announced { cookie, lead: Some(kept), .. }) = message.body {
            self.drop_lead(message.process, cookie, kept);
        }
    }

    /// A receive and a message met.
    pub fn give(&mut self, receive: Receive, status: Status, context: u32, message: Message) {
        match message.body {
            Body::Whole(stored, cookie) => {
                finish(receive, status, context, Untrusted::of(stored.bytes()));
                if let Some(cookie) = cookie {
                    self.acknowledge(message.process, cookie);
                }
            }
            Body::Announced(announced) => self.clear(receive, status, context, message.process, announced),
        }
    }

    #[cold]
    fn without_rank(&mut self, process: u32, envelope: Envelope, body: Body) {
        match self.context(envelope.context) {
            Some(context) if !context.is_connected() => context.early.push((envelope, Message { process, body })),
            _ => {
                stray(process, envelope);
                self.discard(Message { process, body });
            }
        }
    }

    /// MPI_Cancel of a receive: only while it is posted.
    pub fn cancel(&mut self, lane: u64, number: u32, id: Id) {
        let envelope = Envelope::of(lane);
        let Some(context) = self.context(envelope.context) else { return };
        let lane = context.lane(envelope.collective);
        if lane.posted_mut(number).is_some_and(|receive| receive.request == id) {
            lane.cancel(number);
            let mut status = Status::EMPTY;
            status.set_cancelled(true);
            request::complete(id, status);
            self.close_if_idle(envelope.context);
        }
    }
}

/// Copies a whole message to where it was wanted and completes the receive.
#[inline(always)]
pub fn finish(mut receive: Receive, mut status: Status, context: u32, payload: Untrusted<'_>) {
    status.set_bytes(receive.place.write(payload) as u64);
    if payload.len() > receive.place.bytes() {
        // MPI 5.0 §3.2.4: what does not fit is an overflow error; what fits was written.
        status.fail(Class::Truncate as i32, context);
    }
    request::complete(receive.request, status);
}

/// A transport says that a process can no longer be reached: whatever needs it fails.
pub fn peer_failed(process: u32) {
    if let Some(link) = link::existing(process) {
        link.set_dead();
    }
    let mut state = STATE.lock();
    state.fail_outgoing(process);
    state.fail_operations(process);
    state.end_leads(process);
    for number in 0..state.contexts.len() as u32 {
        let Some(context) = state.context(number) else { continue };
        let Some(source) = context.rank_of(process) else { continue };
        for collective in [false, true] {
            while let Some(receive) = context.lane(collective).cancel_from(source) {
                request::complete(receive.request, aborted(number));
            }
        }
        state.close_if_idle(number);
    }
}

/// The status of an operation whose peer is gone.
pub fn aborted(context: u32) -> Status {
    let mut status = Status::EMPTY;
    status.fail(Class::ProcAborted as i32, context);
    status
}

#[cold]
#[inline(never)]
fn stray(process: u32, envelope: Envelope) {
    let Envelope { context, tag, .. } = envelope;
    verbose!(
        pml::FRAMEWORK,
        10,
        "dropped a message from process {process} with tag {tag} for context {context}, which it is no part of"
    );
}
