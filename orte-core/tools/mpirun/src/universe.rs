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
mod server;

use crate::cli::{HostRoom, Inherited};
use crate::raw;
use crate::refusal::Refusal;
use crate::there::There;
use connections::Connections;
use ends::Ends;
use jobs::Jobs;
pub use jobs::UniverseEvent;
pub use names::Names;
use names::interest;
use orte_core::framework::oob;
use orte_core::port::{Channel, Listener};
pub use orte_core::universe::ARGUMENT;
use orte_core::universe::{Answer, Ports, Request};
use rustix::event::{PollFd, PollFlags};
use rustix::process::Rlimit;
use std::ffi::OsString;

/// This mpirun's part.
pub enum Universe {
    /// The one that the user started.
    Root(Box<Root>),
    /// That of a further job.
    Member(Member),
}

/// See [`Universe::Root`].
pub struct Root {
    // None where the system refuses sockets: then ranks cannot ask for anything.
    listener: Option<Listener>,
    mca: Vec<(String, String)>,
    clients: Vec<Client>,
    jobs: Jobs,
    // The failure of a job does not end those that it is connected to.
    keep_going: bool,
    // The ports of names.
    names: Names,
    connections: Connections,
    // The job that this mpirun started itself, once it is known.
    own: Option<u64>,
    // The first failure of a job that was connected to nobody here.
    failed: u8,
    next: u64,
    ends: Ends,
    /// What processes asked for that this job is to do.
    orders: Vec<UniverseEvent>,
}

/// A process that called.
struct Client {
    number: u64,
    channel: Channel,
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
        let is_far = !hosts.is_empty();
        let keep_going = inherited.keep_going;
        let jobs = Jobs::new(variables.to_vec(), hosts, files, inherited);
        let mut root = Root {
            listener: Listener::open().ok(),
            mca: mca.to_vec(),
            clients: Vec::new(),
            jobs,
            keep_going,
            names: Names::default(),
            connections: Connections::default(),
            own: None,
            failed: 0,
            next: 0,
            ends: Ends::default(),
            orders: Vec::new(),
        };
        if is_far {
            root.listen_far()?;
        }
        Ok(Universe::Root(Box::new(root)))
    }

    /// Where ranks turn to beyond their job.
    pub fn ports(&self) -> Ports {
        match self {
            Universe::Root(root) => Ports { universe: text_of(root.listener.as_ref()), parent: String::new() },
            Universe::Member(member) => member.ports.clone(),
        }
    }

    /// What to wait for: any of it is a reason to call [`Universe::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        match self {
            Universe::Root(root) => {
                let listening = root.listener.iter().flat_map(Listener::descriptors);
                polls.extend(listening.map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN)));
                let channels = root.clients.iter().map(|client| &client.channel);
                polls.extend(channels.chain(root.jobs.channels()).filter_map(interest));
                root.names.interests(polls);
            }
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
                            Ok(Request::Status) => events.push(UniverseEvent::Asked),
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

    /// Asks all further jobs what their ranks do.
    pub fn ask_jobs(&mut self) {
        if let Universe::Root(root) = self {
            root.jobs.ask();
        }
    }

    /// Whether one of them has not answered.
    pub fn awaits_jobs(&self) -> bool {
        matches!(self, Universe::Root(root) if root.jobs.await_answers())
    }

    /// What they have answered.
    pub fn jobs_said(&self) -> Vec<String> {
        match self {
            Universe::Root(root) => root.jobs.lines(),
            Universe::Member(_) => Vec::new(),
        }
    }

    /// Tells the root what the ranks of this further job do.
    pub fn say_status(&mut self, lines: String) {
        if let Universe::Member(Member { channel: Some(channel), .. }) = self {
            // One that has ended is noticed in `pump`.
            let _ = channel.send(&Answer::Status(lines).encode());
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
}

/// What ranks are told of it: empty if there is none.
fn text_of(listener: Option<&Listener>) -> String {
    listener.map(Listener::text).unwrap_or_default()
}

impl Root {
    fn pump(&mut self) -> Vec<UniverseEvent> {
        while let Some(Ok(Some(channel))) = self.listener.as_mut().map(Listener::poll) {
            self.next += 1;
            self.clients.push(Client { number: self.next, channel });
        }
        let mut index = 0;
        while let Some(client) = self.clients.get_mut(index) {
            let number = client.number;
            match client.channel.poll() {
                Ok(None) => index += 1,
                Ok(Some(frame)) => {
                    let answer = match Request::decode(&frame) {
                        Ok(request) => self.answer(number, request),
                        Err(_) => Some(Answer::Refused("mpirun does not understand what was asked for".to_owned())),
                    };
                    self.tell(number, answer.as_ref());
                }
                Err(_) => drop(self.clients.remove(index)),
            }
        }
        for (client, answer) in self.names.pump() {
            self.tell(client, Some(&answer));
        }
        let mut events = std::mem::take(&mut self.orders);
        for news in self.jobs.pump() {
            for client in self.ends.heard(&news) {
                self.tell(client, Some(&Answer::Done));
            }
            if news.is_done() {
                continue;
            }
            let waits = self.clients.iter().any(|client| client.number == news.client);
            if let Some(started) = news.started() {
                self.connections.add(news.by, started);
            }
            self.tell(news.client, news.answer(waits).as_ref());
            let event = news.event(waits);
            match &event {
                // It failed because some of its processes were to end, and no others.
                Some(UniverseEvent::JobFailed(_, status)) if self.ends.has_ended_some(news.job) => {
                    self.failed = if self.failed == 0 { *status } else { self.failed };
                    events.push(UniverseEvent::JobEnded);
                }
                // The failure of a job is one of those that it is connected to.
                Some(UniverseEvent::JobFailed(..)) => {
                    let connected = self.connections.of(news.job);
                    if !self.keep_going {
                        self.jobs.end_of(&connected);
                    }
                    let concerns_own = self.own.is_none_or(|own| connected.contains(&own));
                    if let (Some(UniverseEvent::JobFailed(_, status)), false, 0) = (&event, concerns_own, self.failed) {
                        self.failed = *status;
                    }
                    events.extend(event.filter(|_| concerns_own).or(Some(UniverseEvent::JobEnded)));
                }
                _ => events.extend(event),
            }
        }
        events
    }

    /// Ranks of other hosts call from now on, too.
    fn listen_far(&mut self) -> Result<(), Refusal> {
        let Some(listener) = &mut self.listener else { return Ok(()) };
        There::read_parameters(&self.mca)?;
        listener.listen_far().map_err(Refusal::usage)
    }

    fn answer(&mut self, client: u64, request: Request) -> Option<Answer> {
        let refused = |why: String| Some(Answer::Refused(why));
        match request {
            Request::Spawn(spawn) => {
                let ready = if self.jobs.names_hosts(&spawn) { self.listen_far() } else { Ok(()) };
                let universe = text_of(self.listener.as_ref());
                match ready.map_err(|refusal| refusal.sentence).and_then(|()| self.jobs.start(client, &spawn, universe))
                {
                    // Answered when the job has started.
                    Ok(()) => None,
                    Err(why) => refused(why),
                }
            }
            Request::Publish(..) | Request::Unpublish(_) | Request::Lookup(_) => {
                if self.names.is_unused() {
                    match self.name_server() {
                        Ok(server) => self.names.use_server(server),
                        Err(why) => return refused(why),
                    }
                }
                self.names.answer(client, request)
            }
            Request::Met(one, other) => {
                self.connections.add(one, other);
                Some(Answer::Done)
            }
            Request::Parted(one, other) => {
                self.connections.remove(one, other);
                Some(Answer::Done)
            }
            Request::End(end) => {
                let mut jobs: Vec<u64> = end.processes.iter().map(|(job, _)| *job).collect();
                jobs.push(end.by.0);
                jobs.sort_unstable();
                jobs.dedup();
                let is_own = |job: &u64| Some(*job) == self.own;
                if jobs.iter().any(is_own) {
                    self.orders.push(UniverseEvent::End(end.clone()));
                }
                jobs.retain(|job| !is_own(job) && self.jobs.tell(*job, &Request::End(end.clone())));
                // The process that asks ends by itself then: its mpirun must know before that it is to.
                let is_noted = jobs.is_empty();
                self.ends.begin(client, jobs);
                is_noted.then_some(Answer::Done)
            }
            Request::Status => refused("mpirun alone asks that; mpirun --status prints it".to_owned()),
        }
    }

    /// The port of the name server, if the user named one. `Err` with a sentence.
    fn name_server(&self) -> Result<Option<String>, String> {
        There::read_parameters(&self.mca).map_err(|refusal| refusal.sentence)?;
        server::text_of(oob::NAME_SERVER.text())
    }

    fn tell(&mut self, client: u64, answer: Option<&Answer>) {
        let client = self.clients.iter_mut().find(|one| one.number == client);
        if let (Some(client), Some(answer)) = (client, answer) {
            // One that has ended is noticed at the next poll.
            let _ = client.channel.send(&answer.encode());
        }
    }
}
