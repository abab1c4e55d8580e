//! Activity of each rank when `--timeout` has passed or a job stands still. Ranks of other hosts are looked at by their daemons, those of
//! further jobs by their mpiruns, which are asked and have some time to answer.

use super::known::{Inquiry, Purpose};
use super::stall::LOOK;
use super::{Phase, Running};
use crate::doing::{self, Doing};
use crate::outcome::Cause;
use crate::refusal::say;
use crate::{cycle, status};
use orte_core::oob::Frame;
use std::time::{Duration, Instant};

impl Running {
    /// Looks at all ranks; on one host at once.
    pub(super) fn inquire(&mut self, purpose: Purpose) {
        self.known.doing.fill(None);
        let with_functions = purpose == Purpose::Timeout && self.job.stack_traces;
        self.tell_elsewhere(&Frame::Ask(if with_functions { 2 } else { 1 }));
        self.universe.ask_jobs();
        let patience = if self.universe.awaits_jobs() { PATIENCE + PATIENCE / 2 } else { PATIENCE };
        self.inquiry = Some(Inquiry { purpose, until: Instant::now() + patience });
        self.look_at_inquiry();
    }

    /// Daemons were asked because `--timeout` has passed.
    pub(super) fn ends_by_timeout(&self) -> bool {
        self.inquiry.is_some_and(|inquiry| inquiry.purpose == Purpose::Timeout)
    }

    /// Whether all have answered.
    pub(super) fn look_at_inquiry(&mut self) {
        let Some(inquiry) = self.inquiry else { return };
        let running: Vec<u32> = (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]).collect();
        let is_missing = |rank: &u32| self.node_of(*rank) != 0 && self.known.doing[*rank as usize].is_none();
        let is_incomplete = running.iter().any(is_missing) || self.universe.awaits_jobs();
        if self.phase == Phase::Running && is_incomplete && Instant::now() < inquiry.until {
            return;
        }
        self.inquiry = None;
        let states: Vec<(u32, Doing)> = running.into_iter().map(|rank| (rank, self.doing(rank))).collect();
        let awaits: Vec<(u32, Option<u32>)> = states.iter().map(|(rank, doing)| (*rank, doing.awaits)).collect();
        let cycle = cycle::find(&awaits).map(|cycle| format!("a cycle: {}", cycle::words(&cycle)));
        let mut lines: Vec<String> = states.iter().map(|(rank, doing)| self.line(*rank, &doing.text)).collect();
        lines.extend(cycle.iter().map(|cycle| format!("  {cycle}")));
        let of_jobs = self.universe.jobs_said();
        lines.extend(of_jobs.iter().cloned());
        let answer = lines.iter().map(|line| line.to_owned() + "\n").collect::<String>();
        std::mem::take(&mut self.known.askers).into_iter().for_each(|asker| status::answer(asker, &answer));
        if std::mem::take(&mut self.known.is_asked_by_root) {
            self.universe.say_status(answer);
        }
        match inquiry.purpose {
            Purpose::Answer => {}
            // A rank failed meanwhile.
            _ if self.phase != Phase::Running => {}
            Purpose::Timeout => {
                states.iter().for_each(|(rank, doing)| self.say_functions(*rank, doing));
                cycle.iter().for_each(|cycle| say(cycle));
                of_jobs.iter().for_each(|line| say(line));
                let states = states.into_iter().map(|(rank, doing)| (rank, doing.text)).collect();
                self.fail(Cause::TimedOut(self.job.timeout.unwrap_or_default(), states), true);
            }
            Purpose::Stall => {
                states.iter().for_each(|(rank, doing)| self.say_functions(*rank, doing));
                say(&format!(
                    "all ranks that run have waited in MPI for {} s (--stall-report): a deadlock, or damaged memory",
                    self.job.stall_s
                ));
                lines.iter().for_each(|line| say(line));
            }
            Purpose::Signal => {
                say("what the ranks do (SIGUSR2):");
                lines.iter().for_each(|line| say(line));
            }
        }
    }

    /// SIGUSR2 came from this process. Whether it is a question: not where the program takes the signal itself.
    pub(super) fn is_asked(&mut self, sender: u32) -> bool {
        let asker = status::asker(sender);
        let is_answer = asker.is_some();
        if !is_answer && self.pids.iter().flatten().any(|pid| status::takes_usr2(*pid)) {
            return false;
        }
        self.known.askers.extend(asker);
        // Who asks meanwhile gets the same answer.
        if self.inquiry.is_none() {
            self.inquire(if is_answer { Purpose::Answer } else { Purpose::Signal });
        }
        true
    }

    fn line(&self, rank: u32, text: &str) -> String {
        let pid = self.pids[rank as usize].unwrap_or_default();
        let host = match self.node_of(rank) {
            0 => String::new(),
            node => format!(" on {}", self.job.names[node as usize]),
        };
        format!("  rank {rank} (process {pid}{host}) {text}")
    }

    /// What a rank does now.
    fn doing(&self, rank: u32) -> Doing {
        let doing = match &self.here {
            Some(here) if self.node_of(rank) == 0 => {
                Some(doing::of_rank(here, rank, self.pids.get(rank as usize).copied().flatten()))
            }
            _ => self.known.doing[rank as usize].clone(),
        };
        doing.unwrap_or_else(|| Doing {
            text: format!("{} (its host did not answer)", self.state(rank).words()),
            awaits: None,
            functions: Some(Vec::new()),
        })
    }

    /// The functions that a rank is in, if that was asked for.
    fn say_functions(&self, rank: u32, doing: &Doing) {
        match &doing.functions {
            _ if !self.job.stack_traces => {}
            Some(functions) if functions.is_empty() => {}
            Some(functions) => {
                say(&format!("rank {rank} is in"));
                let numbered = functions.iter().enumerate();
                numbered.for_each(|(number, function)| say(&format!("  #{number} {function}")));
            }
            None => say(&format!("the system does not let mpirun look at rank {rank}")),
        }
    }

    /// Of a stall one line a rank.
    pub(super) fn look_for_stall(&mut self) {
        if self.inquiry.is_some() || !self.stall.is_due() {
            return;
        }
        let running = || (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]);
        let is_still =
            running().filter(|rank| self.node_of(*rank) == 0).all(|rank| self.stall.is_long(self.waits(rank)));
        if is_still && running().any(|rank| self.node_of(rank) != 0) {
            self.tell_elsewhere(&Frame::Ask(0));
        }
        let running = || (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]);
        let waits: Vec<_> = running().map(|rank| self.waits(rank)).collect();
        if self.stall.is_new(&waits) {
            self.inquire(Purpose::Stall);
        }
    }

    /// Since when a rank has waited in vain, and for how long.
    fn waits(&self, rank: u32) -> Option<(u64, u64)> {
        match &self.here {
            Some(here) if self.node_of(rank) == 0 => doing::waits(here, rank, self.pids[rank as usize]),
            _ => {
                let (since_ns, waited_ns, at) = self.known.waits[rank as usize]?;
                (at.elapsed() < LOOK * 5 / 2).then_some((since_ns, waited_ns))
            }
        }
    }
}

/// How long the daemons may take: a process in each rank's place is stopped for a moment. Mpiruns of further jobs have daemons, too.
const PATIENCE: Duration = Duration::from_secs(3);
