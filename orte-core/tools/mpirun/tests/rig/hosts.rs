//! Several hosts played by this process: a segment and a [`Modex`] each, ranks that are real processes, and a tree of which the
//! edges are queues. No network lies between the launchers; between the ranks lies what they choose themselves.

use super::modex::{Modex, Neighbor, Outgoing};
use orte_core::environment::Contract;
use orte_core::modex::JobMap;
use orte_core::segment::mapping::{self, Mapping};
use orte_core::segment::{Control, RankState};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::FdFlags;
use std::collections::VecDeque;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A job over several hosts.
pub struct Job {
    /// The node of each rank.
    pub nodes: Vec<u32>,
    /// The parent of each node; that of node 0 is nobody.
    pub parents: Vec<u32>,
    /// What the ranks execute.
    pub command: Vec<String>,
    /// Variables of all ranks.
    pub variables: Vec<(String, String)>,
}

/// How a rank ended.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

struct Host {
    modex: Modex,
    segment: Option<(OwnedFd, Control<Mapping>)>,
    ranks: Vec<u32>,
    children: Vec<Option<Child>>,
}

impl Job {
    /// Runs it until the last rank has ended: how each did. Fails after a minute.
    pub fn run(&self) -> Vec<Ended> {
        let map = self.map();
        let job = u64::from(std::process::id()) << 20 | self.nodes.len() as u64;
        let mut hosts: Vec<Host> = (0..map.node_count).map(|node| self.host(&map, node, job)).collect();
        let mut ended: Vec<Option<Ended>> = self.nodes.iter().map(|_| None).collect();
        let mut frames: VecDeque<(u32, u32, Vec<u8>)> = VecDeque::new();
        let end = Instant::now() + Duration::from_secs(60);
        while ended.iter().any(Option::is_none) {
            assert!(Instant::now() < end, "these ranks have ended within a minute: {ended:?}");
            let awake = awake(&hosts);
            for (node, _) in awake.into_iter().enumerate().filter(|(_, awake)| *awake) {
                let sends = hosts[node].modex.on_wake().unwrap();
                self.post(node as u32, sends, &mut frames);
            }
            for node in 0..map.node_count {
                for rank in hosts[node as usize].gone() {
                    let sends = hosts[node as usize].modex.on_gone().unwrap();
                    self.post(node, sends, &mut frames);
                    let is_lost = hosts[node as usize].is_lost(rank.0);
                    hosts.iter_mut().filter(|host| is_lost && !host.ranks.contains(&rank.0)).for_each(|host| {
                        host.modex.lost_elsewhere(rank.0).unwrap();
                    });
                    ended[rank.0 as usize] = Some(rank.1);
                }
            }
            while let Some((from, to, frame)) = frames.pop_front() {
                let from =
                    if self.parents[to as usize] == from && to != 0 { Neighbor::Parent } else { Neighbor::Child(from) };
                let sends = hosts[to as usize].modex.on_frame(from, &frame).unwrap();
                self.post(to, sends, &mut frames);
            }
        }
        ended.into_iter().flatten().collect()
    }

    fn map(&self) -> JobMap {
        JobMap {
            nodes: self.nodes.clone(),
            node_count: self.parents.len() as u32,
            apps: (0..self.nodes.len() as u32).map(|rank| rank % 2).collect(),
            names: (0..self.parents.len()).map(|node| format!("host{node}")).collect(),
        }
    }

    fn host(&self, map: &JobMap, node: u32, job: u64) -> Host {
        let ranks: Vec<u32> = map.ranks_of(node).collect();
        let segment = (!ranks.is_empty()).then(|| mapping::create(job, ranks.len() as u32, &[7; 32]).unwrap());
        let children = (1..map.node_count).filter(|child| self.parents[*child as usize] == node).collect();
        let descriptor: Option<BorrowedFd<'_>> = segment.as_ref().map(|(descriptor, _)| descriptor.as_fd());
        let modex = Modex::new(map.clone(), node, children, descriptor).unwrap();
        let mut host = Host { modex, segment, ranks, children: Vec::new() };
        host.children = (0..host.ranks.len() as u32).map(|local| Some(self.start(&host, local, job))).collect();
        host
    }

    fn start(&self, host: &Host, local: u32, job: u64) -> Child {
        let (descriptor, _) = host.segment.as_ref().unwrap();
        let contract = Contract {
            job,
            rank: host.ranks[local as usize],
            size: self.nodes.len() as u32,
            local_rank: local,
            local_size: host.ranks.len() as u32,
            universe: 64,
            app: host.ranks[local as usize] % 2,
            segment: descriptor.as_raw_fd(),
            launcher: Some(std::process::id()),
            wireup: host.modex.wireup(),
            output: None,
        };
        // Ranks of other jobs of this process inherit them as well, and do not care.
        for number in host.modex.descriptors().into_iter().chain([descriptor.as_raw_fd()]) {
            rustix::io::fcntl_setfd(mapping::inherited(number), FdFlags::empty()).unwrap();
        }
        let mut command = Command::new(&self.command[0]);
        // The number of the file for addresses is known only now.
        let addresses = host.modex.wireup().map_or_else(String::new, |wireup| wireup.addresses.to_string());
        let variables = self.variables.iter().map(|(name, value)| (name, value.replace("@addresses", &addresses)));
        command.args(&self.command[1..]).envs(contract.encode()).envs(variables);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn post(&self, node: u32, sends: Vec<Outgoing>, frames: &mut VecDeque<(u32, u32, Vec<u8>)>) {
        frames.extend(sends.into_iter().map(|send| match send {
            Outgoing::Up(frame) => (node, self.parents[node as usize], frame),
            Outgoing::Down(child, frame) => (node, child, frame),
        }));
    }
}

impl Host {
    /// Ranks that ended since the last call, with what they left.
    fn gone(&mut self) -> Vec<(u32, Ended)> {
        let mut gone = Vec::new();
        for (local, slot) in self.children.iter_mut().enumerate() {
            let Some(child) = slot else { continue };
            let Some(status) = child.try_wait().unwrap() else { continue };
            let (mut out, mut err) = (String::new(), String::new());
            child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            *slot = None;
            self.segment.as_ref().unwrap().1.mark_gone(local as u32).unwrap();
            gone.push((self.ranks[local], Ended { status: status.code(), out, err }));
        }
        gone
    }

    fn is_lost(&self, rank: u32) -> bool {
        let local = self.ranks.iter().position(|known| *known == rank).unwrap();
        self.segment.as_ref().unwrap().1.state(local as u32) != RankState::Finalized
    }
}

/// Killed with this process if the test fails.
impl Drop for Host {
    fn drop(&mut self) {
        for child in self.children.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Which wake-up sockets became readable within a moment.
fn awake(hosts: &[Host]) -> Vec<bool> {
    let sockets: Vec<BorrowedFd<'_>> = hosts.iter().map(|host| host.modex.wake_socket()).collect();
    let mut polls: Vec<PollFd<'_>> = sockets.iter().map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
    rustix::event::poll(&mut polls, Some(&Timespec { tv_sec: 0, tv_nsec: 5_000_000 })).unwrap();
    polls.iter().map(|poll| !poll.revents().is_empty()).collect()
}
