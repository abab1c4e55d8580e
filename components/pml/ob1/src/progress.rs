//! What ob1 does in each pass of progress: it sends what waits for room, and makes the next single copy.

use crate::checksum;
use crate::peers::endpoint;
use crate::peers::progress::count_pass;
use crate::protocol::{failure, smsc};
use crate::state::{PENDING, STATE, State};
use opal_core::message;
use opal_core::sync::Ordering;

/// Tries again what waits.
pub fn progress() -> usize {
    count_pass();
    // Relaxed: what another thread has just queued is seen by the next pass.
    if PENDING.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    let moved = STATE.lock().push_all();
    moved + smsc::copy_next()
}

/// The same where messages carry checksums, besides [`progress`].
pub fn repair() -> usize {
    let (moved, lost) = checksum::pass();
    lost.into_iter().for_each(lose);
    moved
}

#[cold]
fn lose(process: u32) {
    message!(
        "a message to process {process} arrived damaged {} times; its path is broken, and the connection is given up",
        checksum::ROUNDS_MOST
    );
    failure::peer_failed(process);
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
            let backlog = self.backlogs.entry(process as usize);
            if backlog.is_empty() {
                backlog.is_listed = false;
                self.pending_peers.swap_remove(index);
            } else {
                index += 1;
            }
        }
        moved += self.begin_gets();
        self.count_pending();
        moved
    }
}
