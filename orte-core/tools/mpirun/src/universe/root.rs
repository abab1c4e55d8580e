//! The mpirun that the user started, or a companion: the root of a universe, which all of its jobs ask.

use super::connections::Connections;
use super::ends::Ends;
use super::jobs::{Jobs, UniverseEvent};
use super::names::{Names, interest};
use super::server;
use super::stalls::{Judgement, Stalls};
use crate::cli::{HostRoom, Inherited};
use crate::refusal::Refusal;
use crate::there::There;
use orte_core::framework::oob;
use orte_core::port::{Channel, Listener};
use orte_core::universe::{Answer, Request};
use rustix::event::{PollFd, PollFlags};
use rustix::process::Rlimit;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// See [`Universe::Root`].
pub struct Root {
    // None where the system refuses sockets: then ranks cannot ask for anything.
    listener: Option<Listener>,
    mca: Vec<(String, String)>,
    clients: Vec<Client>,
    pub(super) jobs: Jobs,
    // The failure of a job does not end those that it is connected to.
    keep_going: bool,
    // The ports of names.
    names: Names,
    pub(super) connections: Connections,
    // The job that this mpirun started itself, once it is known.
    pub(super) own: Option<u64>,
    // The first failure of a job that was connected to nobody here.
    pub(super) failed: u8,
    next: u64,
    ends: Ends,
    pub(super) stalls: Stalls,
    /// What processes asked for that this job is to do.
    pub(super) orders: Vec<UniverseEvent>,
}

/// A process that called.
struct Client {
    number: u64,
    channel: Channel,
}

impl Root {
    /// See [`super::Universe::root`].
    pub(super) fn new(
        variables: &[(OsString, OsString)],
        files: Rlimit,
        hosts: Vec<HostRoom>,
        inherited: Inherited,
        mca: &[(String, String)],
    ) -> Result<Root, Refusal> {
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
            stalls: Stalls::default(),
            orders: Vec::new(),
        };
        if is_far {
            root.listen_far()?;
        }
        Ok(root)
    }

    /// What ranks are told of it: empty if there is none.
    pub(super) fn port(&self) -> String {
        self.listener.as_ref().map(Listener::text).unwrap_or_default()
    }

    /// What to wait for.
    pub(super) fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        let listening = self.listener.iter().flat_map(Listener::descriptors);
        polls.extend(listening.map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN)));
        polls.extend(self.clients.iter().filter_map(|client| interest(&client.channel)));
        self.jobs.interests(polls);
        self.names.interests(polls);
    }

    /// Hears everybody. Never waits.
    pub(super) fn pump(&mut self) -> Vec<UniverseEvent> {
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
            if let Some(waits) = news.stalled() {
                self.stalls.note(news.job, waits);
                events.extend(self.stall_of(news.job));
                continue;
            }
            if news.has_ended() {
                self.stalls.note(news.job, true);
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

    /// All jobs that this one is connected to wait, for all that this mpirun knows, and that is news.
    pub(super) fn stall_of(&mut self, job: u64) -> Option<UniverseEvent> {
        let connected = self.connections.of(job);
        // A job that is connected to no other one reports its own stall.
        if connected.len() < 2 {
            return None;
        }
        let is_known = match self.judge(&connected) {
            Judgement::Lives => return None,
            Judgement::Stalled => true,
            Judgement::Unknown => false,
        };
        let runs = |job: &u64| self.jobs.runs(*job) || Some(*job) == self.own;
        let jobs: BTreeSet<u64> = connected.iter().copied().filter(runs).collect();
        self.stalls.is_news(&connected).then_some(UniverseEvent::Stalled(jobs, is_known))
    }

    /// What the ranks of these jobs do together, which are connected.
    pub(super) fn judge(&self, connected: &BTreeSet<u64>) -> Judgement {
        self.stalls.judge(connected, |job| self.jobs.runs(job) || Some(job) == self.own)
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
                let universe = self.port();
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
            Request::Status(_) => refused("mpirun alone asks that; mpirun --status prints it".to_owned()),
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
