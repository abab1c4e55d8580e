//! Taking the messages of a FIFO pair in one loop that belongs to the layer above.
//!
//! A call through the table of handlers for each message costs as much as matching it. Each of 64 messages whose receives
//! were posted took 250 instructions with that call, and 164 without it. So the layer above may register a function that
//! takes a FIFO pair's messages. It is called once for all of them, with the common case inlined.
#![allow(unsafe_code)] // a function's address in one word that changes

use super::deliver;
use crate::queue::fifo::{Consumer, Malformed, Peeked};
use crate::queue::fifo_pair::FifoPair;
use crate::sync::{AtomicPtr, Ordering};
use crate::{Error, Result};

/// Takes the messages that wait in the FIFO pair from a peer: [`drain_with`] with a fast path of its own.
pub type Drain = fn(fifo_pair: &FifoPair, peer: u32) -> Drained;

/// The result of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// How many messages were taken.
    pub taken: usize,
    /// The peer wrote what is no message: the transport closes the connection.
    pub malformed: bool,
    /// The peer sleeps until there is room for its messages, and there is: the transport wakes it.
    pub made_room: bool,
}

/// What comes next in a FIFO pair.
pub type PeekResult = core::result::Result<Option<Peeked>, Malformed>;

/// So that one busy sender does not starve the others: most messages of one turn.
const MESSAGES_PER_TURN: usize = 64;

// Null, or a `Drain`.
static DRAIN: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Registers the function that takes the messages of FIFO pairs; once, for the layer that registered their handlers.
/// `Err(Exists)` if there is one.
pub fn register_drain(drain: Drain) -> Result<()> {
    let nothing = core::ptr::null_mut();
    let changed = DRAIN.compare_exchange(nothing, drain as *mut (), Ordering::Release, Ordering::Relaxed);
    changed.map(drop).map_err(|_| Error::Exists)
}

/// From now on this function is called in its place. Another thread may be in the one before.
pub fn replace_drain(drain: Drain) {
    DRAIN.store(drain as *mut (), Ordering::Release);
}

/// For modules: takes the messages that wait in the FIFO pair from a peer, at most [`MESSAGES_PER_TURN`], and calls their
/// handlers.
#[inline(always)]
pub fn drain(fifo_pair: &FifoPair, peer: u32) -> Drained {
    // Acquire pairs with the Releases above.
    let registered = DRAIN.load(Ordering::Acquire);
    if registered.is_null() {
        return drain_with(fifo_pair, peer, |_, next, _left| Ok(Some(next)));
    }
    // SAFETY: not null, so it was made of a `Drain` above.
    let drain = unsafe { core::mem::transmute::<*mut (), Drain>(registered) };
    drain(fifo_pair, peer)
}

/// Takes messages and calls their handlers, except for those that `fast_path` takes. That gets the next message, takes
/// it and those behind it as long as it can, counts `left` (the messages of this turn) down to 0, and returns what
/// comes next.
///
/// After an empty poll a turn is one message: the process that waited for it may answer at once, and a look at the next
/// slot would hold the answer up until that line is here, since stores leave a core behind the loads before them: 8
/// bytes one way from MPI_ANY_SOURCE 0.116 instead of 0.136 µs. Streams of 8 bytes lose one or two in a hundred, of 64
/// bytes five.
#[inline(always)]
pub fn drain_with(
    fifo_pair: &FifoPair,
    peer: u32,
    mut fast_path: impl FnMut(&mut Consumer, Peeked, &mut usize) -> PeekResult,
) -> Drained {
    let mut consumer = fifo_pair.consumer();
    let mut next = consumer.peek();
    let most = if fifo_pair.note_empty_poll(matches!(next, Ok(None))) { 1 } else { MESSAGES_PER_TURN };
    let mut left = most;
    while let Ok(Some(peeked)) = next {
        next = fast_path(&mut consumer, peeked, &mut left);
        let Ok(Some(peeked)) = next else { break };
        deliver(peeked.kind(), peer, peeked.immediate, peeked.payload());
        consumer.advance();
        left -= 1;
        if left == 0 {
            next = Ok(None);
            break;
        }
        consumer.fetch_ahead();
        next = consumer.peek();
    }
    let taken = most - left;
    if taken > 0 {
        fifo_pair.mark_received();
    }
    Drained { taken, malformed: next.is_err(), made_room: consumer.take_made_room() }
}

// Models have no statics.
#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::queue::fifo::{MIN_PAYLOAD_RING_BYTES, Memory, Producer, SLOT_RING_BYTES};
    use crate::sync::AtomicU32;
    use std::boxed::Box;

    #[repr(C, align(64))]
    struct Area([u8; SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES + 64]);

    #[test]
    fn one_message_after_an_empty_poll_and_all_otherwise() {
        static AWAKE: AtomicU32 = AtomicU32::new(0);
        let mut area = Box::new(Area([0; SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES + 64]));
        let base = area.0.as_mut_ptr();
        let (pool, consumed) =
            (base.wrapping_add(SLOT_RING_BYTES), base.wrapping_add(SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES));
        // SAFETY: within the area, which outlives the queues.
        let memory = unsafe { Memory::new(base, pool, MIN_PAYLOAD_RING_BYTES, consumed) };
        let fifo_pair = FifoPair::new(Producer::new(memory), Consumer::new(memory), &AWAKE, false);
        let push = |count: usize| {
            for _ in 0..count {
                // SAFETY: nothing is read.
                unsafe { fifo_pair.producer().push_inline(7, 0, core::ptr::null(), 0, false) }.unwrap();
            }
        };
        let taken = || drain_with(&fifo_pair, 0, |_, next, _left| Ok(Some(next))).taken;
        push(3);
        assert_eq!([taken(), taken()], [3, 0]);
        push(3);
        assert_eq!([taken(), taken(), taken()], [1, 2, 0]);
        push(100);
        assert_eq!([taken(), taken(), taken(), taken()], [1, 64, 35, 0]);
    }
}
