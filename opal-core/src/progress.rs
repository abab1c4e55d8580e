//! Making everything move: the functions that poll transports and schedules.
//!
//! Every wait calls [`pass`]. Only one thread is inside it at a time. The functions that it calls may send, but a `pass` inside
//! a `pass` does nothing.

pub mod outside;

use crate::framework::btl;
use crate::mca::pvar::{Counter, Pvar, PvarClass, Reading};
use crate::sync::{AtomicBool, AtomicUsize, ConditionalLock, Once, Ordering};
use crate::{Error, Result};

/// Tries to move something on; returns how many things moved. Must return more than 0 if anything did: a waiting process
/// goes to sleep after a pass that moved nothing.
pub type Callback = fn() -> usize;

/// How many transports and how many callbacks there may be.
pub const PLACES: usize = 16;

struct Places<T> {
    taken: AtomicUsize,
    all: [Once<T>; PLACES],
}

impl<T: Copy> Places<T> {
    const fn new() -> Places<T> {
        Places { taken: AtomicUsize::new(0), all: [const { Once::new() }; PLACES] }
    }

    fn add(&self, one: T) -> Result<()> {
        let _one_at_a_time = ADDING.lock();
        let index = self.taken.load(Ordering::Relaxed);
        self.all.get(index).ok_or(Error::OutOfResource)?.call_once(|| one);
        // Release pairs with the Acquire in `each`.
        self.taken.store(index + 1, Ordering::Release);
        Ok(())
    }

    #[inline(always)]
    fn each(&self, mut call: impl FnMut(T) -> usize) -> usize {
        // Acquire pairs with the Release in `add`.
        let taken = self.taken.load(Ordering::Acquire).min(PLACES);
        self.all[..taken].iter().filter_map(|place| place.get()).map(|one| call(*one)).sum()
    }
}

static ADDING: ConditionalLock<()> = ConditionalLock::new(());
static TOKEN: ConditionalLock<()> = ConditionalLock::new(());
static TRANSPORTS: Places<&'static dyn btl::Module> = Places::new();
static CALLBACKS: Places<Callback> = Places::new();

/// Has every [`pass`] poll this transport.
pub fn add_transport(module: &'static dyn btl::Module) -> Result<()> {
    TRANSPORTS.add(module)
}

/// Has every [`pass`] call this function.
pub fn add_callback(callback: Callback) -> Result<()> {
    CALLBACKS.add(callback)
}

/// Polls everything once; returns how many things moved. 0 at once if another thread (or a caller further up) is at it.
#[inline]
pub fn pass() -> usize {
    let Some(_token) = TOKEN.try_lock() else {
        return 0;
    };
    outside::begin();
    let moved = TRANSPORTS.each(|module| module.poll()) + CALLBACKS.each(|callback| callback());
    outside::back();
    moved
}

/// Runs `act` while nobody is inside a [`pass`], so that nothing is polled meanwhile. Not from a function that a pass calls: it would
/// wait for itself.
pub fn paused<R>(act: impl FnOnce() -> R) -> R {
    let _token = TOKEN.lock();
    act()
}

/// As [`pass`], by a thread of the library's own, of which the program knows nothing: what would call a function of the program
/// is left to the passes of its own threads ([`leaves_to_program`]). Besides how much moved, whether anything was left: threads that
/// wait for it may have looked while this one was at it, and must be woken.
pub fn pass_in_background() -> (usize, bool) {
    IN_BACKGROUND.store(true, Ordering::Relaxed);
    let moved = pass();
    IN_BACKGROUND.store(false, Ordering::Relaxed);
    (moved, LEFT.swap(false, Ordering::Relaxed))
}

/// Whether a function of the program must not be called now; the caller tries again in the next pass. There may be a pass in the
/// background while a thread of the program asks, which then leaves to itself what it could have done.
#[inline]
pub fn leaves_to_program() -> bool {
    let leaves = IN_BACKGROUND.load(Ordering::Relaxed);
    if leaves {
        LEFT.store(true, Ordering::Relaxed);
    }
    leaves
}

static IN_BACKGROUND: AtomicBool = AtomicBool::new(false);
static LEFT: AtomicBool = AtomicBool::new(false);

/// What a tool may read of passes.
pub static PVARS: &[&Pvar] = &[&PASSES];

static PASSES: Pvar = Pvar::new(
    "progress_passes",
    PvarClass::Counter,
    5,
    "Passes of progress, each of which polls all transports once. Counting begins when a handle is allocated.",
    Reading::Of(|| PASSED.now()),
)
.when_wanted(|| *COUNTS.call_once(|| add_callback(count_pass).is_ok()));
static PASSED: Counter = Counter::new();
static COUNTS: Once<bool> = Once::new();

fn count_pass() -> usize {
    PASSED.count();
    0
}

static COALESCED: AtomicBool = AtomicBool::new(false);

/// For transports that coalesce small messages: something waits for [`flush`].
#[inline(always)]
pub fn note_coalesced() {
    // Release pairs with the Acquire in `flush_transports`.
    COALESCED.store(true, Ordering::Release);
}

/// Whether something waits for [`flush`].
#[inline(always)]
pub fn has_coalesced() -> bool {
    COALESCED.load(Ordering::Relaxed)
}

/// Has transports send what they coalesced: for every call that communicates or makes progress, except one that only starts
/// a send. A load and a predictable branch if nothing was.
#[inline(always)]
pub fn flush() {
    // Relaxed: a thread flushes what it coalesced itself; another thread's messages are that thread's to flush.
    if COALESCED.load(Ordering::Relaxed) {
        flush_transports();
    }
}

#[cold]
#[inline(never)]
fn flush_transports() {
    // Acquire: the messages of the thread whose flag this takes away are seen. Release has no partner.
    COALESCED.swap(false, Ordering::AcqRel);
    TRANSPORTS.each(|module| {
        module.flush_all();
        0
    });
}
