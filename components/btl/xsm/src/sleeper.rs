//! This process as it sleeps on its own board, if nothing else wakes it. Before each sleep it is time to look at the peers.

use crate::board::{AWAKE, Board};
use opal_core::sync::{AtomicBool, AtomicU32, Ordering};
use opal_core::sys;
use opal_core::wait::{WakeMethod, Waker};

/// The process, from its first peer on.
#[derive(Debug)]
pub struct Sleeper {
    board: Board,
    is_look_due: AtomicBool,
}

impl Sleeper {
    /// On this board.
    pub const fn new(board: Board) -> Sleeper {
        Sleeper { board, is_look_due: AtomicBool::new(false) }
    }

    /// Whether the process is about to sleep, which is said once.
    #[inline(always)]
    pub fn take_look_due(&self) -> bool {
        self.is_look_due.load(Ordering::Relaxed) && self.is_look_due.swap(false, Ordering::Relaxed)
    }
}

impl Waker for Sleeper {
    fn arm(&self, how: WakeMethod, awaits_room: bool) -> u32 {
        // Relaxed: the pass of progress that follows in this thread sees it, and any other one sees to it as well.
        self.is_look_due.store(true, Ordering::Relaxed);
        let ticket = self.board.futex().load(Ordering::SeqCst);
        self.board.sleep_flag().store(how.flag(awaits_room), Ordering::SeqCst);
        ticket
    }

    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool {
        sys::futex_wait(self.board.futex(), ticket, at_most_us)
    }

    fn futex(&self) -> Option<&AtomicU32> {
        Some(self.board.futex())
    }

    fn disarm(&self) -> bool {
        self.board.sleep_flag().swap(AWAKE, Ordering::SeqCst) == AWAKE
    }

    fn wake_threads(&self) {
        self.board.futex().fetch_add(1, Ordering::SeqCst);
        sys::futex_wake(self.board.futex());
    }

    fn descriptor(&self) -> Option<i32> {
        None
    }
}
