//! The universe of the job: the mpirun that a user started keeps names of ports, and starts further jobs when ranks ask for them
//! (`orte_core::universe`). A further job is a further mpirun, a child of this one, with a keeper, a segment and a secret of its own.
//!
//! ```text
//!  mpirun ─┬─ keeper ── ranks, which call mpirun by its port
//!          └─ mpirun of a further job ── keeper ── its ranks, which call the first mpirun, too
//! ```
//!
//! Both share a socket. By it the further mpirun says that its ranks run, or why they do not; when either side dies, the other one
//! sees its end close, and its job ends.
//!
//! Names are known to all jobs of the user on this host, or to those that name the same server ([`names`]).

mod connections;
mod ends;
mod jobs;
mod names;
mod root;
mod server;
mod stalls;

use crate::cli::{HostRoom, Inherited};
use crate::raw;
use crate::refusal::Refusal;
use crate::tree::Process;
pub use jobs::UniverseEvent;
pub use names::Names;
use names::interest;
use opal_core::framework::btl::ProcessName;
use orte_core::port::Channel;
pub use orte_core::universe::ARGUMENT;
use orte_core::universe::{Answer, Ports, Request};
use root::Root;
use rustix::event::PollFd;
use rustix::process::Rlimit;
use stalls::Judgement;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// This mpirun's part.
pub enum Universe {
    /// The one that the user started.
    Root(Box<Root>),
    /// That of a further job.
    Member(Member),
}

/// The socket to the mpirun that started this one.
pub struct Member {
    channel: Option<Channel>,
    ports: Ports,
    has_told: bool,
}

impl Member {
    /// From the number of the descriptor; `None` if it is none.
    pub fn adopt(number: &OsString) -> Option<Member> {
        let mut channel = Channel::over(raw::adopt(number.to_str()?.parse().ok()?).ok()?);
        // It was sent before this process was started.
        let ports = Ports::decode(&channel.poll().ok()??).ok()?;
        Some(Member { channel: Some(channel), ports, has_told: false })
    }

    fn tell(&mut self, answer: &Answer) -> bool {
        if self.has_told {
            return false;
        }
        self.has_told = true;
        // One that has ended is noticed in `pump`.
        self.channel.as_mut().is_some_and(|channel| channel.send(&answer.encode()).is_ok())
    }
}

impl Universe {
    /// For the job that the user starts: further ones get these variables, this limit on descriptors and these options, and run on these
    /// hosts if they name none. `mca` are the parameters of the command line.
    pub fn root(
        variables: &[(OsString, OsString)],
        files: Rlimit,
        hosts: Vec<HostRoom>,
        inherited: Inherited,
        mca: &[(String, String)],
    ) -> Result<Universe, Refusal> {
        let root = Root::new(variables, files, hosts, inherited, mca)?;
        Ok(Universe::Root(Box::new(root)))
    }

    /// Where ranks turn to beyond their job.
    pub fn ports(&self) -> Ports {
        match self {
            Universe::Root(root) => Ports { universe: root.port(), parent: String::new() },
            Universe::Member(member) => member.ports.clone(),
        }
    }

    /// What to wait for: any of it is a reason to call [`Universe::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        match self {
            Universe::Root(root) => root.interests(polls),
            Universe::Member(member) => polls.extend(member.channel.iter().filter_map(interest)),
        }
    }

    /// Hears everybody. Never waits.
    pub fn pump(&mut self) -> Vec<UniverseEvent> {
        match self {
            Universe::Root(root) => root.pump(),
            Universe::Member(member) => {
                let mut events = Vec::new();
                while let Some(channel) = &mut member.channel {
                    match channel.poll() {
                        Ok(None) => break,
                        Ok(Some(frame)) => match Request::decode(&frame) {
                            Ok(Request::End(end)) => events.push(UniverseEvent::End(end)),
                            Ok(Request::Status(with_functions)) => events.push(UniverseEvent::Asked(with_functions)),
                            // The root says nothing else.
                            _ => member.channel = None,
                        },
                        Err(_) => member.channel = None,
                    }
                    if member.channel.is_none() {
                        events.push(UniverseEvent::RootGone);
                    }
                }
                events
            }
        }
    }

    /// All ranks of this job, by its number, run.
    pub fn all_started(&mut self, job: u64) {
        match self {
            Universe::Member(member) => _ = member.tell(&Answer::Started(job)),
            Universe::Root(root) => root.own = Some(job),
        }
    }

    /// The exit status if all else went well: that of a further job which failed when no other one was connected to it.
    pub fn status(&self) -> u8 {
        match self {
            Universe::Root(root) => root.failed,
            Universe::Member(_) => 0,
        }
    }

    /// Nothing runs, for this reason: of a further job those who asked for it are told, and nobody else.
    pub fn told(&mut self, refusal: Refusal) -> Refusal {
        let is_told = match self {
            Universe::Member(member) => member.tell(&Answer::Refused(refusal.sentence.clone())),
            Universe::Root(_) => false,
        };
        if is_told { Refusal { sentence: String::new(), ..refusal } } else { refusal }
    }

    /// Whether further jobs run.
    pub fn has_jobs(&self) -> bool {
        match self {
            Universe::Root(root) => !root.jobs.is_empty(),
            Universe::Member(_) => false,
        }
    }

    /// Asks all further jobs what their ranks do, and where in the program they are.
    pub fn ask_jobs(&mut self, with_functions: bool) {
        if let Universe::Root(root) = self {
            root.jobs.ask(with_functions);
        }
    }

    /// The numbers of the further jobs that run, and were not told to end.
    pub fn running_jobs(&self) -> Vec<u32> {
        match self {
            Universe::Root(root) => root.jobs.numbers(),
            Universe::Member(_) => Vec::new(),
        }
    }

    /// Whether one of them has not answered.
    pub fn awaits_jobs(&self) -> bool {
        matches!(self, Universe::Root(root) if root.jobs.await_answers())
    }

    /// The mpiruns of these jobs.
    pub fn running_mpiruns(&self) -> Vec<Process> {
        match self {
            Universe::Root(root) => root.jobs.mpiruns(),
            Universe::Member(_) => Vec::new(),
        }
    }

    /// What they have answered.
    pub fn jobs_said(&self) -> Vec<String> {
        match self {
            Universe::Root(root) => root.jobs.lines(),
            Universe::Member(_) => Vec::new(),
        }
    }

    /// Which of their ranks wait for which process, as they have answered.
    pub fn jobs_wait(&self) -> Vec<(ProcessName, ProcessName)> {
        match self {
            Universe::Root(root) => root.jobs.waits(),
            Universe::Member(_) => Vec::new(),
        }
    }

    /// Whether all ranks of this job, by its number, wait, some of them for processes of other jobs; or have ended.
    pub fn note_stall(&mut self, job: u64, waits: bool) {
        match self {
            Universe::Root(root) => {
                root.stalls.note(job, waits);
                let stall = root.stall_of(job);
                root.orders.extend(stall);
            }
            Universe::Member(Member { channel: Some(channel), .. }) => {
                // One that has ended is noticed in `pump`.
                let _ = channel.send(&Answer::Stalled(waits).encode());
            }
            Universe::Member(_) => {}
        }
    }

    /// Whether this still holds of jobs that an event named.
    pub fn is_stalled(&self, jobs: &BTreeSet<u64>, is_known: bool) -> bool {
        let expected = if is_known { Judgement::Stalled } else { Judgement::Unknown };
        matches!(self, Universe::Root(root) if root.judge(jobs) == expected)
    }

    /// Tells the root what the ranks of this further job do, and which of them wait for which process.
    pub fn say_status(&mut self, lines: String, waits: Vec<(u32, ProcessName)>) {
        if let Universe::Member(Member { channel: Some(channel), .. }) = self {
            // One that has ended is noticed in `pump`.
            let _ = channel.send(&Answer::Status(lines, waits).encode());
        }
    }

    /// Tells the root that what it asked for was noted: ranks that end from now on were to.
    pub fn say_done(&mut self) {
        if let Universe::Member(Member { channel: Some(channel), .. }) = self {
            // One that has ended is noticed in `pump`.
            let _ = channel.send(&Answer::Done.encode());
        }
    }

    /// Further jobs are to end.
    pub fn end_jobs(&mut self) {
        if let Universe::Root(root) = self {
            root.jobs.end();
        }
    }

    /// Those are to end that the job of this mpirun is connected to: the failure of one is none of the others' business
    /// (MPI 5.0 §11.10.4).
    pub fn end_connected_jobs(&mut self) {
        match self {
            Universe::Root(root) => match root.own {
                Some(own) => root.jobs.end_of(&root.connections.of(own)),
                None => root.jobs.end(),
            },
            Universe::Member(_) => {}
        }
    }
}
