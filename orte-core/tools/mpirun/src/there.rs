//! The other hosts of a job, as mpirun knows them: how their daemons are started, and what they say.
//!
//! ```text
//! Starting ──has called──▶ Up ──says that nothing is left──▶ Gone
//!     └──────────────┴──agent, connection or daemon ends──▶ Lost
//! ```
//!
//! mpirun speaks with its children in the tree of hosts alone ([`Children`]). What the others say comes through these.

mod launcher;
mod managed;
mod settings;
mod slurm;
mod ssh;

use crate::children::{self, ChildInterest, Children, Entrance, StartedBy};
use crate::outcome;
use crate::refusal::Refusal;
use crate::tree::Process;
use launcher::Launcher;
use orte_core::oob::{Daemons, Frame, Invitation, JobOrders, Secret};
use orte_core::routed::{Tree, Way, envelope};
use orte_core::universe::Ports;
use rustix::event::{PollFd, PollFlags};
use settings::Settings;
use std::path::Path;
use std::time::{Duration, Instant};

/// All other hosts that have ranks; their nodes are counted from 1.
pub struct There {
    hosts: Vec<Host>,
    tree: Tree,
    children: Children,
    launcher: Launcher,
    settings: Settings,
    /// Until when daemons may take to call.
    until: Instant,
}

struct Host {
    name: String,
    state: State,
    /// How its agent ended.
    agent: Option<AgentEnd>,
}

#[derive(Clone)]
struct AgentEnd {
    status: i32,
    at: Instant,
    /// Its process, if mpirun had started it.
    pid: Option<u32>,
    /// None could be started, for this reason.
    why: Option<String>,
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
    /// The connection to its daemon broke and goes on between these addresses.
    Resumed(u32, String),
    /// Nothing more is heard of it: what happened, as half a sentence, and whether its daemon had called before.
    Lost(u32, String, bool),
    /// Nor of this one, because what was lost stands between.
    CutOff(u32),
}

impl There {
    /// Starts a daemon on each host, all at once or by other daemons: the names of the hosts, what all are to start, and where their
    /// ranks turn to beyond the job.
    pub fn start(
        names: Vec<String>,
        mut orders: JobOrders,
        (secret, ports): (Secret, Ports),
        mca: &[(String, String)],
        prefix: Option<&Path>,
    ) -> Result<There, Refusal> {
        let settings = Settings::new(mca)?;
        let launcher = Launcher::new(&settings, &names, prefix)?;
        let tree = Tree { nodes: names.len() as u32 + 1, radix: launcher.radix() };
        let entrance = Entrance::open(secret, &settings.include, &settings.exclude, &settings.ports)?;
        let (silence_ms, patience_ms) = (settings.silence.as_millis() as u64, settings.start.as_millis() as u64);
        let agents = launcher.start(&names, tree, |places: &[usize]| {
            let hosts = places.iter().map(|place| (*place as u32 + 1, names[*place].clone())).collect();
            let addresses = entrance.addresses.clone();
            let ports = ports.clone();
            Invitation { hosts, secret, silence_ms, patience_ms, addresses, ports }.encode(crate::daemon::VERSION)
        })?;
        orders.daemons = Daemons {
            radix: tree.radix,
            include: settings.include.clone(),
            exclude: settings.exclude.clone(),
            ports: settings.ports.clone(),
            ..launcher.of_daemons()
        };
        let orders = envelope::encode(Way::Neighbor, &Frame::Orders(Box::new(orders)));
        let started_by = |node: u32| StartedBy::Agent(launcher.agent_of(node));
        let mut children = Children::new((tree, 0), Some(entrance), agents, started_by, orders, settings.silence);
        if launcher.starts_all() {
            children.expect_visitors(names.len() - tree.children(0).len());
        }
        let hosts = names.into_iter().map(|name| Host { name, state: State::Starting, agent: None }).collect();
        let until = Instant::now() + settings.start;
        Ok(There { hosts, tree, children, launcher, settings, until })
    }

    /// Parameters that name interfaces count from now on, for ports, too.
    pub fn read_parameters(mca: &[(String, String)]) -> Result<(), Refusal> {
        Settings::new(mca).map(drop)
    }

    /// What would start the daemons, as a sentence.
    pub fn explain(names: &[String], mca: &[(String, String)], prefix: Option<&Path>) -> Result<String, Refusal> {
        Ok(Launcher::new(&Settings::new(mca)?, names, prefix)?.explain(names))
    }

    /// The nodes with which mpirun speaks itself.
    pub fn neighbors(&self) -> Vec<u32> {
        self.tree.children(0).collect()
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

    /// The agents' own processes: they end last.
    pub fn processes(&self) -> Vec<Process> {
        self.children.processes()
    }

    /// Sends a frame to a host whose daemon has called.
    pub fn tell(&mut self, node: u32, frame: &Frame) {
        self.children.tell(node, frame);
    }

    /// Sends a frame to every host whose daemon has called.
    pub fn tell_all(&mut self, frame: &Frame) {
        self.children.tell_all(frame);
    }

    /// Ends the job on the hosts: those that have not called never will.
    pub fn finish(&mut self) {
        self.tell_all(&Frame::Finish);
        let starting = self.hosts.iter_mut().filter(|host| host.state == State::Starting);
        starting.for_each(|host| host.state = State::Lost);
        self.children.finish();
    }

    /// Gives up whoever has not answered; their names.
    pub fn give_up(&mut self) -> Vec<(u32, String)> {
        self.children.give_up();
        let silent = self.hosts.iter_mut().zip(1..).filter(|(host, _)| host.state == State::Up);
        silent.map(|(host, node)| (host.state = State::Lost, (node, host.name.clone())).1).collect()
    }

    /// Ends the agents: their daemons have said that nothing is left, and only end themselves.
    pub fn end(&mut self) {
        self.children.end(LEAVING);
    }

    /// Appends what has to be waited for; hand the result and the answers to [`There::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<ChildInterest> {
        self.children.interests(polls)
    }

    /// What happened: `ready` are the answers for `interests`, in their order.
    pub fn pump(&mut self, interests: &[ChildInterest], ready: &[PollFlags]) -> Vec<HostEvent> {
        let mut events = Vec::new();
        for event in self.children.pump(interests, ready) {
            match event {
                children::Event::Joined(node) => self.joined(node),
                children::Event::Here(node, frame) => self.hear(node, frame, &mut events),
                children::Event::AgentEnded(node, status, pid) => {
                    let end = AgentEnd { status, at: Instant::now(), pid: Some(pid), why: None };
                    match self.launcher.starts_all() {
                        true => (1..=self.hosts.len() as u32).for_each(|node| self.agent_ended(node, end.clone())),
                        false => self.agent_ended(node, end),
                    }
                }
                children::Event::Resumed(node, ends) => events.push(HostEvent::Resumed(node, ends)),
                children::Event::Lost(node, why) => self.lose(node, why, &mut events),
                // Nobody is above.
                children::Event::Up(_) => {}
            }
        }
        self.look_at_clock(&mut events);
        events
    }

    fn joined(&mut self, node: u32) {
        if let Some(host) = self.host(node).filter(|host| host.state == State::Starting) {
            host.state = State::Up;
        }
    }

    fn hear(&mut self, node: u32, frame: Frame, events: &mut Vec<HostEvent>) {
        // Only the daemon right above another one speaks of that.
        let is_parent = |of: u32| self.tree.parent(of) == Some(node);
        match frame {
            Frame::Joined(of) if is_parent(of) => self.joined(of),
            Frame::AgentEnded(of, status, why) if is_parent(of) => {
                self.agent_ended(of, AgentEnd { status, at: Instant::now(), pid: None, why });
            }
            Frame::Resumed(of, ends) if is_parent(of) => events.push(HostEvent::Resumed(of, ends)),
            Frame::HostLost(of, why) if is_parent(of) => self.lose(of, why, events),
            Frame::Entrance(addresses) if self.launcher.starts_all() => self.children.set_entrance(node, addresses),
            frame => {
                if let (Frame::Gone, Some(host)) = (&frame, self.host(node)) {
                    host.state = State::Gone;
                }
                events.push(HostEvent::Said(node, frame));
            }
        }
    }

    fn agent_ended(&mut self, node: u32, end: AgentEnd) {
        if let Some(host) = self.host(node) {
            host.agent = Some(end);
        }
    }

    /// Of a host nothing more is heard, and so of none below it.
    fn lose(&mut self, node: u32, why: String, events: &mut Vec<HostEvent>) {
        let Some(host) = self.host(node) else { return };
        let state = std::mem::replace(&mut host.state, State::Lost);
        match state {
            State::Starting | State::Up => events.push(HostEvent::Lost(node, why, state == State::Up)),
            state => host.state = state,
        }
        for below in self.tree.below(node).collect::<Vec<u32>>() {
            if let Some(host) = self.host(below).filter(|host| matches!(host.state, State::Starting | State::Up)) {
                host.state = State::Lost;
                events.push(HostEvent::CutOff(below));
            }
        }
    }

    fn look_at_clock(&mut self, events: &mut Vec<HostEvent>) {
        let now = Instant::now();
        for node in 1..=self.hosts.len() as u32 {
            match self.hosts[node as usize - 1].state {
                State::Starting => {
                    if let Some(why) = self.not_started(node, now) {
                        self.lose(node, why, events);
                    }
                }
                State::Up => {
                    if let Some(why) = self.without_agent(node, now) {
                        // Its connection still stands: the daemon kills what is there.
                        self.tell(node, &Frame::Finish);
                        self.lose(node, why, events);
                    }
                }
                State::Gone | State::Lost => {}
            }
        }
    }

    /// The host that starts the daemon of a node, if it is not mpirun's.
    fn starter(&self, node: u32) -> Option<&Host> {
        let parent = self.tree.parent(node).filter(|parent| *parent != 0 && !self.launcher.starts_all())?;
        self.hosts.get(parent as usize - 1)
    }

    /// Why a daemon will not call any more.
    fn not_started(&self, node: u32, now: Instant) -> Option<String> {
        let host = &self.hosts[node as usize - 1];
        let (program, check_line) = (self.launcher.name(), self.launcher.check_line(&host.name));
        let starter = self.starter(node);
        let on = starter.map_or(String::new(), |starter| format!(" on {}", starter.name));
        match &host.agent {
            Some(AgentEnd { why: Some(why), .. }) => Some(format!(
                "no daemon started there: {why}{on}; --mca plm_tree_radix 0 lets mpirun log in to all hosts"
            )),
            Some(AgentEnd { status, .. }) => {
                let (words, hint) = (outcome::words(*status), self.launcher.hint(&host.name, *status));
                Some(format!("no daemon started there: {program}{on} ended with {words}; {hint}"))
            }
            None if now >= self.until => Some(format!(
                "its daemon did not call within {} s (--mca plm_start_timeout_s); unless its daemon is stopped, try `{check_line}`{on}, and see that it can reach \
                 {} by TCP (--mca oob_tcp_if_include names the interfaces to listen on, --mca oob_tcp_port the ports that a firewall lets through)",
                self.settings.start.as_secs(),
                starter.map_or("mpirun's machine", |starter| &starter.name)
            )),
            None => None,
        }
    }

    /// Why a host is given up whose agent has ended. What ends the daemon ends the agent, too, and its connection says more.
    fn without_agent(&self, node: u32, now: Instant) -> Option<String> {
        let end = self.hosts[node as usize - 1].agent.as_ref()?;
        if end.status == 0 || now < end.at + SETTLE {
            return None;
        }
        let program = self.launcher.name();
        let agent = match (end.pid, self.starter(node)) {
            (Some(pid), _) => format!("{program} (process {pid})"),
            (None, Some(starter)) => format!("{program} on {}", starter.name),
            (None, None) => program.to_owned(),
        };
        Some(format!("its {agent} ended with {}", outcome::words(end.status)))
    }

    fn host(&mut self, node: u32) -> Option<&mut Host> {
        self.hosts.get_mut((node as usize).checked_sub(1)?)
    }
}

/// How long a daemon's process may take to end after everything else of the job has.
const LEAVING: Duration = Duration::from_secs(2);
/// So long after the end of an agent its daemon's connection says why.
const SETTLE: Duration = Duration::from_millis(300);
