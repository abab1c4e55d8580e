//! mpirun for a process that nobody launched, which has started it to get further jobs and names ([`orte_core::companion`]): the root
//! of a universe without ranks of its own.
//!
//! It parts from its parent at once, so that the program has no child that it does not know of. It ends when the program is done and
//! all jobs have ended. When the program ends otherwise, the jobs are ended.

use crate::cli::Inherited;
use crate::prepare;
use crate::raw;
use crate::refusal::{OWN, Refusal, say};
use crate::tree;
use crate::universe::{Universe, UniverseEvent};
use orte_core::port::Channel;
use orte_core::universe::Life;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Pid, PidfdFlags, Resource, Signal};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs as companion until there is nothing to do any more.
pub fn run() -> ExitCode {
    match raw::adopt(opal_core::sys::SOCKET_NUMBER).and_then(|socket| Ok((sockopt::socket_peercred(&socket)?, socket)))
    {
        Ok((peer, socket)) => {
            raw::close_all_above(opal_core::sys::SOCKET_NUMBER);
            match raw::part_from_parent() {
                // Keys of the terminal are the program's: it hears them, and the companion sees whether it ends.
                Ok(true) => _ = rustix::process::setsid(),
                Ok(false) => return ExitCode::SUCCESS,
                Err(error) => {
                    say(&format!("the system refuses a process that serves the program: {error}"));
                    return ExitCode::from(OWN);
                }
            }
            match Companion::new(Channel::over(socket), peer.pid) {
                Ok(mut companion) => {
                    companion.serve();
                    ExitCode::SUCCESS
                }
                Err(refusal) => {
                    say(&refusal.sentence);
                    ExitCode::from(refusal.status)
                }
            }
        }
        Err(_) => {
            say(&format!("{} is for the library itself; run mpirun --help", orte_core::companion::ARGUMENT));
            ExitCode::from(OWN)
        }
    }
}

struct Companion {
    /// To the program; closed once it has ended.
    program: Option<Channel>,
    pid: Pid,
    /// The same where the number may be another process's by then; `None` if it had ended already.
    process: Option<OwnedFd>,
    in_use: bool,
    universe: Universe,
    /// The program has ended, and its jobs are told to end at this time.
    end_jobs_at: Option<Instant>,
    /// Jobs were told to end: what is left at this time is killed.
    until: Option<Instant>,
    /// The program was asked to end, and is killed at this time.
    kill: Option<Instant>,
}

impl Companion {
    fn new(program: Channel, pid: Pid) -> Result<Companion, Refusal> {
        // Whatever jobs leave behind comes to this process. Where the system refuses that, their own mpiruns still clear them.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let limit = rustix::process::getrlimit(Resource::Nofile);
        let variables = prepare::library_variables();
        let universe =
            Universe::root(&variables, limit, crate::cli::hosts_of_allocation()?, Inherited::default(), &[])?;
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok();
        Ok(Companion {
            program: Some(program),
            pid,
            process,
            in_use: true,
            universe,
            end_jobs_at: None,
            until: None,
            kill: None,
        })
    }

    fn serve(&mut self) {
        while self.program.is_some() || self.universe.has_jobs() {
            if self.until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            self.look_at_program();
            if self.wait() == Err(Errno::INTR) {
                continue;
            }
            self.hear_program();
            for event in self.universe.pump() {
                if let UniverseEvent::JobFailed(number, status) = event {
                    self.job_failed(number, status);
                }
            }
        }
        for process in tree::clear(&[], |_, _| {}) {
            say(&format!("process {} did not end although it was killed; it hangs inside the system", process.pid));
        }
    }

    fn wait(&self) -> Result<(), Errno> {
        let mut polls: Vec<PollFd<'_>> = self
            .program
            .iter()
            .filter_map(Channel::descriptor)
            .map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN))
            .collect();
        self.universe.interests(&mut polls);
        let tick = if self.end_jobs_at.is_some() { HEARING } else { TICK };
        let tick = rustix::event::Timespec { tv_sec: tick.as_secs() as i64, tv_nsec: i64::from(tick.subsec_nanos()) };
        rustix::event::poll(&mut polls, Some(&tick)).map(|_| ())
    }

    fn hear_program(&mut self) {
        while let Some(program) = &mut self.program {
            match program.poll().map(|frame| frame.map(|frame| Life::decode(&frame))) {
                Ok(None) => return,
                Ok(Some(Ok(Life::Job(job)))) => {
                    self.universe.all_started(job);
                    // A program that has ended is noticed at the next poll.
                    let _ = program.send(&self.universe.ports().encode());
                }
                Ok(Some(Ok(life))) => self.in_use = life == Life::InUse,
                Ok(Some(Err(_))) | Err(_) => self.program_ended(),
            }
        }
    }

    fn program_ended(&mut self) {
        self.program = None;
        if self.in_use {
            // It may have ended because one of them has, which its mpirun is about to tell.
            self.end_jobs_at = Some(Instant::now() + HEARING);
        }
    }

    fn end_jobs(&mut self) {
        self.end_jobs_at = None;
        self.universe.end_connected_jobs();
        self.until.get_or_insert_with(|| Instant::now() + LEAVING);
    }

    /// It was connected to the program: one failure is both's.
    fn job_failed(&mut self, number: u32, status: u8) {
        let is_there = self.program.is_some();
        // A program that is done with MPI is connected to nobody. The end of one that is not has ended its jobs: there is nothing to
        // say of that.
        if self.in_use && (is_there || status != ENDED_WITH_PROGRAM) {
            say(&format!(
                "job {number}, which process {} spawned, ended with status {status}{}",
                self.pid,
                if is_there { "; the process is connected to it and is ended" } else { "" }
            ));
            self.signal(Signal::TERM);
            self.kill = Some(Instant::now() + GRACE);
        }
        self.end_jobs();
    }

    fn look_at_program(&mut self) {
        if self.kill.is_some_and(|kill| Instant::now() >= kill) {
            self.kill = None;
            self.signal(Signal::KILL);
        }
        if self.end_jobs_at.is_some_and(|end| Instant::now() >= end) {
            self.end_jobs();
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(process) = &self.process {
            // It may have ended.
            let _ = rustix::process::pidfd_send_signal(process, signal);
        }
    }
}

/// The status of the mpirun of a job whose universe is gone.
const ENDED_WITH_PROGRAM: u8 = 1;
/// How long jobs are heard after the program has ended, before they are ended, too.
const HEARING: Duration = Duration::from_millis(200);
/// How often to look at the clock.
const TICK: Duration = Duration::from_secs(1);
/// How long the program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How long the mpiruns of jobs may take to end them.
const LEAVING: Duration = Duration::from_secs(15);
