//! Sleeping, and being woken: the protocol stands in [`super`].

use super::awaited::Awaited;
use super::patience::PATIENCE;
use super::sockets::{DESCRIPTORS, Sockets};
use crate::framework::btl;
use crate::queue::sleep_flag::AWAITS_ROOM;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Once, Ordering, fence, threads_possible};
use crate::{progress, sys, verbose};

/// How a process is woken by the peers of its node. There is one per process; the transport whose memory the peers
/// share provides it.
pub trait Waker: Sync {
    /// From now on peers that have something for this process wake it, by `how`, and where it `awaits_room` also those that
    /// took messages of its own. Returns a ticket for `sleep`.
    fn arm(&self, how: WakeMethod, awaits_room: bool) -> u32;

    /// Sleeps until a peer wakes this process after the `arm` by [`WakeMethod::Futex`] that gave the ticket, at most
    /// this long; returns whether it was less.
    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool;

    /// Peers need not wake this process any more; returns whether one did.
    fn disarm(&self) -> bool;

    /// The word that [`Waker::sleep`] sleeps on, and whose value the ticket is: for a sleep on two wakers.
    fn futex(&self) -> Option<&AtomicU32> {
        None
    }

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

impl WakeMethod {
    /// The sleep flag of a process that is to be woken so.
    pub const fn flag(self, awaits_room: bool) -> u32 {
        self as u32 | if awaits_room { AWAITS_ROOM } else { 0 }
    }

    /// How a process with this sleep flag is to be woken, if it sleeps.
    pub const fn of_flag(flag: u32) -> Option<WakeMethod> {
        match flag & !AWAITS_ROOM {
            1 => Some(WakeMethod::Futex),
            2 => Some(WakeMethod::Descriptor),
            _ => None,
        }
    }
}

/// A peer of the node had no room for a message, which a later pass of progress tries again. A sleep after it ends when the
/// peer has taken some.
pub fn note_full() {
    FULL.store(true, Ordering::Relaxed);
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

/// Provides the process's waker; the first one stays.
pub fn set_waker(waker: &'static dyn Waker) {
    WAKER.call_once(|| waker);
}

/// As [`set_waker`]. Beside another one it is a second waker, for peers that the first one does not know: a process then sleeps
/// on both. There are two at most.
pub fn add_waker(waker: &'static dyn Waker) {
    let mut is_first = false;
    WAKER.call_once(|| {
        is_first = true;
        waker
    });
    if !is_first {
        SECOND.call_once(|| waker);
    }
}

/// Provides the process's sockets; the first ones stay.
pub fn set_sockets(sockets: &'static dyn Sockets) {
    SOCKETS.call_once(|| {
        if !DESCRIPTORS.each().all(|descriptor| sockets.watch(descriptor)) {
            shorten_sleeps();
        }
        sockets
    });
}

/// From now on a sleep ends when this descriptor is readable, too: whether there are sockets or not. It stays open as long as the process
/// lives, and a pass of progress makes it unreadable. `false` where the system refuses.
pub fn watch_descriptor(descriptor: i32) -> bool {
    watch_queue(descriptor, || true)
}

/// As [`watch_descriptor`], for a queue whose descriptor does not show all that comes: `is_quiet` says whether nothing has come of which
/// it is silent. Each sleep asks it last of all, after its pass of progress, and is left out if not, as libfabric wants it of
/// `fi_trywait`. It may take locks that nobody holds while it waits.
pub fn watch_queue(descriptor: i32, is_quiet: fn() -> bool) -> bool {
    DESCRIPTORS.watch_queue(descriptor, is_quiet) && SOCKETS.get().is_none_or(|sockets| sockets.watch(descriptor))
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

/// While one of these lives a sleep lasts at most an eighth of the wait before it, and a millisecond: something is awaited that wakes
/// nobody.
#[derive(Debug)]
pub struct ShortSleeps(());

impl ShortSleeps {
    /// From now on.
    pub fn begin() -> ShortSleeps {
        SHORT.fetch_add(1, Ordering::Relaxed);
        ShortSleeps(())
    }
}

impl Drop for ShortSleeps {
    fn drop(&mut self) {
        SHORT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// While one of these lives threads of the system work for this process, perhaps on the core on which it waits: waits leave that core to
/// them, and sleep soon. A yield would leave it, too, but also to whoever else computes there, for some milliseconds (Linux 6.18).
/// Sleeps are short, for those of whose end [no descriptor](watch_descriptor) tells.
#[derive(Debug)]
pub struct EarlySleeps(ShortSleeps);

impl EarlySleeps {
    /// From now on.
    pub fn begin() -> EarlySleeps {
        PATIENCE.begin_help();
        EarlySleeps(ShortSleeps::begin())
    }
}

impl Drop for EarlySleeps {
    fn drop(&mut self) {
        PATIENCE.end_help();
    }
}

/// Whether something is due at a time, of which nobody tells a process that sleeps.
#[derive(Debug, Default)]
pub struct Timed(Option<ShortSleeps>);

impl Timed {
    /// Nothing is.
    pub const fn new() -> Timed {
        Timed(None)
    }

    /// Something is, or nothing is any more.
    pub fn set(&mut self, is_due: bool) {
        match is_due {
            true if self.0.is_none() => self.0 = Some(ShortSleeps::begin()),
            true => {}
            false => self.0 = None,
        }
    }
}

/// Sleeps by what there is, unless something comes or `awaited` is done at the last look before; it was waited for so long.
pub(super) fn sleep(awaited: &mut dyn Awaited, waited_ns: u64) {
    let since_ns = sys::monotonic_ns();
    sleep_counted(awaited, longest_us(waited_ns));
    slept(since_ns);
}

/// Whether nothing but sockets can wake this process.
pub(super) fn is_on_sockets_alone() -> bool {
    sockets().is_some() && WAKER.get().is_none()
}

/// Sleeps until something happens to a socket, where nothing but sockets can wake this process; returns whether that is so. A
/// peer's message wakes it at once then, which a process that yields cannot count on.
pub(super) fn sleep_on_sockets_alone(waited_ns: u64) -> bool {
    let (Some(sockets), None) = (sockets(), WAKER.get()) else { return false };
    let since_ns = sys::monotonic_ns();
    sleep_on_sockets(sockets, longest_us(waited_ns));
    slept(since_ns);
    true
}

fn sleep_counted(awaited: &mut dyn Awaited, longest_us: u64) {
    if !threads_possible() {
        return sleep_by(awaited, longest_us);
    }
    SLEEPERS.fetch_add(1, Ordering::SeqCst);
    // Pairs with the SeqCst of `wake_threads`: the last look comes after the count.
    fence(Ordering::SeqCst);
    sleep_by(awaited, longest_us);
    SLEEPERS.fetch_sub(1, Ordering::SeqCst);
}

/// A sleep is over.
fn slept(since_ns: u64) {
    // Relaxed: a number only; several threads may sleep.
    ASLEEP_NS.fetch_add(sys::monotonic_ns().saturating_sub(since_ns), Ordering::Relaxed);
}

fn sleep_by(awaited: &mut dyn Awaited, longest_us: u64) {
    let sockets = sockets().filter(|sockets| sockets.is_needed() || DESCRIPTORS.is_needed());
    if let Some(sockets) = sockets {
        sockets.poll_now();
    }
    if let (Some(first), Some(second)) = (WAKER.get(), SECOND.get()) {
        return sleep_on_two([*first, *second], sockets.is_some(), awaited, longest_us);
    }
    match (WAKER.get(), sockets) {
        (Some(waker), None) => sleep_on_futex(*waker, false, awaited, longest_us),
        (Some(waker), Some(sockets)) if can_wake_sockets_sleep(*waker, sockets) => {
            sleep_on_both(*waker, sockets, awaited, longest_us)
        }
        (Some(waker), Some(_)) => sleep_on_futex(*waker, true, awaited, longest_us),
        // What happens to a socket before the sleep ends it at once.
        (None, Some(sockets)) if is_still_idle(awaited, true) => sleep_on_sockets(sockets, longest_us),
        (None, Some(_)) => {}
        (None, None) => sys::nap_us(NAP_US),
    }
}

/// Those of a transport, or else the descriptors alone.
fn sockets() -> Option<&'static dyn Sockets> {
    match SOCKETS.get() {
        Some(sockets) => Some(*sockets),
        None => DESCRIPTORS.is_needed().then_some(&DESCRIPTORS),
    }
}

/// Whether a sleep on the sockets ends when the waker is woken.
fn can_wake_sockets_sleep(waker: &dyn Waker, sockets: &dyn Sockets) -> bool {
    waker.descriptor().is_some_and(|descriptor| *WATCHED.call_once(|| sockets.watch(descriptor)))
}

fn sleep_on_both(waker: &dyn Waker, sockets: &dyn Sockets, awaited: &mut dyn Awaited, longest_us: u64) {
    let for_room = take_full();
    waker.arm(WakeMethod::Descriptor, for_room);
    let slice = slice_us(sys::membarrier(), longest_us);
    // Level-triggered: what comes between this pass and the sleep ends it at once.
    let slept = is_still_idle(awaited, for_room);
    let happened = slept && sleep_unless_queued(sockets, slice);
    let woken = waker.disarm();
    if slept {
        count(woken, happened);
    }
}

fn sleep_on_futex(waker: &dyn Waker, unwakeable: bool, awaited: &mut dyn Awaited, longest_us: u64) {
    let for_room = take_full();
    let ticket = waker.arm(WakeMethod::Futex, for_room);
    let slice = slice_us(sys::membarrier() && !unwakeable, longest_us);
    let slept = is_still_idle(awaited, for_room);
    let ended_early = slept && waker.sleep(ticket, slice);
    let woken = waker.disarm();
    if slept {
        count(woken, ended_early && woken);
    }
}

/// Those who wake by either waker end it; `unwakeable` if others cannot.
fn sleep_on_two(wakers: [&dyn Waker; 2], unwakeable: bool, awaited: &mut dyn Awaited, longest_us: u64) {
    let for_room = take_full();
    let tickets = wakers.map(|waker| waker.arm(WakeMethod::Futex, for_room));
    let slice = slice_us(sys::membarrier() && !unwakeable, longest_us);
    let slept = is_still_idle(awaited, for_room);
    let words = wakers[0].futex().zip(wakers[1].futex());
    let both = || {
        let (first, second) = words?;
        sys::futex_wait_two([(first, tickets[0]), (second, tickets[1])], slice)
    };
    let ended_early =
        slept && both().unwrap_or_else(|| wakers[0].sleep(tickets[0], slice.min(SLICE_WITHOUT_MEMBARRIER_US)));
    let woken = wakers.map(|waker| waker.disarm()).contains(&true);
    if slept {
        count(woken, ended_early && woken);
    }
}

/// The last look before a sleep. If only now a peer has no room, whom nobody has asked to wake this process for that, there is
/// no sleep this time.
fn is_still_idle(awaited: &mut dyn Awaited, for_room: bool) -> bool {
    progress::pass() == 0 && !awaited.is_done() && (for_room || !FULL.load(Ordering::Relaxed))
}

/// Whether a peer had no room since the last sleep.
fn take_full() -> bool {
    FULL.swap(false, Ordering::Relaxed)
}

fn sleep_on_sockets(sockets: &dyn Sockets, longest_us: u64) {
    count(false, sleep_unless_queued(sockets, slice_us(true, longest_us)));
}

/// Returns whether anything has happened, or had before.
fn sleep_unless_queued(sockets: &dyn Sockets, at_most_us: u64) -> bool {
    !DESCRIPTORS.are_quiet() || sockets.sleep(at_most_us)
}

/// How long a sleep may last. Of several threads that sleep at the same time the first one that wakes disarms the waker.
fn slice_us(fenced: bool, longest_us: u64) -> u64 {
    let may_be_long = MEMBARRIER_CAPABLE.load(Ordering::Relaxed);
    let slice = if fenced && may_be_long && !threads_possible() { SLICE_US } else { SLICE_WITHOUT_MEMBARRIER_US };
    slice.min(longest_us)
}

/// How long a sleep may last after a wait of so long: where nobody tells of what is awaited, the wait is not to take much longer.
fn longest_us(waited_ns: u64) -> u64 {
    match SHORT.load(Ordering::Relaxed) {
        0 => SLICE_US,
        _ => short_us(waited_ns),
    }
}

pub(super) fn short_us(waited_ns: u64) -> u64 {
    (waited_ns / 8000).clamp(NAP_US, SLICE_WITHOUT_MEMBARRIER_US)
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
static SHORT: AtomicU32 = AtomicU32::new(0);
static FULL: AtomicBool = AtomicBool::new(false);
static WAKER: Once<&'static dyn Waker> = Once::new();
static SECOND: Once<&'static dyn Waker> = Once::new();
static SOCKETS: Once<&'static dyn Sockets> = Once::new();
static WATCHED: Once<bool> = Once::new();
static SLEEPERS: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);
static SOCKET: AtomicU64 = AtomicU64::new(0);
static TIMED_OUT: AtomicU64 = AtomicU64::new(0);
static ASLEEP_NS: AtomicU64 = AtomicU64::new(0);

/// The longest sleep: how late a death in the job may be noticed.
const SLICE_US: u64 = 20_000;
const SLICE_WITHOUT_MEMBARRIER_US: u64 = 1000;
const NAP_US: u64 = 50;
