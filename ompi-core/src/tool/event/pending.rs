//! What happened to messages and was not told yet: a queue of some thousands, in the order in which it happened. What finds no room
//! is counted.

use super::{MESSAGES, now};
use crate::framework::pml::{Happened, MessageEvent};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Mutex, Ordering};

/// Something that happened to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Index of the event type.
    pub event: usize,
    /// When it happened.
    pub timestamp: i64,
    /// What.
    pub message: MessageEvent,
}

/// Events of one type on one communicator that were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Index of the event type.
    pub event: usize,
    /// The number of the communicator.
    pub context: u32,
    /// How many.
    pub count: i64,
}

struct Queue {
    waiting: VecDeque<Pending>,
    dropped: Vec<Dropped>,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { waiting: VecDeque::new(), dropped: Vec::new() });
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Makes room, before anything is noted.
pub fn open() {
    QUEUE.lock().waiting.reserve_exact(ROOM);
}

/// Nobody wants to hear of messages any more.
pub fn close() {
    *QUEUE.lock() = Queue { waiting: VecDeque::new(), dropped: Vec::new() };
}

/// Something happened to a message.
pub fn note(message: &MessageEvent) {
    let event = MESSAGES
        + match message.what {
            Happened::Posted => 0,
            Happened::Matched => 1,
            Happened::Unexpected => 2,
            Happened::Expected => 3,
        };
    let mut queue = QUEUE.lock();
    if queue.waiting.len() < ROOM {
        // The time under the lock: later ones come later.
        return queue.waiting.push_back(Pending { event, timestamp: now(), message: *message });
    }
    let context = message.context;
    match queue.dropped.iter_mut().find(|known| (known.event, known.context) == (event, context)) {
        Some(known) => known.count += 1,
        None => queue.dropped.push(Dropped { event, context, count: 1 }),
    }
}

/// The right to tell of what waits. Whoever asks meanwhile, perhaps a callback by a call of MPI, has nothing to tell.
pub struct Teller(());

/// What is to be told now; `None`: nothing is, or somebody is at it.
pub fn begin() -> Option<(Teller, Vec<Pending>, Vec<Dropped>)> {
    if IS_TOLD.swap(true, Ordering::Acquire) {
        return None;
    }
    let teller = Teller(());
    let mut queue = QUEUE.lock();
    let waiting: Vec<Pending> = queue.waiting.drain(..).collect();
    let dropped = core::mem::take(&mut queue.dropped);
    (!waiting.is_empty() || !dropped.is_empty()).then_some((teller, waiting, dropped))
}

impl Drop for Teller {
    fn drop(&mut self) {
        IS_TOLD.store(false, Ordering::Release);
    }
}

/// Events that wait at most.
const ROOM: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted() {
        open();
        let message = |what, context| MessageEvent { what, context, process: 1, tag: 7, bytes: 8 };
        for _ in 0..ROOM {
            note(&message(Happened::Posted, 3));
        }
        note(&message(Happened::Matched, 3));
        note(&message(Happened::Matched, 4));
        note(&message(Happened::Matched, 3));
        let (teller, waiting, dropped) = begin().unwrap();
        assert!(begin().is_none(), "one at a time");
        assert_eq!(waiting.len(), ROOM);
        assert!(waiting.windows(2).all(|pair| pair[0].timestamp <= pair[1].timestamp));
        let lost = |context, count| Dropped { event: MESSAGES + 1, context, count };
        assert_eq!(dropped, [lost(3, 2), lost(4, 1)]);
        drop(teller);
        assert!(begin().is_none(), "nothing waits");
        note(&message(Happened::Expected, 3));
        let (_teller, waiting, dropped) = begin().unwrap();
        assert_eq!((waiting.len(), waiting[0].event, dropped.len()), (1, MESSAGES + 3, 0));
    }
}
