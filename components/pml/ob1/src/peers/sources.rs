//! The sources of a blocking receive without a request: one rank, or any.

use crate::context::ContextMatcher;
use crate::matching::Tag;
use crate::peers::endpoint::{Endpoint, Queued};
use alloc::boxed::Box;
use ompi_core::error::Result;
use ompi_core::status::ANY_SOURCE;
use opal_core::framework::btl::RxMessage;
use opal_core::queue::fifo::{Consumer, Peeked};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicU32, Guard, Ordering, spin_loop};
use opal_core::wait;

/// The ranks whose messages a receive takes.
pub trait ReceiveSources {
    /// Whether no unexpected message matches the receive, and no posted receive could take a message of the sources.
    fn are_eligible(&self, matcher: &mut ContextMatcher, tag: Tag) -> bool;

    /// The next message of one of them, after some polls, without taking it. `None`: after a pass of progress, ask again.
    fn peek(&self) -> Option<NextMessage>;

    /// The rank, or MPI_ANY_SOURCE.
    fn rank(&self) -> i32;

    /// `Err` if no message will come any more.
    fn check(&self) -> Result<()>;
}

/// The next message of a rank.
pub struct NextMessage {
    /// The sender.
    pub rank: u32,
    /// Where the message waits.
    pub endpoint: &'static Endpoint,
    /// The message.
    pub message: RxMessage<'static>,
}

/// One rank.
pub struct OneSource {
    /// Its number in the communicator.
    pub rank: u32,
    /// Its process.
    pub endpoint: &'static Endpoint,
}

impl ReceiveSources for OneSource {
    #[inline(always)]
    fn are_eligible(&self, matcher: &mut ContextMatcher, tag: Tag) -> bool {
        matcher.cannot_match(self.rank) || matcher.cannot_match_exact(self.rank, tag)
    }

    #[inline(always)]
    fn peek(&self) -> Option<NextMessage> {
        let message = self.endpoint.peek(wait::polls_per_pass())?;
        Some(NextMessage { rank: self.rank, endpoint: self.endpoint, message })
    }

    fn rank(&self) -> i32 {
        self.rank as i32
    }

    #[inline(always)]
    fn check(&self) -> Result<()> {
        if self.endpoint.is_dead() { Err(self.endpoint.fault()) } else { Ok(()) }
    }
}

/// MPI_ANY_SOURCE: all ranks of a communicator. The queues of ranks whose transports give them away are looked at in turn;
/// messages of others are found by passes of progress.
pub struct AnySource {
    queues: Box<[Queue]>,
    // All other ranks are in `queues`. This process's own messages do not come while it waits.
    alone: bool,
    // The queue that is looked at first: the one after the last that had a message, so that no sender starves.
    first: AtomicU32,
    // Messages found since the last pass of progress.
    found: AtomicU32,
}

/// A queue from a rank.
#[derive(Clone, Copy)]
pub struct Queue {
    /// The sender.
    pub rank: u32,
    /// Its process, which has the queue.
    pub endpoint: &'static Endpoint,
    /// The queue.
    pub fifo_pair: &'static FifoPair,
}

impl AnySource {
    /// Of a communicator of which these ranks have queues; this process may be one of them. `others` are all but this process.
    pub fn new(queued: impl Iterator<Item = (u32, &'static Queued)>, own: Option<u32>, others: usize) -> AnySource {
        let queue =
            |(rank, Queued { endpoint, fifo_pair }): (u32, &'static Queued)| Queue { rank, endpoint, fifo_pair };
        let mut queues: Box<[Queue]> = queued.filter(|(rank, _)| Some(*rank) != own).map(queue).collect();
        let alone = queues.len() == others;
        if queues.len() > MOST_QUEUES {
            queues = Box::default();
        }
        AnySource { queues, alone, first: AtomicU32::new(0), found: AtomicU32::new(0) }
    }

    /// The same, as if nothing had come yet.
    pub fn anew(&self) -> AnySource {
        let queues = self.queues.clone();
        AnySource { queues, alone: self.alone, first: AtomicU32::new(0), found: AtomicU32::new(0) }
    }

    /// Whether there are queues to look at.
    pub fn has_queues(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Whether a message of the queues can only match a receive that is posted from now on, and no message is unexpected.
    #[inline(always)]
    pub fn cannot_match(&self, matcher: &ContextMatcher) -> bool {
        matcher.none_can_match(self.sources())
    }

    /// The next message of a queue, after some polls. `None` also if it is time for a pass of progress, for which
    /// [`ReceiveSources::peek`] asks.
    #[inline(always)]
    pub fn find(&self) -> Option<QueuedMessage<'_>> {
        let before = self.found.load(Ordering::Relaxed);
        if before >= FOUND_PER_PASS || self.queues.is_empty() {
            return None;
        }
        let polls = if self.alone { wait::polls_per_pass().div_ceil(self.queues.len() as u32) } else { 1 };
        for _ in 0..polls {
            let found = self.peek_once();
            if found.is_some() {
                self.found.store(before + 1, Ordering::Relaxed);
                return found;
            }
            spin_loop();
        }
        None
    }

    #[inline(always)]
    fn peek_once(&self) -> Option<QueuedMessage<'_>> {
        let first = self.first.load(Ordering::Relaxed) as usize;
        let (before, after) = self.queues.split_at(first);
        for (index, queue) in (first..).zip(after).chain((0..).zip(before)) {
            let mut consumer = queue.fifo_pair.try_consumer()?;
            // What a peer wrote and is no message is for the transport's next poll.
            if let Ok(Some(peeked)) = consumer.peek() {
                self.first.store((index + 1) as u32 % self.queues.len() as u32, Ordering::Relaxed);
                return Some(QueuedMessage { queue, consumer, peeked });
            }
        }
        None
    }

    #[inline(always)]
    fn sources(&self) -> impl Iterator<Item = u32> {
        self.queues.iter().map(|queue| queue.rank)
    }
}

/// The next message of a queue.
pub struct QueuedMessage<'a> {
    /// Where it lies.
    pub queue: &'a Queue,
    /// The right to take it.
    pub consumer: Guard<'a, Consumer>,
    /// The message.
    pub peeked: Peeked,
}

impl ReceiveSources for AnySource {
    #[inline(always)]
    fn are_eligible(&self, matcher: &mut ContextMatcher, tag: Tag) -> bool {
        self.cannot_match(matcher) || matcher.none_can_match_exact(self.sources(), tag)
    }

    #[inline(always)]
    fn peek(&self) -> Option<NextMessage> {
        let Some(QueuedMessage { queue, peeked, .. }) = self.find() else {
            self.found.store(0, Ordering::Relaxed);
            return None;
        };
        let message = RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() };
        Some(NextMessage { rank: queue.rank, endpoint: queue.endpoint, message })
    }

    fn rank(&self) -> i32 {
        ANY_SOURCE
    }

    #[inline(always)]
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A look at each takes a nanosecond or two while nothing comes.
const MOST_QUEUES: usize = 16;
/// So that senders without a queue do not wait for ever while a queue always has a message.
const FOUND_PER_PASS: u32 = 256;

#[cfg(all(test, not(loom)))]
mod tests;
