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

mod jobs;

use crate::raw;
use crate::refusal::Refusal;
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
    listener: Listener,
    clients: Vec<Client>,
    jobs: Jobs,
    // The ports of names.
    names: BTreeMap<String, String>,
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
    pub fn root(variables: &[(OsString, OsString)], files: Rlimit) -> Result<Universe, Refusal> {
        let listener = Listener::open().map_err(|why| Refusal::system("making the socket for further jobs", why))?;
        let jobs = Jobs::new(variables.to_vec(), listener.text(), files);
        Ok(Universe::Root(Box::new(Root { listener, clients: Vec::new(), jobs, names: BTreeMap::new(), next: 0 })))
    }

    /// What ranks are told of it.
    pub fn variables(&self) -> [(OsString, OsString); 2] {
        let (universe, parent) = match self {
            Universe::Root(root) => (root.listener.text().into(), OsString::new()),
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
                polls.extend(root.listener.descriptors().map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN)));
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

    /// All ranks of this job run.
    pub fn all_started(&mut self) {
        if let Universe::Member(member) = self {
            member.tell(&Answer::Done);
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

impl Root {
    fn pump(&mut self) -> Vec<UniverseEvent> {
        while let Ok(Some(channel)) = self.listener.poll() {
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
            self.tell(news.client, news.answer(waits).as_ref());
            events.extend(news.event(waits));
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
