//! Waiting for a word in shared memory to reach a value.

use ompi_core::error::Result;
use opal_core::sync::{AtomicU64, Ordering};
use opal_core::wait;

/// Waits until the word is at least `wanted`.
#[inline(always)]
pub fn wait_for(word: &AtomicU64, wanted: u64) -> Result<()> {
    // Acquire pairs with the Release of the rank that stores the word: its earlier writes are visible.
    let there = || word.load(Ordering::Acquire) >= wanted;
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

/// The same after the first polls, with progress and sleep. A model's ranks are threads of one process: passes of progress
/// would take locks that ranks do not share, and these would order accesses that nothing orders between ranks.
#[cfg(loom)]
pub fn wait_long(word: &AtomicU64, wanted: u64) -> Result<()> {
    opal_core::sync::model::await_value(word, Ordering::Acquire, |value| value >= wanted);
    Ok(())
}

#[cfg(not(loom))]
#[inline(never)]
fn wait_long(word: &AtomicU64, wanted: u64) -> Result<()> {
    // Acquire as above.
    let there = || word.load(Ordering::Acquire) >= wanted;
    let mut idle = wait::Backoff::after_polls();
    // With more ranks than cores this one has just waited until it got the core: one poll is enough.
    let polls = if wait::may_spin() { wait::polls_per_pass() } else { 1 };
    loop {
        idle.step_unless(&there)?;
        for _ in 0..polls {
            if there() {
                return Ok(());
            }
            core::hint::spin_loop();
        }
    }
}
