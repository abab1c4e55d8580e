//! A thread that makes progress while the program computes outside MPI (`osc_am_progress`). It lives as long as there are windows of
//! osc/am in this process, and sleeps most of the time. It calls no function of the program.

use crate::directory;
use crate::params::PROGRESS;
use ompi_core::init;
use opal_core::sync::{AtomicBool, AtomicU32, ConditionalLock, Ordering, raise_threads};
use opal_core::sys::{self, Thread};
use opal_core::{message, progress, wait};

/// How many windows there are, and the thread that serves them.
static HELPER: ConditionalLock<(usize, Option<Thread>)> = ConditionalLock::new((0, None));
/// The thread has not ended yet.
static RUNS: AtomicBool = AtomicBool::new(false);
/// Not 0: the thread ends.
static STOP: AtomicU32 = AtomicU32::new(0);

/// A window begins.
pub fn window_begins() {
    if PROGRESS.size() > 0 {
        // From now on there are two threads.
        raise_threads();
    }
    let mut helper = HELPER.lock();
    helper.0 += 1;
    // After the last user of MPI had left, windows that were not freed kept it here.
    if !RUNS.load(Ordering::SeqCst)
        && let Some(ended) = helper.1.take()
    {
        ended.join();
    }
    if helper.1.is_none() && PROGRESS.size() > 0 {
        STOP.store(0, Ordering::SeqCst);
        RUNS.store(true, Ordering::SeqCst);
        match Thread::start(run) {
            Ok(thread) => helper.1 = Some(thread),
            Err(_) => {
                RUNS.store(false, Ordering::SeqCst);
                message!("the system gives no thread for osc_am_progress; accesses wait until this process calls MPI");
            }
        }
    }
}

/// A window ends. After the last one the thread is no more.
pub fn window_ends() {
    let mut helper = HELPER.lock();
    helper.0 -= 1;
    if helper.0 == 0
        && let Some(thread) = helper.1.take()
    {
        STOP.store(1, Ordering::SeqCst);
        sys::futex_wake(&STOP);
        // The thread takes no lock that is held here.
        thread.join();
    }
}

/// What the thread does, at most until the last user of MPI has left, windows freed or not.
fn run() {
    let most_us = PROGRESS.size() as u64;
    let mut pause_us = most_us;
    while STOP.load(Ordering::SeqCst) == 0 && init::is_active() {
        sys::futex_wait(&STOP, 0, pause_us);
        let mut moved = false;
        while STOP.load(Ordering::SeqCst) == 0 && pass() > 0 {
            moved = true;
        }
        progress::flush();
        pause_us = next_pause_us(pause_us, most_us, moved, directory::any_active());
    }
    RUNS.store(false, Ordering::SeqCst);
}

/// How long to sleep before the next look. Long data comes in several messages, each of which waits for an answer: as long as some window
/// has an access under way, looks follow each other soon, and later each time that nothing moved.
fn next_pause_us(last_us: u64, most_us: u64, moved: bool, is_under_way: bool) -> u64 {
    let next_us = match (is_under_way, moved) {
        (false, _) => most_us,
        (true, true) => SHORTEST_PAUSE_US,
        (true, false) => last_us.saturating_mul(2),
    };
    next_us.min(most_us)
}

fn pass() -> usize {
    let (moved, left) = progress::pass_in_background();
    if left {
        wait::wake_threads();
    }
    moved
}

/// About as long as a message is on its way within a node, or the system takes to wake a thread.
const SHORTEST_PAUSE_US: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_follow_each_other_soon_while_something_is_under_way() {
        assert_eq!(next_pause_us(2000, 2000, true, false), 2000);
        assert_eq!(next_pause_us(2000, 2000, true, true), SHORTEST_PAUSE_US);
        let pauses =
            core::iter::successors(Some(SHORTEST_PAUSE_US), |last| Some(next_pause_us(*last, 100, false, true)));
        assert!(pauses.take(5).eq([20, 40, 80, 100, 100]));
        assert_eq!(next_pause_us(5, 5, true, true), 5);
    }
}
