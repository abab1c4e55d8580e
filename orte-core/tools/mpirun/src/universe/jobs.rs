//! Further jobs: their mpiruns, and what is heard of them.

use crate::raw;
use orte_core::port::Channel;
use orte_core::universe::{Answer, Ports, SpawnRequest};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Rlimit;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

/// The hidden first argument of the mpirun of a further job; the number of the descriptor of its socket follows, and the word that
/// parts its programs.
pub const ARGUMENT: &str = "--ompi-rs-job";

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniverseEvent {
    /// A further job failed, with this exit status; jobs are counted from 1.
    JobFailed(u32, u8),
    /// A further job ended well.
    JobEnded,
    /// The mpirun that had this one started is gone, or wants it to end.
    RootGone,
}

/// All further jobs that run.
pub struct Jobs {
    variables: Vec<(OsString, OsString)>,
    universe: String,
    files: Rlimit,
    jobs: Vec<Job>,
    started: u32,
}

struct Job {
    number: u32,
    client: u64,
    mpirun: Child,
    // Closed: its mpirun has ended, or is to end.
    channel: Option<Channel>,
    by: u64,
    // Its own number, once all its processes run.
    job: Option<u64>,
}

/// A word that is none of the programs' own: they may have arguments `:`.
fn separator(spawn: &SpawnRequest) -> String {
    let is_used = |word: &String| {
        spawn.apps.iter().any(|app| app.options.iter().chain(&app.command).any(|used| *used == *word.as_bytes()))
    };
    let mut word = ":".to_owned();
    while is_used(&word) {
        word.push(':');
    }
    word
}

/// What is new of a job.
pub struct JobNews {
    /// Who asked for it.
    pub client: u64,
    /// The job that asked for it.
    pub by: u64,
    /// The job; 0 while it has not started.
    pub job: u64,
    number: u32,
    what: What,
}

enum What {
    /// Its mpirun says this.
    Said(Answer),
    /// It ended, with this status; whether its ranks had started.
    Ended(u8, bool),
}

impl JobNews {
    /// Its number, if it has just started.
    pub fn started(&self) -> Option<u64> {
        match self.what {
            What::Said(Answer::Started(job)) => Some(job),
            _ => None,
        }
    }

    /// What who asked for the job is told; `waits` says whether it still waits for its ranks.
    pub fn answer(&self, waits: bool) -> Option<Answer> {
        match &self.what {
            What::Said(answer) => Some(answer.clone()),
            What::Ended(0, true) if waits => Some(Answer::Ended(
                "its processes ended with status 0 before they met those that spawned them; did they call MPI_Init?"
                    .to_owned(),
            )),
            What::Ended(status, true) if waits => Some(Answer::Ended(format!(
                "it ended with status {status} before its processes met those that spawned them"
            ))),
            What::Ended(status, false) => Some(Answer::Refused(format!("its mpirun ended with status {status}"))),
            What::Ended(..) => None,
        }
    }

    /// What it means for the job that the user started. The end of a job that is awaited is an error of the call that asked for it.
    pub fn event(&self, waits: bool) -> Option<UniverseEvent> {
        match self.what {
            What::Said(_) => None,
            What::Ended(status, true) if status != 0 && !waits => Some(UniverseEvent::JobFailed(self.number, status)),
            What::Ended(..) => Some(UniverseEvent::JobEnded),
        }
    }
}

impl Jobs {
    /// None yet. `variables` is what their mpiruns get beyond this one's own, `universe` where their ranks call, `files` the
    /// limit on descriptors.
    pub fn new(variables: Vec<(OsString, OsString)>, universe: String, files: Rlimit) -> Jobs {
        Jobs { variables, universe, files, jobs: Vec::new(), started: 0 }
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// What to wait for.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.jobs.iter().filter_map(|job| job.channel.as_ref())
    }

    /// Starts one. `Err` with a sentence.
    pub fn start(&mut self, client: u64, spawn: &SpawnRequest) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("the mpirun of the job cannot be started: {error}");
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (own, its) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(|errno| failed(&errno))?;
        let mut channel = Channel::over(own);
        let ports = Ports { universe: self.universe.clone(), parent: spawn.port.clone() };
        channel.send(&ports.encode()).map_err(|why| failed(&why))?;
        let mut command = Command::new(crate::here::own_program());
        let separator = separator(spawn);
        command
            .arg0("mpirun")
            .arg(ARGUMENT)
            .arg(raw::number(&its).to_string())
            .arg(&separator)
            .args(["--stdin", "none"]);
        for (index, app) in spawn.apps.iter().enumerate() {
            if index > 0 {
                command.arg(&separator);
            }
            command.arg("-n").arg(app.ranks.to_string());
            command.args(app.options.iter().chain(&app.command).map(|word| OsStr::from_bytes(word)));
        }
        command.envs(self.variables.iter().cloned());
        command.current_dir(OsStr::from_bytes(&spawn.directory)).stdin(Stdio::null());
        let inherit = vec![raw::number(&its)];
        let mpirun =
            raw::spawn_keeper(&mut command, inherit, Vec::new(), self.files).map_err(|error| failed(&error))?;
        self.started += 1;
        self.jobs.push(Job { number: self.started, client, mpirun, channel: Some(channel), by: spawn.by, job: None });
        Ok(())
    }

    /// What is new. Never waits, but for a process that has closed its socket and is about to vanish.
    pub fn pump(&mut self) -> Vec<JobNews> {
        let mut news = Vec::new();
        self.jobs.retain_mut(|job| {
            let (client, by, number) = (job.client, job.by, job.number);
            let tell = |known: Option<u64>, what| JobNews { client, by, job: known.unwrap_or_default(), number, what };
            while let Some(channel) = &mut job.channel {
                match channel.poll() {
                    Ok(Some(frame)) => {
                        let answer = Answer::decode(&frame);
                        if let Ok(Answer::Started(started)) = answer {
                            job.job = Some(started);
                        }
                        news.extend(answer.ok().map(|answer| tell(job.job, What::Said(answer))));
                    }
                    Ok(None) => return true,
                    Err(_) => job.channel = None,
                }
            }
            match job.mpirun.try_wait() {
                Ok(None) => true,
                Ok(Some(status)) => {
                    let status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
                    news.push(tell(job.job, What::Ended(status as u8, job.job.is_some())));
                    false
                }
                // Reaped by whoever cleared this host: the job ends in any case.
                Err(_) => {
                    news.push(tell(job.job, What::Ended(1, job.job.is_some())));
                    false
                }
            }
        });
        news
    }

    /// Those of these jobs are to end.
    pub fn end_of(&mut self, jobs: &BTreeSet<u64>) {
        let is_one = |job: &&mut Job| job.job.is_some_and(|number| jobs.contains(&number));
        self.jobs.iter_mut().filter(is_one).for_each(|job| job.channel = None);
    }

    /// All are to end: their mpiruns see their ends of the sockets close.
    pub fn end(&mut self) {
        self.jobs.iter_mut().for_each(|job| job.channel = None);
    }
}
