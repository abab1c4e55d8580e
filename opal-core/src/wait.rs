//! Waiting for something to happen: spin, yield or sleep as the machine's load allows.
//!
//! As many cores as runnable ranks of this node: spin with the pause hint. Fewer: ten polls, then `sched_yield` after
//! each. About a millisecond without progress: sleep, so that a job that waits burns no core.
//!
//! The sleep protocol. A sender has no fence: it stores its message, then (compiler fence) reads the receiver's *asleep*
//! flag. The sleeper sets the flag, has the system run a full barrier on every core (`membarrier`), polls everything once
//! more and only then sleeps: a sender that missed the flag had stored before the barrier, so the last poll sees its
//! message. That holds only if every sender is registered with the system, which each says in its address; where one is
//! not, or the system refuses, sleeps last at most a millisecond instead.
//!
//! Who waits also looks at an epoch, which rises when a process of the job died: a wait that nothing ends any more then
//! ends with `Err(Unreachable)`.

use crate::framework::btl;
use crate::progress;
use crate::sync::{AtomicBool, AtomicU32, Mutex, Once, Ordering, threads_possible};
use crate::sys::{self, Cores};
use crate::{Error, Result, verbose};

/// How a process sleeps and is woken. There is one per process: whoever has memory or a descriptor that peers can reach
/// provides it. (A transport with sockets provides one that sleeps in epoll, with a descriptor that peers can write to.)
pub trait Bell: Sync {
    /// From now on who has something for this process rings. Returns a ticket for `sleep`.
    fn arm(&self) -> u32;

    /// Sleeps until somebody rang after the `arm` that gave the ticket, at most this long.
    fn sleep(&self, ticket: u32, at_most_us: u64);

    /// Nobody needs to ring any more.
    fn disarm(&self);
}

/// Sockets on which a process can sleep.
pub trait Sockets: Sync {
    /// Sleeps until something happens to one of them, at most this long.
    fn sleep(&self, at_most_us: u64);

    /// Whether anything of the job can come from them.
    fn is_needed(&self) -> bool;

    /// The next pass looks at them, however seldom it does otherwise.
    fn urge(&self);
}

/// Waits until `done`, making progress. `Err(Unreachable)` if a process died and nothing moves any more.
#[inline]
pub fn until(mut done: impl FnMut() -> bool) -> Result<()> {
    let mut idle = Idle::new();
    while !done() {
        idle.step()?;
    }
    Ok(())
}

/// One wait's memory of how long nothing has happened.
pub struct Idle {
    polls: u32,
    since_ns: u64,
    last_chance: bool,
}

impl Idle {
    /// Nothing was waited for yet.
    #[inline(always)]
    pub const fn new() -> Idle {
        Idle { polls: 0, since_ns: 0, last_chance: false }
    }

    /// Makes progress once; if nothing moved, pauses, yields or sleeps.
    #[inline]
    pub fn step(&mut self) -> Result<()> {
        if progress::pass() > 0 {
            *self = Idle::new();
            return Ok(());
        }
        self.polls += 1;
        if spinning() {
            core::hint::spin_loop();
            if !self.polls.is_multiple_of(SPINS_PER_LOOK) {
                return Ok(());
            }
        } else if self.polls < POLLS_PER_YIELD {
            core::hint::spin_loop();
            return Ok(());
        } else if let (Some(sockets), None) = (SOCKETS.get(), BELL.get()) {
            // A peer's message wakes this process at once, which a yielding one cannot count on.
            sockets.sleep(if threads_possible() { UNTRUSTED_US } else { SLICE_US });
        } else {
            sys::yield_now();
        }
        self.look()
    }

    #[inline(never)]
    fn look(&mut self) -> Result<()> {
        if EPOCH.get().is_some_and(|epoch| epoch() != EPOCH_AT_START.load(Ordering::Relaxed)) {
            // What the dead process sent before is in the rings: one more pass, then nothing will come.
            if self.last_chance {
                return Err(Error::Unreachable);
            }
            self.last_chance = true;
            return Ok(());
        }
        let now = sys::monotonic_ns();
        if self.since_ns == 0 {
            self.since_ns = now;
        } else if now - self.since_ns > AWAKE_NS {
            sleep();
        }
        Ok(())
    }
}

impl Default for Idle {
    fn default() -> Self {
        Idle::new()
    }
}

/// How many polls of one place suit between two full passes.
#[inline(always)]
pub fn polls_at_once() -> u32 {
    if spinning() { 64 } else { POLLS_PER_YIELD }
}

/// Provides the process's bell; the first one stays.
pub fn set_bell(bell: &'static dyn Bell) {
    BELL.call_once(|| bell);
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

/// Tells how many ranks run on this node, for where nobody tells of each of them.
pub fn expect_local_ranks(ranks: u32) {
    let own = sys::own_cores().iter().map(|word| word.count_ones()).sum();
    SPIN.store(ranks <= own, Ordering::Relaxed);
}

/// Tells of a rank of this node, this one included: the cores that it may run on, and whether it registered for
/// membarrier.
pub fn add_local_rank(cores: &Cores, registered: bool) {
    let mut load = LOAD.lock();
    load.ranks += 1;
    for (all, these) in load.cores.iter_mut().zip(cores) {
        *all |= these;
    }
    let available: u32 = load.cores.iter().map(|word| word.count_ones()).sum();
    SPIN.store(load.ranks <= available, Ordering::Relaxed);
    if !registered {
        TRUSTED.store(false, Ordering::Relaxed);
        verbose!(btl::FRAMEWORK, 10, "a rank of this node is not registered for membarrier: sleeps last at most 1 ms");
    }
}

/// Whether there is a core for every rank of this node.
#[inline(always)]
pub fn spinning() -> bool {
    SPIN.load(Ordering::Relaxed)
}

fn sleep() {
    let sockets = SOCKETS.get().filter(|sockets| sockets.is_needed());
    if let Some(sockets) = sockets {
        sockets.urge();
    }
    match (BELL.get(), sockets) {
        (Some(bell), _) => sleep_on_bell(*bell, sockets.is_some()),
        // What happens to a socket before the sleep ends it at once.
        (None, Some(sockets)) if progress::pass() == 0 => {
            sockets.sleep(if threads_possible() { UNTRUSTED_US } else { SLICE_US });
        }
        (None, Some(_)) => {}
        (None, None) => sys::nap_us(NAP_US),
    }
}

fn sleep_on_bell(bell: &dyn Bell, deaf: bool) {
    let ticket = bell.arm();
    let trusted = sys::membarrier() && TRUSTED.load(Ordering::Relaxed);
    if progress::pass() == 0 {
        // With threads another one may complete what this one waits for, and it does not ring; nor do sockets.
        let slice = if trusted && !threads_possible() && !deaf { SLICE_US } else { UNTRUSTED_US };
        bell.sleep(ticket, slice);
    }
    bell.disarm();
}

struct Load {
    ranks: u32,
    cores: Cores,
}

static SPIN: AtomicBool = AtomicBool::new(true);
static TRUSTED: AtomicBool = AtomicBool::new(true);
static LOAD: Mutex<Load> = Mutex::new(Load { ranks: 0, cores: [0; 4] });
static BELL: Once<&'static dyn Bell> = Once::new();
static SOCKETS: Once<&'static dyn Sockets> = Once::new();
static EPOCH: Once<fn() -> u32> = Once::new();
static EPOCH_AT_START: AtomicU32 = AtomicU32::new(0);

const SPINS_PER_LOOK: u32 = 256;
const POLLS_PER_YIELD: u32 = 10;
const AWAKE_NS: u64 = 1_000_000;
/// The longest sleep: how late a death in the job may be noticed.
const SLICE_US: u64 = 20_000;
const UNTRUSTED_US: u64 = 1000;
const NAP_US: u64 = 50;
