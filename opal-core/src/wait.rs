//! Waiting for something to happen: spin, yield or sleep, as the load of the machine allows.
//!
//! * At least as many cores as runnable ranks of this node: spin with the pause hint. Where sleeps show that a peer has no core of
//!   its own all the same, only for some microseconds (`wait/patience.rs`).
//! * Fewer cores: `sched_yield` after each pass of progress that moved nothing. A waiter that polls one place only does ten
//!   passes first. With ten passes first in all cases, a ring of MPI_Sendrecv by 4 and 8 ranks on two cores took 7.7 and
//!   18.8 instead of 5.0 and 13.3 µs, one of MPI_Isend and MPI_Irecv 3.9 and 8.4 instead of 3.1 and 6.6.
//! * About a millisecond without progress: sleep. A job that waits burns no core.
//!
//! # The sleep protocol
//! A sender has no fence. It stores its message, then (compiler fence) reads the sleep flag of the receiver. The sleeper
//! sets the flag, has the system run a full barrier on every core (`membarrier`), polls everything once more, and only then
//! sleeps. A sender that missed the flag had stored before the barrier, so the last poll sees its message. This holds only
//! if every sender is registered with the system; each one says so in its address. Where one is not registered, or the
//! system refuses, a sleep lasts at most a millisecond.
//!
//! A process that sleeps while a peer has no room for its messages says so in the flag. The peer reads it in the same way after it
//! has said how far it is with them ([`crate::queue::fifo`]). Without that both would sleep: the one until there is room, the other
//! until more comes.
//!
//! A rank that only peers of its node can reach sleeps on a futex in its receive segment. A rank that only sockets can reach
//! sleeps in epoll, or in poll where only descriptors of cards can wake it ([`watch_descriptor`]). A rank that both can reach sleeps in epoll, too, which then also watches the wake-up socket of its peers;
//! [`Waker`] tells a sender which one the sleeper uses. Where a peer cannot reach that socket, a sleep lasts at most a
//! millisecond.
//!
//! A waiter also looks at an epoch, which rises when a process of the job dies, and so does who polls for long in vain. What needs that
//! process alone is ended then ([`when_lost_in_job`]). A wait that nothing can end any more
//! ends with `Err(Unreachable)`; so does one of which nobody knows whom it needs. Processes of other jobs may end without harm: what is
//! known to need one that did ends so, before it would sleep.

mod awaited;
mod counted;
mod load;
mod patience;
mod polled;
mod pvars;
mod sleep;
mod sockets;
pub use awaited::{Awaited, Subject, awaiting};
pub use load::{add_local_rank, expect_local_ranks, has_cores_for, has_spare_core, may_spin, remove_local_rank};
pub use polled::{polled_memory, polled_progress};
pub use pvars::PVARS;
pub use sleep::{
    EarlySleeps, ShortSleeps, Sleeps, Timed, WakeMethod, Waker, add_sender, add_waker, asleep_ns, note_full,
    set_sockets, set_waker, shorten_sleeps, sleeps, wake_threads, watch_descriptor, watch_queue,
};
pub use sockets::Sockets;

use crate::progress;
use crate::sync::{AtomicBool, AtomicU32, Once, Ordering, spin_loop, threads_possible};
use crate::sys;
use crate::{Error, Result};
use patience::{PATIENCE, SPINS_PER_LOOK};

/// Waits until `done`, making progress. `Err(Unreachable)` if a process died and nothing moves any more.
#[inline]
pub fn until(done: impl FnMut() -> bool) -> Result<()> {
    until_done(awaiting(done, || Subject::UNKNOWN))
}

/// As [`until`] for something that can say what it is.
#[inline]
pub fn until_done(awaited: impl Awaited) -> Result<()> {
    let mut backoff = Backoff::new();
    let mut once = AskedOnce { awaited, is_done: false };
    while !once.is_done() {
        backoff.advance(&mut once)?;
    }
    Ok(())
}

/// The last look before a sleep asks, too. Never asked again once it was true: the answer may have taken what it found.
struct AskedOnce<A> {
    awaited: A,
    is_done: bool,
}

impl<A: Awaited> Awaited for AskedOnce<A> {
    #[inline(always)]
    fn is_done(&mut self) -> bool {
        self.is_done = self.is_done || self.awaited.is_done();
        self.is_done
    }

    fn subject(&self) -> Subject {
        self.awaited.subject()
    }
}

/// One wait's memory of how long nothing has happened.
pub struct Backoff {
    polls: u32,
    since_ns: u64,
    is_last_pass: bool,
}

impl Backoff {
    /// Nothing was waited for yet.
    #[inline(always)]
    pub const fn new() -> Backoff {
        Backoff { polls: 0, since_ns: 0, is_last_pass: false }
    }

    /// For a caller that has polled [`polls_per_pass`] times already and does so again after each step.
    #[inline(always)]
    pub const fn after_polls() -> Backoff {
        Backoff { polls: POLLS_PER_YIELD, since_ns: 0, is_last_pass: false }
    }

    /// Whether the last step moved something.
    #[inline(always)]
    pub fn has_moved(&self) -> bool {
        self.polls == 0
    }

    /// Makes progress once; if nothing moved, pauses, yields or sleeps.
    #[inline]
    pub fn step(&mut self) -> Result<()> {
        self.step_for(|| Subject::UNKNOWN)
    }

    /// As [`Backoff::step`]; `subject` says what is waited for.
    #[inline]
    pub fn step_for(&mut self, subject: impl Fn() -> Subject) -> Result<()> {
        self.advance(&mut awaiting(|| false, subject))
    }

    /// As [`Backoff::step`], for a caller that waits for a word which no pass of progress sees, and looks at it after
    /// each step: sleeps only if it is not `done`. The process that changes the word wakes this one as the sender of a
    /// message does; a thread of this process calls [`wake_threads`].
    ///
    /// With more ranks than cores most steps only yield: the word is mostly there when the core comes back, and a pass and
    /// a look at the clock before each yield made an operation of eight ranks on two cores a tenth longer.
    #[inline]
    pub fn step_unless(&mut self, done: &dyn Fn() -> bool) -> Result<()> {
        self.step_unless_done(&mut awaiting(done, || Subject::UNKNOWN))
    }

    /// As [`Backoff::step_unless`] for something that can say what it is.
    #[inline]
    pub fn step_unless_done(&mut self, awaited: &mut dyn Awaited) -> Result<()> {
        if !may_spin() && self.polls >= POLLS_PER_YIELD && !self.polls.is_multiple_of(YIELDS_PER_PASS) {
            self.polls += 1;
            sys::yield_now();
            progress::outside::back();
            return Ok(());
        }
        self.advance(awaited)
    }

    #[inline]
    fn advance(&mut self, awaited: &mut dyn Awaited) -> Result<()> {
        if progress::pass() > 0 {
            *self = Backoff::new();
            return Ok(());
        }
        self.polls += 1;
        if may_spin() {
            spin_loop();
            if self.polls & (PATIENCE.spins_per_look() - 1) != 0 {
                return Ok(());
            }
            if threads_possible() {
                // The cores were counted for one thread per rank.
                PATIENCE.leave_to_threads();
            }
        } else if !self.sleep_on_sockets_alone() {
            sys::yield_now();
        }
        progress::outside::back();
        self.check(awaited)
    }

    /// The wait has begun before that sleep.
    fn sleep_on_sockets_alone(&mut self) -> bool {
        if !sleep::is_on_sockets_alone() {
            return false;
        }
        if self.since_ns == 0 {
            self.since_ns = sys::monotonic_ns();
            PATIENCE.begin();
        }
        sleep::sleep_on_sockets_alone(sys::monotonic_ns() - self.since_ns)
    }

    #[inline(never)]
    fn check(&mut self, awaited: &mut dyn Awaited) -> Result<()> {
        tell_lost_in_job();
        // Relaxed: the transport of which this is true fails what needs the dead, sooner or later.
        if any_lost() && ENDING.load(Ordering::Relaxed) == 0 && needs_lost(awaited) {
            // What the dead process sent before is in the rings: one more pass, then nothing will come.
            if self.is_last_pass {
                return Err(Error::Unreachable);
            }
            self.is_last_pass = true;
            return Ok(());
        }
        let now = sys::monotonic_ns();
        if self.since_ns == 0 {
            self.since_ns = now;
            PATIENCE.begin();
        } else if now - self.since_ns > PATIENCE.awake_ns() {
            // Those have nothing in the rings any more.
            if LOST_BEYOND_JOB.load(Ordering::Relaxed) && needs_lost(awaited) {
                return Err(Error::Unreachable);
            }
            if let Some(told) = SLEEPS_TOLD.get() {
                told(self.since_ns, now, awaited);
            }
            sleep::sleep(awaited, now - self.since_ns);
            if may_spin() && !PATIENCE.is_helped() {
                PATIENCE.slept();
            }
            // After a vain sleep there is little to poll for: on an emulated core a whole round takes as long as the sleep.
            self.polls = SPINS_PER_LOOK.saturating_sub(SPINS_AFTER_SLEEP);
        }
        Ok(())
    }
}

/// A wait ends when something moved, and when it is given up.
impl Drop for Backoff {
    #[inline(always)]
    fn drop(&mut self) {
        if self.since_ns != 0 {
            waited(self.since_ns);
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::new()
    }
}

/// How many polls of one place suit between two full passes.
#[inline(always)]
pub fn polls_per_pass() -> u32 {
    if may_spin() { SPINS_AT_ONCE } else { POLLS_PER_YIELD }
}

/// Provides the epoch: its value now means that nobody died.
pub fn watch_epoch(epoch: fn() -> u32) {
    let now = epoch();
    EPOCH_AT_START.store(now, Ordering::Relaxed);
    TOLD_EPOCH.store(now, Ordering::Relaxed);
    EPOCH.call_once(|| epoch);
}

/// Whether a process of the job was lost since the start, as far as the environment knows.
pub fn any_lost() -> bool {
    EPOCH.get().is_some_and(|epoch| epoch() != EPOCH_AT_START.load(Ordering::Relaxed))
}

/// Has this called once more processes of the job were lost, by a thread that waits or that polls again and again in vain: it ends what
/// needs them.
pub fn when_lost_in_job(told: fn()) {
    LOST_TOLD.call_once(|| told);
}

#[inline]
fn tell_lost_in_job() {
    let Some(epoch) = EPOCH.get() else { return };
    let now = epoch();
    // Relaxed: of two threads that see the change both may tell of it.
    if now != TOLD_EPOCH.load(Ordering::Relaxed) {
        TOLD_EPOCH.store(now, Ordering::Relaxed);
        if let Some(told) = LOST_TOLD.get() {
            told();
        }
    }
}

/// While one of these lives a transport still takes what processes sent that have ended, and tells of their end afterwards: waits that need
/// them go on until then.
#[derive(Debug)]
pub struct Ending(());

impl Ending {
    /// Until it is dropped.
    pub fn begin() -> Ending {
        ENDING.fetch_add(1, Ordering::Relaxed);
        Ending(())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        ENDING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A process of another job was lost, after all that it had sent was taken: waits that need it end, too.
pub fn tell_lost_beyond_job() {
    LOST_BEYOND_JOB.store(true, Ordering::Relaxed);
}

#[cold]
fn needs_lost(awaited: &dyn Awaited) -> bool {
    !ONLY_NEEDS.get().is_some_and(|only_needs| only_needs(&awaited.subject()))
}

/// Has this asked once a process was lost: whether what is waited for needs none of the lost, so that the wait goes on.
pub fn ask_who_is_needed(only_needs_living: fn(&Subject) -> bool) {
    ONLY_NEEDS.call_once(|| only_needs_living);
}

/// Has this called before each sleep: since when nothing has happened, the time now, in ns of the monotonic clock, and what is
/// waited for.
pub fn tell_sleeps(told: fn(u64, u64, &dyn Awaited)) {
    SLEEPS_TOLD.call_once(|| told);
}

/// Has this called at the end of each wait that was not over at its first looks: since when nothing had happened, in ns of the
/// monotonic clock. A wait looks at the clock after some microseconds; the time before is no part of it.
pub fn tell_waits(told: fn(u64)) {
    WAITS_TOLD.call_once(|| told);
}

#[cold]
#[inline(never)]
fn waited(since_ns: u64) {
    counted::count_wait(since_ns);
    if let Some(told) = WAITS_TOLD.get() {
        told(since_ns);
    }
}

static ONLY_NEEDS: Once<fn(&Subject) -> bool> = Once::new();
static SLEEPS_TOLD: Once<fn(u64, u64, &dyn Awaited)> = Once::new();
static WAITS_TOLD: Once<fn(u64)> = Once::new();
static EPOCH: Once<fn() -> u32> = Once::new();
// How many `Ending` there are.
static ENDING: AtomicU32 = AtomicU32::new(0);
static LOST_BEYOND_JOB: AtomicBool = AtomicBool::new(false);
static EPOCH_AT_START: AtomicU32 = AtomicU32::new(0);
static LOST_TOLD: Once<fn()> = Once::new();
static TOLD_EPOCH: AtomicU32 = AtomicU32::new(0);

const SPINS_AFTER_SLEEP: u32 = 16;
const SPINS_AT_ONCE: u32 = if cfg!(loom) { 1 } else { 64 };
const POLLS_PER_YIELD: u32 = if cfg!(loom) { 1 } else { 10 };
const YIELDS_PER_PASS: u32 = 8;

#[cfg(all(test, loom))]
#[path = "wait/models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "wait/tests.rs"]
mod tests;
