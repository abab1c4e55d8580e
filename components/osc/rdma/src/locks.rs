//! The passive lock of a process's memory: one word, changed by additions and comparisons only, which every fabric has.
//!
//! The lower bits count those that share. A process that wants the lock alone and finds others says so in a bit ([`WAITED`]), and from then on
//! nobody comes in to share, so that it is not kept out for ever. A process that comes to share and finds the lock closed takes itself
//! back, and then only looks until it is open.

use ompi_core::error::Result;
use ompi_core::framework::osc::Lock;

/// A word of a process.
pub trait Word {
    /// Adds to it, wrapping; what was there.
    fn add(&self, value: u64) -> Result<u64>;

    /// Writes `new` if `expected` is there; what was there.
    fn compare_swap(&self, expected: u64, new: u64) -> Result<u64>;
}

/// Waits for the lock; `pause` is called between looks.
pub fn lock(word: &impl Word, lock: Lock, pause: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    match lock {
        Lock::Shared => share(word, pause),
        Lock::Exclusive => own(word, pause),
    }
}

/// Gives it back.
pub fn unlock(word: &impl Word, lock: Lock) -> Result<()> {
    let held = if lock == Lock::Shared { 1 } else { OWNED };
    word.add(held.wrapping_neg()).map(drop)
}

fn share(word: &impl Word, pause: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    while word.add(1)? & CLOSED != 0 {
        word.add(1u64.wrapping_neg())?;
        pause()?;
        while word.add(0)? & CLOSED != 0 {
            pause()?;
        }
    }
    Ok(())
}

fn own(word: &impl Word, pause: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    let mut there = 0;
    loop {
        let is_free = there & !WAITED == 0;
        if is_free || there & WAITED == 0 {
            let found = word.compare_swap(there, if is_free { OWNED } else { there | WAITED })?;
            if found != there {
                there = found;
                continue;
            }
            if is_free {
                return Ok(());
            }
        }
        pause()?;
        there = word.add(0)?;
    }
}

/// Somebody has it alone.
const OWNED: u64 = 1 << 63;
/// Somebody waits to have it alone.
const WAITED: u64 = 1 << 62;
const CLOSED: u64 = OWNED | WAITED;

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use ompi_core::error::Class;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    struct Local(AtomicU64);

    impl Word for Local {
        fn add(&self, value: u64) -> Result<u64> {
            Ok(self.0.fetch_add(value, Ordering::SeqCst))
        }

        fn compare_swap(&self, expected: u64, new: u64) -> Result<u64> {
            let swapped = self.0.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
            Ok(swapped.unwrap_or_else(|found| found))
        }
    }

    /// Whether the lock is had without waiting.
    fn is_had(word: &Local, wanted: Lock) -> bool {
        lock(word, wanted, &mut || Err(Class::Other.into())).is_ok()
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let word = Local(AtomicU64::new(0));
        assert!(is_had(&word, Lock::Shared) && is_had(&word, Lock::Shared));
        assert!(!is_had(&word, Lock::Exclusive), "a writer waits for two readers");
        assert!(!is_had(&word, Lock::Shared), "a reader waits for the writer that waits");
        unlock(&word, Lock::Shared).unwrap();
        unlock(&word, Lock::Shared).unwrap();
        assert!(is_had(&word, Lock::Exclusive));
        assert!(!is_had(&word, Lock::Shared) && !is_had(&word, Lock::Exclusive));
        unlock(&word, Lock::Exclusive).unwrap();
        assert_eq!(word.0.load(Ordering::SeqCst), WAITED, "the writer that went away has waited");
    }

    #[test]
    fn a_writer_that_waits_comes_in_when_the_readers_have_left() {
        let word = Local(AtomicU64::new(0));
        assert!(is_had(&word, Lock::Shared));
        let looks = Cell::new(0);
        lock(&word, Lock::Exclusive, &mut || {
            looks.set(looks.get() + 1);
            if looks.get() == 3 { unlock(&word, Lock::Shared) } else { Ok(()) }
        })
        .unwrap();
        assert_eq!((looks.get(), word.0.load(Ordering::SeqCst)), (3, OWNED));
    }

    #[test]
    fn many_threads_exclude_each_other() {
        let (word, inside, sum) = (Local(AtomicU64::new(0)), AtomicU64::new(0), AtomicU64::new(0));
        let pause = || {
            thread::yield_now();
            Ok(())
        };
        thread::scope(|scope| {
            for number in 0..4 {
                let (word, inside, sum) = (&word, &inside, &sum);
                scope.spawn(move || {
                    for turn in 0..500 {
                        let alone = (turn + number) % 3 == 0;
                        let (wanted, weight) = if alone { (Lock::Exclusive, 1000) } else { (Lock::Shared, 1) };
                        lock(word, wanted, &mut { pause }).unwrap();
                        let before = inside.fetch_add(weight, Ordering::SeqCst);
                        assert!(before < 1000 && (!alone || before == 0), "{before} is inside");
                        sum.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(weight, Ordering::SeqCst);
                        unlock(word, wanted).unwrap();
                    }
                });
            }
        });
        assert_eq!((word.0.load(Ordering::SeqCst), sum.load(Ordering::SeqCst)), (0, 2000));
    }
}
