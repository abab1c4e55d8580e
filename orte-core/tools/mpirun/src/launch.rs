//! A job from the creation of its segment to mpirun's exit status: starts the keeper, then waits for what happens.

mod end;
mod stall;

use crate::cli::{Job, Stdin};
use crate::file_limit::without_file_limit;
use crate::files::Files;
use crate::orders::{ARGUMENT, Executable, Orders};
use crate::outcome::Cause;
use crate::refusal::{Refusal, say};
use crate::report::Measures;
use crate::segment::{self, Segment};
use crate::stdin::{Fan, FanInterest};
use crate::stdio::{Interest, Streams};
use crate::tag::{Origin, Stream};
use crate::tree::Process;
use crate::wire::{self, Message, Received};
use crate::{other_mpi, prepare, program, pty, raw, signals, tree};
use orte_core::segment::RankState;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Runs a job; mpirun's exit status.
pub fn run(job: Job) -> Result<u8, Refusal> {
    let apps = prepare::apps(&job)?;
    if !job.quiet {
        job.notes.iter().for_each(|note| say(note));
    }
    job.reports.iter().for_each(|line| say(line));
    if job.do_not_launch {
        return Ok(0);
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
    /// The keeper was told to kill whatever is left and to end; it is killed itself at this time.
    Clearing(Instant),
    /// No process is left; output is still being written.
    Draining,
}

struct Running {
    job: Job,
    apps: Vec<Executable>,
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
    stall: stall::Stall,
    /// When the keeper is looked at again.
    next_check: Instant,
    /// A rank has called MPI_Init.
    has_spoken: bool,
    /// The library of another MPI that rank 0 was seen to have loaded.
    other_mpi: Option<String>,
    /// How often it was looked for, and when that is done again.
    looks: u32,
    next_look: Instant,
}

/// Who was waited for among streams and readers of standard input, and the answers of all, signals and keeper first.
type Answers = (Vec<Interest>, Vec<FanInterest>, Vec<PollFlags>);

impl Running {
    fn start(job: Job, apps: Vec<Executable>) -> Result<Running, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::system("starting the keeper process", error);
        let pty = pty::wanted(&job)?;
        let ranks = job.ranks();
        let files = Files::new(&job.output, ranks)?;
        job.report_pid.as_deref().map_or(Ok(()), prepare::report_pid)?;
        let limit = prepare::raise_descriptor_limit();
        let strangers = tree::below(&[]);
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|errno| failed(&errno))?;
        let handled = signals::handled();
        let signals = raw::signal_descriptor(&handled).map_err(|error| failed(&error))?;
        raw::defer(&[libc::SIGXFSZ]).map_err(|error| failed(&error))?;
        let segment = without_file_limit(|| segment::create(ranks, |rank| job.app_of(rank) as u32))?;
        let (control, keeper_end) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|errno| failed(&errno))?;
        let orders = Orders {
            control: raw::number(&keeper_end),
            segment: raw::number(&segment.descriptor),
            job: segment.control.layout().job,
            universe: job.universe.unwrap_or_else(|| ranks.max(opal_core::sys::cores() as u32)),
            bindings: job.places.iter().map(|place| place.processors.clone()).collect(),
            stdin: job.stdin,
            merge: job.output.merge,
            pty,
            apps: apps.clone(),
        };
        let orders = without_file_limit(|| orders.write()).map_err(|error| failed(&error))?;
        let inherit = [&keeper_end, &segment.descriptor, &orders].map(raw::number);
        let mut command = Command::new("/proc/self/exe");
        command.arg0("mpirun").arg(ARGUMENT).arg(inherit[2].to_string()).envs(prepare::environment(&job));
        if pty.is_some() && !pty::is_seen(&job.output) {
            command.envs(pty::PLAIN);
        }
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
            stall: stall::Stall::new(job.stall_s),
            job,
            apps,
            segment,
            control,
            signals,
            keeper,
            strangers,
            deadline,
            next_check: Instant::now() + TICK,
            has_spoken: false,
            other_mpi: None,
            looks: 0,
            next_look: Instant::now(),
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
            for rank in self.streams.unread() {
                self.tell(Message::Unread(rank));
            }
            self.look_at_clock();
            // Nobody reads what the ranks wrote.
            if self.phase == Phase::Draining && self.is_late() {
                self.cause.get_or_insert(Cause::TimedOut(self.job.timeout_s.unwrap_or_default(), Vec::new()));
                return Ok(());
            }
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
            Phase::Lingering(time) | Phase::Ending(time) | Phase::Clearing(time) => Some(until(time).min(TICK)),
            Phase::Draining => self.deadline.map(until),
        };
        own.into_iter().chain(self.streams.next_prompt().map(until)).min()
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
        let states = (0..self.job.ranks()).map(|rank| self.segment.control.state(rank));
        self.has_spoken |= states.into_iter().any(|state| !matches!(state, RankState::Absent | RankState::Started));
        if !self.has_spoken && self.other_mpi.is_none() {
            self.other_mpi = self.pids.first().copied().flatten().and_then(other_mpi::loaded);
        }
    }

    fn look_at_clock(&mut self) {
        self.streams.pass_prompts(Instant::now());
        self.look_at_ranks();
        self.look_at_keeper();
        match self.phase {
            Phase::Running if self.is_late() => {
                let seconds = self.job.timeout_s.unwrap_or_default();
                let alive = (0..self.job.ranks()).filter(|rank| self.alive[*rank as usize]);
                let states = alive.map(|rank| (rank, self.doing(rank))).collect();
                self.fail(Cause::TimedOut(seconds, states), true);
            }
            // A shell may stand between this rank and its end: do not wait for the shell.
            Phase::Running if self.segment.control.aborts() > 0 => {
                if let Some(cause) = self.first_abort() {
                    self.fail(cause, true);
                }
            }
            Phase::Running => self.look_for_stall(),
            Phase::Lingering(end) if Instant::now() >= end => self.end_ranks(true),
            Phase::Ending(kill) if Instant::now() >= kill => self.finish(),
            Phase::Clearing(end) if Instant::now() >= end => self.kill_keeper(),
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
                Received::Message(Message::Unread(rank), _) => self.streams.close(rank),
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
            Some(files) => files.create(rank, pid)?,
            None => [None, None],
        };
        let origin = |stream| Origin { rank, pid, stream };
        self.streams.add(origin(Stream::Output), output, output_file).map_err(|errno| failed(&errno))?;
        self.streams.add(origin(Stream::Error), error, error_file).map_err(|errno| failed(&errno))
    }
}

/// How often to look whether ranks load another MPI.
const LOOKS: u32 = 20;
/// How often to look whether a rank called abort, and whether the keeper was stopped.
const TICK: Duration = Duration::from_millis(250);
/// How long a keeper that kills ranks may go on after one more signal to mpirun, or after it was stopped.
const IMPATIENT: Duration = Duration::from_secs(1);
