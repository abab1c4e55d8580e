//! A thread that makes progress while the program computes outside MPI (`osc_am_progress`). It lives as long as there are windows of
//! osc/am in this process, and sleeps most of the time. It calls no function of the program.

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
    while STOP.load(Ordering::SeqCst) == 0 && init::is_active() {
        sys::futex_wait(&STOP, 0, PROGRESS.size() as u64);
        while STOP.load(Ordering::SeqCst) == 0 && pass() > 0 {}
        progress::flush();
    }
    RUNS.store(false, Ordering::SeqCst);
}

fn pass() -> usize {
    let (moved, left) = progress::pass_in_background();
    if left {
        wait::wake_threads();
    }
    moved
}
