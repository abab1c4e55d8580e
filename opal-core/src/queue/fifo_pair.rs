//! The two queues between this process and one peer, with the word that says whether the peer sleeps. A transport hands
//! them out, so that the PML sends and receives short messages without a call to the transport.
//!
//! The transport makes it, polls it for messages that nobody waits for in particular, and wakes the peer when
//! [`FifoPair::push`] says so. All else that is rare (the first message, a full queue, another thread at it) stays with the
//! transport's own calls, which use the same FIFO pair.

use super::fifo::{Consumer, Peeked, Producer};
use crate::framework::memcpy;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, ConditionalLock, Guard, Ordering, compiler_fence, spin_loop};

/// To and from one peer.
pub struct FifoPair {
    producer: ConditionalLock<Producer>,
    consumer: ConditionalLock<Consumer>,
    // The peer's, in shared memory: not 0 while it wants to be woken.
    sleep_flag: &'static AtomicU32,
    // What makes it different from most, so that one look tells that there is none of it.
    flags: AtomicU8,
    // Something arrived since the last message to the peer.
    has_received: AtomicBool,
    // The last look for something from the peer found nothing.
    empty_poll: AtomicBool,
}

/// Nothing is sent any more.
const CLOSED: u8 = 1;
/// This core can push lines out of its cache.
const DEMOTES: u8 = 2;

/// What became of a message.
#[must_use = "a peer that sleeps must be woken"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is on its way.
    Yes,
    /// So it is, but the peer sleeps: the transport must wake it.
    ToSleeper,
    /// It was not pushed: the transport's own call does it, or finds out why not.
    No,
}

impl FifoPair {
    /// `demotes`: whether this core can push lines out of its cache ([`super::fifo::can_demote`]).
    pub fn new(producer: Producer, consumer: Consumer, sleep_flag: &'static AtomicU32, demotes: bool) -> FifoPair {
        let (flags, has_received) = (AtomicU8::new(if demotes { DEMOTES } else { 0 }), AtomicBool::new(false));
        let consumer = consumer.watching(sleep_flag);
        let empty_poll = AtomicBool::new(false);
        FifoPair {
            producer: ConditionalLock::new(producer),
            consumer: ConditionalLock::new(consumer),
            sleep_flag,
            flags,
            has_received,
            empty_poll,
        }
    }

    /// Pushes a message of at most [`super::fifo::INLINE_BYTES`] bytes. Nothing on the way is a call, so that the caller
    /// saves no register for it. `leaving` is called when it is sure to leave, while no other
    /// thread has the queue.
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    #[inline(always)]
    pub unsafe fn push(
        &self,
        kind: u8,
        immediate: u64,
        from: *const u8,
        bytes: usize,
        leaving: impl FnOnce(),
    ) -> Pushed {
        let Some(mut producer) = self.producer.try_lock() else { return Pushed::No };
        let flags = self.flags.load(Ordering::Relaxed);
        if flags & CLOSED != 0 {
            return Pushed::No;
        }
        // SAFETY: the caller's promise.
        if !unsafe { producer.push_immediate(kind, immediate, from, bytes, leaving) } {
            return Pushed::No;
        }
        if flags & DEMOTES != 0 && self.is_awaited() {
            producer.demote_last();
        }
        if self.peer_sleeps() { Pushed::ToSleeper } else { Pushed::Yes }
    }

    /// Pushes a run of at most [`super::fifo::PAYLOAD_BYTES`] bytes, under the condition of [`FifoPair::push_with`].
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    #[inline]
    pub unsafe fn push_run(&self, kind: u8, immediate: u64, from: *const u8, bytes: usize) -> Pushed {
        // SAFETY: the queue gives room for `bytes`, outside the caller's memory; readable by the caller's promise.
        self.push_with(kind, immediate, bytes, |to| unsafe { memcpy::copy(to, from, bytes) })
    }

    /// Pushes at most [`super::fifo::PAYLOAD_BYTES`] bytes, which `fill` writes to the place that it gets, if there is
    /// room as far as is known. As [`FifoPair::push`] it refuses the first message of each pass over the ring, so that
    /// a process that sends without end takes the transport's own call now and then, and can look there for what does
    /// not concern a single message.
    #[inline]
    pub fn push_with(&self, kind: u8, immediate: u64, bytes: usize, fill: impl FnOnce(*mut u8)) -> Pushed {
        let Some(mut producer) = self.producer.try_lock() else { return Pushed::No };
        if self.is_closed() || producer.is_at_limit() {
            return Pushed::No;
        }
        match producer.push(kind, immediate, bytes, None, self.is_awaited(), fill) {
            Err(_) => Pushed::No,
            Ok(()) if self.peer_sleeps() => Pushed::ToSleeper,
            Ok(()) => Pushed::Yes,
        }
    }

    /// Whether the peer wants to be woken. After a message was stored; see [`crate::wait`] for why no fence is needed.
    #[inline(always)]
    pub fn peer_sleeps(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        // Relaxed: the sleeper's membarrier orders this load after the store of the message.
        self.sleep_flag.load(Ordering::Relaxed) != 0
    }

    /// The next message, polling at most `polls` times. `None` also where the peer wrote what is no message: the transport's
    /// next poll sees to that.
    #[inline(always)]
    pub fn peek(&self, polls: u32) -> Option<Peeked> {
        let mut consumer = self.consumer.lock();
        for _ in 0..polls {
            match consumer.peek() {
                // The pause leaves the line to the producer: 138 instead of 154 ns one way.
                Ok(None) => spin_loop(),
                Ok(found) => return found,
                Err(_) => return None,
            }
        }
        None
    }

    /// The queue from the peer if nobody has it: without a call, as [`ConditionalLock::try_lock`].
    #[inline(always)]
    pub fn try_consumer(&self) -> Option<Guard<'_, Consumer>> {
        self.consumer.try_lock()
    }

    /// Takes the message that [`FifoPair::peek`] returned last.
    #[inline(always)]
    pub fn take(&self) {
        self.consumer.lock().advance();
        self.mark_received();
    }

    /// The queue to the peer, for the transport.
    #[inline(always)]
    pub fn producer(&self) -> Guard<'_, Producer> {
        self.producer.lock()
    }

    /// The queue from the peer, for the transport.
    #[inline(always)]
    pub fn consumer(&self) -> Guard<'_, Consumer> {
        self.consumer.lock()
    }

    /// Notes whether a look found nothing; returns whether the one before did.
    #[inline(always)]
    pub fn note_empty_poll(&self, empty_poll: bool) -> bool {
        let before = self.empty_poll.load(Ordering::Relaxed);
        self.empty_poll.store(empty_poll, Ordering::Relaxed);
        before
    }

    /// Something arrived from the peer.
    #[inline(always)]
    pub fn mark_received(&self) {
        self.has_received.store(true, Ordering::Relaxed);
    }

    /// Whether the peer probably waits for the next message to it: it sent one since the last. Asked once per message.
    #[inline(always)]
    pub fn is_awaited(&self) -> bool {
        let awaited = self.flags.load(Ordering::Relaxed) & DEMOTES != 0 && self.has_received.load(Ordering::Relaxed);
        if awaited {
            self.has_received.store(false, Ordering::Relaxed);
        }
        awaited
    }

    /// Nothing is sent any more; says whether it was so before.
    pub fn close(&self) -> bool {
        self.flags.fetch_or(CLOSED, Ordering::Relaxed) & CLOSED != 0
    }

    /// Whether it was closed.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & CLOSED != 0
    }
}
