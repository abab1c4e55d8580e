//! Jobs of which all ranks wait, some of them for processes of other jobs: together they stall when that is so of all that are connected.

use std::collections::BTreeSet;

/// What is known of it.
#[derive(Debug, Default)]
pub struct Stalls {
    // Jobs whose ranks all wait, or have ended.
    waiting: BTreeSet<u64>,
    // Those of which it was said.
    reported: BTreeSet<u64>,
}

/// What the ranks of all jobs that are connected do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Some go on.
    Lives,
    /// All wait, for each other.
    Stalled,
    /// All of those wait that this mpirun knows.
    Unknown,
}

impl Stalls {
    /// All ranks of a job wait, or go on.
    pub fn note(&mut self, job: u64, waits: bool) {
        if waits {
            self.waiting.insert(job);
            return;
        }
        self.waiting.remove(&job);
        self.reported.remove(&job);
    }

    /// Of these jobs, which are connected; `runs` says whether one is of this universe and runs.
    pub fn judge(&self, connected: &BTreeSet<u64>, runs: impl Fn(u64) -> bool) -> Judgement {
        let others: Vec<u64> = connected.difference(&self.waiting).copied().collect();
        match others.iter().any(|job| runs(*job)) {
            true => Judgement::Lives,
            false if others.is_empty() => Judgement::Stalled,
            false => Judgement::Unknown,
        }
    }

    /// Whether it was not yet said of one of these jobs, which it is from now on.
    pub fn is_news(&mut self, connected: &BTreeSet<u64>) -> bool {
        let before = self.reported.len();
        self.reported.extend(connected);
        self.reported.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_stall_together() {
        let (mut stalls, all) = (Stalls::default(), BTreeSet::from([1, 2]));
        stalls.note(1, true);
        assert_eq!(stalls.judge(&all, |_| true), Judgement::Lives, "job 2 computes");
        assert_eq!(stalls.judge(&all, |job| job == 1), Judgement::Unknown, "nobody knows of job 2");
        stalls.note(2, true);
        assert_eq!(stalls.judge(&all, |_| true), Judgement::Stalled);
        assert!(stalls.is_news(&all) && !stalls.is_news(&all));
        stalls.note(2, false);
        assert_eq!(stalls.judge(&all, |_| true), Judgement::Lives);
        stalls.note(2, true);
        assert!(stalls.is_news(&all), "it went on meanwhile");
    }
}
