//! Every order of the accesses of threads that tell of memory and of one that takes what was told.

extern crate std;

use crate::notices::{Notice, Notices};
use opal_core::sync::ConditionalLock;
use opal_core::sync::model::{check, spawn};
use opal_core::sync::raise_threads;
use std::sync::Arc;

/// Notices as the cache has them: taken under a lock.
struct Told<const SLOTS: usize> {
    notices: Notices<SLOTS>,
    taking: ConditionalLock<()>,
}

impl<const SLOTS: usize> Told<SLOTS> {
    fn begin() -> Arc<Told<SLOTS>> {
        raise_threads();
        Arc::new(Told { notices: Notices::new(), taking: ConditionalLock::new(()) })
    }

    /// Whether this memory is among what was told until now.
    fn hears(&self, start: usize) -> bool {
        let _taking = self.taking.lock();
        let mut hears = false;
        if !self.notices.is_empty() {
            self.notices.take(|notice| match notice {
                Notice::Range(low, high) => {
                    assert_eq!(high, low + 1, "halves of two notices");
                    hears |= low == start;
                }
                Notice::Everything => hears = true,
            });
        }
        hears
    }
}

/// Whoever has told of memory and then takes hears of it, whatever the others are amid.
#[test]
fn who_told_hears() {
    check(|| {
        let told = Told::<2>::begin();
        let other = {
            let told = told.clone();
            spawn(move || told.notices.tell(10, 11))
        };
        told.notices.tell(20, 21);
        assert!(told.hears(20));
        other.join().unwrap();
        let _ = told.hears(10);
        assert!(!told.hears(20) && !told.hears(10), "once");
    });
}

/// The same where there is less room than is told.
#[test]
fn what_has_no_room_counts_as_everything() {
    check(|| {
        let told = Told::<1>::begin();
        let other = {
            let told = told.clone();
            spawn(move || {
                told.notices.tell(10, 11);
                told.notices.tell(12, 13);
            })
        };
        told.notices.tell(20, 21);
        assert!(told.hears(20));
        other.join().unwrap();
    });
}
