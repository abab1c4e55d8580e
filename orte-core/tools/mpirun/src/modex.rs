//! The wire-up of a job over several nodes, as the launcher of a node takes part in it: what its ranks inherit, what they wake
//! it for, and which frames it exchanges with its neighbours in the tree.
//!
//! The owner of a [`Modex`] watches [`Modex::wake_socket`], carries the frames, and does nothing else for it.

use crate::file_limit::without_file_limit;
use orte_core::environment::Wireup;
use orte_core::modex::{Action, JobMap, Node, files};
use orte_core::segment::Control;
use orte_core::segment::mapping::{self, Mapping};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::fmt::Display;

/// A frame to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// To the parent.
    Up(Vec<u8>),
    /// To that child.
    Down(u32, Vec<u8>),
}

/// Where a frame came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbor {
    /// The parent.
    Parent,
    /// This child.
    Child(u32),
}

/// The part of one node.
pub struct Modex {
    node: Node,
    /// Ranks of this node, ascending: the index of one is its place in the segment.
    ranks: Vec<u32>,
    /// None on a node without ranks.
    here: Option<Here>,
    wake_socket: OwnedFd,
    /// What ranks wake with.
    rank_end: OwnedFd,
    is_published: bool,
    /// Barriers of which the node was told.
    reached: u32,
}

/// What the ranks of a node have.
struct Here {
    control: Control<Mapping>,
    map: OwnedFd,
    addresses: OwnedFd,
}

impl Modex {
    /// The part of the node of that number with these children in the tree. `segment` is the one of its ranks; a node without
    /// ranks has none. `Err` with a sentence.
    pub fn new(map: JobMap, node: u32, children: Vec<u32>, segment: Option<BorrowedFd<'_>>) -> Result<Modex, String> {
        let ranks: Vec<u32> = map.ranks_of(node).collect();
        let state = Node::new(map, node, children).map_err(|flaw| failed(&flaw))?;
        let here = match segment {
            Some(segment) => Some(Here::new(state.map(), segment)?),
            None => None,
        };
        let held = here.as_ref().map_or(0, |here| here.control.layout().ranks as usize);
        if held != ranks.len() {
            return Err(failed(&format_args!(
                "the segment holds {held} ranks, the map places {} on this node",
                ranks.len()
            )));
        }
        let (wake_socket, rank_end) = files::wake_sockets().map_err(|errno| failed(&errno))?;
        if here.is_none() {
            // Nobody will wake it, and the others wait for this node as well.
            files::wake(&rank_end).map_err(|errno| failed(&errno))?;
        }
        Ok(Modex { node: state, ranks, here, wake_socket, rank_end, is_published: false, reached: 0 })
    }

    /// Descriptors for the ranks of this node, under the numbers that they have here. None without ranks.
    pub fn wireup(&self) -> Option<Wireup> {
        let here = self.here.as_ref()?;
        let (map, addresses) = (here.map.as_raw_fd(), here.addresses.as_raw_fd());
        Some(Wireup { map, addresses, wake_socket: self.rank_end.as_raw_fd() })
    }

    /// The same as a list: these are left open for the keeper and for each rank.
    pub fn descriptors(&self) -> Vec<RawFd> {
        self.wireup().map_or_else(Vec::new, |Wireup { map, addresses, wake_socket }| vec![map, addresses, wake_socket])
    }

    /// Readable when a rank says that something may be complete.
    pub fn wake_socket(&self) -> BorrowedFd<'_> {
        self.wake_socket.as_fd()
    }

    /// The wake-up socket was readable.
    pub fn on_wake(&mut self) -> Result<Vec<Outgoing>, String> {
        files::drain(&self.wake_socket);
        self.look()
    }

    /// A rank of this node was marked as gone in the segment: nobody waits for its addresses any more.
    pub fn on_gone(&mut self) -> Result<Vec<Outgoing>, String> {
        self.look()
    }

    /// A neighbour sent a frame. `Err` with half a sentence, after which everything is as it was before.
    pub fn on_frame(&mut self, from: Neighbor, frame: &[u8]) -> Result<Vec<Outgoing>, String> {
        let actions = match from {
            Neighbor::Parent => self.node.from_parent(frame),
            Neighbor::Child(child) => self.node.from_child(child, frame),
        };
        self.carry_out(actions.map_err(|flaw| flaw.to_string())?)
    }

    /// A rank of another node was lost: who waits for it learns that it will not come.
    pub fn lost_elsewhere(&mut self, rank: u32) -> Result<(), String> {
        let Some(here) = &self.here else { return Ok(()) };
        here.control.lose_elsewhere(rank).map_err(|_| {
            format!("rank {rank} of another host was lost, and so many before it that this host's ranks cannot be told")
        })
    }

    fn look(&mut self) -> Result<Vec<Outgoing>, String> {
        let mut sends = Vec::new();
        if !self.is_published && self.here.as_ref().is_none_or(|here| here.control.all_published()) {
            self.is_published = true;
            let addresses = self.addresses();
            let actions = self.node.addresses_complete(addresses).map_err(|flaw| failed(&flaw))?;
            sends.extend(self.carry_out(actions)?);
        }
        let reached = self.here.as_ref().map_or(0, |here| here.control.reached());
        if reached != self.reached {
            // Ranks come to the next barrier only after this one is over: it is one more.
            self.reached = self.reached.wrapping_add(1);
            if reached != self.reached {
                return Err(failed(&"the barrier's words in the job segment were overwritten"));
            }
            let actions = self.node.barrier_reached();
            sends.extend(self.carry_out(actions)?);
        }
        Ok(sends)
    }

    /// What the ranks here published; those that were lost before are left out.
    fn addresses(&self) -> Vec<(u32, Vec<u8>)> {
        let Some(here) = &self.here else { return Vec::new() };
        let published = |(local, rank): (usize, &u32)| Some((*rank, here.control.lookup(local as u32, 0).ok()?));
        self.ranks.iter().enumerate().filter_map(published).collect()
    }

    fn carry_out(&mut self, actions: Vec<Action>) -> Result<Vec<Outgoing>, String> {
        let mut sends = Vec::new();
        for action in actions {
            match (action, &self.here) {
                (Action::Up(frame), _) => sends.push(Outgoing::Up(frame)),
                (Action::Down(child, frame), _) => sends.push(Outgoing::Down(child, frame)),
                (Action::Addresses(message), Some(here)) => here.tell(&message)?,
                (Action::Release, Some(here)) => here.control.leave(),
                (Action::Addresses(_) | Action::Release, None) => {}
            }
        }
        Ok(sends)
    }
}

impl Here {
    fn new(map: &JobMap, segment: BorrowedFd<'_>) -> Result<Here, String> {
        let image = map.image().map_err(|flaw| failed(&flaw))?;
        let file = without_file_limit(|| {
            let file = files::create()?;
            files::fill(&file, &image).map(|()| file)
        });
        Ok(Here {
            control: mapping::open(segment).map_err(|why| failed(&why))?,
            map: file.map_err(|errno| failed(&errno))?,
            addresses: files::create().map_err(|errno| failed(&errno))?,
        })
    }

    fn tell(&self, message: &[u8]) -> Result<(), String> {
        without_file_limit(|| files::fill(&self.addresses, message)).map_err(|errno| failed(&errno))?;
        self.control.set_elsewhere();
        Ok(())
    }
}

fn failed(why: &dyn Display) -> String {
    format!("cannot wire up the ranks of several hosts: {why}")
}
