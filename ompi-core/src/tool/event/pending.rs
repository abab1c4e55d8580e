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
    // Somebody wants to hear of these events, by index: a bit each.
    wanted: u32,
    waiting: VecDeque<Pending>,
    dropped: Vec<Dropped>,
}

impl Queue {
    const CLOSED: Queue = Queue { wanted: 0, waiting: VecDeque::new(), dropped: Vec::new() };
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue::CLOSED);
// Of the queue, for who only wants to know. Changed while it is locked.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Makes room for events whose bits are set, before anything is noted; what waits already stays.
pub fn open(wanted: u32) {
    let mut queue = QUEUE.lock();
    let room = ROOM - queue.waiting.len();
    queue.waiting.reserve_exact(room);
    queue.wanted = wanted;
    IS_OPEN.store(true, Ordering::Relaxed);
}

/// Nobody wants to hear any more. Who has not seen that yet notes nothing.
pub fn close() {
    let mut queue = QUEUE.lock();
    IS_OPEN.store(false, Ordering::Relaxed);
    let closed = core::mem::replace(&mut *queue, Queue::CLOSED);
    drop(queue);
    drop(closed);
}

/// Whether somebody wants to hear of messages or transports.
#[inline(always)]
pub fn is_open() -> bool {
    // Relaxed: what is not seen now is told by the next call.
    IS_OPEN.load(Ordering::Relaxed)
}

/// Whether anything waits to be told.
pub fn waits() -> bool {
    let queue = QUEUE.lock();
    !queue.waiting.is_empty() || !queue.dropped.is_empty()
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
    if queue.wanted & (1 << event) == 0 {
        return;
    }
    if queue.waiting.len() < ROOM {
        // The time under the lock: later ones come later.
        return queue.waiting.push_back(Pending { event, timestamp: now(), what });
    }
    count_dropped(&mut queue.dropped, event, context);
}

/// One more that is lost.
pub fn count_dropped(dropped: &mut Vec<Dropped>, event: usize, context: Option<u32>) {
    match dropped.iter_mut().find(|known| (known.event, known.context) == (event, context)) {
        Some(known) => known.count += 1,
        None => dropped.push(Dropped { event, context, count: 1 }),
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
        open(u32::MAX);
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
        note_message(&message(Happened::Completed, 3));
        open(u32::MAX);
        assert!(waits(), "who listens, too, loses nothing");
        close();
        note_message(&message(Happened::Completed, 3));
        assert!(!waits(), "nobody listens");
        open(1 << MESSAGES);
        note_message(&message(Happened::Completed, 3));
        assert!(!waits(), "nobody listens to that");
        note_message(&message(Happened::Posted, 3));
        assert!(waits());
        close();
    }
}
