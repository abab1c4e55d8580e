//! plm/ssh: the agents that start daemons on other hosts, ssh or whatever `plm_ssh_agent` names; and an agent that runs, of any kind.

use super::settings::Settings;
use crate::raw;
use crate::refusal::Refusal;
use crate::tree::{self, Process};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How to start daemons.
pub struct Agents {
    /// The agent's program and options.
    words: Vec<String>,
    /// What runs on the other host.
    command: OsString,
}

/// One that runs.
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

impl Agents {
    /// Finds the agent. `prefix` is where ompi-rs lies on the other hosts, if not where it lies here.
    pub fn new(settings: &Settings, prefix: Option<&std::path::Path>) -> Result<Agents, Refusal> {
        let mut tried = Vec::new();
        for text in settings.agent.split(':').map(str::trim).filter(|text| !text.is_empty()) {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if is_there(&words[0]) {
                words.extend(settings.arguments.split_whitespace().map(str::to_owned));
                let program = match prefix {
                    Some(prefix) => prefix.join("bin/mpirun"),
                    None => own_program()?,
                };
                let mut command = quoted(program.as_os_str().as_bytes());
                command.push(" ");
                command.push(crate::daemon::ARGUMENT);
                return Ok(Agents { words, command });
            }
            tried.push(words[0].clone());
        }
        Err(Refusal::usage(format!(
            "no agent starts daemons on other hosts: {} {} not in PATH; install an ssh client, or name another agent with \
             --mca plm_ssh_agent",
            tried.join(" and "),
            if tried.len() == 1 { "is" } else { "are" }
        )))
    }

    /// Starts the daemon of a host, and hands it the invitation.
    pub fn start(&self, host: &str, invitation: &str) -> Result<Agent, Refusal> {
        let failed =
            |error: &dyn std::fmt::Display| Refusal::system(&format!("starting {} for {host}", self.words[0]), error);
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg(host).arg(&self.command);
        // What logins print is no output of the ranks.
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Agent::start(&mut command, invitation).map_err(|error| failed(&error))
    }

    /// The command that starts a daemon, for people.
    pub fn line(&self, host: &str) -> String {
        format!("{} {host} {}", self.words.join(" "), self.command())
    }

    /// The agent's program, for messages.
    pub fn name(&self) -> &str {
        self.words[0].rsplit('/').next().unwrap_or(&self.words[0])
    }

    /// What runs on the other host, for messages.
    pub fn command(&self) -> std::path::Display<'_> {
        std::path::Path::new(&self.command).display()
    }
}

impl Agent {
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

/// This program.
pub fn own_program() -> Result<PathBuf, Refusal> {
    std::env::current_exe().map_err(|error| Refusal::system("finding mpirun's own program", error))
}

/// As one word of a shell.
fn quoted(word: &[u8]) -> OsString {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@%,=".contains(byte);
    if word.iter().all(is_plain) {
        return OsString::from_vec(word.to_vec());
    }
    let mut text = b"'".to_vec();
    for byte in word {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(quoted(b"/opt/ompi-rs/bin/mpirun"), "/opt/ompi-rs/bin/mpirun");
        assert_eq!(quoted(b"/a b/it's"), r"'/a b/it'\''s'");
    }

    #[test]
    fn an_agent_is_searched() {
        let settings = |agent: &str| Settings { agent: agent.to_owned(), ..Settings::default() };
        let agents = Agents::new(&settings("no-such-agent : sh -c x"), None).unwrap();
        assert_eq!(agents.words, ["sh", "-c", "x"]);
        let sentence = Agents::new(&settings("no-such-agent"), None).err().unwrap().sentence;
        assert!(sentence.contains("no-such-agent is not in PATH") && sentence.contains("plm_ssh_agent"), "{sentence}");
    }
}
