//! Waiting for something to happen: spin, yield or sleep, as the load of the machine allows.
//!
//! * At least as many cores as runnable ranks of this node: spin with the pause hint.
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
//! A rank that only peers of its node can reach sleeps on a futex in its receive segment. A rank that only sockets can reach
//! sleeps in epoll. A rank that both can reach sleeps in epoll, too, which then also watches the wake-up socket of its peers;
//! [`Waker`] tells a sender which one the sleeper uses. Where a peer cannot reach that socket, a sleep lasts at most a
//! millisecond.
//!
//! A waiter also looks at an epoch, which rises when a process of the job dies. A wait that nothing can end any more then
//! ends with `Err(Unreachable)`.

mod awaited;
mod counted;
mod load;
mod polled;
mod pvars;
pub use awaited::{Awaited, Subject, awaiting};
pub use load::{add_local_rank, expect_local_ranks, may_spin};
pub use polled::{polled_memory, polled_progress};
pub use pvars::PVARS;

use crate::framework::btl;
use crate::progress;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Once, Ordering, fence, spin_loop, threads_possible};
use crate::sys;
use crate::{Error, Result, verbose};

/// How a process is woken by the peers of its node. There is one per process; the transport whose memory the peers
/// share provides it.
pub trait Waker: Sync {
    /// From now on peers that have something for this process wake it, by `how`. Returns a ticket for `sleep`.
    fn arm(&self, how: WakeMethod) -> u32;

    /// Sleeps until a peer wakes this process after the `arm` by [`WakeMethod::Futex`] that gave the ticket, at most
    /// this long; returns whether it was less.
    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool;

    /// Peers need not wake this process any more; returns whether one did.
    fn disarm(&self) -> bool;

    /// Ends the sleeps of this process's own threads.
    fn wake_threads(&self);

    /// The descriptor that becomes readable when a peer wakes this process by [`WakeMethod::Descriptor`]; `None` if
    /// some peer cannot.
    fn descriptor(&self) -> Option<i32>;
}

/// How to wake a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeMethod {
    /// Through the word that it sleeps on.
    Futex = 1,
    /// Through its descriptor.
    Descriptor = 2,
}

/// Sockets on which a process can sleep.
pub trait Sockets: Sync {
    /// Sleeps until something happens to one of them or to what is watched beside them, at most this long; returns
    /// whether anything did.
    fn sleep(&self, at_most_us: u64) -> bool;

    /// From now on a sleep ends when this descriptor is readable, too. `false` where the system refuses.
    fn watch(&self, descriptor: i32) -> bool;

    /// Whether anything of the job can come from them.
    fn is_needed(&self) -> bool;

    /// The next pass of progress polls them, even if few passes do.
    fn poll_now(&self);
}

/// How this process's sleeps ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sleeps {
    /// A peer of the node woke it.
    pub woken: u64,
    /// Something happened to a socket.
    pub socket: u64,
    /// Nothing did, for as long as a sleep may last.
    pub timed_out: u64,
}

/// Counts since the process began.
pub fn sleeps() -> Sleeps {
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    Sleeps { woken: of(&WOKEN), socket: of(&SOCKET), timed_out: of(&TIMED_OUT) }
}

/// How long this process slept since it began, in ns.
pub fn asleep_ns() -> u64 {
    ASLEEP_NS.load(Ordering::Relaxed)
}

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

/// Wakes all threads of this process. To be called after completing a request on which another thread may sleep; the
/// completion was stored with SeqCst.
pub fn wake_threads() {
    // SeqCst: a sleeper that is not counted yet looks after it was, and then finds what was stored before.
    if SLEEPERS.load(Ordering::SeqCst) != 0
        && let Some(waker) = WAKER.get()
    {
        waker.wake_threads();
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
            if !self.polls.is_multiple_of(SPINS_PER_LOOK) {
                return Ok(());
            }
            if threads_possible() {
                // The cores were counted for one thread per rank.
                sys::yield_now();
            }
        } else if let (Some(sockets), None) = (SOCKETS.get(), WAKER.get()) {
            // A peer's message wakes this process at once, which a yielding one cannot count on.
            let since_ns = sys::monotonic_ns();
            sleep_on_sockets(*sockets);
            slept(since_ns);
        } else {
            sys::yield_now();
        }
        progress::outside::back();
        self.check(awaited)
    }

    #[inline(never)]
    fn check(&mut self, awaited: &mut dyn Awaited) -> Result<()> {
        if any_lost() {
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
        } else if now - self.since_ns > SPIN_NS {
            if let Some(told) = SLEEPS_TOLD.get() {
                told(self.since_ns, now, awaited);
            }
            sleep(awaited);
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

/// Provides the process's waker; the first one stays.
pub fn set_waker(waker: &'static dyn Waker) {
    WAKER.call_once(|| waker);
}

/// Provides the process's sockets; the first ones stay.
pub fn set_sockets(sockets: &'static dyn Sockets) {
    SOCKETS.call_once(|| sockets);
}

/// Provides the epoch: its value now means that nobody died.
pub fn watch_epoch(epoch: fn() -> u32) {
    EPOCH_AT_START.store(epoch(), Ordering::Relaxed);
    EPOCH.call_once(|| epoch);
}

/// Whether a process of the job was lost since the start, as far as the environment knows.
pub fn any_lost() -> bool {
    EPOCH.get().is_some_and(|epoch| epoch() != EPOCH_AT_START.load(Ordering::Relaxed))
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

/// Tells of a process that stores into shared memory, this one included, whether it registered for membarrier.
pub fn add_sender(registered: bool) {
    if !registered {
        MEMBARRIER_CAPABLE.store(false, Ordering::Relaxed);
        verbose!(btl::FRAMEWORK, 10, "a rank of this node is not registered for membarrier: sleeps last at most 1 ms");
    }
}

/// Some process that this one may wait for cannot wake it: from now on a sleep lasts at most a millisecond.
pub fn shorten_sleeps() {
    MEMBARRIER_CAPABLE.store(false, Ordering::Relaxed);
}

fn sleep(awaited: &mut dyn Awaited) {
    let since_ns = sys::monotonic_ns();
    sleep_counted(awaited);
    slept(since_ns);
}

fn sleep_counted(awaited: &mut dyn Awaited) {
    if !threads_possible() {
        return sleep_by(awaited);
    }
    SLEEPERS.fetch_add(1, Ordering::SeqCst);
    // Pairs with the SeqCst of `wake_threads`: the last look comes after the count.
    fence(Ordering::SeqCst);
    sleep_by(awaited);
    SLEEPERS.fetch_sub(1, Ordering::SeqCst);
}

/// A sleep is over.
fn slept(since_ns: u64) {
    // Relaxed: a number only; several threads may sleep.
    ASLEEP_NS.fetch_add(sys::monotonic_ns().saturating_sub(since_ns), Ordering::Relaxed);
}

fn sleep_by(awaited: &mut dyn Awaited) {
    let sockets = SOCKETS.get().filter(|sockets| sockets.is_needed());
    if let Some(sockets) = sockets {
        sockets.poll_now();
    }
    match (WAKER.get(), sockets) {
        (Some(waker), None) => sleep_on_futex(*waker, false, awaited),
        (Some(waker), Some(sockets)) if can_wake_sockets_sleep(*waker, *sockets) => {
            sleep_on_both(*waker, *sockets, awaited)
        }
        (Some(waker), Some(_)) => sleep_on_futex(*waker, true, awaited),
        // What happens to a socket before the sleep ends it at once.
        (None, Some(sockets)) if is_still_idle(awaited) => sleep_on_sockets(*sockets),
        (None, Some(_)) => {}
        (None, None) => sys::nap_us(NAP_US),
    }
}

/// Whether a sleep on the sockets ends when the waker is woken.
fn can_wake_sockets_sleep(waker: &dyn Waker, sockets: &dyn Sockets) -> bool {
    waker.descriptor().is_some_and(|descriptor| *WATCHED.call_once(|| sockets.watch(descriptor)))
}

fn sleep_on_both(waker: &dyn Waker, sockets: &dyn Sockets, awaited: &mut dyn Awaited) {
    waker.arm(WakeMethod::Descriptor);
    let slice = slice_us(sys::membarrier());
    // Level-triggered: what comes between this pass and the sleep ends it at once.
    let slept = is_still_idle(awaited);
    let happened = slept && sockets.sleep(slice);
    let woken = waker.disarm();
    if slept {
        count(woken, happened);
    }
}

fn sleep_on_futex(waker: &dyn Waker, unwakeable: bool, awaited: &mut dyn Awaited) {
    let ticket = waker.arm(WakeMethod::Futex);
    let slice = slice_us(sys::membarrier() && !unwakeable);
    let slept = is_still_idle(awaited);
    let ended_early = slept && waker.sleep(ticket, slice);
    let woken = waker.disarm();
    if slept {
        count(woken, ended_early && woken);
    }
}

/// The last look before a sleep.
fn is_still_idle(awaited: &mut dyn Awaited) -> bool {
    progress::pass() == 0 && !awaited.is_done()
}

fn sleep_on_sockets(sockets: &dyn Sockets) {
    count(false, sockets.sleep(slice_us(true)));
}

/// How long a sleep may last. Of several threads that sleep at the same time the first one that wakes disarms the waker.
fn slice_us(fenced: bool) -> u64 {
    if fenced && MEMBARRIER_CAPABLE.load(Ordering::Relaxed) && !threads_possible() {
        SLICE_US
    } else {
        SLICE_WITHOUT_MEMBARRIER_US
    }
}

fn count(woken: bool, happened: bool) {
    let why = match (happened, woken) {
        (true, true) => &WOKEN,
        (true, false) => &SOCKET,
        (false, _) => &TIMED_OUT,
    };
    why.fetch_add(1, Ordering::Relaxed);
}

static MEMBARRIER_CAPABLE: AtomicBool = AtomicBool::new(true);
static WAKER: Once<&'static dyn Waker> = Once::new();
static SOCKETS: Once<&'static dyn Sockets> = Once::new();
static WATCHED: Once<bool> = Once::new();
static SLEEPERS: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);
static SOCKET: AtomicU64 = AtomicU64::new(0);
static TIMED_OUT: AtomicU64 = AtomicU64::new(0);
static ASLEEP_NS: AtomicU64 = AtomicU64::new(0);
static SLEEPS_TOLD: Once<fn(u64, u64, &dyn Awaited)> = Once::new();
static WAITS_TOLD: Once<fn(u64)> = Once::new();
static EPOCH: Once<fn() -> u32> = Once::new();
static EPOCH_AT_START: AtomicU32 = AtomicU32::new(0);

/// Models look at once.
const SPINS_PER_LOOK: u32 = if cfg!(loom) { 1 } else { 256 };
const SPINS_AFTER_SLEEP: u32 = 16;
const SPINS_AT_ONCE: u32 = if cfg!(loom) { 1 } else { 64 };
const POLLS_PER_YIELD: u32 = if cfg!(loom) { 1 } else { 10 };
const YIELDS_PER_PASS: u32 = 8;
const SPIN_NS: u64 = 1_000_000;
/// The longest sleep: how late a death in the job may be noticed.
const SLICE_US: u64 = 20_000;
const SLICE_WITHOUT_MEMBARRIER_US: u64 = 1000;
const NAP_US: u64 = 50;

#[cfg(all(test, loom))]
#[path = "wait/models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "wait/tests.rs"]
mod tests;
