//! Activity of each rank when `--timeout` has passed or a job stands still. Ranks of other hosts are looked at by their daemons, those of
//! further jobs by their mpiruns, which are asked and have some time to answer.

use super::known::{Inquiry, Purpose};
use super::stall::LOOK;
use super::{Phase, Running};
use crate::doing::{self, Doing};
use crate::outcome::Cause;
use crate::refusal::say;
use crate::{cycle, report, status};
use opal_core::framework::btl::ProcessName;
use orte_core::framework::ess::Needed;
use orte_core::job::number_of;
use orte_core::oob::Frame;
use std::time::{Duration, Instant};

impl Running {
    /// Looks at all ranks; on one host at once.
    pub(super) fn inquire(&mut self, purpose: Purpose) {
        self.known.doing.fill(None);
        self.known.with_functions = match purpose {
            Purpose::Timeout => self.job.stack_traces,
            Purpose::Answer => self.known.with_functions,
            Purpose::Stall | Purpose::StallOfJobs | Purpose::Signal => false,
        };
        let with_functions = self.known.with_functions;
        self.tell_elsewhere(&Frame::Ask(if with_functions { 2 } else { 1 }));
        self.universe.ask_jobs(with_functions);
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
        let may_wait = matches!(self.phase, Phase::Running | Phase::Draining);
        if may_wait && is_incomplete && Instant::now() < inquiry.until {
            return;
        }
        self.inquiry = None;
        let states: Vec<(u32, Doing)> = running.into_iter().map(|rank| (rank, self.doing(rank))).collect();
        let lines: Vec<String> = states.iter().flat_map(|(rank, doing)| self.lines(*rank, doing)).collect();
        if std::mem::take(&mut self.known.is_asked_by_root) {
            let waits = states.iter().filter_map(|(rank, doing)| Some((*rank, self.awaited(doing)?))).collect();
            self.universe.say_status(joined(&lines), waits);
        }
        let lines: Vec<String> =
            lines.into_iter().chain(self.universe.jobs_said()).chain(self.cycles(&states)).collect();
        std::mem::take(&mut self.known.askers).into_iter().for_each(|asker| status::answer(asker, &joined(&lines)));
        self.known.with_functions = false;
        if self.phase != Phase::Running && !matches!(inquiry.purpose, Purpose::Signal) {
            // A rank failed meanwhile.
            return;
        }
        self.conclude_inquiry(inquiry.purpose, states, &lines);
    }

    fn conclude_inquiry(&mut self, purpose: Purpose, states: Vec<(u32, Doing)>, lines: &[String]) {
        let say_lines = || lines.iter().for_each(|line| say(line));
        let waited = format!("have waited in MPI for {} s (--stall-report)", self.job.stall_s);
        match purpose {
            Purpose::Answer => {}
            Purpose::Timeout => {
                // What the ranks of this job do stands in the message about its end.
                let own = states.iter().map(|(rank, doing)| self.line(*rank, &doing.text)).collect::<Vec<_>>();
                lines.iter().filter(|line| !own.contains(line)).for_each(|line| say(line));
                let states = states.into_iter().map(|(rank, doing)| (rank, doing.text)).collect();
                let limit = self.job.timeout.unwrap_or_default();
                self.fail(Cause::TimedOut(limit, states, self.universe.running_jobs()), true);
            }
            // A server waits for its clients.
            Purpose::Stall if states.iter().any(|(_, doing)| doing.needed == Needed::Caller) => {}
            // Others may end it, whom the root of the universe knows.
            Purpose::Stall if states.iter().any(|(_, doing)| doing.needed.is_beyond_job()) => self.note_stall(true),
            Purpose::Stall => {
                let is_broken = states.iter().any(|(_, doing)| doing.needed == Needed::Path);
                let why = if is_broken { BROKEN } else { "a deadlock, or damaged memory" };
                say(&format!("all ranks that run {waited}: {why}"));
                say_lines();
                // Other jobs may wait for them.
                self.note_stall(true);
            }
            Purpose::StallOfJobs => {
                let Some((jobs, is_known)) = self.known.stalled.take() else { return };
                if !self.universe.is_stalled(&jobs, is_known) {
                    return;
                }
                let numbers: Vec<u32> = jobs.iter().map(|job| number_of(*job)).collect();
                let of = format!("all ranks that run of {}", report::jobs(&numbers));
                say(&match is_known {
                    true => format!("{of} {waited}: a deadlock, or damaged memory"),
                    false => format!(
                        "{of} {waited}, also for processes of jobs of other launchers: whether those go on is not known here"
                    ),
                });
                say_lines();
            }
            Purpose::Signal => {
                say("what the ranks do (SIGUSR2):");
                say_lines();
            }
        }
    }

    /// The process without which a wait does not end.
    fn awaited(&self, doing: &Doing) -> Option<ProcessName> {
        match doing.needed {
            Needed::Rank(rank) => Some(ProcessName { job: self.job_number, rank }),
            Needed::OfOtherJob(name) => Some(name),
            Needed::SomeOfJob | Needed::SomeOfOtherJobs | Needed::Path | Needed::Caller => None,
        }
    }

    /// A line for each, through the jobs that this mpirun knows.
    fn cycles(&self, states: &[(u32, Doing)]) -> Vec<String> {
        let own = |rank: u32| ProcessName { job: self.job_number, rank };
        let waits = states.iter().filter_map(|(rank, doing)| Some((own(*rank), self.awaited(doing)?)));
        let waits: Vec<_> = waits.chain(self.universe.jobs_wait()).collect();
        let words = |cycle: &Vec<ProcessName>| format!("  a cycle: {}", cycle::words(cycle, self.job_number));
        cycle::find(&waits).iter().map(words).collect()
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

    /// What a rank does, and the functions that its threads are in, if that was asked for.
    fn lines(&self, rank: u32, doing: &Doing) -> Vec<String> {
        let mut lines = vec![self.line(rank, &doing.text)];
        match &doing.functions {
            _ if !self.known.with_functions => {}
            Some(functions) if functions.is_empty() => {}
            Some(functions) => {
                lines.push(format!("  rank {rank} is in"));
                lines.extend(functions.iter().map(|line| format!("    {line}")));
            }
            None => lines.push(format!("  the system does not let mpirun look at rank {rank}")),
        }
        lines
    }

    fn line(&self, rank: u32, text: &str) -> String {
        let process = self.pids[rank as usize].map_or("no process yet".to_owned(), |pid| format!("process {pid}"));
        let host = match self.node_of(rank) {
            0 => String::new(),
            node => format!(" on {}", self.job.names[node as usize]),
        };
        format!("  rank {rank} ({process}{host}) {text}")
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
            needed: Needed::default(),
            functions: Some(Vec::new()),
        })
    }

    /// Of a stall one line a rank.
    pub(super) fn look_for_stall(&mut self) {
        if self.inquiry.is_some() {
            return;
        }
        if self.known.stalled.is_some() {
            return self.inquire(Purpose::StallOfJobs);
        }
        if self.stall.is_due() {
            self.look_at_waits();
        }
    }

    fn look_at_waits(&mut self) {
        let running = || (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]);
        let is_still =
            running().filter(|rank| self.node_of(*rank) == 0).all(|rank| self.stall.is_long(self.waits(rank)));
        if is_still && running().any(|rank| self.node_of(rank) != 0) {
            self.tell_elsewhere(&Frame::Ask(0));
        }
        let running = || (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]);
        let waits: Vec<_> = running().map(|rank| self.waits(rank)).collect();
        match self.stall.is_new(&waits) {
            true => self.inquire(Purpose::Stall),
            // Somebody goes on.
            false if self.stall.is_noted && !waits.iter().all(|waits| self.stall.is_long(*waits)) => {
                self.note_stall(false)
            }
            false => {}
        }
    }

    /// Tells the root of the universe that all ranks wait, also for those of other jobs, or that they go on.
    pub(super) fn note_stall(&mut self, waits: bool) {
        if self.stall.is_noted && waits {
            // They have gone on in between.
            self.universe.note_stall(self.job_number, false);
        }
        self.stall.is_noted = waits;
        self.universe.note_stall(self.job_number, waits);
    }

    /// Before the root is answered: whether what it was told still holds.
    pub(super) fn look_whether_stalled(&mut self) {
        if self.stall.is_noted {
            self.look_at_waits();
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

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| line.to_owned() + "\n").collect()
}

const BROKEN: &str = "a connection between hosts broke, and is made again";
/// How long the daemons may take: a process in each rank's place is stopped for a moment. Mpiruns of further jobs have daemons, too.
const PATIENCE: Duration = Duration::from_secs(3);
