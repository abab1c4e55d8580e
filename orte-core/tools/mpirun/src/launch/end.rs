//! How a job ends: what the end of a rank means for the others, who is asked to end, and who is killed.

use super::{IMPATIENT, Phase, Running, TICK};
use crate::calls::{self, Calls};
use crate::outcome::{self, Cause};
use crate::refusal::{self, Refusal, say};
use crate::wire::{self, Message};
use crate::{other_mpi, report, tree};
use orte_core::segment::RankState;
use rustix::process::{Pid, Signal};
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

impl Running {
    /// A rank's process ended.
    pub(super) fn ended(&mut self, rank: u32, wait_status: i32) {
        let control = &self.segment.control;
        let cause = Cause::of_end(rank, wait_status, control.state(rank), control.aborted(rank));
        if self.job.verbose {
            say(&format!("rank {rank} ended with {}", outcome::words(wait_status)));
        }
        let finalized = control.state(rank) == RankState::Finalized;
        self.has_spoken |= control.state(rank) != RankState::Started;
        // The keeper only reports ranks that it started.
        let _ = control.mark_gone(rank);
        if let Some(alive) = self.alive.get_mut(rank as usize) {
            *alive = false;
        }
        match (self.phase, cause) {
            (Phase::Running, Some(cause)) => {
                // Another rank's abort is the reason for this end, if there was one.
                let cause = match self.first_abort() {
                    Some(abort) if !cause.explains(&abort) => abort,
                    _ => cause,
                };
                match (finalized, &cause) {
                    (_, Cause::Exit(..) | Cause::Signal(..) | Cause::NotFinalized(_)) if self.job.keep_going => {
                        self.cause.get_or_insert(cause);
                    }
                    // The others came as far as it did, and are most likely about to end: let them write what they have.
                    (true, Cause::Exit(..)) => {
                        self.cause = Some(cause);
                        self.phase = Phase::Lingering(Instant::now() + LINGER);
                    }
                    _ => self.fail(cause, true),
                }
            }
            // It died first, but the news of it came second.
            (Phase::Ending(_), Some(cause)) if self.cause.as_ref().is_some_and(|known| cause.explains(known)) => {
                self.cause = Some(cause);
                self.measures.running = self.measures.running.saturating_sub(1);
            }
            _ => {}
        }
        if !self.alive.contains(&true) {
            self.finish();
        }
    }

    pub(super) fn first_abort(&self) -> Option<Cause> {
        let control = &self.segment.control;
        (0..self.job.ranks()).find_map(|rank| {
            let (status, message) = control.aborted(rank)?;
            Some(Cause::Abort(rank, status, message))
        })
    }

    /// Ends the job for this reason: asks the remaining ranks first.
    pub(super) fn fail(&mut self, cause: Cause, tell: bool) {
        self.cause = Some(cause);
        self.end_ranks(tell);
    }

    pub(super) fn end_ranks(&mut self, tell: bool) {
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
        if tell && self.alive.contains(&true) {
            self.tell(Message::Signal(signal, 1));
        }
    }

    fn hint_at_other_mpi(&self) {
        if self.has_spoken || self.job.quiet || self.job.ranks() == 1 {
            return;
        }
        let linked = || self.apps.iter().find_map(|app| other_mpi::linked(app.path.as_ref()));
        if let Some(library) = self.other_mpi.clone().or_else(linked) {
            say(&other_mpi::hint(&library));
        }
    }

    /// What a rank does now, for people; says its calls if that was asked for.
    pub(super) fn doing(&self, rank: u32) -> String {
        let control = &self.segment.control;
        let state = control.state(rank);
        let calls = self.pids.get(rank as usize).copied().flatten().and_then(calls::of_rank);
        if self.job.stack_traces {
            match &calls {
                Some(calls) => {
                    say(&format!("rank {rank} is in"));
                    let numbered = calls.functions.iter().enumerate();
                    numbered.for_each(|(number, function)| say(&format!("  #{number} {function}")));
                }
                None => say(&format!("the system does not let mpirun look at rank {rank}")),
            }
        }
        let waits = control.slept(rank).and_then(|(since_ns, last_ns)| {
            let now_ns = opal_core::sys::monotonic_ns();
            let is_asleep = now_ns.saturating_sub(last_ns) < ASLEEP_NS;
            is_asleep.then(|| now_ns.saturating_sub(since_ns) / 1_000_000_000)
        });
        let is_outside = calls.as_ref().is_some_and(Calls::is_outside);
        let call = calls.and_then(|calls| calls.mpi.clone().or_else(|| calls.rust()));
        match (call, state, waits) {
            (Some(call), _, Some(seconds)) => format!("in {call}, where nothing has happened for {seconds} s"),
            (Some(call), _, None) => format!("in {call}"),
            (None, RankState::Initialized, _) if is_outside => "not in a call of MPI".to_owned(),
            (_, RankState::Initialized, Some(seconds)) => format!("in MPI, where nothing has happened for {seconds} s"),
            (_, state, _) => state.words().to_owned(),
        }
    }

    /// Of a stall one line a rank.
    pub(super) fn look_for_stall(&mut self) {
        let ranks: Vec<u32> = (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]).collect();
        let slept = ranks.iter().map(|rank| self.segment.control.slept(*rank));
        if !self.stall.is_new(slept) {
            return;
        }
        say(&format!(
            "all ranks that run have waited in MPI for {} s (--stall-report): a deadlock, or damaged memory",
            self.job.stall_s
        ));
        for rank in ranks {
            let pid = self.pids[rank as usize].unwrap_or_default();
            say(&format!("  rank {rank} (process {pid}) {}", self.doing(rank)));
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
            cause.rank() != Some(rank) && self.segment.control.state(rank) != RankState::Aborted
        };
        self.alive.iter().enumerate().filter(|(_, alive)| **alive).filter(runs).count()
    }

    /// Has everything killed that is left.
    pub(super) fn finish(&mut self) {
        if !matches!(self.phase, Phase::Running | Phase::Lingering(_) | Phase::Ending(_)) {
            return;
        }
        self.measures.killed = self.cause.as_ref().map_or(0, |cause| self.others(cause));
        self.phase = Phase::Clearing(Instant::now() + CLEARING);
        self.fan.close();
        self.tell(Message::Finish);
    }

    pub(super) fn keeper_is_gone(&mut self) {
        let status = self.keeper_status();
        if !matches!(self.phase, Phase::Clearing(_)) || status != 0 {
            self.cause.get_or_insert(Cause::KeeperLost(status));
        }
        // Its orphans are this process's now.
        for process in tree::clear(&self.strangers, |_, _| {}) {
            say(&format!("process {} did not end although it was killed; it hangs inside the system", process.pid));
        }
        self.fan.close();
        self.streams.last_call();
        self.phase = Phase::Draining;
    }

    /// The wait status of the keeper, whose end of the socket is closed. A process may hang while it ends; then it is
    /// killed and left to the system.
    fn keeper_status(&mut self) -> i32 {
        let end = Instant::now() + LEAVING;
        while Instant::now() < end {
            match self.keeper.try_wait() {
                Ok(Some(status)) => return status.into_raw(),
                Ok(None) => opal_core::sys::nap_us(1000),
                Err(_) => break,
            }
        }
        let _ = self.keeper.kill();
        1 << 8
    }

    /// A stopped keeper neither hears nor reaps: it is told to go on, however often somebody stops it.
    pub(super) fn look_at_keeper(&mut self) {
        if self.phase == Phase::Draining || Instant::now() < self.next_check {
            return;
        }
        self.next_check = Instant::now() + TICK;
        if tree::is_stopped(self.keeper.id() as i32) {
            let _ = rustix::process::kill_process(Pid::from_child(&self.keeper), Signal::CONT);
            // Somebody may stop it again before it has done anything.
            if let Phase::Clearing(end) = self.phase {
                self.phase = Phase::Clearing(end.min(Instant::now() + IMPATIENT));
            }
        }
    }

    /// It did not end although it was told to. Its end of the socket closes, and what it left is cleared here.
    pub(super) fn kill_keeper(&mut self) {
        say(&format!("the keeper process ({}) does not answer and is killed", self.keeper.id()));
        let _ = self.keeper.kill();
        self.phase = Phase::Clearing(Instant::now() + CLEARING);
    }

    /// Without waiting: a stopped keeper takes nothing, and mpirun must not hang on that. A dead keeper is noticed by its
    /// closed end.
    pub(super) fn tell(&self, message: Message) {
        let _ = wire::send_now(&self.control, message);
    }

    pub(super) fn conclude(self) -> Result<u8, Refusal> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        self.hint_at_other_mpi();
        let lost = if self.streams.has_lost() { refusal::OWN } else { 0 };
        let Some(cause) = self.cause else { return Ok(lost) };
        let pid = |rank: u32| self.pids.get(rank as usize).copied().flatten();
        if !self.job.quiet {
            opal_core::sys::write_stderr(report::block(&cause, pid, self.measures).as_bytes());
        }
        Ok(cause.status())
    }
}

/// How long ranks have to end by themselves after a signal to mpirun: somebody asked for it, and they may have files to
/// write. MPICH's mpiexec waits for a second signal, Open MPI's kills after a second.
const GRACE_ASKED: Duration = Duration::from_secs(10);
/// The longest --grace: as good as for ever, and not so long that the clock cannot count it.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
/// And when the job ends for a reason of its own.
const GRACE: Duration = Duration::from_secs(1);
/// A rank that waits sleeps again after a fraction of this.
const ASLEEP_NS: u64 = 200_000_000;
/// How long ranks may go on after another one was done with MPI and then failed.
const LINGER: Duration = Duration::from_millis(100);
/// How long the keeper may take to kill what is left: longer than it tries to.
const CLEARING: Duration = Duration::from_secs(12);
/// How long the keeper's process may take to vanish after it closed everything.
const LEAVING: Duration = Duration::from_secs(2);
