//! What further jobs mean for this one, and what the mpirun that had this one started means.

use super::known::Purpose;
use super::{Phase, Running};
use crate::outcome::Cause;
use crate::refusal::say;
use crate::universe::UniverseEvent;
use crate::wire::Message;
use crate::{raw, report, signals};
use orte_core::oob::Frame;
use orte_core::universe::EndRequest;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::time::{Duration, Instant};

impl Running {
    /// Hears ranks that ask for something, further jobs, and the mpirun that had this job started.
    pub(super) fn hear_universe(&mut self) {
        for event in self.universe.pump() {
            let cause = match event {
                UniverseEvent::End(end) => {
                    self.end_some(end);
                    self.universe.say_done();
                    continue;
                }
                UniverseEvent::Stalled(jobs, is_known) => {
                    self.known.stalled = Some((jobs, is_known)).filter(|_| self.job.stall_s > 0);
                    continue;
                }
                UniverseEvent::Asked(with_functions) => {
                    self.look_whether_stalled();
                    self.known.is_asked_by_root = true;
                    self.known.with_functions |= with_functions && self.inquiry.is_none();
                    // Who asks meanwhile gets the same answer.
                    if self.inquiry.is_none() {
                        self.inquire(Purpose::Answer);
                    }
                    continue;
                }
                UniverseEvent::JobFailed(number, status) if self.job.keep_going => {
                    let cause = Cause::JobFailed(number, status);
                    match self.cause {
                        Some(_) => self.also.push(cause),
                        None => self.cause = Some(cause),
                    }
                    continue;
                }
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

    /// Some ranks end, and the others go on: it is not the job's end, but mpirun's status and message tell of it.
    fn end_some(&mut self, end: EndRequest) {
        let own = self.job_number;
        let is_own = |job: &u64| own == *job;
        let listed = end.processes.iter().filter(|(job, _)| is_own(job)).flat_map(|(_, ranks)| ranks);
        let ranks: Vec<u32> = listed.copied().filter(|rank| self.alive.get(*rank as usize) == Some(&true)).collect();
        let by = is_own(&end.by.0).then_some(end.by.1).filter(|rank| *rank < self.job.ranks());
        let Some(first) = by.or(ranks.first().copied()) else { return };
        let cause = Cause::Abort(first, end.status, end.message);
        match self.cause {
            Some(_) => self.also.push(cause),
            None => self.cause = Some(cause),
        }
        let kill = Instant::now() + GRACE;
        for rank in by.into_iter().chain(ranks) {
            self.ending.insert(rank, kill);
            if by != Some(rank) {
                self.end_rank(rank, libc::SIGTERM);
            }
        }
    }

    /// Ranks that were to end, and have not.
    pub(super) fn look_at_ending(&mut self) {
        let now = Instant::now();
        let late: Vec<u32> = self.ending.iter().filter(|(_, kill)| **kill <= now).map(|(rank, _)| *rank).collect();
        for rank in late {
            self.ending.insert(rank, now + GRACE);
            if self.alive[rank as usize] {
                self.end_rank(rank, libc::SIGKILL);
            }
        }
    }

    fn end_rank(&mut self, rank: u32, signal: i32) {
        match self.node_of(rank) {
            0 => self.tell(Message::End(rank, signal as u32)),
            node => self.tell_host(node, &Frame::End(rank, signal as u32)),
        }
    }

    /// Once all ranks have ended, and all further jobs, the job is over.
    pub(super) fn finish_if_all_ended(&mut self) {
        // Ranks that lost a peer may have lost one of a further job, which tells how that ended.
        let waits_for_jobs = matches!(self.phase, Phase::Running | Phase::Seeking(_)) && self.universe.has_jobs();
        match self.alive.contains(&true) {
            true => {}
            false if !waits_for_jobs => self.finish(),
            // None of them ends the wait of those of further jobs.
            false if !self.stall.is_noted => self.note_stall(true),
            false => {}
        }
    }
}

impl Running {
    /// The job has ended by a failure. Jobs that have parted from it go on, and this process serves them until they have ended, somebody
    /// is tired of waiting, or `--timeout` has passed.
    pub(super) fn outlast(&mut self) {
        let jobs = self.universe.running_jobs();
        if !jobs.is_empty() && !self.job.quiet {
            let go_on = if jobs.len() == 1 { "goes on: it has" } else { "go on: they have" };
            say(&format!("{} {go_on} parted from the job that ended (MPI_Comm_disconnect)", report::jobs(&jobs)));
        }
        while !self.universe.running_jobs().is_empty() && !self.is_late() {
            let mut polls = vec![PollFd::new(&self.signals, PollFlags::IN)];
            self.universe.interests(&mut polls);
            let tick = Timespec { tv_sec: 1, tv_nsec: 0 };
            // Interrupted or not, everything is looked at again.
            let _ = rustix::event::poll(&mut polls, Some(&tick));
            while let Some((signal, _, sender)) = raw::next_signal(&self.signals) {
                match signal {
                    libc::SIGUSR2 if self.is_asked(sender) => {}
                    _ if signals::PASSED_ON.contains(&signal) || signals::STOPPING.contains(&signal) => {}
                    _ => self.universe.end_jobs(),
                }
            }
            self.universe.pump();
            self.look_at_inquiry();
        }
        let late = self.universe.running_jobs();
        if !late.is_empty() && !self.job.quiet {
            say(&format!("{} still ran when the time was over (--timeout)", report::jobs(&late)));
        }
    }
}

/// How long a rank may take that is to end while others go on.
const GRACE: Duration = Duration::from_secs(1);
