//! What ob1 does in each pass of progress: it sends what waits for room, and makes the next single copy.

use crate::peers::endpoint;
use crate::protocol::smsc;
use crate::state::{PENDING, STATE, State};
use opal_core::sync::{AtomicU32, Ordering};

/// Passes of progress, also those that another thread or a wait made.
pub static PASSES: AtomicU32 = AtomicU32::new(0);

/// Tries again what waits.
pub fn progress() -> usize {
    // Relaxed, and no read-modify-write: one thread makes a pass at a time.
    PASSES.store(PASSES.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    // Relaxed: what another thread has just queued is seen by the next pass.
    if PENDING.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    let moved = STATE.lock().push_all();
    moved + smsc::copy_next()
}

impl State {
    fn push_all(&mut self) -> usize {
        let (mut moved, mut index) = (0, 0);
        while index < self.pending_peers.len() {
            let process = self.pending_peers[index];
            if let Some(endpoint) = endpoint::existing(process) {
                moved += self.push_packets(endpoint);
                moved += self.push_fragments(endpoint);
            }
            let backlog = &mut self.backlogs[process as usize];
            if backlog.is_empty() {
                backlog.is_listed = false;
                self.pending_peers.swap_remove(index);
            } else {
                index += 1;
            }
        }
        self.count_pending();
        moved
    }
}
