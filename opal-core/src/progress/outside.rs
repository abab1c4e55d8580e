//! How long nobody made progress, for who measures how long something takes that needs it: the program may have computed
//! meanwhile.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::sys;

/// Somebody begins to measure.
pub fn measure() {
    if MEASURING.fetch_add(1, Ordering::Relaxed) == 0 {
        LAST.store(sys::monotonic_ns(), Ordering::Relaxed);
    }
}

/// And ends.
pub fn measured() {
    MEASURING.fetch_sub(1, Ordering::Relaxed);
}

/// For how long, so far, nobody looked while somebody measured.
pub fn ns() -> u64 {
    AWAY.load(Ordering::Relaxed)
}

/// Whoever waits looks again, or has just looked.
#[inline(always)]
pub fn back() {
    if MEASURING.load(Ordering::Relaxed) != 0 {
        looked(false);
    }
}

/// A look begins.
#[inline(always)]
pub(super) fn begin() {
    if MEASURING.load(Ordering::Relaxed) != 0 {
        looked(true);
    }
}

#[cold]
#[inline(never)]
fn looked(counts: bool) {
    let now = sys::monotonic_ns();
    let since = now.wrapping_sub(LAST.swap(now, Ordering::Relaxed));
    // Who waits looks far more often than that.
    if counts && since > SELDOM_NS {
        AWAY.fetch_add(since, Ordering::Relaxed);
    }
}

static MEASURING: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);
static AWAY: AtomicU64 = AtomicU64::new(0);
const SELDOM_NS: u64 = 2000;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::pass;
    use super::*;
    use std::time::Duration;

    /// Other tests may look meanwhile, but do not measure: if one of them is at it, that counts.
    #[test]
    fn only_who_measures_learns_how_long_nobody_looked() {
        let nap = Duration::from_millis(20);
        let before = ns();
        measure();
        std::thread::sleep(nap);
        pass();
        measured();
        let there = ns();
        assert!(there - before >= nap.as_nanos() as u64 / 2, "{} ns", there - before);
        std::thread::sleep(nap);
        pass();
        assert_eq!(ns(), there);
    }
}
