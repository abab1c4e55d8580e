//! How rarely sockets are polled while nothing happens, and how rarely the system is asked whether peers' hosts are silent.

use crate::transport::Transport;
use opal_core::sync::Ordering;
use opal_core::{sys, wait};

/// When to ask next whether peers' hosts are silent.
#[derive(Default)]
pub struct HostClock {
    polls: u32,
    next_ns: u64,
}

/// A poll of the sockets costs a system call: how many passes to leave out.
#[derive(Default)]
pub struct PollBackoff {
    pub skip: u32,
    /// Polls since the last one that found something.
    empty_polls: u32,
}

impl HostClock {
    /// The next poll asks.
    pub fn is_due(&mut self) {
        self.polls = HOST_POLLS;
    }

    /// At each poll: whether it is time to ask, with this timeout; 0 for never.
    pub fn is_time(&mut self, timeout_ns: u64) -> bool {
        self.polls += 1;
        if timeout_ns == 0 || self.polls < HOST_POLLS {
            return false;
        }
        self.polls = 0;
        let now = sys::monotonic_ns();
        let is_time = now >= self.next_ns;
        if is_time {
            self.next_ns = now + timeout_ns / 4;
        }
        is_time
    }
}

impl PollBackoff {
    /// The next passes poll.
    pub fn reset(&mut self) {
        *self = PollBackoff::default();
    }

    /// After a poll that moved so many things.
    pub fn after(&mut self, transport: &Transport, moved: usize) {
        if moved > 0 {
            return self.reset();
        }
        self.empty_polls = self.empty_polls.saturating_add(1);
        if transport.possible.load(Ordering::Relaxed) == 0 {
            // Nobody of the job can connect; others have time.
            self.skip = SKIP_UNUSED;
            return;
        }
        self.skip = match (transport.used.load(Ordering::Relaxed), wait::may_spin()) {
            (true, _) if self.empty_polls < EMPTY_POLLS => 0,
            (true, true) => 7,
            (true, false) => 1,
            (false, true) => 63,
            (false, false) => 7,
        };
    }
}

/// Polls for each look at the clock for silent hosts.
const HOST_POLLS: u32 = 1024;
/// After so many empty polls some passes are left out.
const EMPTY_POLLS: u32 = 4096;
const SKIP_UNUSED: u32 = 4095;
