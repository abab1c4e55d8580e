//! What further jobs mean for this one, and what the mpirun that had this one started means.

use super::{Phase, Running};
use crate::outcome::Cause;
use crate::universe::UniverseEvent;

impl Running {
    /// Hears ranks that ask for something, further jobs, and the mpirun that had this job started.
    pub(super) fn hear_universe(&mut self) {
        for event in self.universe.pump() {
            let cause = match event {
                UniverseEvent::JobFailed(number, status) => Some(Cause::JobFailed(number, status)),
                UniverseEvent::RootGone => Some(Cause::RootGone),
                UniverseEvent::JobEnded => None,
            };
            let is_running = matches!(self.phase, Phase::Running | Phase::Lingering(_) | Phase::Seeking(_));
            if let Some(cause) = cause.filter(|_| is_running) {
                self.fail(cause, true);
            }
        }
        self.finish_if_all_ended();
    }

    /// Once all ranks have ended, and all further jobs, the job is over.
    pub(super) fn finish_if_all_ended(&mut self) {
        let waits_for_jobs = matches!(self.phase, Phase::Running) && self.universe.has_jobs();
        if !self.alive.contains(&true) && !waits_for_jobs {
            self.finish();
        }
    }
}
