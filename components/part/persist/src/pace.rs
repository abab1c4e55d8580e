//! Whether the marks of a long round come slowly: what is marked then goes at once, since a piece costs less than the program computes
//! until the next mark.
//!
//! A look at the clock takes longer than a mark. So as long as no mark came slowly one of some looks; in rounds after a slow one each.

use core::ops::Range;
use opal_core::framework::timer;
use opal_core::sync::{AtomicBool, AtomicU64, Ordering};

/// The marks of one send. Relaxed all over: what threads that mark at once make of each other's times is a guess.
pub struct Pace {
    partitions: usize,
    // When a mark last looked at the clock, in ticks.
    looked_at: AtomicU64,
    is_watched: AtomicBool,
}

impl Pace {
    /// Nothing was slow yet.
    pub fn new(partitions: usize) -> Pace {
        Pace { partitions, looked_at: AtomicU64::new(0), is_watched: AtomicBool::new(false) }
    }

    /// The program goes on: a round starts, or what was slow has left.
    pub fn start(&self) {
        self.looked_at.store(timer::ticks(), Ordering::Relaxed);
    }

    /// Each mark looks.
    pub fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// All partitions were marked before any was sent.
    pub fn was_quick(&self) {
        self.is_watched.store(false, Ordering::Relaxed);
    }

    /// Partitions in whose numbers all these bits are set look at the clock when they are marked alone.
    pub fn lookers(&self) -> usize {
        let each = self.partitions < 2 * MARKS_PER_LOOK || self.is_watched();
        if each { 0 } else { MARKS_PER_LOOK - 1 }
    }

    /// Whether these are marked slowly after those before, as far as they look. From then on each looks.
    pub fn is_slow(&self, partitions: &Range<usize>) -> bool {
        let lookers = self.lookers();
        if partitions.len() == 1 && partitions.start & lookers != lookers {
            return false;
        }
        let now = timer::ticks();
        let past = now.wrapping_sub(self.looked_at.load(Ordering::Relaxed));
        self.looked_at.store(now, Ordering::Relaxed);
        let is_slow = past > slow_ticks() * (lookers as u64 + 1);
        if is_slow && lookers != 0 {
            self.is_watched.store(true, Ordering::Relaxed);
        }
        is_slow
    }
}

fn slow_ticks() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    match TICKS.load(Ordering::Relaxed) {
        0 => {
            let ticks = timer::ticks_in(SLOW_NS).max(1);
            TICKS.store(ticks, Ordering::Relaxed);
            ticks
        }
        ticks => ticks,
    }
}

/// How long after another one a mark comes slowly: a piece costs less by far.
const SLOW_NS: u64 = 10_000;
/// One of so many marks looks at the clock, as long as none came slowly.
const MARKS_PER_LOOK: usize = 8;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn one_mark_of_eight_looks_until_one_is_slow() {
        let pace = Pace::new(16);
        pace.start();
        sleep(Duration::from_millis(1));
        assert_eq!((0..7).filter(|at| pace.is_slow(&(*at..at + 1))).count(), 0, "these do not look");
        assert!(pace.is_slow(&(7..8)) && pace.is_watched());
        sleep(Duration::from_millis(1));
        assert!(pace.is_slow(&(8..9)), "each looks now");
        pace.was_quick();
        sleep(Duration::from_millis(1));
        assert!(!pace.is_slow(&(9..10)) && pace.is_slow(&(10..12)), "a range looks");
    }

    #[test]
    fn each_of_few_looks() {
        let pace = Pace::new(15);
        pace.start();
        sleep(Duration::from_millis(1));
        assert!(pace.is_slow(&(3..4)) && !pace.is_watched());
    }
}
