//! Large data goes direct or in a pipeline, whichever measures better.
//!
//! Neither is always the better one. MPI_Allreduce of 64 KiB of doubles by two ranks takes 10.5 µs direct and 5.4 in a
//! pipeline on an AMD EPYC, where a copy by the system is slow. MPI_Bcast of 1 MiB takes 49 µs direct and 57 in a
//! pipeline. On an Intel Xeon copies by the system of buffers that no rank writes are twice as fast as those through
//! shared memory. So both are measured now and then ([`Autotuner`]), for each function and size (powers of two) of a
//! communicator.
//!
//! All ranks must choose alike. Samples begin and end by counts of calls, which are equal on all ranks, and in the end
//! the ranks exchange their times: the longest one counts. One measurement is a few calls, because a root is done
//! before the others are, and because slots that were not used for a while are slower at first. When one call of 128
//! KiB was a measurement, each sample reversed the choice of the one before.
//!
//! Nothing is measured before a function's calls of a size have moved as much as the rings hold: the first ones cause page
//! faults, and a sample saw 6 µs instead of 1.4 for MPI_Allreduce of 16 KiB.
//!
//! The two algorithms combine operands in different orders. With two ranks that changes no bit of a sum. With more, MPI
//! 5.0 §6.9.1 advises that equal calls have equal results, so reductions are measured with two ranks only.

use crate::flags::epoch::Epoch;
use crate::flags::segment::{Pattern, Segment};
use crate::peer::Peer;
use alloc::vec::Vec;
use ompi_core::error::Result;
use ompi_core::framework::coll::{FRAMEWORK, Function};
use opal_core::autotune::Autotuner;
use opal_core::framework::timer;
use opal_core::verbose;

/// The two algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// In pieces through shared rings.
    Pipeline = 0,
    /// Straight between the ranks' buffers.
    Direct = 1,
}

/// The measurements of one communicator's calls.
pub struct Tuning {
    // By function and size; none before the first call.
    entries: Vec<Entry>,
}

/// A call, and the entry to which it belongs.
#[derive(Clone, Copy)]
pub struct Key {
    function: Function,
    index: usize,
    bytes: usize,
    // The least bytes of the rings that a call takes, and those to be used before anything is measured.
    piece: usize,
    rounds: usize,
}

impl Key {
    /// A call of `bytes`, where a ring holds `capacity` bytes in pieces of `piece`; `None` for a function that is not autotuned.
    pub fn of(function: Function, bytes: usize, (piece, capacity): (usize, usize)) -> Option<Key> {
        let row = FUNCTIONS.iter().position(|one| *one == function)?;
        let column = (bytes.max(1).ilog2().saturating_sub(FIRST_SHIFT) as usize).min(SIZES - 1);
        Some(Key { function, index: row * SIZES + column, bytes, piece, rounds: ROUNDS * capacity })
    }

    /// Calls in one measurement. One is enough where all wait for all and data goes through all slots: a sample of MPI_Alltoall
    /// of 4 MiB then takes 8 calls of a millisecond instead of 32.
    fn calls(&self) -> u32 {
        let is_rooted = matches!(self.function, Function::Bcast | Function::Reduce);
        if is_rooted || self.bytes < self.rounds { CALLS } else { 1 }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    autotuner: Autotuner,
    // Bytes of the rings that were used before the first sample.
    filled: usize,
    // In this measurement.
    calls: u32,
    ticks: u64,
    bytes: u64,
}

impl Tuning {
    /// Nothing.
    pub const fn new() -> Tuning {
        Tuning { entries: Vec::new() }
    }

    /// The algorithm of a call, and whether its time is wanted.
    pub fn begin(&mut self, key: Key) -> (Candidate, bool) {
        if self.entries.is_empty() {
            let unknown = Entry { autotuner: Autotuner::UNKNOWN, filled: 0, calls: 0, ticks: 0, bytes: 0 };
            self.entries.resize(FUNCTIONS.len() * SIZES, unknown);
        }
        let Entry { autotuner, filled, .. } = &mut self.entries[key.index];
        if *filled < key.rounds {
            *filled += key.bytes.max(key.piece);
            return (Candidate::Pipeline, false);
        }
        (
            if autotuner.current() == Candidate::Direct as usize { Candidate::Direct } else { Candidate::Pipeline },
            autotuner.is_on(),
        )
    }

    /// A call has ended after `ticks`, if these were wanted. Returns this rank's costs at the end of a sample.
    pub fn end(&mut self, key: Key, ticks: Option<u64>) -> Option<[u64; 2]> {
        let entry = self.entries.get_mut(key.index)?;
        if entry.autotuner.is_on() && ticks.is_none() {
            return None;
        }
        entry.calls += 1;
        entry.ticks += ticks.unwrap_or(0);
        entry.bytes += key.bytes as u64;
        if entry.calls < key.calls() {
            return None;
        }
        // Ticks per MiB.
        let cost = ticks.map(|_| entry.ticks.saturating_mul(1 << 20) / entry.bytes.max(1));
        (entry.calls, entry.ticks, entry.bytes) = (0, 0, 0);
        entry.autotuner.count(cost).then(|| entry.autotuner.costs())
    }

    /// Ends a sample with the costs that all ranks agreed on.
    pub fn conclude(&mut self, key: Key, worst: [u64; 2]) {
        let [pipeline, direct] = worst;
        // A direct copy also costs the ranks whose buffers are written next, unmeasured: it must be clearly cheaper.
        let better =
            if direct / DIRECT_PARTS < pipeline / PIPELINE_PARTS { Candidate::Direct } else { Candidate::Pipeline };
        let Some(entry) = self.entries.get_mut(key.index) else { return };
        if entry.autotuner.settle(better as usize) {
            report(key, better, worst);
        }
    }
}

/// The longest times of all ranks, which call it at the same place.
pub fn agree(segment: &Segment, peers: &[Option<Peer>], costs: [u64; 2]) -> Result<[u64; 2]> {
    let epoch = Epoch::begin(segment, peers, Pattern::AllToAll, 16)?;
    for (index, cost) in costs.into_iter().enumerate() {
        epoch.set_word(index, cost);
    }
    epoch.barrier()?;
    let worst = |index| (0..segment.size).map(|rank| epoch.word(rank, index)).max();
    Ok([0, 1].map(|index| worst(index).unwrap_or(u64::MAX)))
}

#[cold]
#[inline(never)]
fn report(key: Key, better: Candidate, [pipeline, direct]: [u64; 2]) {
    let mbps = |cost: u64| timer::frequency() / cost.max(1) * 1_048_576 / 1_000_000;
    let (candidate, column) =
        (if better == Candidate::Direct { "directly" } else { "in a pipeline" }, key.index % SIZES);
    verbose!(
        FRAMEWORK,
        20,
        "sm: {:?} of {} KiB and more goes {candidate}: {} MB/s directly, {} in a pipeline",
        key.function,
        1 << (column as u32 + FIRST_SHIFT - 10),
        mbps(direct),
        mbps(pipeline)
    );
}

const FUNCTIONS: [Function; 5] =
    [Function::Bcast, Function::Allgather, Function::Alltoall, Function::Reduce, Function::Allreduce];
/// From 8 KiB to 4 MiB; shorter and longer calls count as these.
const FIRST_SHIFT: u32 = 13;
const SIZES: usize = 10;
/// So many times the rings' bytes have surely gone through all slots: of a reduction by two ranks half the bytes go through
/// each ring.
const ROUNDS: usize = 2;
/// Calls in one measurement.
const CALLS: u32 = 4;
/// Direct copies are used if they take less than 4/5 of the time.
const DIRECT_PARTS: u64 = 4;
const PIPELINE_PARTS: u64 = 5;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many calls begin without and with a wish for their time, until the first sample is over.
    fn calls(function: Function, bytes: usize) -> (u32, [u32; 2]) {
        let mut tuning = Tuning::new();
        let key = Key::of(function, bytes, (16 << 10, 1 << 20)).unwrap();
        let (mut before, mut in_sample) = (0, [0, 0]);
        loop {
            let (candidate, wanted) = tuning.begin(key);
            if wanted {
                in_sample[candidate as usize] += 1;
            } else {
                assert_eq!(candidate, Candidate::Pipeline);
                before += 1;
            }
            let costs = tuning.end(key, wanted.then_some(if candidate == Candidate::Direct { 10 } else { 100 }));
            if let Some(costs) = costs {
                assert!(costs[Candidate::Direct as usize] < costs[Candidate::Pipeline as usize]);
                tuning.conclude(key, costs);
                assert_eq!(tuning.begin(key), (Candidate::Direct, false));
                return (before, in_sample);
            }
        }
    }

    #[test]
    fn a_sample_begins_when_all_slots_were_used_and_is_short_where_a_call_uses_them_all() {
        assert_eq!(calls(Function::Allreduce, 32 << 10), (64, [16, 16]));
        // A call takes a whole slot.
        assert_eq!(calls(Function::Alltoall, 8 << 10), (128, [16, 16]));
        assert_eq!(calls(Function::Alltoall, 4 << 20), (1, [4, 4]));
        assert_eq!(calls(Function::Bcast, 4 << 20), (1, [16, 16]));
    }
}
