//! The active window of a ring: how many of its slots are used.
//!
//! A page of shared memory that no rank has touched costs its writer more than copying through 16 pages in use. So the
//! window is small at first, and doubles after [`LAPS`] wraps, because a longer ring is a faster one. It doubles sooner
//! the first time if operations are longer than half of it: they would wait in the middle, and with more ranks than
//! cores each wait is a context switch. With whole rings from the beginning the first calls for 64 KiB by two ranks
//! took 90 to 100 µs each, later ones 12 (AMD EPYC, a virtual machine).

/// The slots of a ring that are in use.
#[derive(Clone, Copy)]
pub struct Window {
    /// How many.
    pub slots: usize,
    // From this step on; before it there were fewer, and the first new slot follows the last of those.
    since: u64,
    before: usize,
}

impl Window {
    /// Of a ring with so many slots, before any step.
    pub fn first(slots: usize) -> Window {
        Window { slots: FIRST_SLOTS.min(slots), since: 0, before: 0 }
    }

    /// After an operation of `steps` steps that ends before `step`, of a ring with `slots` slots.
    pub fn after(self, steps: usize, step: u64, slots: usize) -> Window {
        let pays = step - self.since >= LAPS * self.slots as u64;
        let is_short = self.before == 0 && 2 * steps > self.slots;
        if self.slots == slots || !(pays || is_short) {
            return self;
        }
        Window { slots: slots.min(2 * self.slots), since: step, before: self.slots }
    }

    /// The slot of a step.
    pub fn index(&self, step: u64) -> usize {
        ((self.before as u64 + step - self.since) % self.slots as u64) as usize
    }

    /// The tail that all readers must have reached before this step's slot is written.
    pub fn wanted(&self, step: u64) -> u64 {
        let new = (self.slots - self.before) as u64;
        if step - self.since < new { 0 } else { (step + 1).saturating_sub(self.slots as u64).max(self.since) }
    }
}

const FIRST_SLOTS: usize = if cfg!(loom) { 2 } else { 16 };
/// Wraps around the window until it grows.
const LAPS: u64 = if cfg!(loom) { 1 } else { 32 };

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
