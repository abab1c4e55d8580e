//! Statistics of a job that did not come to its end: what each rank had counted until it died.

use super::Running;
use crate::refusal::say;

impl Running {
    /// Says what ranks had counted that ended before they could give it to rank 0.
    pub(super) fn say_told(&self) {
        let told = || (0..).zip(&self.known.told).filter_map(|(rank, told)| Some((rank, told.as_ref()?)));
        if told().next().is_none() {
            return;
        }
        say("the job ended before MPI_Finalize could gather its statistics (--stats); what each rank had counted:");
        for (rank, (age_ns, words)) in told() {
            let host = &self.job.names[self.node_of(rank) as usize];
            let age = *age_ns as f64 / 1e9;
            say(&format!("  rank {rank} on {host}, until {age:.3} s before its end: {words}"));
        }
    }
}
