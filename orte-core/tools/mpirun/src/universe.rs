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

mod connections;
mod jobs;

use crate::raw;
use crate::refusal::Refusal;
use connections::Connections;
use jobs::Jobs;
pub use jobs::{ARGUMENT, UniverseEvent};
use orte_core::environment::{PARENT, UNIVERSE};
use orte_core::port::{Channel, Listener};
use orte_core::universe::{Answer, Request};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::AsFd;
use rustix::process::Rlimit;
use std::collections::BTreeMap;
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
    clients: Vec<Client>,
    jobs: Jobs,
    // The ports of names.
    names: BTreeMap<String, String>,
    connections: Connections,
    // The job that this mpirun started itself, once it is known.
    own: Option<u64>,
    // The first failure of a job that was connected to nobody here.
    failed: u8,
    next: u64,
}

/// A process that called.
struct Client {
    number: u64,
    channel: Channel,
}

/// The socket to the mpirun that started this one.
pub struct Member {
    channel: Option<Channel>,
    has_told: bool,
}

impl Member {
    /// From the number of the descriptor; `None` if it is none.
    pub fn adopt(number: &OsString) -> Option<Member> {
        let socket = raw::adopt(number.to_str()?.parse().ok()?).ok()?;
        Some(Member { channel: Some(Channel::over(socket)), has_told: false })
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
    /// For the job that the user starts: further ones get these variables, and this limit on descriptors.
    pub fn root(variables: &[(OsString, OsString)], files: Rlimit) -> Universe {
        let listener = Listener::open().ok();
        let jobs = Jobs::new(variables.to_vec(), text_of(listener.as_ref()), files);
        Universe::Root(Box::new(Root {
            listener,
            clients: Vec::new(),
            jobs,
            names: BTreeMap::new(),
            connections: Connections::default(),
            own: None,
            failed: 0,
            next: 0,
        }))
    }

    /// What ranks are told of it.
    pub fn variables(&self) -> [(OsString, OsString); 2] {
        let (universe, parent) = match self {
            Universe::Root(root) => (text_of(root.listener.as_ref()).into(), OsString::new()),
            // As the mpirun that started this one left them.
            Universe::Member(_) => {
                let variable = |name| std::env::var_os(name).unwrap_or_default();
                (variable(UNIVERSE), variable(PARENT))
            }
        };
        [(UNIVERSE.into(), universe), (PARENT.into(), parent)]
    }

    /// What to wait for: any of it is a reason to call [`Universe::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        let of_channel = |channel: &'a Channel| {
            let wanted = if channel.has_unsent() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            PollFd::from_borrowed_fd(channel.as_fd(), wanted)
        };
        match self {
            Universe::Root(root) => {
                let listening = root.listener.iter().flat_map(Listener::descriptors);
                polls.extend(listening.map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN)));
                polls.extend(
                    root.clients.iter().map(|client| &client.channel).chain(root.jobs.channels()).map(of_channel),
                );
            }
            Universe::Member(member) => polls.extend(member.channel.iter().map(of_channel)),
        }
    }

    /// Hears everybody. Never waits.
    pub fn pump(&mut self) -> Vec<UniverseEvent> {
        match self {
            Universe::Root(root) => root.pump(),
            Universe::Member(member) => {
                let is_gone = member.channel.as_mut().is_some_and(|channel| channel.poll().is_err());
                if is_gone {
                    member.channel = None;
                }
                if is_gone { vec![UniverseEvent::RootGone] } else { Vec::new() }
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
        let mut events = Vec::new();
        for news in self.jobs.pump() {
            let waits = self.clients.iter().any(|client| client.number == news.client);
            if let Some(started) = news.started() {
                self.connections.add(news.by, started);
            }
            self.tell(news.client, news.answer(waits).as_ref());
            let event = news.event(waits);
            match event {
                // The failure of a job is one of those that it is connected to.
                Some(UniverseEvent::JobFailed(..)) => {
                    let connected = self.connections.of(news.job);
                    self.jobs.end_of(&connected);
                    let concerns_own = self.own.is_none_or(|own| connected.contains(&own));
                    if let (Some(UniverseEvent::JobFailed(_, status)), false, 0) = (event, concerns_own, self.failed) {
                        self.failed = status;
                    }
                    events.extend(event.filter(|_| concerns_own).or(Some(UniverseEvent::JobEnded)));
                }
                other => events.extend(other),
            }
        }
        events
    }

    fn answer(&mut self, client: u64, request: Request) -> Option<Answer> {
        let refused = |why: String| Some(Answer::Refused(why));
        match request {
            Request::Spawn(spawn) => match self.jobs.start(client, &spawn) {
                // Answered when the job has started.
                Ok(()) => None,
                Err(why) => refused(why),
            },
            Request::Publish(service, port) => match self.names.contains_key(&service) {
                true => refused(format!("the name `{service}` is published already")),
                false => {
                    self.names.insert(service, port);
                    Some(Answer::Done)
                }
            },
            Request::Met(one, other) => {
                self.connections.add(one, other);
                Some(Answer::Done)
            }
            Request::Parted(one, other) => {
                self.connections.remove(one, other);
                Some(Answer::Done)
            }
            Request::Unpublish(service) => match self.names.remove(&service) {
                Some(_) => Some(Answer::Done),
                None => refused(format!("the name `{service}` is not published")),
            },
            Request::Lookup(service) => match self.names.get(&service) {
                Some(port) => Some(Answer::Port(port.clone())),
                None => refused(format!("the name `{service}` is not published")),
            },
        }
    }

    fn tell(&mut self, client: u64, answer: Option<&Answer>) {
        let client = self.clients.iter_mut().find(|one| one.number == client);
        if let (Some(client), Some(answer)) = (client, answer) {
            // One that has ended is noticed at the next poll.
            let _ = client.channel.send(&answer.encode());
        }
    }
}
