//! Statistics of a job that did not come to its end: what each rank had counted until it died.

use super::Running;
use crate::refusal::say;
use orte_core::segment::RankState;

impl Running {
    /// Says what ranks had counted that ended before they could give it to rank 0.
    pub(super) fn say_told(&self) {
        let told = || (0..).zip(&self.known.told).filter_map(|(rank, told)| Some((rank, told.as_ref()?)));
        if told().next().is_none() {
            return;
        }
        let unwritten = self.file("ompi_stats").map_or(String::new(), |file| format!(": {file} was not written"));
        say(&format!(
            "the job ended before MPI_Finalize could gather its statistics (--stats){unwritten}; what each rank had counted:"
        ));
        for (rank, (age_ns, words)) in told() {
            let host = &self.job.names[self.node_of(rank) as usize];
            let age = *age_ns as f64 / 1e9;
            say(&format!("  rank {rank} on {host}, until {age:.3} s before its end: {words}"));
        }
    }
    /// Says that there is no trace of a job that failed, unless rank 0 has come to MPI_Finalize, where it writes it, or a rank has left
    /// its own events when it aborted.
    pub(super) fn say_untraced(&self) {
        let has_left = |rank: u32| matches!(self.state(rank), RankState::Aborted);
        if self.cause.is_none() || self.state(0) == RankState::Finalized || (0..self.job.ranks()).any(has_left) {
            return;
        }
        if let Some(file) = self.file("ompi_trace") {
            say(&format!(
                "the job ended before MPI_Finalize could gather its events (--trace): {file} was not written"
            ));
        }
    }

    /// The file that a parameter names.
    fn file(&self, parameter: &str) -> Option<&str> {
        let named = self.job.mca.iter().rev().find(|(name, _)| name == parameter);
        named.map(|(_, value)| value.as_str()).filter(|value| !matches!(*value, "" | "0" | "1" | "-"))
    }
}
