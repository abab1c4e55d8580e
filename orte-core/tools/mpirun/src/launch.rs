//! A job from its segment to its exit status.

use crate::cli::{Job, Stdin};
use crate::files::Files;
use crate::keeper::{self, ARGUMENT, Orders};
use crate::outcome::{self, Cause};
use crate::refusal::{Refusal, say};
use crate::report::{self, Measures};
use crate::segment::{self, Segment};
use crate::stdin::{self, Fan};
use crate::stdio::{Interest, Stream, Streams};
use crate::tree::Process;
use crate::wire::{self, Message, Received};
use crate::{prepare, program, raw, signals, tree};
use orte_core::segment::RankState;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Runs a job; mpirun's exit status.
pub fn run(job: Job) -> Result<u8, Refusal> {
    let apps = prepare::apps(&job)?;
    if !job.quiet {
        job.notes.iter().for_each(|note| say(note));
    }
    let mut running = Running::start(job, apps)?;
    running.watch()?;
    running.conclude()
}

/// How far the job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Ranks run.
    Running,
    /// A rank that was done with MPI failed: at this time the others are asked to end, if they have not until then.
    Lingering(Instant),
    /// Something went wrong: ranks were asked to end, and are killed at this time.
    Ending(Instant),
    /// The keeper was told to kill whatever is left and to end.
    Clearing,
    /// No process is left; output is still being written.
    Draining,
}

struct Running {
    job: Job,
    apps: Vec<keeper::App>,
    segment: Segment,
    control: OwnedFd,
    signals: OwnedFd,
    keeper: Child,
    /// Children that this process had before it became mpirun (`sleep 9 & exec mpirun …`): none of its business.
    strangers: Vec<Process>,
    streams: Streams,
    fan: Fan,
    files: Option<Files>,
    pids: Vec<Option<u32>>,
    /// Which ranks have not ended.
    alive: Vec<bool>,
    phase: Phase,
    cause: Option<Cause>,
    refusal: Option<Refusal>,
    measures: Measures,
    deadline: Option<Instant>,
}

/// Who was waited for among streams and readers of standard input, and the answers of all, signals and keeper first.
type Answers = (Vec<Interest>, Vec<stdin::Interest>, Vec<PollFlags>);

impl Running {
    fn start(job: Job, apps: Vec<keeper::App>) -> Result<Running, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::system("starting the keeper process", error);
        let ranks = job.ranks();
        let bindings = job.binding.sets()?;
        let files = job.output.directory.as_deref().map(|directory| Files::new(directory, ranks)).transpose()?;
        let limit = prepare::raise_descriptor_limit();
        let strangers = tree::below(&[]);
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|errno| failed(&errno))?;
        let handled = signals::handled();
        let signals = raw::signal_descriptor(&handled).map_err(|error| failed(&error))?;
        let segment = segment::create(ranks, |rank| job.app_of(rank) as u32)?;
        let (control, keeper_end) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|errno| failed(&errno))?;
        if job.report_bindings {
            job.binding.report(ranks, &bindings).iter().for_each(|line| say(line));
        }
        let inherit = [raw::number(&keeper_end), raw::number(&segment.descriptor)];
        let orders = Orders {
            control: inherit[0],
            segment: inherit[1],
            job: segment.control.layout().job,
            universe: ranks.max(opal_core::sys::cores() as u32),
            bindings,
            stdin: job.stdin,
            apps: apps.clone(),
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("mpirun").arg(ARGUMENT).args(orders.encode()).envs(prepare::environment(&job));
        let keeper = raw::spawn_keeper(&mut command, inherit, handled, limit).map_err(|error| failed(&error))?;
        let deadline = job.timeout_s.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
        Ok(Running {
            streams: Streams::new(ranks, &job.output),
            fan: Fan::new(if job.stdin == Stdin::All { ranks as usize } else { 0 }),
            files,
            pids: vec![None; ranks as usize],
            alive: vec![true; ranks as usize],
            phase: Phase::Running,
            cause: None,
            refusal: None,
            measures: Measures::default(),
            job,
            apps,
            segment,
            control,
            signals,
            keeper,
            strangers,
            deadline,
        })
    }

    /// Until no process is left and all output is written.
    fn watch(&mut self) -> Result<(), Refusal> {
        while self.phase != Phase::Draining || !self.streams.is_done() {
            let (interests, readers, ready) = match self.wait() {
                Ok(answers) => answers,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(Refusal::system("waiting for the ranks", errno)),
            };
            let (own, others) = ready.split_at(2);
            let (streams, fan) = others.split_at(interests.len());
            if !own[0].is_empty() && !self.hear_signals() {
                return Ok(());
            }
            self.streams.pump(&interests, streams);
            self.fan.pump(&readers, fan);
            if !own[1].is_empty() && self.phase != Phase::Draining {
                self.hear_keeper()?;
            }
            self.look_at_clock();
        }
        Ok(())
    }

    /// Sleeps until something happens: the answers for signals, keeper, streams and readers of standard input.
    fn wait(&self) -> Result<Answers, Errno> {
        // Of a keeper that is gone nothing more is heard; its slot waits for signals a second time.
        let keeper = if self.phase == Phase::Draining { &self.signals } else { &self.control };
        let mut polls = vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(keeper, PollFlags::IN)];
        let interests = self.streams.interests(&mut polls);
        let readers = self.fan.interests(&mut polls);
        let timeout = self
            .timeout()
            .map(|timeout| Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) });
        rustix::event::poll(&mut polls, timeout.as_ref())?;
        Ok((interests, readers, polls.iter().map(PollFd::revents).collect()))
    }

    fn timeout(&self) -> Option<Duration> {
        let until = |time: Instant| time.saturating_duration_since(Instant::now());
        let own = match self.phase {
            Phase::Running => Some(self.deadline.map_or(TICK, |deadline| until(deadline).min(TICK))),
            Phase::Lingering(time) | Phase::Ending(time) => Some(until(time)),
            Phase::Clearing | Phase::Draining => None,
        };
        own.into_iter().chain(self.streams.next_prompt().map(until)).min()
    }

    fn look_at_clock(&mut self) {
        self.streams.pass_prompts(Instant::now());
        match self.phase {
            Phase::Running if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                let seconds = self.job.timeout_s.unwrap_or_default();
                let alive = (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]);
                let states = alive.map(|rank| (rank, self.segment.control.state(rank))).collect();
                self.fail(Cause::TimedOut(seconds, states), true);
            }
            // A shell may stand between this rank and its end: do not wait for the shell.
            Phase::Running if self.segment.control.aborts() > 0 => {
                if let Some(cause) = self.first_abort() {
                    self.fail(cause, true);
                }
            }
            Phase::Lingering(end) if Instant::now() >= end => self.end_ranks(true),
            Phase::Ending(kill) if Instant::now() >= kill => self.finish(),
            _ => {}
        }
    }

    /// False if mpirun is to end at once: its processes are gone and somebody is tired of waiting for the output.
    fn hear_signals(&mut self) -> bool {
        while let Some((signal, from_terminal)) = raw::next_signal(&self.signals) {
            if signals::PASSED_ON.contains(&signal) {
                self.tell(Message::Signal(signal as u32, 0));
                continue;
            }
            if signals::STOPPING.contains(&signal) {
                self.stop_or_go_on(signal);
                continue;
            }
            match self.phase {
                // The terminal has signalled the ranks as well, which are in the same process group.
                Phase::Running => self.fail(Cause::Interrupted(signal), !from_terminal),
                Phase::Lingering(_) | Phase::Ending(_) => self.finish(),
                Phase::Clearing => {}
                Phase::Draining => {
                    self.cause.get_or_insert(Cause::Interrupted(signal));
                    return false;
                }
            }
        }
        true
    }

    /// SIGSTOP for the ranks, because SIGTSTP does nothing to processes of which no shell takes care.
    fn stop_or_go_on(&mut self, signal: i32) {
        match signal {
            libc::SIGTSTP => {
                self.tell(Message::Signal(libc::SIGSTOP as u32, 1));
                raw::stop();
            }
            _ => self.tell(Message::Signal(signal as u32, 1)),
        }
    }

    fn hear_keeper(&mut self) -> Result<(), Refusal> {
        loop {
            match wire::receive(&self.control).map_err(|error| Refusal::system("hearing the keeper process", error))? {
                Received::Message(Message::Started(rank, pid), descriptors) => self.started(rank, pid, descriptors)?,
                Received::Message(Message::NotStarted(rank, errno), _) => {
                    let path = PathBuf::from(&self.apps[self.job.app_of(rank)].path);
                    self.refusal = Some(program::not_started(&path, errno as i32));
                    self.finish();
                }
                Received::Message(Message::Ended(rank, status), _) => self.ended(rank, status as i32),
                Received::Message(..) => return Err(Refusal::system("hearing the keeper process", "wrong message")),
                Received::Closed => {
                    self.keeper_is_gone();
                    return Ok(());
                }
                Received::Nothing => return Ok(()),
            }
        }
    }

    fn started(&mut self, rank: u32, pid: u32, descriptors: Vec<OwnedFd>) -> Result<(), Refusal> {
        let failed =
            |error: &dyn std::fmt::Display| Refusal::system(&format!("reading the output of rank {rank}"), error);
        let slot = self.pids.get_mut(rank as usize).ok_or_else(|| failed(&"there is no such rank"))?;
        *slot = Some(pid);
        if self.job.verbose {
            let app = &self.apps[self.job.app_of(rank)];
            say(&format!("rank {rank} is process {pid}: {}", app.path.display()));
        }
        // Fewer arrive if this process has no descriptors left.
        let mut descriptors = descriptors.into_iter();
        let mut next =
            || descriptors.next().ok_or_else(|| failed(&"too many open files; raise the limit with ulimit -n"));
        let (output, error) = (next()?, next()?);
        if self.job.stdin == Stdin::All {
            let input = next()?;
            self.fan.add(input).map_err(|errno| failed(&errno))?;
        }
        let [output_file, error_file] = match &self.files {
            Some(files) => files.create(rank)?.map(Some),
            None => [None, None],
        };
        self.streams.add(rank, Stream::Output, output, output_file).map_err(|errno| failed(&errno))?;
        self.streams.add(rank, Stream::Error, error, error_file).map_err(|errno| failed(&errno))
    }

    fn ended(&mut self, rank: u32, wait_status: i32) {
        let control = &self.segment.control;
        let cause = Cause::of_end(rank, wait_status, control.state(rank), control.aborted(rank));
        if self.job.verbose {
            say(&format!("rank {rank} ended with {}", outcome::words(wait_status)));
        }
        let finalized = control.state(rank) == RankState::Finalized;
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

    fn first_abort(&self) -> Option<Cause> {
        let control = &self.segment.control;
        (0..self.job.ranks()).find_map(|rank| {
            let (status, message) = control.aborted(rank)?;
            Some(Cause::Abort(rank, status, message))
        })
    }

    /// Ends the job for this reason: asks the remaining ranks first.
    fn fail(&mut self, cause: Cause, tell: bool) {
        self.cause = Some(cause);
        self.end_ranks(tell);
    }

    fn end_ranks(&mut self, tell: bool) {
        let Some(cause) = &self.cause else { return };
        let signal = cause.signal() as u32;
        self.measures.running = self.others(cause);
        self.phase = Phase::Ending(Instant::now() + GRACE);
        if tell && self.alive.contains(&true) {
            self.tell(Message::Signal(signal, 1));
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
    fn finish(&mut self) {
        if !matches!(self.phase, Phase::Running | Phase::Lingering(_) | Phase::Ending(_)) {
            return;
        }
        self.measures.killed = self.cause.as_ref().map_or(0, |cause| self.others(cause));
        self.phase = Phase::Clearing;
        self.fan.close();
        self.tell(Message::Finish);
    }

    fn keeper_is_gone(&mut self) {
        let status = self.keeper.wait().map_or(1 << 8, |status| status.into_raw());
        if self.phase != Phase::Clearing || status != 0 {
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

    fn tell(&self, message: Message) {
        // A dead keeper is noticed by its closed end.
        let _ = wire::send(&self.control, message, &[]);
    }

    fn conclude(self) -> Result<u8, Refusal> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let Some(cause) = self.cause else { return Ok(0) };
        let pid = |rank: u32| self.pids.get(rank as usize).copied().flatten();
        if !self.job.quiet {
            opal_core::sys::write_stderr(report::block(&cause, pid, self.measures).as_bytes());
        }
        Ok(cause.status())
    }
}

/// How long ranks have to end by themselves.
const GRACE: Duration = Duration::from_secs(1);
/// How long ranks may go on after another one was done with MPI and then failed.
const LINGER: Duration = Duration::from_millis(100);
/// How often to look whether a rank called abort.
const TICK: Duration = Duration::from_millis(250);
