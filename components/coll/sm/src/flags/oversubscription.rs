//! Ranks that share a core, where there are more ranks than cores: whoever waits for one that needs the same core gives it up
//! at once, and whoever waits for other cores only keeps looking.
//!
//! Where all wait for all, the ranks of a core count themselves first, and the last of them counts for the core. So a rank
//! that waits knows whether somebody still has to come who may need its core, and only one count in so many moves to
//! another core's cache. With a look of ten polls and a yield after each, whoever came last on its core gave it to ranks that had
//! come already, some 2 µs for nothing: four ranks on two cores MPI_Barrier 3.6 and 2.3 µs, MPI_Alltoall of eight bytes 4.3 and
//! 2.8, eight ranks 7.7 and 6.8, 8.5 and 6.8 (AMD EPYC, least of three launches in turn).
//!
//! Who shares a core is what ranks tell each other now and then. It need not stay true: then only the hints are wrong.

use crate::flags::epoch::{Shape, Turn};
use crate::flags::layout as wire;
use crate::flags::segment::{Lines, Peer};
use alloc::vec::Vec;
use ompi_core::error::Result;
use ompi_core::framework::coll::FRAMEWORK;
use opal_core::sync::{AtomicU64, Ordering};
use opal_core::{sys, verbose, wait};

/// Who shares cores, and how far their counts are: equal on all ranks of a communicator, but for `own`.
#[derive(Default)]
pub struct Cores {
    // What ranks told of theirs.
    told: Vec<u64>,
    // How many share each core, in the order in which ranks name them; none if nobody does.
    sharers: Vec<u64>,
    // This rank's among them.
    own: usize,
    // How often all have waited for all since that is known, and what the counts were before.
    meetings: u64,
    before: Vec<u64>,
}

/// One rank's core in one operation.
#[derive(Clone, Copy)]
pub struct Core {
    // How many of those who share it have come, ever, and what that is when all have.
    count: &'static AtomicU64,
    full: u64,
    // What this rank told of it.
    told: u64,
}

impl Cores {
    /// All ranks tell theirs.
    pub fn look(lines: &Lines, peers: &[Option<Peer>]) -> Result<()> {
        let own = match wait::may_spin() {
            true => UNKNOWN,
            false => sys::current_core().map_or(UNKNOWN, |core| core as u64 + 1),
        };
        let turn = Turn::begin(lines, peers, Shape::All, 8)?;
        turn.set_word(0, own);
        turn.meet()?;
        let told = (0..lines.size).map(|rank| turn.word(rank, 0)).collect();
        let mut past = lines.past.lock();
        if past.cores.learn(told, lines.rank) {
            verbose!(FRAMEWORK, 20, "sm: {} ranks share {} cores", lines.size, past.cores.sharers.len());
        }
        Ok(())
    }

    /// What all have told holds from the next operation on. Returns whether it is news of shared cores.
    pub fn learn(&mut self, told: Vec<u64>, rank: usize) -> bool {
        if told == self.told {
            return false;
        }
        self.before.resize(told.len(), 0);
        for (before, sharers) in self.before.iter_mut().zip(&self.sharers) {
            *before += self.meetings * sharers;
        }
        (self.meetings, self.told) = (0, told);
        self.sharers.clear();
        let told = &self.told;
        for (index, core) in told.iter().enumerate().filter(|(index, core)| !told[..*index].contains(core)) {
            if *core == told[rank] {
                self.own = self.sharers.len();
            }
            self.sharers.push(told[index..].iter().filter(|other| *other == core).count() as u64);
        }
        if told.contains(&UNKNOWN) || self.sharers.len() == told.len() {
            self.sharers.clear();
        }
        !self.sharers.is_empty()
    }

    /// All will wait for all: this rank's core, and how many there are. `None` if nobody shares one.
    #[inline(always)]
    pub fn meet(&mut self, lines: &Lines) -> Option<(Core, u64)> {
        let sharers = *self.sharers.get(self.own)?;
        self.meetings += 1;
        let count = lines.shared().word(wire::core(self.own, lines.size));
        let full = self.before[self.own] + self.meetings * sharers;
        Some((Core { count, full, told: self.told[lines.rank] }, self.sharers.len() as u64))
    }
}

impl Core {
    /// This rank has come; whether it is the last of its core.
    #[inline(always)]
    pub fn arrive(&self) -> bool {
        // Release and Acquire: who counts for the core tells what all of it have written.
        self.count.fetch_add(1, Ordering::AcqRel) + 1 == self.full
    }

    /// How many polls suit now: many if all who share this rank's core have come, and it is still there.
    #[inline]
    pub fn polls(&self) -> u32 {
        // Relaxed: nothing is read that they wrote.
        let all_are_here = self.count.load(Ordering::Relaxed) >= self.full;
        if all_are_here && sys::current_core().is_some_and(|core| core as u64 + 1 == self.told) { POLLS } else { 1 }
    }
}

/// Who tells this has a core of its own, or does not know.
const UNKNOWN: u64 = 0;
/// Some microseconds: as long as it takes to give a core away and to get it back.
const POLLS: u32 = 200;
