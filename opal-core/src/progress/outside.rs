//! The time in which no thread made progress, because the program computed meanwhile. Measurements of operations that need
//! progress subtract it.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::sys;

/// A measurement begins.
pub fn begin_measuring() {
    if MEASURING.fetch_add(1, Ordering::Relaxed) == 0 {
        LAST_PASS_NS.store(sys::monotonic_ns(), Ordering::Relaxed);
    }
}

/// A measurement ends.
pub fn end_measuring() {
    MEASURING.fetch_sub(1, Ordering::Relaxed);
}

/// For how long, so far, nobody made progress while somebody measured.
pub fn ns() -> u64 {
    OUTSIDE_NS.load(Ordering::Relaxed)
}

/// A waiting thread polls again, or has just polled.
#[inline(always)]
pub fn back() {
    if MEASURING.load(Ordering::Relaxed) != 0 {
        charge(false);
    }
}

/// A pass of progress begins.
#[inline(always)]
pub(super) fn begin() {
    if MEASURING.load(Ordering::Relaxed) != 0 {
        charge(true);
    }
}

#[cold]
#[inline(never)]
fn charge(counts: bool) {
    let now = sys::monotonic_ns();
    let since = now.wrapping_sub(LAST_PASS_NS.swap(now, Ordering::Relaxed));
    // A process that waits looks far more often than that.
    if counts && since > GAP_NS {
        OUTSIDE_NS.fetch_add(since, Ordering::Relaxed);
    }
}

static MEASURING: AtomicU32 = AtomicU32::new(0);
static LAST_PASS_NS: AtomicU64 = AtomicU64::new(0);
static OUTSIDE_NS: AtomicU64 = AtomicU64::new(0);
const GAP_NS: u64 = 2000;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Other tests may look meanwhile, but do not measure: if one of them is at it, that counts.
    #[test]
    fn time_outside_progress_counts_only_while_somebody_measures() {
        let nap = Duration::from_millis(20);
        let before = ns();
        begin_measuring();
        std::thread::sleep(nap);
        begin();
        end_measuring();
        let there = ns();
        assert!(there - before >= nap.as_nanos() as u64 / 2, "{} ns", there - before);
        std::thread::sleep(nap);
        begin();
        assert_eq!(ns(), there);
    }
}
