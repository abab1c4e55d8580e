//! A node of the tree: what it does when something comes from its own ranks, a child or its parent.
//!
//! | when | then |
//! |---|---|
//! | own ranks and all children have said their addresses | up: all of them; node 0: as below |
//! | the rest came from the parent | to each child: that, the own ones and those of the other children; to the own ranks: all others' |
//! | own ranks and all children are in the barrier | up: reached; node 0: as below |
//! | release came from the parent | to each child and to the own ranks: release |
//!
//! **Invariant:** pure. The caller carries out the actions, in their order.

use super::flaw::ModexFlaw;
use super::frame::{self, ModexFrame, Sections};
use super::map::JobMap;
use crate::segment::record::ADDRESSES_BYTES;
use alloc::vec;
use alloc::vec::Vec;

/// What the owner of a [`Node`] is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this frame to the parent.
    Up(Vec<u8>),
    /// Send this frame to that child.
    Down(u32, Vec<u8>),
    /// Give the ranks here this message of the registry: the addresses of all ranks of other nodes. Comes once.
    Addresses(Vec<u8>),
    /// Let the ranks here leave the barrier over the job.
    Release,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    map: JobMap,
    node: u32,
    has_ranks: bool,
    children: Vec<Child>,
    /// Sections with the addresses of the own ranks.
    own: Option<Vec<u8>>,
    /// Sections with the addresses of ranks that are neither here nor below.
    above: Option<Vec<u8>>,
    /// Ranks whose addresses are here.
    known: Vec<bool>,
    /// Barriers that are over.
    barriers: u32,
    is_reached: bool,
    /// This barrier was told to the parent.
    is_told: bool,
}

#[derive(Clone, Debug)]
struct Child {
    node: u32,
    /// Sections with the addresses of the ranks there and below.
    below: Option<Vec<u8>>,
    is_reached: bool,
}

impl Node {
    /// The node of that number, with its children in the tree. Node 0 is the root.
    pub fn new(map: JobMap, node: u32, children: Vec<u32>) -> Result<Node, ModexFlaw> {
        map.check()?;
        let is_other = |child: &u32| *child != node && *child < map.node_count;
        let is_once = |at: usize| !children[..at].contains(&children[at]);
        if node >= map.node_count || !children.iter().all(is_other) || !(0..children.len()).all(is_once) {
            return Err(ModexFlaw::Map);
        }
        let has_ranks = map.ranks_of(node).next().is_some();
        let known = vec![false; map.size() as usize];
        let children = children.into_iter().map(|node| Child { node, below: None, is_reached: false }).collect();
        Ok(Node {
            map,
            node,
            has_ranks,
            children,
            own: None,
            above: None,
            known,
            barriers: 0,
            // Nobody there keeps the others waiting.
            is_reached: !has_ranks,
            is_told: false,
        })
    }

    /// The job.
    pub fn map(&self) -> &JobMap {
        &self.map
    }

    /// All ranks of this node have said their addresses. Those that died before are left out. A node without ranks says so, too.
    ///
    /// # Panics
    /// The second time, and for a rank of another node.
    pub fn addresses_complete(&mut self, addresses: Vec<(u32, Vec<u8>)>) -> Result<Vec<Action>, ModexFlaw> {
        assert!(self.own.is_none(), "the ranks of a node say their addresses once");
        for (rank, _) in &addresses {
            assert_eq!(self.map.nodes.get(*rank as usize), Some(&self.node), "rank {rank} is none of this node");
            self.known[*rank as usize] = true;
        }
        self.own = Some(frame::sections(self.map.size(), &addresses)?);
        let mut actions = self.gathered()?;
        // A node without ranks is in every barrier from the start on.
        actions.extend(self.met());
        Ok(actions)
    }

    /// All ranks of this node are in the barrier over the job.
    ///
    /// # Panics
    /// If they are in it already.
    pub fn barrier_reached(&mut self) -> Vec<Action> {
        assert!(!self.is_reached, "the ranks of a node come to a barrier once");
        self.is_reached = true;
        self.met()
    }

    /// A child sent a frame.
    pub fn from_child(&mut self, child: u32, bytes: &[u8]) -> Result<Vec<Action>, ModexFlaw> {
        let at = self.children.iter().position(|known| known.node == child).ok_or(ModexFlaw::Child(child))?;
        match ModexFrame::new_checked(bytes)? {
            ModexFrame::Addresses(_) if self.children[at].below.is_some() => Err(ModexFlaw::Order),
            ModexFrame::Addresses(sections) => {
                self.learn(&sections)?;
                self.children[at].below = Some(sections.bytes().into());
                self.gathered()
            }
            ModexFrame::Reached(number) => {
                self.is_due(number)?;
                if core::mem::replace(&mut self.children[at].is_reached, true) {
                    return Err(ModexFlaw::Order);
                }
                Ok(self.met())
            }
            ModexFrame::Release(_) => Err(ModexFlaw::Order),
        }
    }

    /// The parent sent a frame.
    pub fn from_parent(&mut self, bytes: &[u8]) -> Result<Vec<Action>, ModexFlaw> {
        if self.is_root() {
            return Err(ModexFlaw::Parent);
        }
        match ModexFrame::new_checked(bytes)? {
            // Only when all below is known can the rest come.
            ModexFrame::Addresses(_) if self.above.is_some() || !self.is_gathered() => Err(ModexFlaw::Order),
            ModexFrame::Addresses(sections) => {
                self.learn(&sections)?;
                self.above = Some(sections.bytes().into());
                self.spread()
            }
            ModexFrame::Release(number) => {
                self.is_due(number)?;
                if !self.is_told {
                    return Err(ModexFlaw::Order);
                }
                Ok(self.release())
            }
            ModexFrame::Reached(_) => Err(ModexFlaw::Order),
        }
    }

    fn is_root(&self) -> bool {
        self.node == 0
    }

    fn is_gathered(&self) -> bool {
        self.own.is_some() && self.children.iter().all(|child| child.below.is_some())
    }

    fn is_due(&self, number: u32) -> Result<(), ModexFlaw> {
        let due = self.barriers;
        if number == due { Ok(()) } else { Err(ModexFlaw::Barrier { named: number, due }) }
    }

    /// Notes whose addresses came; changes nothing if there is a flaw in them.
    fn learn(&mut self, sections: &Sections<'_>) -> Result<(), ModexFlaw> {
        sections.check_ranks(self.map.size())?;
        let mut taken: Vec<u32> = Vec::new();
        for (rank, addresses) in sections.addresses() {
            let at = rank as usize;
            let flaw = match () {
                () if self.known[at] || self.map.nodes[at] == self.node => ModexFlaw::Twice(rank),
                () if addresses.len() > ADDRESSES_BYTES => ModexFlaw::Long(rank),
                () => {
                    self.known[at] = true;
                    taken.push(rank);
                    continue;
                }
            };
            // A rank that is named twice in this message is unknown again, too.
            taken.iter().for_each(|rank| self.known[*rank as usize] = false);
            return Err(flaw);
        }
        Ok(())
    }

    fn gathered(&mut self) -> Result<Vec<Action>, ModexFlaw> {
        if !self.is_gathered() {
            return Ok(Vec::new());
        }
        if self.is_root() {
            return self.spread();
        }
        let below = self.children.iter().map(|child| &child.below);
        Ok(vec![Action::Up(frame::addresses([&self.own].into_iter().chain(below).flatten().map(Vec::as_slice)))])
    }

    /// Everything is here: each child gets what it lacks, and the ranks get what is of other nodes.
    fn spread(&self) -> Result<Vec<Action>, ModexFlaw> {
        let mut actions = Vec::new();
        for child in &self.children {
            let others = self.children.iter().filter(|other| other.node != child.node).map(|other| &other.below);
            let parts = [&self.above, &self.own].into_iter().chain(others).flatten();
            actions.push(Action::Down(child.node, frame::addresses(parts.map(Vec::as_slice))));
        }
        if self.has_ranks {
            let parts: Vec<&Vec<u8>> =
                [&self.above].into_iter().chain(self.children.iter().map(|child| &child.below)).flatten().collect();
            let frame = frame::addresses(parts.into_iter().map(Vec::as_slice));
            let ModexFrame::Addresses(sections) = ModexFrame::new_checked(&frame)? else {
                return Err(ModexFlaw::Order);
            };
            actions.push(Action::Addresses(frame::message(self.map.size(), sections.addresses())?));
        }
        Ok(actions)
    }

    fn met(&mut self) -> Vec<Action> {
        let all = self.is_reached && self.children.iter().all(|child| child.is_reached);
        match all && !self.is_told {
            true if self.is_root() => self.release(),
            true => {
                self.is_told = true;
                vec![Action::Up(frame::reached(self.barriers))]
            }
            false => Vec::new(),
        }
    }

    /// A node without ranks is in the next barrier at once.
    fn release(&mut self) -> Vec<Action> {
        let number = self.barriers;
        let mut actions: Vec<Action> =
            self.children.iter().map(|child| Action::Down(child.node, frame::release(number))).collect();
        if self.has_ranks {
            actions.push(Action::Release);
        }
        self.barriers = number.wrapping_add(1);
        self.is_reached = !self.has_ranks;
        self.is_told = false;
        self.children.iter_mut().for_each(|child| child.is_reached = false);
        actions.extend(self.met());
        actions
    }
}
