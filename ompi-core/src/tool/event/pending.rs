//! What happened to messages and transports and was not told yet: a queue of some thousands, in the order in which it happened. What
//! finds no room is counted.

use super::{MESSAGES, PATHS, now};
use crate::framework::bml::{Change, PathEvent};
use crate::framework::pml::{Happened, MessageEvent};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Mutex, Ordering};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Index of the event type.
    pub event: usize,
    /// When it happened.
    pub timestamp: i64,
    /// What, and to what.
    pub what: What,
}

/// To what something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message.
    Message(MessageEvent),
    /// A transport's way to a process.
    Path(PathEvent),
}

/// Events of one type on one communicator that were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Index of the event type.
    pub event: usize,
    /// The number of the communicator; `None` of events that are bound to none.
    pub context: Option<u32>,
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

/// Nobody wants to hear any more.
pub fn close() {
    *QUEUE.lock() = Queue { waiting: VecDeque::new(), dropped: Vec::new() };
}

/// Something happened to a message.
pub fn note_message(message: &MessageEvent) {
    let event = MESSAGES
        + match message.what {
            Happened::Posted => 0,
            Happened::Matched => 1,
            Happened::Unexpected => 2,
            Happened::Expected => 3,
            Happened::Completed => 4,
        };
    note(event, Some(message.context), What::Message(*message));
}

/// Something happened to a transport's way to a process.
pub fn note_path(path: &PathEvent) {
    let event = PATHS
        + match path.what {
            Change::Connected => 0,
            Change::Lost => 1,
        };
    note(event, None, What::Path(*path));
}

fn note(event: usize, context: Option<u32>, what: What) {
    let mut queue = QUEUE.lock();
    if queue.waiting.len() < ROOM {
        // The time under the lock: later ones come later.
        return queue.waiting.push_back(Pending { event, timestamp: now(), what });
    }
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
    let (waiting, dropped) = {
        let mut queue = QUEUE.lock();
        (queue.waiting.drain(..).collect::<Vec<Pending>>(), core::mem::take(&mut queue.dropped))
    };
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
            note_message(&message(Happened::Posted, 3));
        }
        note_message(&message(Happened::Matched, 3));
        note_message(&message(Happened::Matched, 4));
        note_message(&message(Happened::Matched, 3));
        let (teller, waiting, dropped) = begin().unwrap();
        assert!(begin().is_none(), "one at a time");
        assert_eq!(waiting.len(), ROOM);
        assert!(waiting.windows(2).all(|pair| pair[0].timestamp <= pair[1].timestamp));
        let lost = |context, count| Dropped { event: MESSAGES + 1, context: Some(context), count };
        assert_eq!(dropped, [lost(3, 2), lost(4, 1)]);
        drop(teller);
        assert!(begin().is_none(), "nothing waits");
        note_message(&message(Happened::Completed, 3));
        note_path(&PathEvent { what: Change::Lost, process: 1, transport: "sm" });
        let (_teller, waiting, dropped) = begin().unwrap();
        assert_eq!(dropped, []);
        let names: Vec<_> = waiting.iter().map(|pending| super::super::ALL[pending.event].name).collect();
        assert_eq!(names, ["pml_message_completed", "btl_lost"]);
    }
}
