//! How long a wait spins before it sleeps.
//!
//! Two ranks that may spin can be on one core all the same: unbound, with somebody else's load on the other core. Then a message
//! comes only after its receiver has left the core, and each wait takes the whole time of spinning. The system tells how long a thread
//! could have run but had no core: if that grows from sleep to sleep, this thread moves to another core, one that no peer of the node
//! moves to, and may run anywhere again ([`super::load::leave_core`]). Where that does not help, the next waits are short. From time to
//! time a wait may take long again, as a probe: if it ends without a sleep, or without such a delay, the peer has a core of its own.
//!
//! Short waits alone are no cure: ranks that wake each other stay together. Two ranks that send 8 bytes to and fro by MPI_Send and MPI_Recv
//! under `taskset -c 0,1`, beside six processes that compute on the same cores, one way, the mean of 10,000 round trips, four launches of each
//! in turn (Intel Xeon, Linux 6.18): 0.36 to 3.6 µs; with short waits alone 195 to 209, or 2.4 where the system had them apart.
//!
//! Where a process may have several threads its waits also yield. Two ranks on one core then hand it to each other and never sleep, which
//! is seen by the time that yields take; and a core that is yielded to somebody who computes is his for a whole slice of time. The same
//! program with MPI_THREAD_MULTIPLE on two cores with about ten runnable threads beside, mean of 20,000 round trips, ten launches in
//! turn with the library before: 2.5 to 10 µs, one 40; before 5.8 to 645, half of them above 170.

use super::load;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::sys;

/// What the last waits of this process were like. All accesses are Relaxed: it is only a matter of time.
#[derive(Debug)]
pub struct Patience {
    /// Below [`ENOUGH`]: waits are long, and the number rises with each sleep after which this thread had to wait for its core, and falls
    /// with others. From there on: waits are short, and so many have been.
    state: AtomicU32,
    /// How long it had waited for a core when that was last looked at.
    delayed_ns: AtomicU64,
    /// When it moved to another core, and how often in a row that was of no use.
    moved_ns: AtomicU64,
    moves: AtomicU32,
    /// So many yields in a row took long.
    late_yields: AtomicU32,
    /// So many yields are left out, and were after the last one that took long.
    left_out: AtomicU32,
    leave_out: AtomicU32,
    /// So many yields in a row gave the core to somebody.
    handovers: AtomicU32,
    /// What threads of the system do for this process meanwhile.
    helped: AtomicU32,
}

/// That of this process.
pub static PATIENCE: Patience = Patience::new();

impl Patience {
    /// Waits are long.
    pub const fn new() -> Patience {
        Patience {
            state: AtomicU32::new(0),
            delayed_ns: AtomicU64::new(0),
            moved_ns: AtomicU64::new(0),
            moves: AtomicU32::new(0),
            late_yields: AtomicU32::new(0),
            left_out: AtomicU32::new(0),
            leave_out: AtomicU32::new(0),
            handovers: AtomicU32::new(0),
            helped: AtomicU32::new(0),
        }
    }

    /// How long the wait may spin that has begun last.
    pub fn spin_ns(&self) -> u64 {
        if self.is_short() { SHORT_NS } else { LONG_NS }
    }

    /// How long the wait may spin or yield that has begun last, before it sleeps.
    pub fn awake_ns(&self) -> u64 {
        match (self.is_helped(), load::may_spin()) {
            (true, _) => SHORT_NS,
            (false, true) => self.spin_ns(),
            (false, false) => LONG_NS,
        }
    }

    /// After how many spins it looks at the clock. Each may be a pass of progress and some dozens of pauses.
    #[inline(always)]
    pub fn spins_per_look(&self) -> u32 {
        if self.is_short() || self.is_helped() { SPINS_PER_SHORT_LOOK } else { SPINS_PER_LOOK }
    }

    /// Whether what is awaited may be done by a thread of the system's, on this core: waits sleep soon.
    #[inline(always)]
    pub fn is_helped(&self) -> bool {
        self.helped.load(Ordering::Relaxed) != 0
    }

    /// A thread of the system's has something to do for this process.
    pub fn begin_help(&self) {
        self.helped.fetch_add(1, Ordering::Relaxed);
    }

    /// It has done it.
    pub fn end_help(&self) {
        self.helped.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline(always)]
    fn is_short(&self) -> bool {
        (ENOUGH..PROBE).contains(&self.state.load(Ordering::Relaxed))
    }

    /// A wait takes longer than a look.
    pub fn begin(&self) {
        match self.state.load(Ordering::Relaxed) {
            0..ENOUGH => {}
            // The probe before has ended without a sleep.
            PROBE.. => self.state.store(0, Ordering::Relaxed),
            state => self.state.store(state + 1, Ordering::Relaxed),
        }
    }

    /// A sleep of a spinning wait has ended.
    pub fn slept(&self) {
        let state = self.state.load(Ordering::Relaxed);
        // Nothing depends on other sleeps, and to ask takes some microseconds.
        if self.is_short() {
            return;
        }
        self.learn(state, delayed_ns());
        if self.is_short() && self.may_move(sys::monotonic_ns()) && load::leave_core() {
            self.state.store(0, Ordering::Relaxed);
        }
    }

    /// A waiting thread of a process that may have several leaves its core to the others: they may have been counted as one. Seldom where
    /// that takes long: somebody computes there, who has the core for a whole slice of time each time that it is left to him.
    pub fn leave_to_threads(&self) {
        let left_out = self.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            self.left_out.store(left_out - 1, Ordering::Relaxed);
            return;
        }
        let since_ns = sys::monotonic_ns();
        sys::yield_now();
        let now_ns = sys::monotonic_ns();
        let ns = now_ns.saturating_sub(since_ns);
        self.left_out.store(self.next_left_out(ns), Ordering::Relaxed);
        // Two ranks on one core may hand it to each other so, and never wait for long.
        if in_a_row(&self.handovers, ns >= HANDOVER_NS, HANDOVERS) && self.may_move(now_ns) {
            load::leave_core();
        }
    }

    /// After a yield that took so long.
    fn next_left_out(&self, ns: u64) -> u32 {
        let before = self.leave_out.load(Ordering::Relaxed);
        let next = if ns >= LATE_NS { (2 * before + 1).min(MOST_LEFT_OUT) } else { before / 2 };
        self.leave_out.store(next, Ordering::Relaxed);
        if ns >= LATE_NS { next } else { 0 }
    }

    /// A thread that polls in vain has left its core to others for so long.
    pub fn yielded(&self, since_ns: u64, now_ns: u64) {
        if self.is_crowded(since_ns, now_ns) && self.may_move(now_ns) {
            load::leave_core();
        }
    }

    fn is_crowded(&self, since_ns: u64, now_ns: u64) -> bool {
        in_a_row(&self.late_yields, now_ns.saturating_sub(since_ns) >= LATE_NS, LATE_YIELDS)
    }

    fn learn(&self, state: u32, delayed_ns: u64) {
        let before = self.delayed_ns.load(Ordering::Relaxed);
        self.delayed_ns.store(delayed_ns, Ordering::Relaxed);
        let is_late = before != 0 && delayed_ns.saturating_sub(before) >= LATE_NS;
        let next = match state {
            PROBE.. if is_late => ENOUGH,
            PROBE.. => 0,
            // A wait may take several sleeps, of which only one is late.
            state if is_late => (state + 2).min(ENOUGH),
            state => state.saturating_sub(1),
        };
        self.state.store(next, Ordering::Relaxed);
    }

    /// A few times in a row: where that is of no use, short waits are better.
    fn may_move(&self, now_ns: u64) -> bool {
        let before_ns = self.moved_ns.load(Ordering::Relaxed);
        let moves =
            if now_ns.saturating_sub(before_ns) > MOVED_LONG_AGO_NS { 0 } else { self.moves.load(Ordering::Relaxed) };
        if moves == MOVES {
            return false;
        }
        self.moves.store(moves + 1, Ordering::Relaxed);
        self.moved_ns.store(now_ns, Ordering::Relaxed);
        true
    }
}

/// Counts how often in a row something was so; true when it was so often, and then it begins anew.
fn in_a_row(count: &AtomicU32, is_so: bool, often: u32) -> bool {
    let times = count.load(Ordering::Relaxed) + 1;
    count.store(if is_so && times < often { times } else { 0 }, Ordering::Relaxed);
    is_so && times == often
}

/// How long this thread could have run but had no core, in all; 0 if the system does not tell.
fn delayed_ns() -> u64 {
    let text = if cfg!(loom) { None } else { sys::read_file("/proc/thread-self/schedstat") };
    text.and_then(|text| delay_of(&text)).unwrap_or(0)
}

/// proc(5), schedstat: the second number.
fn delay_of(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Longer than most waits of ranks that have a core each. A job that waits for longer burns no core.
pub const LONG_NS: u64 = 1_000_000;
/// Models look at once.
pub const SPINS_PER_LOOK: u32 = if cfg!(loom) { 1 } else { 256 };
const SPINS_PER_SHORT_LOOK: u32 = if cfg!(loom) { 1 } else { 4 };
/// Longer than it takes a peer to answer that runs at the same time.
const SHORT_NS: u64 = 10_000;
/// So late is a thread that waits for its core while another one spins there, or computes.
const LATE_NS: u64 = 200_000;
const ENOUGH: u32 = 6;
/// So many yields in a row that take long mean a shared core.
const LATE_YIELDS: u32 = 3;
/// About the spins of a whole long wait.
const MOST_LEFT_OUT: u32 = 63;
/// A yield that nobody used takes a tenth of that.
const HANDOVER_NS: u64 = 10_000;
const HANDOVERS: u32 = 8;
/// So often in a row a thread moves to another core, and so long after the last time a new row begins.
const MOVES: u32 = 3;
const MOVED_LONG_AGO_NS: u64 = 100_000_000;
/// The state of the wait that is a probe.
const PROBE: u32 = ENOUGH + 255;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn late_sleeps_make_waits_short_and_a_probe_makes_them_long() {
        let patience = Patience::new();
        let total = core::cell::Cell::new(1_000_000);
        let slept = |late_ns| {
            total.set(total.get() + late_ns);
            patience.learn(patience.state.load(Ordering::Relaxed), total.get());
        };
        // How late the first one was is not known.
        slept(LATE_NS);
        for _ in 0..ENOUGH / 2 {
            patience.begin();
            assert_eq!(patience.spin_ns(), LONG_NS);
            slept(LATE_NS);
        }
        assert_eq!(patience.spin_ns(), SHORT_NS);
        let probe = || {
            let mut waits = 0;
            while patience.spin_ns() == SHORT_NS {
                patience.begin();
                waits += 1;
                assert!(waits < 1000, "there is no probe");
            }
            waits
        };
        assert_eq!(probe(), 255);
        // It ends by a sleep, late: the others stay short.
        slept(LATE_NS);
        assert_eq!(patience.spin_ns(), SHORT_NS);
        assert_eq!(probe(), 255);
        // It ends without.
        patience.begin();
        assert_eq!(patience.spin_ns(), LONG_NS);
        (0..ENOUGH / 2).for_each(|_| slept(LATE_NS));
        assert_eq!(probe(), 255);
        // By a sleep after which the core was free.
        slept(LATE_NS - 1);
        assert_eq!(patience.spin_ns(), LONG_NS);
        for late_ns in [LATE_NS, 0, LATE_NS, 0, 0, 0, LATE_NS, LATE_NS] {
            slept(late_ns);
            assert_eq!(patience.spin_ns(), LONG_NS);
        }
        slept(0);
        slept(LATE_NS);
        assert_eq!(patience.spin_ns(), LONG_NS, "5 of 6");
        slept(LATE_NS);
        assert_eq!(patience.spin_ns(), SHORT_NS);
    }

    #[test]
    fn late_yields_in_a_row_show_a_shared_core() {
        let patience = Patience::new();
        let crowded = |lengths: &[u64]| lengths.iter().filter(|length| patience.is_crowded(0, **length)).count();
        assert_eq!(crowded(&[LATE_NS, LATE_NS, 0, LATE_NS, LATE_NS, LATE_NS - 1]), 0);
        assert_eq!(crowded(&[LATE_NS; LATE_YIELDS as usize]), 1);
        assert_eq!(crowded(&[LATE_NS; 2 * LATE_YIELDS as usize + 1]), 2);
    }

    #[test]
    fn yields_that_take_long_become_seldom() {
        let patience = Patience::new();
        let late: [u32; 8] = core::array::from_fn(|_| patience.next_left_out(LATE_NS));
        assert_eq!(late, [1, 3, 7, 15, 31, 63, 63, 63]);
        assert_eq!(patience.next_left_out(LATE_NS - 1), 0);
        assert_eq!(patience.next_left_out(LATE_NS), 63);
        for _ in 0..6 {
            assert_eq!(patience.next_left_out(0), 0);
        }
        assert_eq!(patience.next_left_out(LATE_NS), 1);
    }

    #[test]
    fn waits_sleep_soon_while_the_system_works_for_them() {
        let patience = Patience::new();
        let looks = |helped| {
            assert_eq!(patience.is_helped(), helped);
            (patience.spins_per_look(), patience.awake_ns())
        };
        assert_eq!(looks(false), (SPINS_PER_LOOK, LONG_NS));
        patience.begin_help();
        patience.begin_help();
        assert_eq!(looks(true), (SPINS_PER_SHORT_LOOK, SHORT_NS));
        patience.end_help();
        assert_eq!(looks(true), (SPINS_PER_SHORT_LOOK, SHORT_NS));
        patience.end_help();
        assert_eq!(looks(false), (SPINS_PER_LOOK, LONG_NS));
    }

    #[test]
    fn a_thread_moves_a_few_times_in_a_row() {
        let patience = Patience::new();
        let moves = |from_ns: u64| (0..10).filter(|nth| patience.may_move(from_ns + nth)).count() as u32;
        assert_eq!(moves(MOVED_LONG_AGO_NS + 1), MOVES);
        assert_eq!(moves(MOVED_LONG_AGO_NS + 20), 0);
        assert_eq!(moves(3 * MOVED_LONG_AGO_NS), MOVES);
    }

    #[test]
    fn the_system_tells_how_long_a_thread_waited_for_a_core() {
        assert_eq!(delay_of(b"5000 217 3\n"), Some(217));
        assert_eq!(delay_of(b"5000"), None);
        assert_eq!(delay_of(b"\xff 217"), None);
        // Of this system: a number, if it has the file at all.
        if let Some(text) = sys::read_file("/proc/thread-self/schedstat") {
            assert!(delay_of(&text).is_some(), "{text:?}");
        }
    }
}
