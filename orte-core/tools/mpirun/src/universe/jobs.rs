//! Further jobs: their mpiruns, and what is heard of them.

use super::names::interest;
use crate::cli::{HostRoom, Inherited};
use crate::raw;
use crate::tree::{self, Process};
use opal_core::framework::btl::ProcessName;
use opal_core::mca::source::PREFIX;
use orte_core::job::number_of;
use orte_core::port::Channel;
use orte_core::universe::{ARGUMENT, Answer, EndRequest, NO_PROC, Ports, Request, SpawnRequest};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, Rlimit};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UniverseEvent {
    /// Some ranks of this job are to end, and the others go on.
    End(EndRequest),
    /// The root of the universe wants to know what the ranks of this job do, and where in the program they are.
    Asked(bool),
    /// All ranks of these jobs wait, and nobody else could end that; or, with `false`, jobs that this mpirun does not know.
    Stalled(BTreeSet<u64>, bool),
    /// A further job failed, by its number, with this exit status.
    JobFailed(u32, u8),
    /// A further job ended well.
    JobEnded,
    /// The mpirun that had this one started is gone, or wants it to end.
    RootGone,
}

/// All further jobs that run.
pub struct Jobs {
    variables: Vec<(OsString, OsString)>,
    /// Where jobs run that name no hosts; empty: here.
    hosts: Vec<HostRoom>,
    files: Rlimit,
    inherited: Inherited,
    jobs: Vec<Job>,
    started: u32,
}

struct Job {
    number: u32,
    client: u64,
    mpirun: Child,
    // Readable once it has ended; `None` on systems that do not offer it.
    process: Option<OwnedFd>,
    // Closed: its mpirun has ended, or is to end.
    channel: Option<Channel>,
    by: u64,
    // Its own number, once all its processes run.
    job: Option<u64>,
    // What its ranks do.
    status: Status,
}

/// What was heard of the ranks of a job.
#[derive(Default)]
enum Status {
    /// Nobody asked.
    #[default]
    Unasked,
    /// It has not answered.
    Asked,
    /// A line for each, and which of them wait for which process.
    Said(String, Vec<(u32, ProcessName)>),
}

/// Options that say where ranks run.
fn says_hosts(spawn: &SpawnRequest) -> bool {
    let names = ["--host", "--hostfile", "--add-host", "--add-hostfile", "--tune"];
    spawn.apps.iter().any(|app| app.options.iter().any(|option| names.iter().any(|name| name.as_bytes() == option)))
}

/// `stats.2.json` for `stats.json` and job 2; `None` if it is no file.
fn file_of(file: &OsStr, number: u32) -> Option<OsString> {
    if ["", "0", "1", "-"].iter().any(|word| file == *word) {
        return None;
    }
    let (path, mut ending) = (Path::new(file), OsString::from(number.to_string()));
    if let Some(extension) = path.extension() {
        ending.push(".");
        ending.push(extension);
    }
    Some(path.with_extension(ending).into_os_string())
}

/// A word for mpirun: to the host of a job it makes no difference whether the allocation has it already.
fn option(word: &[u8]) -> &[u8] {
    match word {
        b"--add-host" => b"--host",
        b"--add-hostfile" => b"--hostfile",
        word => word,
    }
}

/// A word that is none of the programs' own: they may have arguments `:`.
fn separator(spawn: &SpawnRequest, inherited: &Inherited) -> String {
    let is_used = |word: &String| {
        inherited.job.iter().chain(&inherited.program).any(|used| used == word.as_str())
            || spawn.apps.iter().any(|app| app.options.iter().chain(&app.command).any(|used| *used == *word.as_bytes()))
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
    /// Whether its mpirun has noted that some of its ranks are to end.
    pub fn is_done(&self) -> bool {
        matches!(self.what, What::Said(Answer::Done))
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.what, What::Ended(..))
    }

    /// Its mpirun says whether all its ranks wait, some of them for processes of other jobs.
    pub fn stalled(&self) -> Option<bool> {
        match self.what {
            What::Said(Answer::Stalled(waits)) => Some(waits),
            _ => None,
        }
    }

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
    /// None yet. `variables` is what their mpiruns get beyond this one's own, `hosts` where they run if they do not say it, `files`
    /// the limit on descriptors, `inherited` what the command line of each begins with.
    pub fn new(
        variables: Vec<(OsString, OsString)>,
        hosts: Vec<HostRoom>,
        files: Rlimit,
        inherited: Inherited,
    ) -> Jobs {
        Jobs { variables, hosts, files, inherited, jobs: Vec::new(), started: 0 }
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// What to wait for: news, and of those whose mpiruns have closed their sockets the end of these.
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        polls.extend(self.jobs.iter().filter_map(|job| match (&job.channel, &job.process) {
            (Some(channel), _) => interest(channel),
            (None, process) => process.as_ref().map(|process| PollFd::new(process, PollFlags::IN)),
        }));
    }

    /// Whether it runs.
    pub fn runs(&self, job: u64) -> bool {
        self.jobs.iter().any(|one| one.job == Some(job))
    }

    /// Of those that were not told to end.
    pub fn numbers(&self) -> Vec<u32> {
        self.jobs.iter().filter(|job| job.channel.is_some()).map(|job| job.number).collect()
    }

    /// The mpiruns of those that were not told to end.
    pub fn mpiruns(&self) -> Vec<Process> {
        let running = self.jobs.iter().filter(|job| job.channel.is_some());
        running.filter_map(|job| tree::find(job.mpirun.id() as i32)).collect()
    }

    /// Which of their ranks wait for which process, of those that have answered.
    pub fn waits(&self) -> Vec<(ProcessName, ProcessName)> {
        let of_job = |job: &Job| match (&job.status, job.job) {
            (Status::Said(_, waits), Some(job)) => {
                waits.iter().map(|(rank, awaited)| (ProcessName { job, rank: *rank }, *awaited)).collect()
            }
            _ => Vec::new(),
        };
        self.jobs.iter().flat_map(of_job).collect()
    }

    /// Whether it may run on other hosts than this one.
    pub fn names_hosts(&self, spawn: &SpawnRequest) -> bool {
        !self.hosts.is_empty() || says_hosts(spawn)
    }

    /// The files in which a further job says what it did: its own, and not those of the first job.
    fn files_of(&self, number: u32) -> Vec<(OsString, OsString)> {
        let named = ["ompi_stats", "ompi_trace"].map(|name| OsString::from(format!("{PREFIX}{name}")));
        let value = |name: &OsString| {
            let of_line = self.variables.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone());
            of_line.or_else(|| std::env::var_os(name))
        };
        named.into_iter().filter_map(|name| Some((name.clone(), file_of(&value(&name)?, number)?))).collect()
    }

    /// Starts one, whose ranks call the universe there. `Err` with a sentence.
    pub fn start(&mut self, client: u64, spawn: &SpawnRequest, universe: String) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("the mpirun of the job cannot be started: {error}");
        let directory = OsStr::from_bytes(&spawn.directory);
        if !Path::new(directory).is_dir() {
            if !Path::new("/proc/self").exists() {
                return Err(NO_PROC.to_owned());
            }
            return Err(format!(
                "mpirun's host has no directory {}; the info key wdir names one that is there",
                directory.display()
            ));
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (own, its) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(|errno| failed(&errno))?;
        let mut channel = Channel::over(own);
        let ports = Ports { universe, parent: spawn.port.clone() };
        channel.send(&ports.encode()).map_err(|why| failed(&why))?;
        let mut command = Command::new(crate::here::own_program());
        let separator = separator(spawn, &self.inherited);
        command
            .arg0("mpirun")
            .arg(ARGUMENT)
            .arg(raw::number(&its).to_string())
            .arg(&separator)
            .arg((self.started + FIRST).to_string())
            .args(["--stdin", "none"])
            .args(&self.inherited.job);
        if !says_hosts(spawn) && !self.hosts.is_empty() {
            command.arg("--host").arg(HostRoom::free_first(&self.hosts));
        }
        for (index, app) in spawn.apps.iter().enumerate() {
            if index > 0 {
                command.arg(&separator);
            }
            command.args(&self.inherited.program);
            command.arg("-n").arg(app.ranks.to_string());
            command.args(app.options.iter().map(|word| OsStr::from_bytes(option(word))));
            // What a program is called is no option.
            if app.command.first().is_some_and(|word| word.starts_with(b"-")) {
                command.arg("--");
            }
            command.args(app.command.iter().map(|word| OsStr::from_bytes(word)));
        }
        command.envs(self.variables.iter().cloned());
        command.envs(self.files_of(self.started + FIRST));
        command.current_dir(directory).stdin(Stdio::null());
        let inherit = vec![raw::number(&its)];
        let mpirun =
            raw::spawn_keeper(&mut command, inherit, Vec::new(), self.files).map_err(|error| failed(&error))?;
        self.jobs.push(Job {
            number: self.started + FIRST,
            process: rustix::process::pidfd_open(Pid::from_child(&mpirun), PidfdFlags::empty()).ok(),
            client,
            mpirun,
            channel: Some(channel),
            by: spawn.by,
            job: None,
            status: Status::Unasked,
        });
        self.started += 1;
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
                        match answer {
                            Ok(Answer::Status(lines, waits)) => job.status = Status::Said(lines, waits),
                            answer => news.extend(answer.ok().map(|answer| tell(job.job, What::Said(answer)))),
                        }
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

    /// Says something to the mpirun of a job; `false` if that has ended.
    pub fn tell(&mut self, number: u64, what: &Request) -> bool {
        let job = self.jobs.iter_mut().find(|job| job.job == Some(number));
        let channel = job.and_then(|job| job.channel.as_mut());
        // One that has ended is noticed at the next poll.
        channel.is_some_and(|channel| channel.send(&what.encode()).is_ok())
    }

    /// Asks all that run what their ranks do, and where in the program they are.
    pub fn ask(&mut self, with_functions: bool) {
        for job in &mut self.jobs {
            job.status = Status::Unasked;
            if let (Some(channel), Some(_)) = (&mut job.channel, job.job)
                && channel.send(&Request::Status(with_functions).encode()).is_ok()
            {
                job.status = Status::Asked;
            }
        }
    }

    /// Whether one of them has not answered.
    pub fn await_answers(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job.status, Status::Asked) && job.channel.is_some())
    }

    /// What they have answered.
    pub fn lines(&self) -> Vec<String> {
        let of_job = |job: &Job| {
            let head =
                format!("  job {}, which job {} spawned (mpirun {})", job.number, number_of(job.by), job.mpirun.id());
            match (&job.status, job.job) {
                (Status::Said(lines, _), _) => {
                    core::iter::once(head).chain(lines.lines().map(|line| format!("  {line}"))).collect()
                }
                (_, None) => vec![format!("{head} has not started its ranks yet")],
                _ => vec![format!("{head} does not answer")],
            }
        };
        self.jobs.iter().flat_map(of_job).collect()
    }

    /// All are to end: their mpiruns see their ends of the sockets close.
    pub fn end(&mut self) {
        self.jobs.iter_mut().for_each(|job| job.channel = None);
    }
}

/// The number of the first further job: the job that the user started is 1.
const FIRST: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_has_its_files() {
        let named = |file: &str| file_of(OsStr::new(file), 2).map(|file| file.into_string().unwrap());
        assert_eq!(named("/x.y/stats.json").as_deref(), Some("/x.y/stats.2.json"));
        assert_eq!(named("/x.y/stats").as_deref(), Some("/x.y/stats.2"));
        assert_eq!((named("1"), named("")), (None, None));
        let variables =
            vec![("OMPI_MCA_ompi_trace".into(), "/t.json".into()), ("OMPI_MCA_ompi_stats".into(), "1".into())];
        let files = Rlimit { current: None, maximum: None };
        let jobs = Jobs::new(variables, Vec::new(), files, Inherited::default());
        assert_eq!(jobs.files_of(2), [("OMPI_MCA_ompi_trace".into(), "/t.2.json".into())]);
    }
}
