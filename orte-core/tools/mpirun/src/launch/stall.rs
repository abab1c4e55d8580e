//! `--stall-report`: a message when all ranks wait for each other.
//!
//! Ranks leave in the segment since when they wait in vain, whether anybody looks or not. A job stalls when every rank that
//! still runs does so: one that computes may be what the others wait for. Daemons are asked only when all ranks of mpirun's own host
//! wait. Where some wait for processes of other jobs, the root of the universe is told, who knows what these do
//! (`universe/stalls.rs`).

use std::time::{Duration, Instant};

/// What is known of a stall.
#[derive(Debug)]
pub struct Stall {
    /// After how long it is reported; `None`: never.
    after: Option<Duration>,
    /// Since when each rank waited when it was reported.
    reported: Vec<u64>,
    next_look: Instant,
    /// The root of the universe was told of it.
    pub is_noted: bool,
}

impl Stall {
    /// Reports after so many seconds; 0: never.
    pub fn new(seconds: u64) -> Stall {
        let after = (seconds > 0).then(|| Duration::from_secs(seconds));
        Stall { after, reported: Vec::new(), next_look: Instant::now(), is_noted: false }
    }

    /// Whether it is time to look again.
    pub fn is_due(&mut self) -> bool {
        let is_due = self.after.is_some() && Instant::now() >= self.next_look;
        if is_due {
            self.next_look = Instant::now() + LOOK;
        }
        is_due
    }

    /// Whether a rank has waited for long enough: `waits` says since when it waits and for how long, in ns.
    pub fn is_long(&self, waits: Option<(u64, u64)>) -> bool {
        let waited = waits.map(|(_, waited_ns)| Duration::from_nanos(waited_ns));
        waited.zip(self.after).is_some_and(|(waited, after)| waited >= after)
    }

    /// Whether a stall is to be reported now, once for each; from all ranks that run.
    pub fn is_new(&mut self, waits: &[Option<(u64, u64)>]) -> bool {
        if waits.is_empty() || !waits.iter().all(|waits| self.is_long(*waits)) {
            return false;
        }
        let since: Vec<u64> = waits.iter().flatten().map(|(since_ns, _)| *since_ns).collect();
        let is_new = since != self.reported;
        self.reported = since;
        is_new
    }
}

/// How often to look. What a daemon said holds for less than three of these.
pub const LOOK: Duration = Duration::from_secs(1);
