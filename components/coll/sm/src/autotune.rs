//! Long data goes directly between buffers or in a pipeline through shared memory, whichever measures better.
//!
//! Neither is always the better one. MPI_Allreduce of 64 KiB of doubles by two ranks takes 10.5 µs directly and 5.4 in a
//! pipeline on an AMD EPYC, where a copy by the system is slow; MPI_Bcast of 1 MiB takes 49 and 57, and on an Intel Xeon copies
//! by the system of buffers that nobody writes are twice as fast as those through shared memory. So both are tried now and then ([`Autotuner`]), for each function and size (powers of
//! two) of a communicator. All ranks must choose alike: trials begin and end by counts of calls, which are equal
//! everywhere, and at the end of a trial the ranks tell each other what they measured; what counts is the longest time of
//! all. One measurement is a few calls, because a root is done before the others are, and because slots that nobody used for a
//! while are slower at first: with one call of 128 KiB each trial reversed the one before.
//!
//! Nothing is measured before a function's calls of a size have moved as much as the rings hold: the first ones wait for pages
//! of memory, and a trial saw 6 µs instead of 1.4 for MPI_Allreduce of 16 KiB.
//!
//! Both ways combine in an order of their own. With two ranks that changes no bit of a sum; with more, MPI 5.0 §6.9.1 advises
//! that equal calls have equal results, so reductions are measured with two ranks only.

use crate::flags::epoch::{Shape, Turn};
use crate::flags::segment::{Lines, Peer};
use alloc::vec::Vec;
use ompi_core::error::Result;
use ompi_core::framework::coll::{FRAMEWORK, Function};
use opal_core::autotune::Autotuner;
use opal_core::framework::timer;
use opal_core::verbose;

/// The two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Long {
    /// In pieces through shared rings.
    Pipeline = 0,
    /// Straight between the ranks' buffers.
    Direct = 1,
}

/// What is known of one communicator's calls.
pub struct Measured {
    // By function and size; none before the first call.
    classes: Vec<Class>,
}

/// What a call belongs to.
#[derive(Clone, Copy)]
pub struct Case {
    function: Function,
    class: usize,
    bytes: usize,
    // What a call takes of the rings at least, and how much of them is to be used before anything is measured.
    piece: usize,
    rounds: usize,
}

impl Case {
    /// A call with so much data, where a ring has room for `room` bytes in pieces of `piece`; `None` for a function that is not
    /// measured.
    pub fn of(function: Function, bytes: usize, (piece, room): (usize, usize)) -> Option<Case> {
        let row = FUNCTIONS.iter().position(|one| *one == function)?;
        let column = (bytes.max(1).ilog2().saturating_sub(FIRST_SHIFT) as usize).min(SIZES - 1);
        Some(Case { function, class: row * SIZES + column, bytes, piece, rounds: ROUNDS * room })
    }

    /// Calls in one measurement. One is enough where all wait for all and data goes through all slots: a trial of MPI_Alltoall
    /// of 4 MiB then takes 8 calls of a millisecond instead of 32.
    fn calls(&self) -> u32 {
        let is_rooted = matches!(self.function, Function::Bcast | Function::Reduce);
        if is_rooted || self.bytes < self.rounds { CALLS } else { 1 }
    }
}

#[derive(Clone, Copy)]
struct Class {
    trial: Autotuner,
    // Bytes of the rings that were used before the first trial.
    filled: usize,
    // In this measurement.
    calls: u32,
    ticks: u64,
    bytes: u64,
}

impl Measured {
    /// Nothing.
    pub const fn new() -> Measured {
        Measured { classes: Vec::new() }
    }

    /// The way of a call, and whether its time is wanted.
    pub fn begin(&mut self, case: Case) -> (Long, bool) {
        if self.classes.is_empty() {
            let unknown = Class { trial: Autotuner::UNKNOWN, filled: 0, calls: 0, ticks: 0, bytes: 0 };
            self.classes.resize(FUNCTIONS.len() * SIZES, unknown);
        }
        let Class { trial, filled, .. } = &mut self.classes[case.class];
        if *filled < case.rounds {
            *filled += case.bytes.max(case.piece);
            return (Long::Pipeline, false);
        }
        (if trial.current() == Long::Direct as usize { Long::Direct } else { Long::Pipeline }, trial.is_on())
    }

    /// A call is over, which took so many ticks if that was wanted: this rank's costs at the end of a trial.
    pub fn end(&mut self, case: Case, ticks: Option<u64>) -> Option<[u64; 2]> {
        let class = self.classes.get_mut(case.class)?;
        if class.trial.is_on() && ticks.is_none() {
            return None;
        }
        class.calls += 1;
        class.ticks += ticks.unwrap_or(0);
        class.bytes += case.bytes as u64;
        if class.calls < case.calls() {
            return None;
        }
        // Ticks per MiB.
        let cost = ticks.map(|_| class.ticks.saturating_mul(1 << 20) / class.bytes.max(1));
        (class.calls, class.ticks, class.bytes) = (0, 0, 0);
        class.trial.count(cost).then(|| class.trial.costs())
    }

    /// Ends a trial with what all agreed on.
    pub fn settle(&mut self, case: Case, worst: [u64; 2]) {
        let [pipeline, direct] = worst;
        // What a direct copy costs those whose buffers are written next is not measured here: it must be clearly cheaper.
        let better = if direct / DIRECT_PARTS < pipeline / PIPELINE_PARTS { Long::Direct } else { Long::Pipeline };
        let Some(class) = self.classes.get_mut(case.class) else { return };
        if class.trial.settle(better as usize) {
            tell(case, better, worst);
        }
    }
}

/// The longest times of all ranks; they call it at the same place.
pub fn agree(lines: &Lines, peers: &[Option<Peer>], costs: [u64; 2]) -> Result<[u64; 2]> {
    let turn = Turn::begin(lines, peers, Shape::All, 16)?;
    for (index, cost) in costs.into_iter().enumerate() {
        turn.set_word(index, cost);
    }
    turn.meet()?;
    let worst = |index| (0..lines.size).map(|rank| turn.word(rank, index)).max();
    Ok([0, 1].map(|index| worst(index).unwrap_or(u64::MAX)))
}

#[cold]
#[inline(never)]
fn tell(case: Case, better: Long, [pipeline, direct]: [u64; 2]) {
    let mbps = |cost: u64| timer::frequency() / cost.max(1) * 1_048_576 / 1_000_000;
    let (way, column) = (if better == Long::Direct { "directly" } else { "in a pipeline" }, case.class % SIZES);
    verbose!(
        FRAMEWORK,
        20,
        "sm: {:?} of {} KiB and more goes {way}: {} MB/s directly, {} in a pipeline",
        case.function,
        1 << (column as u32 + FIRST_SHIFT - 10),
        mbps(direct),
        mbps(pipeline)
    );
}

const FUNCTIONS: [Function; 5] =
    [Function::Bcast, Function::Allgather, Function::Alltoall, Function::Reduce, Function::Allreduce];
/// From 8 KiB to 4 MiB, and what is shorter or longer.
const FIRST_SHIFT: u32 = 13;
const SIZES: usize = 10;
/// How often a call's bytes would fill the rings that surely have gone through all slots: of a reduction by two ranks half the
/// bytes go through each ring.
const ROUNDS: usize = 2;
/// Calls in one measurement.
const CALLS: u32 = 4;
/// Direct copies are used if they take less than 4/5 of the time.
const DIRECT_PARTS: u64 = 4;
const PIPELINE_PARTS: u64 = 5;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many calls begin without and with a wish for their time, until the first trial is over.
    fn calls(function: Function, bytes: usize) -> (u32, [u32; 2]) {
        let mut measured = Measured::new();
        let case = Case::of(function, bytes, (16 << 10, 1 << 20)).unwrap();
        let (mut before, mut in_trial) = (0, [0, 0]);
        loop {
            let (way, wanted) = measured.begin(case);
            if wanted {
                in_trial[way as usize] += 1;
            } else {
                assert_eq!(way, Long::Pipeline);
                before += 1;
            }
            let costs = measured.end(case, wanted.then_some(if way == Long::Direct { 10 } else { 100 }));
            if let Some(costs) = costs {
                assert!(costs[Long::Direct as usize] < costs[Long::Pipeline as usize]);
                measured.settle(case, costs);
                assert_eq!(measured.begin(case), (Long::Direct, false));
                return (before, in_trial);
            }
        }
    }

    #[test]
    fn a_trial_begins_when_all_slots_were_used_and_is_short_where_a_call_uses_them_all() {
        assert_eq!(calls(Function::Allreduce, 32 << 10), (64, [16, 16]));
        // A call takes a whole slot.
        assert_eq!(calls(Function::Alltoall, 8 << 10), (128, [16, 16]));
        assert_eq!(calls(Function::Alltoall, 4 << 20), (1, [4, 4]));
        assert_eq!(calls(Function::Bcast, 4 << 20), (1, [16, 16]));
    }
}
