//! A communicator as its peers address it: its members, posted receives and unexpected messages.

use crate::counters::POSTED_WANTED;
use crate::matching;
use crate::raw::UserBuffer;
use crate::slab::Slab;
use crate::wire::{Envelope, RemoteKey, Rts};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::offset_of;
use ompi_core::framework::pml::{PeerTraffic, Traffic};
use ompi_core::process;
use ompi_core::request::{Id, SlotPtr};
use ompi_core::sequence::Sequence;
use ompi_core::status::{ANY_SOURCE, Status};
use opal_core::inspect::Fact;
use opal_core::mem::Untrusted;
use opal_core::sort;
use opal_core::sync::Ordering;

/// What is posted and what arrived in one match context.
pub type ContextMatcher = matching::Matcher<Receive, Message>;

/// A posted receive.
#[derive(Default)]
pub struct Receive {
    /// Where the data goes.
    pub buffer: UserBuffer,
    /// What completes.
    pub request: Id,
    /// Where that request lies.
    pub slot_ptr: SlotPtr,
    /// The sender computes, so that a long message is not to wait for it.
    pub from_busy: bool,
}

/// An unexpected message.
pub struct Message {
    /// The sender's process index.
    pub process: u32,
    /// What arrived.
    pub body: Body,
}

/// What arrived with an envelope.
pub enum Body {
    /// All of the message; with the sender's handle if the send is synchronous.
    Whole(Payload, Option<u64>),
    /// An RTS.
    Rts(PendingRts),
}

/// An RTS that has met no receive yet.
pub struct PendingRts {
    /// What it says.
    pub rts: Rts,
    /// The sender's memory, if it may be read through a transport.
    pub key: Option<Box<RemoteKey>>,
    /// Where its RTS data is kept ([`crate::protocol::rts_data`]), if some follows it.
    pub data: Option<u32>,
}

impl Body {
    /// Bytes of the message.
    pub fn bytes(&self) -> u64 {
        match self {
            Body::Whole(payload, _) => payload.bytes().len() as u64,
            Body::Rts(pending) => pending.rts.bytes,
        }
    }
}

/// A message that a matched probe took.
pub struct MatchedMessage {
    /// Tells it from others that had the same number.
    pub serial: u32,
    /// Source, tag and length.
    pub status: Status,
    /// The number of the communicator.
    pub context: u32,
    /// The message.
    pub message: Message,
}

/// A copy of a payload.
pub enum Payload {
    /// A small one.
    Inline([u8; SMALL_BYTES], u8),
    /// On the heap.
    Heap(Box<[u8]>),
}

const SMALL_BYTES: usize = 56;

impl Payload {
    /// Copies; `None` if there is no memory.
    pub fn new(payload: Untrusted<'_>) -> Option<Payload> {
        if payload.len() <= SMALL_BYTES {
            let mut inline = [0; SMALL_BYTES];
            payload.copy_to(&mut inline);
            return Some(Payload::Inline(inline, payload.len() as u8));
        }
        let mut heap = Vec::new();
        heap.try_reserve_exact(payload.len()).ok()?;
        heap.resize(payload.len(), 0);
        payload.copy_to(&mut heap);
        Some(Payload::Heap(heap.into_boxed_slice()))
    }

    /// What it takes of this process's memory while it is unexpected.
    pub fn memory_bytes(&self) -> usize {
        let heap = if let Payload::Heap(bytes) = self { bytes.len() } else { 0 };
        size_of::<Message>() + heap
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Payload::Inline(bytes, length) => &bytes[..*length as usize],
            Payload::Heap(bytes) => bytes,
        }
    }
}

/// A long receive that met its message while somebody wanted to hear of messages: of its end, too.
pub struct PendingCompletion {
    /// What completes at the end.
    pub request: Id,
    /// What counts the messages of its communicator, and tells.
    pub traffic: Arc<Traffic>,
    /// Rank of the sender.
    pub source: u32,
    /// The tag.
    pub tag: i32,
    /// Bytes of the message, as many as there is room for.
    pub bytes: usize,
}

/// A context number in force.
pub struct Context {
    members: Option<Members>,
    // Those that are gone.
    lost: BTreeSet<u32>,
    matchers: [ContextMatcher; 2],
    /// What arrived before the communicator was active, in order.
    pub preactivation: Vec<(Envelope, Message)>,
    /// The communicator is gone, but receives are still posted.
    pub closing: bool,
    /// Counts the user's messages, if a tool wants it.
    pub traffic: Option<Arc<Traffic>>,
    // Number of ranks while the communicator is in use and rank and process index are the same; 0 otherwise.
    identity_ranks: u32,
    // The same for a communicator whose messages are counted.
    counted_identity_ranks: u32,
}

impl Context {
    /// Known to no peer yet.
    pub fn new() -> Context {
        Context {
            members: None,
            lost: BTreeSet::new(),
            matchers: [ContextMatcher::new(0), ContextMatcher::new(0)],
            preactivation: Vec::new(),
            closing: false,
            traffic: None,
            identity_ranks: 0,
            counted_identity_ranks: 0,
        }
    }

    /// The communicator is active.
    pub fn connect(&mut self, peers: &Sequence) {
        let members = Members::new(peers);
        self.identity_ranks = if let Members::Identity(size) = members { size } else { 0 };
        self.members = Some(members);
        self.lost = BTreeSet::new();
        self.matchers = [ContextMatcher::new(peers.len()), ContextMatcher::new(peers.len())];
        if POSTED_WANTED.load(Ordering::Relaxed) {
            self.count_posts();
        }
    }

    /// From now on all receives are posted and matched where they are counted.
    pub fn count_posts(&mut self) {
        (self.identity_ranks, self.counted_identity_ranks) = (0, 0);
        self.matchers.iter_mut().for_each(ContextMatcher::close_fast_posts);
    }

    /// One of its members, this process, is gone.
    pub fn mark_lost(&mut self, process: u32) {
        self.lost.insert(process);
        self.matchers.iter_mut().for_each(ContextMatcher::mark_lost);
    }

    /// The communicator is gone.
    pub fn close(&mut self) {
        (self.closing, self.identity_ranks, self.counted_identity_ranks) = (true, 0, 0);
    }

    /// [`Context::matcher`] if the communicator is in use and the rank of `process` in it is its index. Where the user's messages are
    /// counted, only who `COUNTS` gets it, with what counts those of the process.
    #[inline(always)]
    pub fn identity_matcher<const COUNTS: bool>(
        &mut self,
        process: u32,
        collective: bool,
    ) -> Option<(&mut ContextMatcher, Option<&PeerTraffic>)> {
        let ranks = if COUNTS { self.counted_identity_ranks.max(self.identity_ranks) } else { self.identity_ranks };
        if process >= ranks {
            return None;
        }
        let counted = match &self.traffic {
            Some(traffic) if COUNTS && !collective => traffic.peer(process as i32),
            _ => None,
        };
        Some((&mut self.matchers[usize::from(collective)], counted))
    }

    /// From now on the user's messages are counted, those in a batch by who knows.
    pub fn count(&mut self, traffic: Arc<Traffic>) {
        let ranks = core::mem::take(&mut self.identity_ranks).max(self.counted_identity_ranks);
        (self.traffic, self.counted_identity_ranks) = (Some(traffic), ranks);
    }

    /// Counts a message that met its receive and is copied at once.
    #[inline(always)]
    pub fn count_received(&self, collective: bool, source: u32, tag: i32, bytes: usize) {
        if let Some(traffic) = self.traffic.as_ref().filter(|_| !collective) {
            traffic.received(source as i32, tag, bytes);
        }
    }

    /// Whether the communicator is active.
    pub fn is_connected(&self) -> bool {
        self.members.is_some()
    }

    /// Of the collectives' messages, or of the user's.
    #[inline(always)]
    pub fn matcher(&mut self, collective: bool) -> &mut ContextMatcher {
        &mut self.matchers[usize::from(collective)]
    }

    /// How many messages of a process no receive has matched yet. Walks through all of them.
    pub fn unexpected(&self, process: u32) -> usize {
        let kept = self.matchers.iter().flat_map(ContextMatcher::unexpected);
        kept.chain(self.preactivation.iter().map(|(_, message)| message)).filter(|one| one.process == process).count()
    }

    /// The rank of a process, if it is a peer.
    #[inline(always)]
    pub fn rank_of(&self, process: u32) -> Option<u32> {
        self.members.as_ref()?.rank_of(process)
    }

    /// The process that is to send if it was lost; of any source one of them all, if none of the others is left.
    #[cold]
    pub fn lost_sender(&self, source: i32) -> Option<u32> {
        if source != ANY_SOURCE {
            return self.process_of(source as u32).filter(|process| self.lost.contains(process));
        }
        let members = self.members.as_ref()?;
        let others = members.len() - usize::from(members.rank_of(process::me().index).is_some());
        self.lost.first().copied().filter(|_| self.lost.len() == others)
    }

    /// The process of a rank, if it is a peer. Walks through all of them.
    pub fn process_of(&self, rank: u32) -> Option<u32> {
        match self.members.as_ref()? {
            Members::Identity(size) => (rank < *size).then_some(rank),
            Members::Sorted(sorted) => sorted.iter().find(|(_, own)| *own == rank).map(|(process, _)| *process),
        }
    }

    /// Number of posted receives. Walks through all of them.
    pub fn posted_receives(&self) -> usize {
        self.matchers.iter().map(ContextMatcher::posted_receives).sum()
    }

    /// Whether any receive is posted.
    pub fn is_posted(&self) -> bool {
        self.matchers.iter().any(ContextMatcher::is_posted)
    }
}

/// What a debugger needs to know of contexts, messages and receives. Of a message that a matched probe took the first number is the
/// one of its handle less [`crate::state`]'s `FIRST`.
pub static FACTS: [Fact; 5] = [
    Fact::number("context.matchers", offset_of!(Context, matchers)),
    Fact::number("context.matcher", size_of::<ContextMatcher>()),
    Fact::number("receive.buffer", offset_of!(Receive, buffer)),
    Fact::number("receive.request", offset_of!(Receive, request)),
    Fact::number("message.process", offset_of!(Message, process)),
];

impl MatchedMessage {
    /// What a debugger needs to know of them.
    pub const FACTS: [Fact; 6] = [
        Fact::number("matched.entries", Slab::<MatchedMessage>::PLACES[0]),
        Fact::number("matched.entry", Slab::<MatchedMessage>::PLACES[1]),
        Fact::number("matched.value", Slab::<MatchedMessage>::PLACES[2]),
        Fact::number("matched.serial", offset_of!(MatchedMessage, serial)),
        Fact::number("matched.status", offset_of!(MatchedMessage, status)),
        Fact::number("matched.context", offset_of!(MatchedMessage, context)),
    ];
}

enum Members {
    // Rank and process index are the same.
    Identity(u32),
    // (process, rank), sorted.
    Sorted(Box<[(u32, u32)]>),
}

impl Members {
    fn new(peers: &Sequence) -> Members {
        if peers.is_identity() {
            return Members::Identity(peers.len() as u32);
        }
        let mut sorted: Vec<(u32, u32)> = peers.iter().zip(0..).collect();
        sort::ascending(&mut sorted);
        Members::Sorted(sorted.into_boxed_slice())
    }

    fn len(&self) -> usize {
        match self {
            Members::Identity(size) => *size as usize,
            Members::Sorted(sorted) => sorted.len(),
        }
    }

    #[inline(always)]
    fn rank_of(&self, process: u32) -> Option<u32> {
        match self {
            Members::Identity(size) => (process < *size).then_some(process),
            Members::Sorted(sorted) => {
                let index = sorted.binary_search_by_key(&process, |(process, _)| *process).ok()?;
                Some(sorted[index].1)
            }
        }
    }
}
