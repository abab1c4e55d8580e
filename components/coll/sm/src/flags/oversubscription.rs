//! Oversubscription: more ranks than cores. A rank that waits for one on the same core yields at once; a rank that
//! waits for other cores only keeps polling.
//!
//! In an all-to-all epoch the ranks of a core arrive at a counter of their core first, and the last of them arrives for
//! the core. So a rank that waits knows whether one on its core still has to come, and only one arrival of each core
//! moves to another core's cache. Before, ranks polled ten times and then yielded: the last rank of a core gave the
//! core to ranks that had come already, which cost some 2 µs. On an AMD EPYC (least of three launches in turn) it was
//! and is, in µs:
//!
//! | ranks on two cores | MPI_Barrier | MPI_Alltoall of eight bytes |
//! |---|---|---|
//! | 4 | 3.6, 2.3 | 4.3, 2.8 |
//! | 8 | 7.7, 6.8 | 8.5, 6.8 |
//!
//! Ranks exchange their cores now and then. A rank that moved since makes waiting slower, and nothing wrong.

use crate::flags::layout;
#[cfg(not(loom))]
use crate::subject;
use crate::word;
use alloc::vec::Vec;
use ompi_core::error::Result;
use ompi_core::shared_pool::Shared;
use opal_core::sync::{AtomicU64, Ordering};
use opal_core::{sys, wait};

/// Which ranks share cores, and the values of the cores' counters: equal on all ranks of a communicator, but for `own`.
#[derive(Default)]
pub struct CoreSharing {
    // By rank: its core.
    reported: Vec<u64>,
    // By core, in the order of the first rank on each: how many ranks share it; empty if none do.
    sharers: Vec<u64>,
    // Index of this rank's core.
    own: usize,
    // All-to-all epochs since the last exchange of cores, and by core the counter's value before them.
    barriers: u64,
    before: Vec<u64>,
}

/// One rank's core in one operation.
#[derive(Clone, Copy)]
pub struct Core {
    // Arrivals of the ranks that share it, and the value when all have come.
    counter: &'static AtomicU64,
    expected: u64,
    // As this rank reported it.
    #[cfg_attr(loom, allow(dead_code))]
    reported: u64,
}

impl CoreSharing {
    /// Takes the cores of all ranks, in force from the next epoch on. Returns whether ranks share cores that did not before.
    pub fn learn(&mut self, reported: Vec<u64>, rank: usize) -> bool {
        if reported == self.reported {
            return false;
        }
        self.before.resize(reported.len(), 0);
        for (before, sharers) in self.before.iter_mut().zip(&self.sharers) {
            *before += self.barriers * sharers;
        }
        (self.barriers, self.reported) = (0, reported);
        self.sharers.clear();
        let reported = &self.reported;
        for (index, core) in reported.iter().enumerate().filter(|(index, core)| !reported[..*index].contains(core)) {
            if *core == reported[rank] {
                self.own = self.sharers.len();
            }
            self.sharers.push(reported[index..].iter().filter(|other| *other == core).count() as u64);
        }
        if reported.contains(&UNKNOWN) || self.sharers.len() == reported.len() {
            self.sharers.clear();
        }
        !self.sharers.is_empty()
    }

    /// How many cores there are; 0 if each rank has its own.
    pub fn shared_cores(&self) -> usize {
        self.sharers.len()
    }

    /// An all-to-all epoch begins: this rank's core, and how many there are. `None` if each rank has its own.
    #[inline(always)]
    pub fn begin_barrier(&mut self, shared: &Shared, rank: usize) -> Option<(Core, u64)> {
        let sharers = *self.sharers.get(self.own)?;
        self.barriers += 1;
        let counter = shared.word(layout::core_counter(self.own, self.reported.len()));
        let expected = self.before[self.own] + self.barriers * sharers;
        Some((Core { counter, expected, reported: self.reported[rank] }, self.sharers.len() as u64))
    }
}

impl Core {
    /// This rank has come; whether it is the last of its core.
    #[inline(always)]
    pub fn arrive(&self) -> bool {
        // Release and Acquire: the rank that arrives for the core passes on the writes of all its ranks.
        self.counter.fetch_add(1, Ordering::AcqRel) + 1 == self.expected
    }

    /// As [`wait_for`](crate::word::wait_for) for a rank that shares its core.
    #[cfg(not(loom))]
    #[inline(never)]
    pub fn wait_for(&self, word: &AtomicU64, wanted: u64) -> Result<()> {
        // Acquire as above.
        let there = || word::has_reached(word.load(Ordering::Acquire), wanted);
        let mut idle = wait::Backoff::after_polls();
        loop {
            for _ in 0..self.polls() {
                if there() {
                    return Ok(());
                }
                core::hint::spin_loop();
            }
            idle.step_unless_done(&mut wait::awaiting(there, || subject::of_word(word)))?;
            word::check(word.load(Ordering::Relaxed), wanted)?;
        }
    }

    #[cfg(loom)]
    pub fn wait_for(&self, word: &AtomicU64, wanted: u64) -> Result<()> {
        word::wait_long(word, wanted)
    }

    /// How many polls suit now: many if all ranks of this core have come, and this rank is still on it.
    #[cfg(not(loom))]
    #[inline]
    fn polls(&self) -> u32 {
        // Relaxed: no data of theirs is read.
        let all_are_here = self.counter.load(Ordering::Relaxed) >= self.expected;
        if all_are_here && sys::current_core().is_some_and(|core| core as u64 + 1 == self.reported) { POLLS } else { 1 }
    }
}

/// The core that this rank reports.
pub fn current_core() -> u64 {
    match wait::may_spin() {
        true => UNKNOWN,
        false => sys::current_core().map_or(UNKNOWN, |core| core as u64 + 1),
    }
}

/// This rank has a core of its own, or cannot know it.
const UNKNOWN: u64 = 0;
/// Some microseconds: as long as it takes to give a core away and to get it back.
#[cfg(not(loom))]
const POLLS: u32 = 200;
