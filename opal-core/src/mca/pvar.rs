//! Performance variables: numbers that are true all the time and that MPI's tool interface reads (MPI 5.0 §15.3.7).
//!
//! A component declares them as statics beside its parameters. It only counts, from its start on; what a tool sees since it
//! started or reset a variable is the tool interface's matter.
//!
//! **Invariant:** nothing here is counted on a fast path. What would have to be is counted only after a tool asked
//! ([`Pvar::wanted`]).

use crate::sync::{AtomicU64, Ordering};

/// What a number says; the classes of MPI 5.0 §15.3.7 that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PvarClass {
    /// How much there is of something now.
    Level,
    /// How much there was at most.
    HighWatermark,
    /// How often something happened.
    Counter,
    /// The sum of something that happened.
    Aggregate,
    /// Time, in nanoseconds.
    Timer,
}

/// Where a number comes from.
pub enum Reading {
    /// A function that returns it.
    Of(fn() -> u64),
    /// The high-water mark of a level.
    Mark(&'static Level),
}

/// One performance variable.
pub struct Pvar {
    /// Without framework and component.
    pub name: &'static str,
    /// What it says.
    pub class: PvarClass,
    /// As of a parameter: 1–3 users, 4–6 tuners, 7–9 developers.
    pub verbosity: u8,
    /// What it is, in full sentences, with the unit.
    pub help: &'static str,
    /// Its number.
    pub reading: Reading,
    /// Called when a tool wants it, perhaps several times: what costs something is counted from then on. `false`: it cannot be.
    pub wanted: fn() -> bool,
}

impl Pvar {
    /// One that is always counted.
    pub const fn new(
        name: &'static str,
        class: PvarClass,
        verbosity: u8,
        help: &'static str,
        reading: Reading,
    ) -> Pvar {
        Pvar { name, class, verbosity, help, reading, wanted: || true }
    }

    /// The same, counted only after a tool asked for it.
    pub const fn when_wanted(mut self, wanted: fn() -> bool) -> Pvar {
        self.wanted = wanted;
        self
    }
}

/// How often something happened. One writer at a time: the lock of what is counted.
pub struct Counter(AtomicU64);

impl Counter {
    /// Never.
    pub const fn new() -> Counter {
        Counter(AtomicU64::new(0))
    }

    /// Once more.
    #[inline(always)]
    pub fn count(&self) {
        // Relaxed, and no read-modify-write: there is one writer, and readers want no more than a number.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// So many times more.
    #[inline(always)]
    pub fn add(&self, times: u64) {
        // Relaxed: as in `count`.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(times), Ordering::Relaxed);
    }

    /// How often by now.
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Counter {
    fn default() -> Counter {
        Counter::new()
    }
}

/// How much there is of something, and how much there was at most since somebody asked. One writer at a time, as for
/// [`Counter`].
pub struct Level {
    now: AtomicU64,
    most: AtomicU64,
}

impl Level {
    /// Nothing.
    pub const fn new() -> Level {
        Level { now: AtomicU64::new(0), most: AtomicU64::new(0) }
    }

    /// There is more.
    #[inline(always)]
    pub fn add(&self, more: u64) {
        // Relaxed: as in `Counter::count`.
        let now = self.now.load(Ordering::Relaxed).wrapping_add(more);
        self.now.store(now, Ordering::Relaxed);
        if now > self.most.load(Ordering::Relaxed) {
            self.most.store(now, Ordering::Relaxed);
        }
    }

    /// There is less.
    #[inline(always)]
    pub fn take(&self, less: u64) {
        self.now.store(self.now.load(Ordering::Relaxed).wrapping_sub(less), Ordering::Relaxed);
    }

    /// How much there is.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// How much there was at most since the last call of this.
    pub fn take_most(&self) -> u64 {
        self.most.swap(self.now(), Ordering::Relaxed)
    }
}

impl Default for Level {
    fn default() -> Level {
        Level::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_and_its_mark() {
        let level = Level::new();
        level.add(3);
        level.add(2);
        level.take(4);
        assert_eq!((level.now(), level.take_most()), (1, 5));
        assert_eq!(level.take_most(), 1);
        level.add(1);
        assert_eq!(level.take_most(), 2);
        let counter = Counter::new();
        counter.count();
        counter.count();
        assert_eq!(counter.now(), 2);
    }
}
