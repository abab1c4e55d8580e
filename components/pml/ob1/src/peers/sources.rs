//! From whom a blocking receive takes a message straight: one rank, or any.

use crate::context::{Message, Receive, Route};
use crate::matching::{Matcher, Tag};
use crate::peers::endpoint::{self as link, Link};
use alloc::boxed::Box;
use ompi_core::error::Result;
use opal_core::framework::btl::RxMessage;
use opal_core::queue::fifo::{Consumer, Peeked};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicU32, Guard, Ordering, spin_loop};
use opal_core::wait;

/// Those whose messages a receive takes.
pub trait Senders {
    /// Whether nothing that is here matches, and no receive that is posted could take what comes from them.
    fn are_open(&self, matcher: &mut Matcher<Receive, Message>, tag: Tag) -> bool;

    /// What comes next from one of them, after some polls, without taking it. `None`: after a pass of progress, ask again.
    fn peek(&self) -> Option<Next>;

    /// `Err` if nothing will come any more.
    fn check(&self) -> Result<()>;
}

/// What comes next from a rank.
pub struct Next {
    /// The sender.
    pub rank: u32,
    /// The way to it, which has the message.
    pub link: &'static Link,
    /// The message.
    pub arrived: RxMessage<'static>,
}

/// One rank.
pub struct One {
    /// Its number in the communicator.
    pub rank: u32,
    /// The way to it.
    pub link: &'static Link,
}

impl Senders for One {
    #[inline(always)]
    fn are_open(&self, matcher: &mut Matcher<Receive, Message>, tag: Tag) -> bool {
        matcher.is_quiet(self.rank) || matcher.is_free(self.rank, tag)
    }

    #[inline(always)]
    fn peek(&self) -> Option<Next> {
        let arrived = self.link.peek(wait::polls_at_once())?;
        Some(Next { rank: self.rank, link: self.link, arrived })
    }

    #[inline(always)]
    fn check(&self) -> Result<()> {
        if self.link.is_dead() { Err(self.link.fault()) } else { Ok(()) }
    }
}

/// MPI_ANY_SOURCE: all ranks of a communicator. Those whose transports give their queues away are looked at in turn; what
/// others send is found by passes of progress.
pub struct Any {
    queues: Box<[Queue]>,
    // All other ranks are in `queues`. This process's own messages do not come while it waits.
    alone: bool,
    // Whose queue is looked at first: that after the last one which had something, so that nobody starves.
    turn: AtomicU32,
    // Messages found since the last time that a pass of progress was asked for.
    found: AtomicU32,
}

/// A queue from a rank.
pub struct Queue {
    /// The sender.
    pub rank: u32,
    /// The way to it, which has the queue.
    pub link: &'static Link,
    /// The queue.
    pub fifo_pair: &'static FifoPair,
}

impl Any {
    /// Of a communicator, in which this process may have a rank.
    pub fn new(routes: &[Route], own: Option<u32>) -> Any {
        let others = (0..).zip(routes).filter(|(rank, _)| Some(*rank) != own);
        let queue =
            |(rank, route): (u32, &Route)| Some(Queue { rank, link: route.link, fifo_pair: route.link.fifo_pair? });
        let mut queues: Box<[Queue]> = others.clone().filter_map(queue).collect();
        let alone = queues.len() == others.count();
        if queues.len() > MOST_QUEUES {
            queues = Box::default();
        }
        Any { queues, alone, turn: AtomicU32::new(0), found: AtomicU32::new(0) }
    }

    /// Whether there are queues to be looked at.
    pub fn has_queues(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Whether a message from one of the queues can only go to a receive that is posted from now on, and none is there
    /// already, from anybody.
    #[inline(always)]
    pub fn is_quiet(&self, matcher: &Matcher<Receive, Message>) -> bool {
        // Whether a lost process matters is for the wait to say.
        !link::any_dead() && matcher.are_quiet(self.sources())
    }

    /// The next message of a queue, after some polls. `None` also if it is time for a pass of progress, for which
    /// [`Senders::peek`] asks.
    #[inline(always)]
    pub fn find(&self) -> Option<Waiting<'_>> {
        let before = self.found.load(Ordering::Relaxed);
        if before >= FOUND_PER_PASS || self.queues.is_empty() {
            return None;
        }
        let polls = if self.alone { wait::polls_at_once().div_ceil(self.queues.len() as u32) } else { 1 };
        for _ in 0..polls {
            let found = self.look();
            if found.is_some() {
                self.found.store(before + 1, Ordering::Relaxed);
                return found;
            }
            spin_loop();
        }
        None
    }

    #[inline(always)]
    fn look(&self) -> Option<Waiting<'_>> {
        let turn = self.turn.load(Ordering::Relaxed) as usize;
        let (before, after) = self.queues.split_at(turn);
        for (place, queue) in (turn..).zip(after).chain((0..).zip(before)) {
            let mut consumer = queue.fifo_pair.try_consumer()?;
            // Where a peer wrote what is no message, the transport's next poll sees to that.
            if let Ok(Some(peeked)) = consumer.peek() {
                self.turn.store((place + 1) as u32 % self.queues.len() as u32, Ordering::Relaxed);
                return Some(Waiting { queue, consumer, peeked });
            }
        }
        None
    }

    #[inline(always)]
    fn sources(&self) -> impl Iterator<Item = u32> {
        self.queues.iter().map(|queue| queue.rank)
    }
}

/// A message that is the next one of its queue.
pub struct Waiting<'a> {
    /// Where it lies.
    pub queue: &'a Queue,
    /// The right to take it.
    pub consumer: Guard<'a, Consumer>,
    /// The message.
    pub peeked: Peeked,
}

impl Senders for Any {
    #[inline(always)]
    fn are_open(&self, matcher: &mut Matcher<Receive, Message>, tag: Tag) -> bool {
        self.is_quiet(matcher) || !link::any_dead() && matcher.are_free(self.sources(), tag)
    }

    #[inline(always)]
    fn peek(&self) -> Option<Next> {
        let Some(Waiting { queue, peeked, .. }) = self.find() else {
            self.found.store(0, Ordering::Relaxed);
            return None;
        };
        let arrived = RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() };
        Some(Next { rank: queue.rank, link: queue.link, arrived })
    }

    #[inline(always)]
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A look at each takes a nanosecond or two while nothing comes.
const MOST_QUEUES: usize = 16;
/// So that who sends in another way does not wait for ever while there is always something in a queue.
const FOUND_PER_PASS: u32 = 256;

#[cfg(all(test, not(loom)))]
mod tests;
