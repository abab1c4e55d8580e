//! A job from its start to mpirun's exit status: starts the keeper and the daemons of other hosts, then waits for what happens.

mod blame;
mod debugged;
mod elsewhere;
mod end;
mod inquiry;
mod known;
mod stall;
mod start;
mod told;
mod universe;

use crate::children::ChildInterest;
use crate::cli::{Job, Stdin};
use crate::files::Files;
use crate::here::{Here, RankEvent};
use crate::modex::Modex;
use crate::orders::Executable;
use crate::outcome::Cause;
use crate::refusal::{Refusal, say};
use crate::report::Measures;
use crate::stdin::{Fan, FanInterest};
use crate::stdio::{Interest, Streams};
use crate::tag::{Origin, Stream};
use crate::there::There;
use crate::universe::{Member, Universe};
use crate::{other_mpi, prepare, program, raw, signals};
use known::{Feed, Inquiry, Known, Purpose};
use orte_core::segment::RankState;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::Resource;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs a job; mpirun's exit status. `member` is the socket of a further job.
pub fn run(job: Job, member: Option<Member>) -> Result<u8, Refusal> {
    let mut universe = match member {
        Some(member) => Universe::Member(member),
        None => {
            let limit = rustix::process::getrlimit(Resource::Nofile);
            Universe::root(
                &prepare::environment_of_jobs(&job),
                limit,
                job.hosts.clone(),
                job.inherited.clone(),
                &job.mca,
            )?
        }
    };
    let apps = prepare::all_apps(&job).map_err(|refusal| universe.told(refusal))?;
    if !job.quiet {
        job.notes.iter().for_each(|note| say(note));
    }
    job.reports.iter().for_each(|line| say(line));
    if job.explain && job.names.len() > 1 {
        say(&There::explain(&job.names[1..], &job.mca, job.prefix.as_deref())?);
    }
    if job.do_not_launch {
        return Ok(0);
    }
    let mut running = Running::start(job, apps, universe)?;
    let watched = running.watch();
    if let Some(there) = &mut running.there {
        there.end();
    }
    watched?;
    running.conclude()
}

/// How far the job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Ranks run.
    Running,
    /// A rank that was done with MPI failed: at this time the others are asked to end, if they have not until then.
    Lingering(Instant),
    /// A rank failed because it had lost a peer: until this time news of that peer is awaited.
    Seeking(Instant),
    /// Something went wrong: ranks were asked to end, and are killed at this time.
    Ending(Instant),
    /// The keeper was told to kill whatever is left and to end; it is killed itself at this time.
    Clearing(Instant),
    /// No process is left; output is still being written.
    Draining,
}

struct Running {
    job: Job,
    apps: Vec<Executable>,
    /// The ranks of this host; none if all run elsewhere.
    here: Option<Here>,
    /// The other hosts, if there are any.
    there: Option<There>,
    /// What is known of ranks elsewhere.
    known: Known,
    /// The wire-up of a job over several hosts of which this one has no ranks.
    modex: Option<Modex>,
    /// Further jobs, or the mpirun that had this one started.
    universe: Universe,
    signals: OwnedFd,
    streams: Streams,
    /// Ranks get a pipe that MPI_Init puts in place of their terminal.
    has_next_output: bool,
    fan: Fan,
    feed: Feed,
    files: Option<Files>,
    pids: Vec<Option<u32>>,
    /// Which ranks have not ended.
    alive: Vec<bool>,
    /// Those that are to end, or have, while others go on; until when they may take.
    ending: BTreeMap<u32, Instant>,
    /// What tells the job from others.
    job_number: u64,
    phase: Phase,
    cause: Option<Cause>,
    /// With `--disable-auto-cleanup`: how other ranks failed after that.
    also: Vec<Cause>,
    /// A rank that ended well without MPI_Init.
    never_initialized: Option<u32>,
    refusal: Option<Refusal>,
    measures: Measures,
    deadline: Option<Instant>,
    stall: stall::Stall,
    inquiry: Option<Inquiry>,
    /// A rank has called MPI_Init.
    has_spoken: bool,
    /// Of each program: one of its ranks had called it when it ended.
    spoken: Vec<bool>,
    /// The library of another MPI that rank 0 was seen to have loaded.
    other_mpi: Option<String>,
    /// How often it was looked for, and when that is done again.
    looks: u32,
    next_look: Instant,
    /// When a launch counts as a long one.
    next_progress: Option<Instant>,
}

/// Who was waited for, and the answers of all in the same order: signals, keeper and wake_socket first.
struct Answers {
    streams: Vec<Interest>,
    readers: Vec<FanInterest>,
    hosts: Vec<ChildInterest>,
    feed: Vec<usize>,
    ready: Vec<PollFlags>,
}

impl Running {
    /// Until no process is left and all output is written.
    fn watch(&mut self) -> Result<(), Refusal> {
        let wired = match (&mut self.modex, &mut self.here) {
            (Some(modex), _) => modex.on_wake(),
            (None, Some(here)) => here.modex.as_mut().map_or(Ok(Vec::new()), Modex::on_wake),
            (None, None) => Ok(Vec::new()),
        };
        self.pass_on(wired);
        while self.phase != Phase::Draining || !self.streams.is_done() {
            let answers = match self.wait() {
                Ok(answers) => answers,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(Refusal::system("waiting for the ranks", errno)),
            };
            let (own, others) = answers.ready.split_at(OWN);
            let (streams, others) = others.split_at(answers.streams.len());
            let (fan, others) = others.split_at(answers.readers.len());
            let (hosts, others) = others.split_at(answers.hosts.len());
            let feed = &others[..answers.feed.len()];
            if !own[0].is_empty() && !self.hear_signals() {
                return Ok(());
            }
            self.streams.pump(&answers.streams, streams);
            self.fan.pump(&answers.readers, fan);
            if self.phase != Phase::Draining {
                if !own[1].is_empty() {
                    self.hear_keeper()?;
                }
                if !own[2].is_empty() {
                    self.hear_wake_socket();
                }
            }
            let events = self.there.as_mut().map_or_else(Vec::new, |there| there.pump(&answers.hosts, hosts));
            for event in events {
                self.hear_host(event)?;
            }
            for origin in self.streams.unread() {
                self.tell_unread(origin);
            }
            self.pump_elsewhere(&answers.feed, feed);
            self.hear_universe();
            self.look_at_clock();
            // Nobody reads what the ranks wrote.
            if self.phase == Phase::Draining && self.is_late() {
                let limit = self.job.timeout.unwrap_or_default();
                self.cause.get_or_insert(Cause::TimedOut(limit, Vec::new(), Vec::new()));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sleeps until something happens.
    fn wait(&self) -> Result<Answers, Errno> {
        let mut polls = vec![PollFd::new(&self.signals, PollFlags::IN)];
        // Of what is not there nothing is heard; its slot waits for signals once more.
        let [keeper, wake_socket] = self.here.as_ref().map_or([None, None], Here::descriptors);
        for descriptor in [keeper, wake_socket] {
            polls.push(match descriptor {
                Some(descriptor) => PollFd::from_borrowed_fd(descriptor, PollFlags::IN),
                None => PollFd::new(&self.signals, PollFlags::IN),
            });
        }
        let streams = self.streams.interests(&mut polls);
        let readers = self.fan.interests(&mut polls);
        let hosts = self.there.as_ref().map_or_else(Vec::new, |there| there.interests(&mut polls));
        let feed = self.feed.interests(&mut polls);
        self.universe.interests(&mut polls);
        let timeout = self
            .timeout()
            .map(|timeout| Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) });
        rustix::event::poll(&mut polls, timeout.as_ref())?;
        Ok(Answers { streams, readers, hosts, feed, ready: polls.iter().map(PollFd::revents).collect() })
    }

    fn timeout(&self) -> Option<Duration> {
        let until = |time: Instant| time.saturating_duration_since(Instant::now());
        let own = match self.phase {
            Phase::Running if self.ends_by_timeout() => Some(TICK),
            Phase::Running => Some(self.deadline.map_or(TICK, |deadline| until(deadline).min(TICK))),
            Phase::Lingering(time) | Phase::Seeking(time) | Phase::Ending(time) | Phase::Clearing(time) => {
                Some(until(time).min(TICK))
            }
            Phase::Draining => self.deadline.map(until),
        };
        let inquiry = self.inquiry.map(|inquiry| until(inquiry.until));
        own.into_iter().chain(inquiry).chain(self.streams.next_prompt().map(until)).min()
    }

    /// Whether `--timeout` has passed.
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Ranks that never call MPI_Init may be those of another MPI.
    fn look_at_ranks(&mut self) {
        if self.has_spoken || self.looks == LOOKS || Instant::now() < self.next_look {
            return;
        }
        self.looks += 1;
        self.next_look = Instant::now() + TICK;
        let states = (0..self.job.ranks()).map(|rank| self.state(rank));
        // Of one that is gone the keeper says what it was before.
        let silent = |state| matches!(state, RankState::Absent | RankState::Started | RankState::Gone);
        self.has_spoken |= states.into_iter().any(|state| !silent(state));
        if !self.has_spoken && self.other_mpi.is_none() {
            let first = self.pids.first().copied().flatten().filter(|_| self.node_of(0) == 0);
            self.other_mpi = first.and_then(other_mpi::loaded);
        }
    }

    fn look_at_clock(&mut self) {
        self.streams.pass_prompts(Instant::now());
        self.look_at_ranks();
        self.look_at_keeper();
        self.look_at_ending();
        self.say_progress();
        self.look_at_inquiry();
        match self.phase {
            Phase::Running if self.is_late() && !self.ends_by_timeout() => self.inquire(Purpose::Timeout),
            Phase::Lingering(end) | Phase::Seeking(end) if Instant::now() >= end => self.end_ranks(true),
            Phase::Running | Phase::Seeking(_) if self.aborts() => self.look_at_aborts(),
            Phase::Running => self.look_for_stall(),
            Phase::Ending(kill) if Instant::now() >= kill => self.finish(),
            Phase::Clearing(end) if Instant::now() >= end => self.give_up(),
            _ => {}
        }
    }

    /// False if mpirun is to end at once: its processes are gone and somebody is tired of waiting for the output.
    fn hear_signals(&mut self) -> bool {
        while let Some((signal, from_terminal, sender)) = raw::next_signal(&self.signals) {
            if signal == libc::SIGUSR2 && self.is_asked(sender) {
                continue;
            }
            if signals::PASSED_ON.contains(&signal) {
                self.signal(signal, false);
                continue;
            }
            if signals::STOPPING.contains(&signal) {
                self.stop_or_go_on(signal);
                continue;
            }
            match self.phase {
                // The terminal has signalled the ranks as well, which are in the same process group.
                Phase::Running => self.fail(Cause::Interrupted(signal), !from_terminal),
                Phase::Lingering(_) | Phase::Seeking(_) | Phase::Ending(_) => self.finish(),
                Phase::Clearing(end) => self.phase = Phase::Clearing(end.min(Instant::now() + IMPATIENT)),
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
                self.signal(libc::SIGSTOP, true);
                raw::stop();
            }
            _ => self.signal(signal, true),
        }
    }

    fn hear_keeper(&mut self) -> Result<(), Refusal> {
        while let Some(event) = self.here.as_mut().map_or(Ok(None), Here::hear)? {
            match event {
                RankEvent::Started(rank, pid, descriptors) => self.started(rank, pid, descriptors)?,
                RankEvent::NotStarted(rank, errno) => {
                    let path = PathBuf::from(&self.apps[self.job.app_of(rank)].path);
                    self.refusal = Some(program::not_started(&path, errno));
                    self.finish();
                }
                RankEvent::Ended(rank, status) => {
                    let (state, aborted) = (self.state(rank), self.aborted(rank));
                    self.known.told[rank as usize] = self.here.as_ref().and_then(|here| here.told(rank));
                    self.mark_gone(rank);
                    self.ended(rank, status, state, aborted);
                }
                RankEvent::Unread(rank) => self.streams.close(rank),
                RankEvent::KeeperGone => {
                    self.keeper_is_gone();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn hear_wake_socket(&mut self) {
        let modex = self.here.as_mut().and_then(|here| here.modex.as_mut());
        let sends = modex.map_or(Ok(Vec::new()), Modex::on_wake);
        self.pass_on(sends);
    }

    fn started(&mut self, rank: u32, pid: u32, descriptors: Vec<OwnedFd>) -> Result<(), Refusal> {
        let failed =
            |error: &dyn std::fmt::Display| Refusal::system(&format!("reading the output of rank {rank}"), error);
        let [output_file, error_file] = self.begin(rank, pid)?;
        // Fewer arrive if this process has no descriptors left.
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next().ok_or_else(|| failed(&NO_DESCRIPTOR));
        let (output, error) = (next()?, next()?);
        if self.job.stdin == Stdin::All {
            let input = next()?;
            self.fan.add(input).map_err(|errno| failed(&errno))?;
        }
        let next_output = descriptors.next();
        if next_output.is_none() && self.has_next_output && rustix::termios::isatty(&output) {
            return Err(failed(&NO_DESCRIPTOR));
        }
        let origin = |stream| Origin { rank, pid, node: 0, stream };
        self.streams.add(origin(Stream::Output), output, next_output, output_file).map_err(|errno| failed(&errno))?;
        self.streams.add(origin(Stream::Error), error, None, error_file).map_err(|errno| failed(&errno))
    }

    /// A rank runs as this process of its host: the files for its output.
    fn begin(&mut self, rank: u32, pid: u32) -> Result<[Option<std::fs::File>; 2], Refusal> {
        let no_rank = || Refusal::system("starting the ranks", format!("there is no rank {rank}"));
        *self.pids.get_mut(rank as usize).ok_or_else(no_rank)? = Some(pid);
        self.tell_debugger();
        if self.pids.iter().all(Option::is_some) {
            self.universe.all_started(self.job_number);
        }
        let host = &self.job.names[self.node_of(rank) as usize];
        if self.job.verbose {
            let app = &self.apps[self.job.app_of(rank)];
            let place = if self.there.is_some() { format!(" on {host}") } else { String::new() };
            say(&format!("rank {rank} is process {pid}{place}: {}", app.path.display()));
        }
        self.files.as_ref().map_or(Ok([None, None]), |files| files.create(rank, pid, host))
    }

    fn node_of(&self, rank: u32) -> u32 {
        self.job.nodes.get(rank as usize).copied().unwrap_or_default()
    }
}

const NO_DESCRIPTOR: &str = "too many open files; raise the limit with ulimit -n";
/// Slots of [`Answers`] before those of streams.
const OWN: usize = 3;
/// How often to look whether ranks load another MPI.
const LOOKS: u32 = 20;
/// How often to look whether a rank called abort, and whether the keeper was stopped.
const TICK: Duration = Duration::from_millis(250);
/// How long a keeper that kills ranks may go on after one more signal to mpirun, or after it was stopped.
const IMPATIENT: Duration = Duration::from_secs(1);
