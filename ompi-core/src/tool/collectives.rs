//! Blocking collective operations by function, and by algorithm from the first operation on that an algorithm serves: counted while a
//! tool has a handle of one of these numbers, or listens to the event that names the algorithm.
//!
//! **Invariant:** a number that was made known stays, and keeps its place.

use super::event;
use crate::framework::coll::{self, FUNCTIONS, Function, Ran};
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};

/// How often, how long this process was in it, and how long it waited there.
#[derive(Debug)]
pub struct CallCount {
    calls: AtomicU64,
    ns: AtomicU64,
    waited_ns: AtomicU64,
}

/// Operations of one function that one algorithm served.
#[derive(Debug)]
pub struct Served {
    /// The function.
    pub function: Function,
    /// Component and algorithm; the latter is empty if the component names none.
    pub ran: Ran,
    /// How often.
    pub count: CallCount,
}

static USERS: Mutex<usize> = Mutex::new(0);
// Whether there is any.
static IS_WANTED: AtomicBool = AtomicBool::new(false);
static BY_FUNCTION: [CallCount; FUNCTIONS] = [const { CallCount::new() }; FUNCTIONS];
static BY_ALGORITHM: Mutex<Vec<&'static Served>> = Mutex::new(Vec::new());

/// As long as one of these is there operations are counted.
pub struct Counting(());

impl Counting {
    /// From now on.
    pub fn begin() -> Counting {
        let mut users = USERS.lock();
        *users += 1;
        if *users == 1 {
            // Relaxed, here and below: who asks while others communicate counts a little later.
            IS_WANTED.store(true, Ordering::Relaxed);
            coll::keep_last();
            event::listen();
        }
        Counting(())
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let mut users = USERS.lock();
        *users -= 1;
        if *users == 0 {
            IS_WANTED.store(false, Ordering::Relaxed);
            coll::leave_last();
            event::leave();
        }
    }
}

/// An operation has ended, well or not.
pub fn ended(function: Function, ran: Ran, ns: u64, waited_ns: u64) {
    if IS_WANTED.load(Ordering::Relaxed) {
        BY_FUNCTION[function as usize].add(ns, waited_ns);
        place(function, ran).1.count.add(ns, waited_ns);
    }
}

/// The place of what an algorithm served, and it: new if this is the first time.
pub fn place(function: Function, ran: Ran) -> (usize, &'static Served) {
    let mut all = BY_ALGORITHM.lock();
    let known = all.iter().position(|one| one.function == function && one.ran == ran);
    let place = known.unwrap_or_else(|| {
        all.push(Box::leak(Box::new(Served { function, ran, count: CallCount::new() })));
        all.len() - 1
    });
    (place, all[place])
}

/// Those behind the first so many, which stay.
pub fn served_from(place: usize) -> Vec<&'static Served> {
    BY_ALGORITHM.lock().get(place..).unwrap_or_default().to_vec()
}

/// Of one function.
pub fn of(function: Function) -> &'static CallCount {
    &BY_FUNCTION[function as usize]
}

impl CallCount {
    const fn new() -> CallCount {
        CallCount { calls: AtomicU64::new(0), ns: AtomicU64::new(0), waited_ns: AtomicU64::new(0) }
    }

    fn add(&self, ns: u64, waited_ns: u64) {
        // Relaxed, here and below: numbers only.
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.ns.fetch_add(ns, Ordering::Relaxed);
        self.waited_ns.fetch_add(waited_ns, Ordering::Relaxed);
    }

    /// How often.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The time.
    pub fn ns(&self) -> u64 {
        self.ns.load(Ordering::Relaxed)
    }

    /// How long nothing happened in it: other ranks came late.
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_ends_it() {
        let is_counted = || IS_WANTED.load(Ordering::Relaxed);
        assert!(!is_counted());
        let (one, other) = (Counting::begin(), Counting::begin());
        drop(one);
        assert!(is_counted() && event::is_heard());
        drop(other);
        assert!(!is_counted(), "nobody pays for what nobody looks at");
    }
}
