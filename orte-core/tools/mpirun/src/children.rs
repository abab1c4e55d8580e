//! The daemons right below this process in the tree of hosts ([`orte_core::routed`]): mpirun has them, and daemons that start further
//! ones. Their agents, the door where they call, the connections, and what comes along these.
//!
//! ```text
//! Awaited ──calls──▶ Up ──says that nothing is left──▶ Left
//!     └──────────────┴──its process ends, or it is silent──▶ Left
//! ```
//!
//! A connection that breaks is made again by the daemon, which calls here: the door stays open as long as one of them is awaited or up.

mod door;

use crate::agent::Agent;
use crate::link::{self, Link};
use crate::refusal::Refusal;
use crate::tree::Process;
use door::Door;
use opal_core::mca::ports;
use orte_core::oob::interfaces::Chosen;
use orte_core::oob::{Frame, Secret};
use orte_core::routed::{Router, Tree, Way, envelope};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

/// All of them.
pub struct Children {
    router: Router,
    all: Vec<Child>,
    /// One for each child, or one for all.
    agents: Vec<Agent>,
    door: Door,
    /// In its envelope, what each is told first.
    orders: Vec<u8>,
    silence: Duration,
    /// When they hear next that this process is alive.
    next_beat: Instant,
    /// When this process looked at the clock last.
    looked: Instant,
    visitors: Visitors,
}

/// Daemons that somebody else started (srun starts all of them): they call mpirun, and are told where their parents listen.
#[derive(Default)]
struct Visitors {
    /// So many have not been told yet.
    awaited: usize,
    /// Where the daemons listen that have said so.
    entrances: BTreeMap<u32, Vec<String>>,
    /// Those that have called, with their nodes.
    waiting: Vec<(u32, Link)>,
}

struct Child {
    node: u32,
    agent: Option<usize>,
    /// The end of its agent was told.
    is_told: bool,
    link: Option<Link>,
    /// When the connection broke, if it is broken, and why.
    broken: Option<(Instant, Errno)>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awaited,
    Up,
    Left,
}

/// What happened.
pub enum Event {
    /// The daemon of this node has called.
    Joined(u32),
    /// This node says this to this process.
    Here(u32, Frame),
    /// To be passed on to the parent as it came.
    Up(Vec<u8>),
    /// The agent of this node ended with this wait status; its process.
    AgentEnded(u32, i32, u32),
    /// The connection to this node broke and goes on between these addresses.
    Resumed(u32, String),
    /// Nothing more is heard of this node, with the reason as half a sentence.
    Lost(u32, String),
}

/// Something that [`Children`] waits for.
#[derive(Clone, Copy, Debug)]
pub enum ChildInterest {
    Door(door::DoorInterest),
    Link(usize),
    Agent,
}

/// Who starts the daemon of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedBy {
    /// This one of the agents.
    Agent(usize),
    /// Somebody else.
    Another,
    /// None could be started.
    Nobody,
}

/// A door that is open, and where it is.
pub struct Entrance {
    door: Door,
    pub addresses: Vec<SocketAddr>,
}

impl Entrance {
    /// Listens on the interfaces that these lists name, on ports of this range.
    pub fn open(secret: Secret, include: &str, exclude: &str, range: &str) -> Result<Entrance, Refusal> {
        let chosen = Chosen::of_machine(include, exclude).map_err(Refusal::usage)?;
        let range = ports(range).map_err(|why| Refusal::usage(format!("oob_tcp_port: {why}")))?;
        let (door, addresses) = Door::open(secret, &chosen, range)?;
        Ok(Entrance { door, addresses })
    }
}

impl Children {
    /// Those of a node, and who starts each. `orders` is in its envelope; a node without children needs no entrance.
    pub fn new(
        (tree, node): (Tree, u32),
        entrance: Option<Entrance>,
        agents: Vec<Agent>,
        started_by: impl Fn(u32) -> StartedBy,
        orders: Vec<u8>,
        silence: Duration,
    ) -> Children {
        let child = |node: u32| {
            let (agent, state) = match started_by(node) {
                StartedBy::Agent(agent) => (Some(agent), State::Awaited),
                StartedBy::Another => (None, State::Awaited),
                StartedBy::Nobody => (None, State::Left),
            };
            Child { node, agent, is_told: false, link: None, broken: None, state }
        };
        let now = Instant::now();
        Children {
            router: Router { tree, node },
            all: tree.children(node).map(child).collect(),
            agents,
            door: entrance.map_or_else(Door::shut, |entrance| entrance.door),
            orders,
            silence,
            next_beat: now,
            looked: now,
            visitors: Visitors::default(),
        }
    }

    /// So many daemons of nodes further below will call here and are to be sent on.
    pub fn expect_visitors(&mut self, count: usize) {
        self.visitors.awaited = count;
    }

    /// The daemon of this node listens there for its children.
    pub fn set_entrance(&mut self, node: u32, addresses: Vec<String>) {
        self.visitors.entrances.insert(node, addresses);
        self.send_on();
    }

    /// Sends on who can be.
    fn send_on(&mut self) {
        let (tree, visitors) = (self.router.tree, &mut self.visitors);
        visitors.waiting.retain_mut(|(node, link)| {
            let Some(addresses) = tree.parent(*node).and_then(|parent| visitors.entrances.get(&parent)) else {
                return true;
            };
            // A new connection's buffer has room for it.
            link.send(&envelope::encode(Way::Neighbor, &Frame::CallAt(addresses.clone())));
            visitors.awaited = visitors.awaited.saturating_sub(1);
            false
        });
    }

    /// What this node does with envelopes.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Sends bytes in their envelope to some of them; those that have not called, or that left, miss it.
    pub fn forward(&mut self, children: Range<u32>, bytes: &[u8]) {
        let up = |child: &&mut Child| child.state == State::Up && children.contains(&child.node);
        self.all.iter_mut().filter(up).filter_map(|child| child.link.as_mut()).for_each(|link| link.send(bytes));
    }

    /// Sends a frame to a node below.
    pub fn tell(&mut self, node: u32, frame: &Frame) {
        if let orte_core::routed::Hop::Down(child) = self.router.tree.hop(self.router.node, node) {
            self.forward(child..child + 1, &envelope::encode(Way::To(node), frame));
        }
    }

    /// Sends a frame to all nodes below.
    pub fn tell_all(&mut self, frame: &Frame) {
        self.forward(self.router.tree.children(self.router.node), &envelope::encode(Way::All, frame));
    }

    /// Those that have not called never will.
    pub fn finish(&mut self) {
        for index in 0..self.all.len() {
            if self.all[index].state == State::Awaited {
                self.all[index].state = State::Left;
                self.end_agent_of(index);
            }
        }
        for (_, link) in &mut self.visitors.waiting {
            link.send(&envelope::encode(Way::Neighbor, &Frame::Finish));
        }
        self.visitors = Visitors::default();
        // Last: a daemon that is hung up on says so as long as its agent lives. Those that are here may call again.
        self.door.hang_up();
    }

    /// Hangs up.
    pub fn give_up(&mut self) {
        self.all.iter_mut().for_each(|child| (child.state, child.link) = (State::Left, None));
    }

    /// The agents' own processes: they end last.
    pub fn processes(&self) -> Vec<Process> {
        self.agents.iter().filter_map(Agent::process).collect()
    }

    /// All have said that nothing is left there, or nothing more is heard of them.
    pub fn have_left(&self) -> bool {
        self.all.iter().all(|child| child.state == State::Left)
    }

    /// Ends the agents: their daemons have said that nothing is left, and only end themselves.
    pub fn end(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        let is_open = |link: &mut Link| {
            let news = link.receive();
            link.socket().is_some() && news.lost.is_none() && news.broken.is_none()
        };
        // A closed connection is the last thing that is seen of a process.
        let here = |children: &mut [Child]| children.iter_mut().filter_map(|child| child.link.as_mut()).any(is_open);
        while here(&mut self.all) && Instant::now() < end {
            opal_core::sys::nap_us(200);
        }
        self.agents.iter_mut().for_each(Agent::end);
    }

    /// Ends the agent of a child, unless others need it.
    fn end_agent_of(&mut self, index: usize) {
        let agent = self.all[index].agent;
        let is_needed = self.all.iter().any(|child| child.agent == agent && child.state != State::Left);
        if let (Some(agent), false) = (agent, is_needed) {
            self.agents[agent].end();
        }
    }

    /// Appends what has to be waited for; hand the result and the answers to [`Children::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<ChildInterest> {
        let mut interests: Vec<ChildInterest> =
            self.door.interests(polls).into_iter().map(ChildInterest::Door).collect();
        let mut needed = vec![false; self.agents.len()];
        for (index, child) in self.all.iter().enumerate().filter(|(_, child)| child.state != State::Left) {
            if let Some((link, socket)) = child.link.as_ref().and_then(|link| Some((link, link.socket()?))) {
                let out = if link.is_behind() { PollFlags::OUT } else { PollFlags::empty() };
                polls.push(PollFd::from_borrowed_fd(socket, PollFlags::IN | out));
                interests.push(ChildInterest::Link(index));
            }
            child.agent.iter().for_each(|agent| needed[*agent] = true);
        }
        for (agent, _) in self.agents.iter().zip(needed).filter(|(_, needed)| *needed) {
            if agent.interest(polls) {
                interests.push(ChildInterest::Agent);
            }
        }
        interests
    }

    /// What happened: `ready` are the answers for `interests`, in their order.
    pub fn pump(&mut self, interests: &[ChildInterest], ready: &[PollFlags]) -> Vec<Event> {
        let mut events = Vec::new();
        let (mut doors, mut answers) = (Vec::new(), Vec::new());
        for (interest, flags) in interests.iter().zip(ready) {
            match *interest {
                ChildInterest::Door(door) => {
                    doors.push(door);
                    answers.push(*flags);
                }
                ChildInterest::Link(index) if !flags.is_empty() => self.hear(index, &mut events),
                ChildInterest::Link(_) | ChildInterest::Agent => {}
            }
        }
        let all = &self.all;
        let taken = |node: u32| {
            let child = all.iter().find(|child| child.node == node);
            child.and_then(|child| child.link.as_ref()).map_or(0, Link::taken)
        };
        for guest in self.door.pump(&doors, &answers, taken) {
            self.welcome(guest, &mut events);
        }
        if self.visitors.awaited == 0 && self.have_left() {
            self.door.close();
        }
        self.look_at_clock(&mut events);
        events
    }

    fn welcome(&mut self, guest: door::Guest, events: &mut Vec<Event>) {
        let Some(index) = self.all.iter().position(|child| child.node == guest.node) else {
            if self.visitors.awaited > 0 && self.router.tree.holds(self.router.node, guest.node) {
                self.visitors.waiting.push((guest.node, Link::new(guest.wire)));
                self.send_on();
            }
            return;
        };
        let child = &mut self.all[index];
        if let Err(errno) = link::notice_silence(guest.wire.socket(), self.silence) {
            crate::refusal::say(&format!("a lost connection to a host may not be noticed soon: {errno}"));
        }
        match (child.state, guest.theirs) {
            (State::Awaited, 0) => {}
            (State::Up, 1..) => {
                let Some(link) = &mut child.link else { return };
                if link.resume(guest.wire, guest.told, guest.theirs).is_ok() {
                    child.broken = None;
                    events.push(Event::Resumed(child.node, link.ends().to_owned()));
                    // Some of it may have come with the call.
                    self.hear(index, events);
                }
                return;
            }
            (State::Left, 0) => {
                // The job ended before it began there.
                Link::new(guest.wire).send(&envelope::encode(Way::Neighbor, &Frame::Finish));
                return;
            }
            // The second of two that take themselves for one host is let go, and one that was given up.
            _ => return,
        }
        child.state = State::Up;
        let mut link = Link::new(guest.wire);
        link.send(&self.orders);
        child.link = Some(link);
        events.push(Event::Joined(guest.node));
    }

    fn hear(&mut self, index: usize, events: &mut Vec<Event>) {
        let (router, child) = (self.router, &mut self.all[index]);
        let Some(link) = &mut child.link else { return };
        link.flush();
        let news = link.receive();
        let mut lost = news.lost;
        if let Some(errno) = news.broken {
            link.break_off();
            child.broken = Some((Instant::now(), errno));
        }
        for bytes in news.payloads {
            match router.from_child(child.node, &bytes) {
                Ok(routed) => {
                    events.extend(routed.here.map(|(node, frame)| Event::Here(node, frame)));
                    if routed.up {
                        events.push(Event::Up(bytes));
                    }
                    if routed.is_last {
                        child.state = State::Left;
                    }
                }
                Err(flaw) => {
                    lost = Some(link::changed(&flaw));
                    break;
                }
            }
        }
        if child.state == State::Left {
            link.acknowledge();
        }
        if let (Some(why), State::Up) = (lost, child.state) {
            let why = format!("its daemon ended, or the network to it did, between {} ({why})", link.ends());
            (child.state, child.link) = (State::Left, None);
            events.push(Event::Lost(child.node, why));
        }
    }

    fn look_at_clock(&mut self, events: &mut Vec<Event>) {
        let now = Instant::now();
        // Whoever was away itself (stopped, or a sleeping laptop) has not listened.
        let was_away = now.duration_since(self.looked) > AWAY;
        self.looked = now;
        self.agents.iter_mut().for_each(Agent::look);
        let beats = self.router.node != 0 && now >= self.next_beat;
        if beats {
            self.next_beat = now + link::beat(self.silence);
        }
        let has_own_agent = self.all.iter().map(|child| child.agent).eq((0..self.agents.len()).map(Some));
        for child in self.all.iter_mut().filter(|child| child.state != State::Left) {
            if let Some(agent) = child.agent.map(|agent| &self.agents[agent])
                && let (Some(status), false) = (agent.ended, child.is_told)
            {
                child.is_told = true;
                events.push(Event::AgentEnded(child.node, status, agent.id()));
            }
            let Some(link) = &mut child.link else { continue };
            if was_away {
                link.heard = now;
            }
            if beats {
                link.send(&envelope::encode(Way::Neighbor, &Frame::Beat));
            }
            // A daemon whose agent ended, too, has ended; else it may be a firewall that resets a connection and refuses new ones.
            let has_ended = child.agent.is_some_and(|agent| self.agents[agent].ended.is_some());
            let patience = if has_own_agent { link::REJECTED } else { CALLS_AGAIN };
            let reset = child.broken.filter(|(at, why)| {
                matches!(*why, Errno::CONNRESET | Errno::PIPE) && (has_ended || now >= *at + patience)
            });
            if reset.is_some() || now.duration_since(link.heard) >= self.silence {
                let why = match reset {
                    Some((_, errno)) => {
                        format!("its daemon ended, or the network to it did, between {} ({errno})", link.ends())
                    }
                    None => link::silent(self.silence, link.ends()),
                };
                (child.state, child.link) = (State::Left, None);
                events.push(Event::Lost(child.node, why));
            }
        }
    }
}

/// How long a daemon whose connection was reset may take to call again, where the end of no agent says that it has ended: one srun starts
/// all of them.
const CALLS_AGAIN: Duration = Duration::from_secs(10);
/// A pause of this process's own.
const AWAY: Duration = Duration::from_secs(2);
