//! A launch, event by event, in the order of time.
//!
//! | event | then |
//! |---|---|
//! | a daemon has called | its parent has orders: to it |
//! | orders came | it logs in to the hosts below it, one agent after the other; its ranks start |
//! | all ranks of a node have published, and all children have sent theirs | up; node 0: to each child what it lacks |
//! | the rest came | to each child what it lacks; the node is wired |

use crate::constants::Constants;
use crate::network::{Network, Ns};
use crate::sizes::Sizes;
use crate::tree::Shape;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A host or its link fails while a job starts.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Which; not 0.
    pub node: usize,
    /// When.
    pub at: Ns,
    /// Nothing says that it failed: mpirun waits for this long.
    pub silence: Option<Ns>,
}

/// What came of it; times in ms from the start of mpirun.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Launched {
    /// The last daemon had called.
    pub called_ms: f64,
    /// The last rank had begun.
    pub began_ms: f64,
    /// The last node knew all addresses.
    pub wired_ms: f64,
    /// What mpirun's host sent.
    pub root_sent: u64,
    /// And received.
    pub root_received: u64,
    /// The most that another host sent.
    pub most_sent: u64,
    /// With a fault: mpirun knew of it.
    pub known_ms: Option<f64>,
    /// And the last host that is left had heard that the job is over.
    pub over_ms: Option<f64>,
}

/// Plays it.
pub fn launch(shape: &Shape, sizes: &Sizes, constants: &Constants, fault: Option<Fault>) -> Launched {
    let mut play = Play::new(shape, sizes, constants, fault);
    play.log_in(0, 0);
    if let Some(fault) = fault {
        play.at(fault.at, Event::Fails);
    }
    while let Some(Reverse((now, _, event, frame))) = play.queue.pop() {
        match frame {
            Some((host, bytes)) => {
                let handled = play.network.handle(host, bytes, now);
                play.at(handled, event);
            }
            None => play.happens(now, event),
        }
    }
    play.result()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Called(usize),
    Ordered(usize),
    /// This node knows that ranks there or below have begun.
    Began(usize),
    Published(usize),
    /// From this child to its parent.
    Up(usize),
    Down(usize),
    Fails,
    /// mpirun knows of the fault.
    Known,
    /// This node hears that the job is over.
    Over(usize),
}

/// When, which of those at one time, what, and the host and the bytes of a frame that it has to handle first.
type Due = (Ns, u64, Event, Option<(usize, u64)>);

struct Play<'a> {
    shape: &'a Shape,
    sizes: &'a Sizes,
    constants: &'a Constants,
    fault: Option<Fault>,
    network: Network,
    queue: BinaryHeap<Reverse<Due>>,
    number: u64,
    below: Vec<Vec<usize>>,
    /// Bytes of sections of a node and all below it.
    subtree: Vec<u64>,
    has_orders: Vec<bool>,
    has_called: Vec<bool>,
    /// Children whose addresses are awaited, and the node's own.
    awaited: Vec<usize>,
    is_over: Vec<bool>,
    called: Ns,
    began: Ns,
    wired: Ns,
    known: Option<Ns>,
    over: Option<Ns>,
}

impl<'a> Play<'a> {
    fn new(shape: &'a Shape, sizes: &'a Sizes, constants: &'a Constants, fault: Option<Fault>) -> Play<'a> {
        let (nodes, below) = (shape.nodes(), shape.children());
        let mut subtree = sizes.section.clone();
        // A node stands behind its parent.
        (1..nodes).rev().for_each(|node| subtree[shape.parent(node)] += subtree[node]);
        let mut has_orders = vec![false; nodes];
        has_orders[0] = true;
        let awaited = below.iter().enumerate().map(|(node, below)| below.len() + usize::from(node > 0)).collect();
        Play {
            shape,
            sizes,
            constants,
            fault,
            network: Network::new(constants, nodes),
            queue: BinaryHeap::new(),
            number: 0,
            below,
            subtree,
            has_orders,
            has_called: vec![false; nodes],
            awaited,
            is_over: vec![false; nodes],
            called: 0,
            began: 0,
            wired: 0,
            known: None,
            over: None,
        }
    }

    fn at(&mut self, time: Ns, event: Event) {
        self.number += 1;
        self.queue.push(Reverse((time, self.number, event, None)));
    }

    /// Sends a frame, and this happens when it was handled.
    fn send(&mut self, (from, to): (usize, usize), bytes: u64, now: Ns, event: Event) {
        let arrived = self.network.send(from, to, bytes, now);
        self.number += 1;
        self.queue.push(Reverse((arrived, self.number, event, Some((to, bytes)))));
    }

    /// Starts an agent for each host that is this node's to start.
    fn log_in(&mut self, node: usize, now: Ns) {
        for child in self.below[node].clone() {
            let agent = self.network.work(node, now, self.constants.ns("agent_us"));
            let login = self.constants.ns("login_us") + self.constants.ns("daemon_us");
            self.at(agent + login, Event::Called(child));
        }
    }

    fn happens(&mut self, now: Ns, event: Event) {
        match event {
            Event::Fails => self.fails(now),
            Event::Known => {
                self.known = Some(now);
                self.tell_below(0, now);
            }
            Event::Over(node) if self.is_over[node] => {}
            Event::Over(node) => {
                self.is_over[node] = true;
                self.over = self.over.max(Some(now));
                self.tell_below(node, now);
            }
            Event::Called(node) if self.lives(node) => self.called(node, now),
            Event::Ordered(node) if self.lives(node) => self.ordered(node, now),
            Event::Began(node) if self.lives(node) => self.began(node, now),
            Event::Published(node) if self.lives(node) => self.arrived(node, now),
            Event::Up(child) if self.lives(self.shape.parent(child)) => self.arrived(self.shape.parent(child), now),
            Event::Down(node) if self.lives(node) => {
                self.wired = self.wired.max(now);
                self.spread(node, now);
            }
            _ => {}
        }
    }

    /// Whether it does anything more.
    fn lives(&self, node: usize) -> bool {
        !self.is_over[node] && (node != 0 || self.known.is_none())
    }

    fn called(&mut self, node: usize, now: Ns) {
        let parent = self.shape.parent(node);
        let done = self.network.work(parent, now, self.constants.ns("handshake_us"));
        self.has_called[node] = true;
        self.called = self.called.max(done);
        if self.has_orders[parent] {
            self.order(parent, node, done);
        }
    }

    fn order(&mut self, parent: usize, node: usize, now: Ns) {
        // They name all hosts, and that is enough to know one's own.
        self.send((parent, node), self.sizes.orders, now, Event::Ordered(node));
    }

    fn ordered(&mut self, node: usize, now: Ns) {
        self.has_orders[node] = true;
        for child in self.below[node].clone() {
            if self.has_called[child] {
                self.order(node, child, now);
            }
        }
        self.log_in(node, now);
        let ranks = u64::from(self.shape.per_host);
        let began = now + ranks * self.constants.ns("rank_us");
        self.began = self.began.max(began);
        self.at(began + self.constants.ns("init_us"), Event::Published(node));
        self.at(began, Event::Began(node));
    }

    /// Each rank's start and state, passed on as they come.
    fn began(&mut self, node: usize, now: Ns) {
        if node != 0 {
            let (parent, ranks) = (self.shape.parent(node), u64::from(self.shape.per_host));
            self.send((node, parent), 2 * ranks * self.sizes.rank_state, now, Event::Began(parent));
        }
    }

    /// Its own addresses, or those of a child.
    fn arrived(&mut self, node: usize, now: Ns) {
        self.awaited[node] -= 1;
        if self.awaited[node] > 0 {
            return;
        }
        if node == 0 {
            return self.spread(0, now);
        }
        let bytes = self.sizes.frame + self.subtree[node];
        self.send((node, self.shape.parent(node)), bytes, now, Event::Up(node));
    }

    fn spread(&mut self, node: usize, now: Ns) {
        for child in self.below[node].clone() {
            let bytes = self.sizes.frame + self.sizes.all() - self.subtree[child];
            self.send((node, child), bytes, now, Event::Down(child));
        }
    }

    fn fails(&mut self, now: Ns) {
        let Some(fault) = self.fault else { return };
        self.is_over[fault.node] = true;
        // The other end's kernel says so at once, or nobody does.
        let mut time = now + fault.silence.unwrap_or(self.constants.ns("latency_us"));
        for orphan in self.below[fault.node].clone() {
            if self.has_called[orphan] {
                self.at(time, Event::Over(orphan));
            }
        }
        let mut witness = self.shape.parent(fault.node);
        while witness != 0 {
            time += self.constants.ns("latency_us") + self.constants.ns("frame_us");
            witness = self.shape.parent(witness);
        }
        self.at(time, Event::Known);
    }

    fn tell_below(&mut self, node: usize, now: Ns) {
        for child in self.below[node].clone() {
            if self.has_called[child] && !self.is_over[child] {
                self.send((node, child), self.sizes.barrier, now, Event::Over(child));
            }
        }
    }

    fn result(&self) -> Launched {
        let ms = |ns: Ns| ns as f64 / 1e6;
        let (root_sent, root_received) = self.network.bytes(0);
        Launched {
            called_ms: ms(self.called),
            began_ms: ms(self.began),
            wired_ms: ms(self.wired),
            root_sent,
            root_received,
            most_sent: (1..self.shape.nodes()).map(|node| self.network.bytes(node).0).max().unwrap_or(0),
            known_ms: self.known.map(ms),
            over_ms: self.over.map(ms),
        }
    }
}
