//! `--stall-report`: a message when all ranks wait for each other.
//!
//! Ranks leave in the segment since when they wait in vain, whether anybody looks or not. A job stalls when every rank that
//! still runs does so: one that computes may be what the others wait for.

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

    /// Whether a stall is to be reported now, once for each. `slept` says of the ranks that run since when they have waited
    /// and when they last slept, in ns of the monotonic clock.
    pub fn is_new(&mut self, slept: impl Iterator<Item = Option<(u64, u64)>>) -> bool {
        let Some(after) = self.after.filter(|_| Instant::now() >= self.next_look) else { return false };
        self.next_look = Instant::now() + LOOK;
        let now_ns = opal_core::sys::monotonic_ns();
        let waits = |slept: Option<(u64, u64)>| {
            let (since_ns, last_ns) = slept?;
            let is_asleep = now_ns.saturating_sub(last_ns) < ASLEEP_NS;
            (is_asleep && u128::from(now_ns.saturating_sub(since_ns)) >= after.as_nanos()).then_some(since_ns)
        };
        match slept.map(waits).collect::<Option<Vec<u64>>>() {
            Some(since) if !since.is_empty() && since != self.reported => {
                self.reported = since;
                true
            }
            _ => false,
        }
    }
}

/// How often to look.
const LOOK: Duration = Duration::from_secs(1);
/// A rank that waits sleeps again after a fraction of this.
const ASLEEP_NS: u64 = 2_000_000_000;
