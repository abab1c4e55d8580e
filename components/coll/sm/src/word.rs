//! Waiting for a word in shared memory to reach a value.
//!
//! Words only grow, and no rank is ever [`FARTHEST_AHEAD`] of another. A word beyond that was overwritten by somebody.

#[cfg(not(loom))]
use crate::subject;
use ompi_core::error::Result;
#[cfg(not(loom))]
use ompi_core::error::{Class, Fault};
use opal_core::sync::{AtomicU64, Ordering};
use opal_core::wait;

/// Waits until the word is at least `wanted`.
#[inline(always)]
pub fn wait_for(word: &AtomicU64, wanted: u64) -> Result<()> {
    // Acquire pairs with the Release of the rank that stores the word: its earlier writes are visible.
    let there = || has_reached(word.load(Ordering::Acquire), wanted);
    let spinning = wait::may_spin();
    for _ in 0..wait::polls_per_pass() {
        if there() {
            return Ok(());
        }
        // With more ranks than cores the rank that is waited for may need this core, and ten pauses take half a microsecond.
        if spinning {
            core::hint::spin_loop();
        }
    }
    wait_long(word, wanted)
}

/// Whether the value of a word is at least `wanted`, and not [`OVERWRITTEN`].
#[inline(always)]
pub fn has_reached(value: u64, wanted: u64) -> bool {
    value.wrapping_sub(wanted) < FARTHEST_AHEAD
}

/// The fault of a word that was overwritten, to be asked by whoever waits for long.
#[cfg(not(loom))]
pub fn check(value: u64, wanted: u64) -> Result<()> {
    match value > wanted && !has_reached(value, wanted) {
        true => Err(Fault::new(Class::Intern).because(
            "a word that the ranks of this node share was overwritten; look for writes beyond the end of an array",
        )),
        false => Ok(()),
    }
}

/// What a rank stores into a word on which others wait, once it finds that their memory was overwritten.
pub const OVERWRITTEN: u64 = u64::MAX;
const FARTHEST_AHEAD: u64 = 1 << 32;

/// The same after the first polls, with progress and sleep. A model's ranks are threads of one process: passes of progress
/// would take locks that ranks do not share, and these would order accesses that nothing orders between ranks.
#[cfg(loom)]
pub fn wait_long(word: &AtomicU64, wanted: u64) -> Result<()> {
    opal_core::sync::model::await_value(word, Ordering::Acquire, |value| has_reached(value, wanted));
    Ok(())
}

#[cfg(not(loom))]
#[inline(never)]
fn wait_long(word: &AtomicU64, wanted: u64) -> Result<()> {
    // Acquire as above.
    let there = || has_reached(word.load(Ordering::Acquire), wanted);
    let mut idle = wait::Backoff::after_polls();
    // With more ranks than cores this one has just waited until it got the core: one poll is enough.
    let polls = if wait::may_spin() { wait::polls_per_pass() } else { 1 };
    let mut lively = 0u32;
    loop {
        idle.step_unless_done(&mut wait::awaiting(there, || subject::of_word(word)))?;
        check(word.load(Ordering::Relaxed), wanted)?;
        lively = if idle.has_moved() { LIVELY_PASSES } else { lively.saturating_sub(1) };
        for _ in 0..if lively > 0 { polls.min(POLLS_WHILE_LIVELY) } else { polls } {
            if there() {
                return Ok(());
            }
            core::hint::spin_loop();
        }
    }
}

/// For so many passes after one that moved something, others are likely to want something of this process, such as accesses to its
/// windows: it polls its word only so often between passes. Two passes are microseconds apart otherwise.
#[cfg(not(loom))]
const LIVELY_PASSES: u32 = 256;
#[cfg(not(loom))]
const POLLS_WHILE_LIVELY: u32 = 4;
