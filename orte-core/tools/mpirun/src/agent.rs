//! An agent that runs: a process of this host that starts a daemon on another one, or several. mpirun has them, and daemons that
//! start further ones.

use crate::raw;
use crate::tree::{self, Process};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The process.
pub struct Agent {
    child: Child,
    /// Readable when it has ended. None on kernels without.
    pidfd: Option<OwnedFd>,
    /// How it ended.
    pub ended: Option<i32>,
    /// When that was seen.
    pub ended_at: Option<Instant>,
    /// How long it may take to end by itself; one that has nothing to lose is killed.
    patience: Duration,
}

impl Agent {
    /// Starts an agent for a host.
    pub fn for_host(words: &[String], line: &OsStr, host: &str, invitation: &str) -> std::io::Result<Agent> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(host).arg(line);
        // What logins print is no output of the ranks.
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Agent::start(&mut command, invitation)
    }

    /// Starts it, and hands it the invitation.
    pub fn start(command: &mut Command, invitation: &str) -> std::io::Result<Agent> {
        let mut child = raw::spawn_agent(command)?;
        if let Some(mut input) = child.stdin.take() {
            // A new pipe has room for all of it. One that nobody reads belongs to an agent that has ended, which is noticed.
            let _ = input.write_all(invitation.as_bytes());
        }
        let pidfd = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
        Ok(Agent { child, pidfd, ended: None, ended_at: None, patience: Duration::ZERO })
    }

    /// The same, with time to end.
    pub fn with_patience(self, patience: Duration) -> Agent {
        Agent { patience, ..self }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The same, with its start.
    pub fn process(&self) -> Option<Process> {
        if self.ended.is_some() { None } else { tree::process(self.child.id() as i32) }
    }

    /// Appends what has to be waited for, if that is possible.
    pub fn interest<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> bool {
        match (&self.pidfd, self.ended) {
            (Some(pidfd), None) => {
                polls.push(PollFd::new(pidfd, PollFlags::IN));
                true
            }
            _ => false,
        }
    }

    /// Looks whether it has ended.
    pub fn look(&mut self) {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(status.into_raw());
            self.ended_at = Some(Instant::now());
        }
    }

    /// It has nothing more to do.
    pub fn end(&mut self) {
        if !self.patience.is_zero() && !self.ends_within(self.patience) {
            let _ = rustix::process::kill_process(Pid::from_child(&self.child), rustix::process::Signal::TERM);
            self.ends_within(self.patience);
        }
        if self.ended.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        self.look();
        while self.ended.is_none() && Instant::now() < end {
            opal_core::sys::nap_us(1000);
            self.look();
        }
        self.ended.is_some()
    }
}

/// Whether a program is in PATH.
pub fn is_there(program: &str) -> bool {
    let is_executable = |file: PathBuf| rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return is_executable(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_executable(folder.join(program)))
}
