//! The operations under way, which passes of progress move on: each pass looks at some, and [`SWEEP`] passes at all of them.

use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Ordering, threads_possible};

/// One side of a partitioned operation.
pub trait Operation: Send + Sync {
    /// Tries to move on; how many things moved. Does nothing if another thread is at it. `None` if it is not under way.
    fn advance(&self) -> Option<usize>;

    /// Whether it is under way.
    fn is_active(&self) -> bool;

    /// Whether it is on the list.
    fn listed(&self) -> &AtomicBool;
}

/// Those that passes look at; only they change it.
static LIST: ConditionalLock<List> = ConditionalLock::new(List { entries: Vec::new(), next: 0 });
/// Those that were started since the last pass.
static NEW: ConditionalLock<Vec<Entry>> = ConditionalLock::new(Vec::new());
static NEWS: AtomicUsize = AtomicUsize::new(0);
static LISTED: AtomicUsize = AtomicUsize::new(0);

struct List {
    entries: Vec<Entry>,
    // Where the next pass begins.
    next: usize,
}

struct Entry {
    operation: Arc<dyn Operation>,
    // How many passes in a row found it idle.
    idle: u32,
}

/// An operation was started. It leaves the list after some passes that find it idle, so that one that is started again soon stays.
#[inline]
pub fn enlist(operation: &Arc<impl Operation + 'static>) {
    if !threads_possible() && operation.listed().load(Ordering::Relaxed) {
        return;
    }
    // SeqCst as in `is_needed`.
    if !operation.listed().swap(true, Ordering::SeqCst) {
        let mut new = NEW.lock();
        new.push(Entry { operation: operation.clone(), idle: 0 });
        NEWS.store(new.len(), Ordering::Relaxed);
    }
}

/// Moves on all of them; only one thread at a time is in here (`progress::pass`).
#[inline]
pub fn advance() -> usize {
    if NEWS.load(Ordering::Relaxed) + LISTED.load(Ordering::Relaxed) == 0 { 0 } else { advance_all() }
}

fn advance_all() -> usize {
    let mut list = LIST.lock();
    if NEWS.load(Ordering::Relaxed) != 0 {
        let mut new = NEW.lock();
        list.entries.append(&mut new);
        NEWS.store(0, Ordering::Relaxed);
    }
    let moved = list.advance_some();
    LISTED.store(list.entries.len(), Ordering::Relaxed);
    moved
}

impl List {
    /// One pass: of thousands of operations nearly none can have moved since the pass before.
    fn advance_some(&mut self) -> usize {
        let mut moved = 0;
        for _ in 0..self.entries.len().min(LEAST).max(self.entries.len().div_ceil(SWEEP)) {
            if self.next >= self.entries.len() {
                self.next = 0;
            }
            let Some(entry) = self.entries.get_mut(self.next) else { break };
            match entry.operation.advance() {
                Some(now) => {
                    moved += now;
                    entry.idle = 0;
                    self.next += 1;
                }
                None if entry.is_needed() => self.next += 1,
                None => _ = self.entries.swap_remove(self.next),
            }
        }
        moved
    }
}

impl Entry {
    /// Whether one that is not under way stays on the list.
    #[inline]
    fn is_needed(&mut self) -> bool {
        self.idle += 1;
        if self.idle < IDLE_PASSES {
            return true;
        }
        self.operation.listed().store(false, Ordering::SeqCst);
        // Started meanwhile: it found itself listed. SeqCst here and in the starts: one of the two sees the other.
        self.operation.is_active() && !self.operation.listed().swap(true, Ordering::SeqCst)
    }
}

/// Sets what `is_active` returns: in a start before `enlist`.
#[inline]
pub fn set(active: &AtomicBool, value: bool) {
    // SeqCst as in `is_needed`; without threads nobody else looks.
    active.store(value, if threads_possible() { Ordering::SeqCst } else { Ordering::Relaxed });
}

const IDLE_PASSES: u32 = 64;
/// So many at least are looked at in a pass.
const LEAST: usize = 64;
/// All are, within so many passes: far fewer than a wait makes before it sleeps.
const SWEEP: usize = 64;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Counts the looks at it; has ended before if it is idle.
    struct Counted {
        looks: AtomicUsize,
        is_idle: bool,
        listed: AtomicBool,
    }

    impl Operation for Counted {
        fn advance(&self) -> Option<usize> {
            self.looks.fetch_add(1, Ordering::Relaxed);
            (!self.is_idle).then_some(0)
        }

        fn is_active(&self) -> bool {
            false
        }

        fn listed(&self) -> &AtomicBool {
            &self.listed
        }
    }

    #[test]
    fn every_operation_is_looked_at_within_a_sweep_and_few_in_a_pass() {
        let count = 100 * SWEEP + 7;
        let all: Vec<_> = (0..count)
            .map(|index| Counted { looks: AtomicUsize::new(0), is_idle: index % 3 == 0, listed: AtomicBool::new(true) })
            .map(Arc::new)
            .collect();
        let entry = |operation: &Arc<Counted>| Entry { operation: operation.clone(), idle: IDLE_PASSES - 1 };
        let mut list = List { entries: all.iter().map(entry).collect(), next: 0 };
        let looks = || all.iter().map(|one| one.looks.load(Ordering::Relaxed)).sum::<usize>();
        list.advance_some();
        assert!(looks() <= 101);
        for _ in 0..2 * SWEEP {
            list.advance_some();
        }
        // Those that have ended leave at the first look.
        let once = |one: &Arc<Counted>| one.looks.load(Ordering::Relaxed) == 1;
        assert!(all.iter().all(|one| one.looks.load(Ordering::Relaxed) > 0 && (!one.is_idle || once(one))));
        assert_eq!(list.entries.len(), all.iter().filter(|one| !one.is_idle).count());
        let mut few = List { entries: all[1..3].iter().map(entry).collect(), next: 1 };
        let before = looks();
        few.advance_some();
        assert_eq!(looks() - before, 2);
    }
}
