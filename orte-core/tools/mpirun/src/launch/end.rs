//! End of a job: consequences of the end of a rank, the request to end, and the kill.

use super::{IMPATIENT, Phase, Running};
use crate::here::Here;
use crate::outcome::{self, Cause};
use crate::refusal::{self, Refusal, say};
use crate::there::There;
use crate::wire::Message;
use crate::{other_mpi, report};
use orte_core::oob::Frame;
use orte_core::segment::RankState;
use std::time::{Duration, Instant};

impl Running {
    /// A rank's process ended: what it was to MPI then, and how it called abort, if it did.
    pub(super) fn ended(&mut self, rank: u32, wait_status: i32, state: RankState, aborted: Option<(i32, String)>) {
        let cause = Cause::of_end(rank, wait_status, state, aborted);
        if self.job.verbose {
            say(&format!("rank {rank} ended with {}", outcome::words(wait_status)));
        }
        let finalized = state == RankState::Finalized;
        self.has_spoken |= state != RankState::Started;
        self.spoken[self.job.app_of(rank)] |= state != RankState::Started;
        if let Some(alive) = self.alive.get_mut(rank as usize) {
            *alive = false;
        }
        if cause.is_none() && state == RankState::Started {
            self.never_initialized.get_or_insert(rank);
        }
        match (self.phase, cause) {
            _ if self.ending.contains_key(&rank) => {}
            (Phase::Running | Phase::Seeking(_), Some(cause)) => self.weigh(cause, finalized),
            // It died first, but the news of it came second.
            (Phase::Ending(_), Some(cause))
                if self.cause.as_ref().is_some_and(|known| self.is_behind(&cause, known)) =>
            {
                self.cause = Some(cause);
                self.measures.running = self.measures.running.saturating_sub(1);
            }
            _ => {}
        }
        self.finish_if_all_ended();
    }

    /// Ends the job for this reason: asks the remaining ranks first.
    pub(super) fn fail(&mut self, cause: Cause, tell: bool) {
        self.cause = Some(cause);
        self.end_ranks(tell);
    }

    pub(super) fn end_ranks(&mut self, tell: bool) {
        self.settle();
        if self.cause.is_none() {
            return;
        }
        self.measures.jobs = self.end_jobs();
        let Some(cause) = &self.cause else { return };
        let signal = cause.signal() as u32;
        self.measures.running = self.others(cause);
        let grace = self.grace(cause);
        self.phase = Phase::Ending(Instant::now() + grace);
        if let (Cause::Interrupted(signal), false) = (cause, self.job.quiet) {
            say(&format!(
                "got signal {signal} ({}): the ranks have {} s to end (--grace); a second signal ends them at once",
                crate::signals::describe(*signal),
                grace.as_secs()
            ));
        }
        if self.alive.contains(&true) {
            if tell {
                self.tell(Message::Signal(signal, 1));
            }
            // The terminal's keys reach nobody on other hosts.
            self.tell_elsewhere(&Frame::Signal(signal, true));
        }
    }

    /// The jobs that are to end with this one: all if somebody wants it, else those that it is connected to (MPI 5.0 §11.10.4).
    fn end_jobs(&mut self) -> Vec<u32> {
        let before = self.universe.running_jobs();
        match self.cause {
            Some(Cause::Interrupted(_) | Cause::TimedOut(..)) | None => self.universe.end_jobs(),
            Some(_) => self.universe.end_connected_jobs(),
        }
        let parted = self.universe.running_jobs();
        before.into_iter().filter(|job| !parted.contains(job)).collect()
    }

    fn hint_at_other_mpi(&self) {
        if self.job.quiet || self.job.ranks() == 1 {
            return;
        }
        if self.has_spoken {
            for (app, _) in self.apps.iter().zip(&self.spoken).filter(|(_, spoken)| !**spoken) {
                if let Some(library) = other_mpi::linked(app.path.as_ref()) {
                    say(&other_mpi::hint_of(app.path.as_ref(), &library));
                }
            }
            return;
        }
        let linked = || self.apps.iter().find_map(|app| other_mpi::linked(app.path.as_ref()));
        if let Some(library) = self.other_mpi.clone().or_else(linked) {
            say(&other_mpi::hint(&library));
        }
    }

    fn grace(&self, cause: &Cause) -> Duration {
        match (self.job.grace_s, cause) {
            (Some(seconds), _) => Duration::from_secs(seconds).min(LONGEST),
            (None, Cause::Interrupted(_)) => GRACE_ASKED,
            (None, _) => GRACE,
        }
    }

    /// Ranks that still run and end only because of this: not the one that is the cause, nor those that ended
    /// themselves for a reason of their own at the same time, which may not have left yet.
    fn others(&self, cause: &Cause) -> usize {
        let runs = |(rank, _): &(usize, &bool)| {
            let rank = *rank as u32;
            cause.rank() != Some(rank) && self.state(rank) != RankState::Aborted
        };
        self.alive.iter().enumerate().filter(|(_, alive)| **alive).filter(runs).count()
    }

    /// Has everything killed that is left.
    pub(super) fn finish(&mut self) {
        if !matches!(self.phase, Phase::Running | Phase::Lingering(_) | Phase::Seeking(_) | Phase::Ending(_)) {
            return;
        }
        self.settle();
        self.measures.killed = self.cause.as_ref().map_or(0, |cause| self.others(cause));
        self.phase = Phase::Clearing(Instant::now() + CLEARING);
        self.fan.close();
        self.feed.close();
        self.tell(Message::Finish);
        if let Some(there) = &mut self.there {
            there.finish();
        }
        self.look_whether_gone();
    }

    pub(super) fn keeper_is_gone(&mut self) {
        let mut spare = self.there.as_ref().map_or_else(Vec::new, There::processes);
        spare.extend(self.universe.running_mpiruns());
        let Some(here) = &mut self.here else { return };
        let status = here.keeper_is_gone(&spare);
        if !matches!(self.phase, Phase::Clearing(_)) || status != 0 {
            self.cause.get_or_insert(Cause::KeeperLost(status, None));
        }
        self.all_ended_on(0);
        self.fan.close();
        self.streams.last_call();
        self.finish();
        self.look_whether_gone();
    }

    /// Of these ranks nothing more is heard.
    pub(super) fn all_ended_on(&mut self, node: u32) {
        for (alive, _) in self.alive.iter_mut().zip(&self.job.nodes).filter(|(_, its)| **its == node) {
            *alive = false;
        }
    }

    /// Whether no process of the job is left anywhere.
    pub(super) fn look_whether_gone(&mut self) {
        let is_gone = self.here.as_ref().is_none_or(Here::is_gone) && self.there.as_ref().is_none_or(There::is_gone);
        if is_gone && matches!(self.phase, Phase::Clearing(_)) {
            self.phase = Phase::Draining;
        }
    }

    /// A stopped keeper neither hears nor reaps: it is told to go on, however often somebody stops it.
    pub(super) fn look_at_keeper(&mut self) {
        // Somebody may stop it again before it has done anything.
        if self.here.as_mut().is_some_and(Here::look_at_keeper)
            && let Phase::Clearing(end) = self.phase
        {
            self.phase = Phase::Clearing(end.min(Instant::now() + IMPATIENT));
        }
    }

    /// Keeper or daemons did not end although they were told to. The keeper's end of the socket closes when it is killed, and what
    /// it left is cleared here.
    pub(super) fn give_up(&mut self) {
        let end = match self.here.as_mut().filter(|here| !here.is_gone()) {
            Some(here) => here.kill_keeper(),
            None => Some(CLEARING),
        };
        self.phase = Phase::Clearing(Instant::now() + end.unwrap_or(CLEARING));
        if end.is_none() {
            self.keeper_is_gone();
        }
        for (node, host) in self.there.as_mut().map_or_else(Vec::new, There::give_up) {
            say(&format!(
                "the daemon on {host} does not say that all is ended there; processes of the job may be left"
            ));
            // No more output comes from there.
            self.all_ended_on(node);
            self.streams.end_of(node);
        }
        self.look_whether_gone();
    }

    /// The ranks of this host only.
    pub(super) fn tell(&mut self, message: Message) {
        if let Some(here) = &mut self.here {
            here.tell(message);
        }
    }

    pub(super) fn conclude(mut self) -> Result<u8, Refusal> {
        if let Some(refusal) = self.refusal.take() {
            return Err(self.universe.told(refusal));
        }
        self.hint_at_other_mpi();
        self.say_told();
        self.say_untraced();
        let lost = if self.streams.has_lost() { refusal::OWN } else { 0 };
        let Some(cause) = &self.cause else { return Ok(lost.max(self.universe.status())) };
        let pid = |rank: u32| self.pids.get(rank as usize).copied().flatten();
        if !self.job.quiet && !matches!(cause, Cause::RootGone) {
            let host = |rank: u32| self.job.names[self.node_of(rank) as usize].clone();
            opal_core::sys::write_stderr(report::block(cause, &self.also, pid, host, &self.measures).as_bytes());
        }
        let status = cause.status();
        self.outlast();
        Ok(status)
    }
}

/// How long ranks have to end by themselves after a signal to mpirun: somebody asked for it, and they may have files to
/// write. MPICH's mpiexec waits for a second signal, Open MPI's kills after a second.
const GRACE_ASKED: Duration = Duration::from_secs(10);
/// The longest --grace: as good as for ever, and not so long that the clock cannot count it.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
/// And when the job ends for a reason of its own.
const GRACE: Duration = Duration::from_secs(1);
/// How long the keeper may take to kill what is left: longer than it tries to.
const CLEARING: Duration = Duration::from_secs(12);
