//! How accumulates of one window are atomic with each other: a gate. While it is open, each is done by instructions of the processor, one for
//! each element, by anybody at any time. The first one that instructions do not do, or do too slowly, shuts it for good; from then on all
//! of them hold the target's accumulate lock ([`Combining`](super::Combining)). So no instruction ever meets the plain loads and stores of
//! one who holds a lock.
//!
//! One who goes through says so in a word of its own process, then looks at the gate again. One who shuts the gate changes it, has the system
//! run a full barrier on every core ([`sys::membarrier`]), and waits until nobody is inside. At least one of two sees the other's word
//! so, and to go through costs no fence. Where not all processes are registered for that barrier the gate is shut from the beginning.

use crate::error::{Class, Fault, Result};
use opal_core::sync::{AtomicU64, Once, Ordering, compiler_fence, spin_loop, threads_possible};
use opal_core::sys;

/// The gate of one window, as one process uses it; all words lie in memory that all processes of the window have mapped.
#[derive(Clone, Copy)]
pub struct Gate<'a> {
    state: &'a AtomicU64,
    inside: &'a AtomicU64,
}

/// Whether this process may use gates that open; the same for its whole life.
pub fn is_capable() -> bool {
    static CAPABLE: Once<bool> = Once::new();
    *CAPABLE.call_once(|| sys::register_membarrier() && sys::membarrier())
}

impl<'a> Gate<'a> {
    /// Of the window's word, and the word of this process in which it counts its threads that are inside.
    pub fn new(state: &'a AtomicU64, inside: &'a AtomicU64) -> Gate<'a> {
        Gate { state, inside }
    }

    /// Shuts it before anybody accesses the window, which the processes tell each other somehow.
    pub fn shut_from_the_beginning(self) {
        self.state.store(SHUT, Ordering::Release);
    }

    /// Whether it was open a moment ago.
    #[inline(always)]
    pub fn is_open(self) -> bool {
        self.state.load(Ordering::Relaxed) == OPEN
    }

    /// Whether accumulates go by the lock for good: what went through the gate is done, and seen.
    #[inline(always)]
    pub fn is_shut(self) -> bool {
        // Acquire pairs with the Release in `shut`.
        self.state.load(Ordering::Acquire) == SHUT
    }

    /// Goes through, if it is open: nobody has the lock while the result lives.
    #[inline(always)]
    pub fn enter(self) -> Option<Inside<'a>> {
        if !self.is_open() {
            return None;
        }
        let inside = Inside::of(self.inside);
        // The barrier of one who shuts it makes a full fence of this.
        compiler_fence(Ordering::SeqCst);
        self.is_open().then_some(inside)
    }

    /// Shuts it, and waits for those inside, whose words are those of all processes. Several may do it at once.
    pub fn shut<'w>(self, all_inside: impl Iterator<Item = &'w AtomicU64>) -> Result<()> {
        if self.is_shut() {
            return Ok(());
        }
        // Whatever it finds, Relaxed: the barrier orders it. One who finds it amid being shut waits as well, for nobody but those inside.
        let _ = self.state.compare_exchange(OPEN, SHUTTING, Ordering::Relaxed, Ordering::Relaxed);
        if !sys::membarrier() {
            return Err(no_barrier());
        }
        for word in all_inside {
            wait_for_none(word);
        }
        // Release pairs with the Acquire in `is_shut`.
        self.state.store(SHUT, Ordering::Release);
        Ok(())
    }
}

/// One thread inside: it does a few instructions, and calls nothing that may wait.
pub struct Inside<'a>(&'a AtomicU64);

impl Inside<'_> {
    #[inline(always)]
    fn of(word: &AtomicU64) -> Inside<'_> {
        match threads_possible() {
            false => word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
            true => drop(word.fetch_add(1, Ordering::Relaxed)),
        }
        Inside(word)
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release pairs with the Acquire in `wait_for_none`.
        match threads_possible() {
            false => self.0.store(self.0.load(Ordering::Relaxed) - 1, Ordering::Release),
            true => drop(self.0.fetch_sub(1, Ordering::Release)),
        }
    }
}

fn wait_for_none(word: &AtomicU64) {
    let mut tries = 0u32;
    // Acquire pairs with the Release of those who left.
    while word.load(Ordering::Acquire) != 0 {
        tries += 1;
        // Who is inside may want this core.
        if tries.is_multiple_of(TRIES_PER_YIELD) { sys::yield_now() } else { spin_loop() }
    }
}

#[cold]
fn no_barrier() -> Fault {
    Fault::new(Class::Intern).argument("win").because(
        "the system refuses membarrier(2), which it allowed when the window was made; was a filter of system calls set up meanwhile?",
    )
}

// Memory that nobody has written yet is an open gate: to make a window touches no page of its words.
const OPEN: u64 = 0;
const SHUTTING: u64 = 1;
const SHUT: u64 = 2;

const TRIES_PER_YIELD: u32 = 64;

#[cfg(all(test, loom))]
mod models;
