//! Processes of further jobs that are to end while others go on (MPI_ERRORS_ABORT): who waits until the mpiruns of these jobs know it, and
//! which jobs fail for no other reason.

use super::jobs::JobNews;
use std::collections::BTreeSet;

/// All such requests.
#[derive(Debug, Default)]
pub struct Ends {
    // Who asked, and the jobs that have not answered.
    waiting: Vec<(u64, BTreeSet<u64>)>,
    concerned: BTreeSet<u64>,
}

impl Ends {
    /// A process asked, and the mpiruns of these jobs were told.
    pub fn begin(&mut self, client: u64, jobs: Vec<u64>) {
        self.concerned.extend(&jobs);
        if !jobs.is_empty() {
            self.waiting.push((client, jobs.into_iter().collect()));
        }
    }

    /// Something is new of a job. Those who asked, and whom nobody has to answer for any more.
    pub fn heard(&mut self, news: &JobNews) -> Vec<u64> {
        self.answered(news.job, news.is_done(), news.has_ended())
    }

    /// Whether some of the processes of a job were to end.
    pub fn has_ended_some(&self, job: u64) -> bool {
        self.concerned.contains(&job)
    }

    /// Requests of several processes are answered in their order.
    fn answered(&mut self, job: u64, is_done: bool, has_ended: bool) -> Vec<u64> {
        let mut is_next = is_done;
        for (_, jobs) in &mut self.waiting {
            if has_ended || is_next {
                is_next &= !jobs.remove(&job);
            }
        }
        let answered = self.waiting.iter().filter(|(_, jobs)| jobs.is_empty()).map(|(client, _)| *client).collect();
        self.waiting.retain(|(_, jobs)| !jobs.is_empty());
        answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_waits_for_all_jobs_that_it_concerns() {
        let mut ends = Ends::default();
        ends.begin(1, vec![7, 8]);
        ends.begin(2, vec![7]);
        assert!(ends.answered(7, true, false).is_empty());
        assert_eq!(ends.answered(8, true, false), [1]);
        assert_eq!(ends.answered(7, true, false), [2]);
        ends.begin(3, vec![7, 9]);
        ends.begin(4, vec![9]);
        assert!(ends.answered(7, false, true).is_empty());
        assert_eq!(ends.answered(9, false, true), [3, 4], "one that has ended answers nobody");
        assert!(ends.has_ended_some(8) && !ends.has_ended_some(1));
    }
}
