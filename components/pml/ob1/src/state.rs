//! Everything that changes, behind one lock. Data only: what happens to it is in [`crate::protocol`].

use crate::context::{Context, MatchedMessage, Message, PendingCompletion};
use crate::peers::backlog::Backlog;
use crate::peers::endpoint;
use crate::protocol::operation::Operations;
use crate::protocol::rts_data::store::{LastRts, RtsDataStore};
use crate::protocol::selection::{Protocol, Selection};
use crate::slab::Slab;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::offset_of;
use ompi_core::comm::{Communicator, context};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::status::Status;
use opal_core::inspect::Fact;
use opal_core::sparse::Table;
use opal_core::sync::{AtomicUsize, ConditionalLock, Ordering};

/// The one state.
pub static STATE: ConditionalLock<State> = ConditionalLock::new(State::new());

/// Where a debugger begins.
pub static FACTS: [Fact; 4] = [
    Fact::address("state", &raw const STATE),
    Fact::number("state.contexts", STATE_AT + offset_of!(State, contexts)),
    Fact::number("state.operations", STATE_AT + offset_of!(State, operations)),
    Fact::number("state.matched", STATE_AT + offset_of!(State, matched)),
];
const STATE_AT: usize = ConditionalLock::<State>::VALUE;

/// Pending peers and copies to make, for progress to look at without the lock.
pub static PENDING: AtomicUsize = AtomicUsize::new(0);

/// What is posted, what arrived, what is under way.
pub struct State {
    contexts: Vec<Option<Box<Context>>>,
    /// Long messages and synchronous sends under way.
    pub operations: Operations,
    /// Eager messages that transports read straight into receives: one per process at most.
    pub placements: Vec<EagerPlacement>,
    /// Per process, what waits for room.
    pub backlogs: Table<Backlog>,
    /// The processes with something in their backlog.
    pub pending_peers: Vec<u32>,
    /// Handles of our own: operations for which this process copies, in order.
    pub copies: VecDeque<u64>,
    /// Handles of receives with an open offer, when this process had read its own part.
    pub deferred_pushes: VecDeque<u64>,
    /// Handles of our own: receives with something to read for which a transport had no room.
    pub gets: VecDeque<u64>,
    /// Per process, which protocol its long messages take.
    selections: Table<Box<Selection>>,
    /// Per process, the last RTS with RTS data.
    last_rts: Table<LastRts>,
    /// RTS data of unexpected messages.
    pub rts_data: RtsDataStore,
    /// Receives of long messages whose end is to be told of.
    pub completions: Vec<PendingCompletion>,
    /// Per process, how much of its eager messages is unexpected.
    pub unexpected_counts: Table<UnexpectedCount>,
    /// Messages taken by matched probes.
    pub matched: Slab<MatchedMessage>,
    matched_serial: u32,
}

/// The eager messages of a process that no receive has matched yet, or that a matched probe took.
#[derive(Clone, Copy, Default)]
pub struct UnexpectedCount {
    /// How many.
    pub messages: usize,
    /// Their memory.
    pub bytes: usize,
    /// The process was told XOFF.
    pub is_stopped: bool,
}

/// An eager message of which a part has arrived and met its receive.
#[derive(Clone, Copy)]
pub struct EagerPlacement {
    /// The sender.
    pub process: u32,
    /// Its envelope.
    pub envelope: u64,
    /// Its length.
    pub bytes: usize,
    /// The long receive that it became.
    pub handle: u64,
}

impl State {
    /// Nothing yet.
    pub const fn new() -> State {
        State {
            contexts: Vec::new(),
            operations: Operations::new(),
            placements: Vec::new(),
            backlogs: Table::new(),
            pending_peers: Vec::new(),
            copies: VecDeque::new(),
            deferred_pushes: VecDeque::new(),
            gets: VecDeque::new(),
            selections: Table::new(),
            last_rts: Table::new(),
            rts_data: RtsDataStore::new(),
            completions: Vec::new(),
            unexpected_counts: Table::new(),
            matched: Slab::new(),
            matched_serial: 0,
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

    /// A context number that no peer was told is not used after all.
    pub fn forget(&mut self, number: u32) {
        if let Some(entry) = self.contexts.get_mut(number as usize) {
            *entry = None;
        }
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

    /// All context numbers are below this.
    pub fn context_numbers(&self) -> u32 {
        self.contexts.len() as u32
    }

    /// Which protocol the long messages of a process take.
    pub fn selection(&mut self, process: u32) -> &mut Selection {
        self.selections.place(process as usize).get_or_insert_with(|| {
            let streams = endpoint::existing(process).is_some_and(|endpoint| endpoint.fifo_pair.is_some());
            Box::new(Selection::new(process, Protocol::forced(), streams))
        })
    }

    /// The process is gone.
    pub fn forget_selection(&mut self, process: u32) {
        self.selections.take(process as usize);
    }

    /// The process was left, and another one may get its number. A message of it that a matched probe took and nobody received goes,
    /// too: MPI 5.0 §11.10.4 wants it received before.
    pub fn forget_process(&mut self, process: u32) {
        let place = process as usize;
        self.backlogs.take(place);
        self.selections.take(place);
        self.last_rts.take(place);
        self.unexpected_counts.take(place);
        self.pending_peers.retain(|pending| *pending != process);
        self.count_pending();
        for number in 0..self.matched.numbers() {
            if self.matched.find(number).is_some_and(|matched| matched.message.process == process) {
                self.matched.remove(number);
            }
        }
    }

    /// The last RTS of a process with RTS data.
    pub fn last_rts(&mut self, process: u32) -> &mut LastRts {
        self.last_rts.place(process as usize).get_or_insert(LastRts::NONE)
    }

    /// What waits for room to a process.
    pub fn backlog(&mut self, process: u32) -> &mut Backlog {
        self.backlogs.entry(process as usize)
    }

    /// Lists a process whose backlog is not empty.
    pub fn list_pending(&mut self, process: u32) {
        let backlog = self.backlogs.entry(process as usize);
        if !backlog.is_empty() && !backlog.is_listed {
            backlog.is_listed = true;
            self.pending_peers.push(process);
            self.count_pending();
        }
    }

    /// After a change of what waits.
    pub fn count_pending(&self) {
        let pending = self.pending_peers.len() + self.copies.len() + self.deferred_pushes.len() + self.gets.len();
        PENDING.store(pending, Ordering::Relaxed);
    }

    /// Keeps a message that a matched probe took; returns its token ([`ompi_core::framework::pml::Matched`]).
    pub fn put_matched(&mut self, status: Status, context: u32, message: Message) -> u64 {
        self.matched_serial = (self.matched_serial + 1) % SERIALS;
        let serial = self.matched_serial;
        let number = self.matched.insert(MatchedMessage { serial, status, context, message }) + FIRST;
        assert!(number >> NUMBER_BITS == 0, "four million matched probes at once");
        u64::from(serial << NUMBER_BITS | number)
    }

    /// The message with a token that may be anything.
    pub fn take_matched(&mut self, token: u64) -> Option<MatchedMessage> {
        let number = (token as u32 & ((1 << NUMBER_BITS) - 1)).checked_sub(FIRST)?;
        let serial = self.matched.find(number)?.serial;
        (u64::from(serial) == token >> NUMBER_BITS).then(|| self.matched.remove(number))
    }
}

/// The status of an operation whose peer, this process, is gone.
pub fn aborted(process: u32, context: u32) -> Status {
    let mut status = Status::EMPTY;
    status.fail_lost(process, context);
    status
}

/// Tokens of matched messages: the first number, and the bits of all numbers.
const FIRST: u32 = 1024;
const NUMBER_BITS: u32 = 22;
const SERIALS: u32 = 1 << (31 - NUMBER_BITS);
