//! The other hosts of a job, as mpirun knows them: how their daemons are started, and what they say.
//!
//! ```text
//! Starting ──calls──▶ Up ──says that nothing is left──▶ Gone
//!     └──────────────┴──agent, connection or daemon ends──▶ Lost
//! ```

mod door;
mod interfaces;
mod launcher;
mod settings;
mod slurm;
mod ssh;

use crate::agent::Agent;
use crate::link::{self, Link};
use crate::outcome;
use crate::raw;
use crate::refusal::Refusal;
use crate::tree::Process;
use door::Door;
use interfaces::Chosen;
use launcher::Launcher;
use orte_core::oob::{Frame, HostOrders, Invitation, Secret};
use rustix::event::{PollFd, PollFlags};
use settings::Settings;
use std::path::Path;
use std::time::{Duration, Instant};

/// All other hosts that have ranks; their nodes are counted from 1.
pub struct There {
    hosts: Vec<Host>,
    launcher: Launcher,
    /// One for each host, or one for all.
    agents: Vec<Agent>,
    door: Door,
    settings: Settings,
    /// Until when daemons may take to call.
    until: Instant,
    /// When this process looked at the clock last.
    looked: Instant,
}

struct Host {
    name: String,
    link: Option<Link>,
    state: State,
    orders: Option<HostOrders>,
    /// How and when its agent ended, if another daemon started it; with a reason if none could be started.
    agent_ended: Option<(i32, Instant, Option<String>)>,
}

/// How far a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Starting,
    Up,
    Gone,
    Lost,
}

/// What happened on a host.
pub enum HostEvent {
    /// Its daemon says this.
    Said(u32, Frame),
    /// Nothing more is heard of it: what happened, as half a sentence, and whether its daemon had called before.
    Lost(u32, String, bool),
}

/// Something that [`There`] waits for.
#[derive(Clone, Copy, Debug)]
pub enum HostInterest {
    Door(door::DoorInterest),
    Link(usize),
    Agent,
}

impl There {
    /// Starts a daemon on each host, all at once: its name and what it is to start.
    pub fn start(
        hosts: Vec<(String, HostOrders)>,
        secret: Secret,
        mca: &[(String, String)],
        prefix: Option<&Path>,
    ) -> Result<There, Refusal> {
        let settings = Settings::new(mca)?;
        let (names, orders): (Vec<String>, Vec<HostOrders>) = hosts.into_iter().unzip();
        let launcher = Launcher::new(&settings, &names, prefix)?;
        let all = raw::interfaces().map_err(|error| Refusal::system("listing network interfaces", error))?;
        let chosen = Chosen::new(&all, &settings.include, &settings.exclude)?;
        let (door, addresses) = Door::open(secret, &chosen)?;
        let (silence_ms, patience_ms) = (settings.silence.as_millis() as u64, settings.start.as_millis() as u64);
        let agents = launcher.start(&names, |places: &[usize]| {
            let hosts = places.iter().map(|place| (*place as u32 + 1, names[*place].clone())).collect();
            let addresses = addresses.clone();
            Invitation { hosts, secret, silence_ms, patience_ms, addresses }.encode(crate::daemon::VERSION)
        })?;
        let host =
            |(name, orders)| Host { name, link: None, state: State::Starting, orders: Some(orders), agent_ended: None };
        let hosts = names.into_iter().zip(orders).map(host).collect();
        let now = Instant::now();
        let until = now + settings.start;
        Ok(There { hosts, launcher, agents, door, settings, until, looked: now })
    }

    /// What would start the daemons, as a sentence.
    pub fn explain(names: &[String], mca: &[(String, String)], prefix: Option<&Path>) -> Result<String, Refusal> {
        Ok(Launcher::new(&Settings::new(mca)?, names, prefix)?.explain(names))
    }

    /// Nothing is left on any host, as far as can be known.
    pub fn is_gone(&self) -> bool {
        self.hosts.iter().all(|host| matches!(host.state, State::Gone | State::Lost))
    }

    /// The hosts that have not called yet.
    pub fn starting(&self) -> Vec<&str> {
        let starting = self.hosts.iter().filter(|host| host.state == State::Starting);
        starting.map(|host| host.name.as_str()).collect()
    }

    /// The hosts that have called and are not done.
    pub fn up(&self) -> Vec<u32> {
        let up = self.hosts.iter().enumerate().filter(|(_, host)| host.state == State::Up);
        up.map(|(index, _)| index as u32 + 1).collect()
    }

    /// The agents' own processes: they end last.
    pub fn processes(&self) -> Vec<Process> {
        self.agents.iter().filter_map(Agent::process).collect()
    }

    /// Sends a frame to a host whose daemon has called.
    pub fn tell(&mut self, node: u32, frame: &Frame) {
        if let Some(host) = self.host(node)
            && host.state == State::Up
            && let Some(link) = &mut host.link
        {
            link.send(frame);
        }
    }

    /// Sends a frame to every host whose daemon has called.
    pub fn tell_all(&mut self, frame: &Frame) {
        (1..=self.hosts.len() as u32).for_each(|node| self.tell(node, frame));
    }

    /// Ends the job on the hosts: those that have not called never will.
    pub fn finish(&mut self) {
        self.tell_all(&Frame::Finish);
        for index in 0..self.hosts.len() {
            if self.hosts[index].state == State::Starting {
                self.hosts[index].state = State::Lost;
                self.end_agent_of(index);
            }
        }
        // Last: a daemon that is hung up on says so as long as its agent lives.
        self.door.close();
    }

    /// Gives up whoever has not answered; their names.
    pub fn give_up(&mut self) -> Vec<String> {
        let silent = self.hosts.iter_mut().filter(|host| host.state == State::Up);
        silent.map(|host| (host.state = State::Lost, host.link = None, host.name.clone()).2).collect()
    }

    /// Ends the agents: their daemons have said that nothing is left, and only end themselves.
    pub fn end(&mut self) {
        let end = Instant::now() + LEAVING;
        // A closed connection is the last thing that is seen of a process.
        while Instant::now() < end && self.hosts.iter_mut().any(|host| !host.has_left()) {
            opal_core::sys::nap_us(200);
        }
        self.agents.iter_mut().for_each(Agent::end);
    }

    /// Ends the agent of a host, unless other hosts need it.
    fn end_agent_of(&mut self, index: usize) {
        let agent = match self.launcher.agent_of(index) {
            Ok(agent) => agent,
            Err(parent) => return self.tell(parent, &Frame::EndAgent(index as u32 + 1)),
        };
        let needs = |(other, host): (usize, &Host)| {
            self.launcher.agent_of(other) == Ok(agent) && matches!(host.state, State::Starting | State::Up)
        };
        if !self.hosts.iter().enumerate().any(needs) {
            self.agents[agent].end();
        }
    }

    /// Appends what has to be waited for; hand the result and the answers to [`There::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<HostInterest> {
        let mut interests: Vec<HostInterest> = self.door.interests(polls).into_iter().map(HostInterest::Door).collect();
        for (index, host) in self.hosts.iter().enumerate() {
            if let (Some(link), State::Up) = (&host.link, host.state) {
                let out = if link.is_behind() { PollFlags::OUT } else { PollFlags::empty() };
                polls.push(PollFd::from_borrowed_fd(link.socket(), PollFlags::IN | out));
                interests.push(HostInterest::Link(index));
            }
        }
        let mut needed = vec![false; self.agents.len()];
        let alive = |host: &Host| matches!(host.state, State::Starting | State::Up);
        for (index, _) in self.hosts.iter().enumerate().filter(|(_, host)| alive(host)) {
            if let Ok(agent) = self.launcher.agent_of(index) {
                needed[agent] = true;
            }
        }
        for (agent, _) in self.agents.iter().zip(needed).filter(|(_, needed)| *needed) {
            if agent.interest(polls) {
                interests.push(HostInterest::Agent);
            }
        }
        interests
    }

    /// What happened: `ready` are the answers for `interests`, in their order.
    pub fn pump(&mut self, interests: &[HostInterest], ready: &[PollFlags]) -> Vec<HostEvent> {
        let mut events = Vec::new();
        let (mut doors, mut answers) = (Vec::new(), Vec::new());
        for (interest, flags) in interests.iter().zip(ready) {
            match *interest {
                HostInterest::Door(door) => {
                    doors.push(door);
                    answers.push(*flags);
                }
                HostInterest::Link(index) if !flags.is_empty() => self.hear(index, &mut events),
                HostInterest::Link(_) | HostInterest::Agent => {}
            }
        }
        for guest in self.door.pump(&doors, &answers) {
            self.welcome(guest);
        }
        if self.starting().is_empty() {
            self.door.close();
        }
        self.look_at_clock(&mut events);
        events
    }

    fn welcome(&mut self, guest: door::Guest) {
        let silence = self.settings.silence;
        let Some(host) = self.host(guest.node) else { return };
        // The second of two that take themselves for one host is let go.
        let (State::Starting, Some(orders)) = (host.state, host.orders.take()) else { return };
        host.state = State::Up;
        let mut link = guest.link;
        if let Err(errno) = link::notice_silence(link.socket(), silence) {
            crate::refusal::say(&format!("a lost connection to {} may not be noticed soon: {errno}", host.name));
        }
        link.send(&Frame::Orders(orders));
        host.link = Some(link);
        self.spawn_below(guest.node);
    }

    /// Has the daemon of a node start those below it.
    fn spawn_below(&mut self, node: u32) {
        let below = self.launcher.below(node, self.hosts.len());
        let hosts = below.iter().map(|place| (*place as u32 + 1, self.hosts[*place].name.clone()));
        let hosts: Vec<(u32, String)> = hosts.collect();
        if let (Launcher::Ssh(agents), false) = (&self.launcher, hosts.is_empty()) {
            let spawn = agents.spawn(hosts);
            self.tell(node, &Frame::Spawn(spawn));
        }
    }

    fn hear(&mut self, index: usize, events: &mut Vec<HostEvent>) {
        let host = &mut self.hosts[index];
        let Some(link) = &mut host.link else { return };
        link.flush();
        let news = link.receive();
        let (node, mut ended) = (index as u32 + 1, Vec::new());
        for frame in news.frames {
            match frame {
                Frame::AgentEnded(of, status, why) => ended.push((of, status, why)),
                frame => {
                    if frame == Frame::Gone {
                        host.state = State::Gone;
                    }
                    events.push(HostEvent::Said(node, frame));
                }
            }
        }
        if let (Some(why), State::Up) = (news.lost, host.state) {
            host.state = State::Lost;
            events.push(HostEvent::Lost(node, format!("its daemon ended, or the network to it did ({why})"), true));
        }
        for (of, status, why) in ended {
            if self.launcher.agent_of((of as usize).wrapping_sub(1)) == Err(node)
                && let Some(host) = self.host(of)
            {
                host.agent_ended = Some((status, Instant::now(), why));
            }
        }
    }

    fn look_at_clock(&mut self, events: &mut Vec<HostEvent>) {
        let now = Instant::now();
        // Whoever was away itself (stopped, or a sleeping laptop) has not listened.
        let was_away = now.duration_since(self.looked) > AWAY;
        self.looked = now;
        self.agents.iter_mut().for_each(Agent::look);
        for index in 0..self.hosts.len() {
            let why = match self.hosts[index].state {
                State::Starting => self.not_started(index, now).map(|why| (why, false)),
                State::Up => self.lost(index, now, was_away).map(|why| (why, true)),
                State::Gone | State::Lost => None,
            };
            if let Some((why, was_up)) = why {
                self.hosts[index].state = State::Lost;
                if !was_up {
                    self.end_agent_of(index);
                }
                events.push(HostEvent::Lost(index as u32 + 1, why, was_up));
            }
        }
    }

    /// How and when the agent of a host ended, and who had started it, as words.
    fn agent_ended(&self, index: usize) -> Option<(i32, Instant, String)> {
        let program = self.launcher.name();
        match self.launcher.agent_of(index) {
            Ok(agent) => {
                let agent = &self.agents[agent];
                Some((agent.ended?, agent.ended_at?, format!("{program} (process {})", agent.id())))
            }
            Err(parent) => {
                let (status, since, _) = self.hosts[index].agent_ended.as_ref()?;
                Some((*status, *since, format!("{program} on {}", self.hosts[parent as usize - 1].name)))
            }
        }
    }

    /// Why a daemon will not call any more.
    fn not_started(&self, index: usize, now: Instant) -> Option<String> {
        let name = &self.hosts[index].name;
        let (program, check_line) = (self.launcher.name(), self.launcher.check_line(name));
        let parent = self.launcher.agent_of(index).err().map(|parent| &self.hosts[parent as usize - 1]);
        let on = parent.map_or(String::new(), |parent| format!(" on {}", parent.name));
        if let Some((_, _, Some(why))) = &self.hosts[index].agent_ended {
            return Some(format!(
                "no daemon started there: {why}{on}; --mca plm_ssh_tree_radix 0 lets mpirun log in to all hosts"
            ));
        }
        if let Some((status, ..)) = self.agent_ended(index) {
            let (words, hint) = (outcome::words(status), self.launcher.hint(name, status));
            return Some(format!("no daemon started there: {program}{on} ended with {words}; {hint}"));
        }
        match parent.filter(|parent| matches!(parent.state, State::Lost | State::Gone)) {
            Some(parent) => {
                Some(format!("no daemon started there: host {}, which was to start it, was lost", parent.name))
            }
            None if now >= self.until => Some(format!(
                "its daemon did not call within {} s (--mca plm_start_timeout_s); unless its daemon is stopped, try `{check_line}`{on}, and see that it can reach \
                 mpirun's machine by TCP (--mca oob_tcp_if_include names the interfaces to listen on)",
                self.settings.start.as_secs(),
            )),
            None => None,
        }
    }

    /// Why a host that was there is not any more.
    fn lost(&mut self, index: usize, now: Instant, was_away: bool) -> Option<String> {
        let agent = self.agent_ended(index);
        let host = &mut self.hosts[index];
        let silent = host.link.as_mut().map_or(Duration::ZERO, |link| {
            if was_away {
                link.heard = now;
            }
            now.duration_since(link.heard)
        });
        let why = match agent {
            // What ends the daemon ends the agent, too, and its connection says more.
            Some((status, since, agent)) if now >= since + SETTLE && status != 0 => {
                format!("its {agent} ended with {}", outcome::words(status))
            }
            _ if silent >= self.settings.silence => format!(
                "nothing was heard of it for {} s (--mca oob_tcp_silence_timeout_s): the host or the network is down, or its daemon \
                 is stopped",
                self.settings.silence.as_secs()
            ),
            _ => return None,
        };
        // Where the connection still stands, the daemon kills what is there.
        match &mut host.link {
            Some(link) if silent < self.settings.silence => link.send(&Frame::Finish),
            _ => host.link = None,
        }
        Some(why)
    }

    fn host(&mut self, node: u32) -> Option<&mut Host> {
        self.hosts.get_mut((node as usize).checked_sub(1)?)
    }
}

impl Host {
    /// Its daemon's process has ended, or cannot be seen.
    fn has_left(&mut self) -> bool {
        match (&mut self.link, self.state) {
            (Some(link), State::Gone | State::Lost) => link.receive().lost.is_some(),
            _ => true,
        }
    }
}

/// How long a daemon's process may take to end after everything else of the job has.
const LEAVING: Duration = Duration::from_secs(2);
/// So long after the end of an agent its daemon's connection says why.
const SETTLE: Duration = Duration::from_millis(300);
/// A pause of this process's own.
const AWAY: Duration = Duration::from_secs(2);
