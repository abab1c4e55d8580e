//! `--stall-report`: who waits for what when nothing can happen any more.
//!
//! Ranks leave in the segment since when they wait in vain, whether anybody looks or not. A job stalls when every rank that
//! still runs does so: one that computes may be what the others wait for.

use super::Running;
use crate::refusal::say;
use std::time::{Duration, Instant};

/// What is known of a stall.
#[derive(Debug)]
pub struct Stall {
    /// After how long it is reported; `None`: never.
    after: Option<Duration>,
    /// Since when each rank waited when it was reported.
    reported: Vec<u64>,
    next_look: Instant,
}

impl Stall {
    /// Reports after so many seconds; 0: never.
    pub fn new(seconds: u64) -> Stall {
        let after = (seconds > 0).then(|| Duration::from_secs(seconds));
        Stall { after, reported: Vec::new(), next_look: Instant::now() }
    }
}

impl Running {
    /// One line a rank, once for each stall.
    pub(super) fn look_for_stall(&mut self) {
        let Some(after) = self.stall.after.filter(|_| Instant::now() >= self.stall.next_look) else { return };
        self.stall.next_look = Instant::now() + LOOK;
        let ranks: Vec<u32> = (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]).collect();
        let now_ns = opal_core::sys::monotonic_ns();
        let waits = |rank: &u32| {
            let (since_ns, last_ns) = self.segment.control.slept(*rank)?;
            let is_asleep = now_ns.saturating_sub(last_ns) < ASLEEP_NS;
            (is_asleep && u128::from(now_ns.saturating_sub(since_ns)) >= after.as_nanos()).then_some(since_ns)
        };
        let Some(since) = ranks.iter().map(waits).collect::<Option<Vec<u64>>>() else { return };
        if since.is_empty() || since == self.stall.reported {
            return;
        }
        self.stall.reported = since;
        say(&format!(
            "all ranks that run have waited in MPI for {} s (--stall-report): a deadlock, or damaged memory",
            after.as_secs()
        ));
        for rank in ranks {
            let pid = self.pids[rank as usize].unwrap_or_default();
            say(&format!("  rank {rank} (process {pid}) {}", self.doing(rank)));
        }
    }
}

/// How often to look.
const LOOK: Duration = Duration::from_secs(1);
/// A rank that waits sleeps again after a fraction of this.
const ASLEEP_NS: u64 = 2_000_000_000;
