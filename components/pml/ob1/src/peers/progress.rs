//! How much was sent to a process since this one last looked for what others say.

use opal_core::sync::{AtomicU32, Ordering};

/// Passes of progress, whoever made them.
static PASSES: AtomicU32 = AtomicU32::new(0);

/// In each pass of progress.
#[inline(always)]
pub fn count_pass() {
    // Relaxed, and no read-modify-write: one thread makes a pass at a time.
    PASSES.store(PASSES.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Eager messages to a process since the last pass of progress.
#[derive(Debug, Default)]
pub struct Unpolled {
    // Of `PASSES`.
    pass: AtomicU32,
    bytes: AtomicU32,
}

impl Unpolled {
    /// One more. True if a pass is due.
    #[inline(always)]
    pub fn add(&self, bytes: usize) -> bool {
        // Relaxed, and no read-modify-write: of several threads one message more or less does not matter.
        let pass = PASSES.load(Ordering::Relaxed);
        let before = if self.pass.load(Ordering::Relaxed) == pass { self.bytes.load(Ordering::Relaxed) } else { 0 };
        let now = before.saturating_add((bytes + MESSAGE_BYTES) as u32);
        self.pass.store(pass, Ordering::Relaxed);
        self.bytes.store(now, Ordering::Relaxed);
        now > UNPOLLED_BYTES
    }
}

/// A message counts as so many bytes more than it has, so that a pass comes after 512 short ones: half a microsecond for each of
/// them would cost more than they do, and a pass writes what was coalesced.
const MESSAGE_BYTES: usize = 1024;
const UNPOLLED_BYTES: u32 = 512 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_due_if_none_was_made_for_long() {
        const HALF: usize = UNPOLLED_BYTES as usize / 2;
        let unpolled = Unpolled::default();
        assert!(!unpolled.add(HALF) && unpolled.add(HALF), "two halves and what two messages count besides");
        // Whoever makes it; tests beside this one make none.
        count_pass();
        assert!(!unpolled.add(HALF) && unpolled.add(HALF));
        assert!(unpolled.add(0), "and stays due until it is made");
    }
}
