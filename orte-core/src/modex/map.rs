//! Which node and which program each rank of a job has: the launcher knows it before the start, and every rank reads it.

use super::flaw::ModexFlaw;
use crate::gpr::key::{NODE_NAME, PROC_APP, PROC_NODE, Value};
use crate::gpr::refusal::Refusal;
use crate::gpr::registry::Registry;
use crate::gpr::segment::{CONTAINERS_MAX, SegmentId};
use crate::gpr::view::View;
use alloc::string::String;
use alloc::vec::Vec;

/// Where the ranks of a job are, as the launcher knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobMap {
    /// The node of each rank. Node 0 is mpirun's, whether or not it has ranks.
    pub nodes: Vec<u32>,
    /// Number of nodes, that of mpirun included.
    pub node_count: u32,
    /// Which of the job's programs each rank runs.
    pub apps: Vec<u32>,
    /// Names of the nodes, for people; none if nobody needs them.
    pub names: Vec<String>,
}

impl JobMap {
    /// Whether its parts fit together.
    pub fn check(&self) -> Result<(), ModexFlaw> {
        let ranks = self.nodes.len();
        let fits = (1..=CONTAINERS_MAX as usize).contains(&ranks)
            && (1..=CONTAINERS_MAX).contains(&self.node_count)
            && self.apps.len() == ranks
            && self.nodes.iter().all(|node| *node < self.node_count)
            && (self.names.is_empty() || self.names.len() == self.node_count as usize);
        if fits { Ok(()) } else { Err(ModexFlaw::Map) }
    }

    /// Number of ranks.
    pub fn size(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The ranks of a node, ascending: the place of one among them is its local rank.
    pub fn ranks_of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.size()).filter(move |rank| self.nodes[*rank as usize] == node)
    }

    /// The same as a message of the registry, for [`MapView::new_checked`].
    pub fn image(&self) -> Result<Vec<u8>, ModexFlaw> {
        self.check()?;
        self.registry().map(|registry| registry.image()).map_err(ModexFlaw::Registry)
    }

    fn registry(&self) -> Result<Registry, Refusal> {
        let mut registry = Registry::default();
        registry.add_segment(SegmentId::Nodes, self.node_count)?;
        registry.add_segment(JOB, self.size())?;
        for (node, name) in self.names.iter().enumerate() {
            registry.put(SegmentId::Nodes, node as u32, NODE_NAME, Value::Text(name))?;
        }
        for (rank, (node, app)) in self.nodes.iter().zip(&self.apps).enumerate() {
            registry.put(JOB, rank as u32, PROC_NODE, Value::Number(u64::from(*node)))?;
            registry.put(JOB, rank as u32, PROC_APP, Value::Number(u64::from(*app)))?;
        }
        Ok(registry)
    }
}

/// The map as the ranks read it, where it lies.
#[derive(Clone, Debug)]
pub struct MapView<'a> {
    view: View<'a>,
    size: u32,
}

impl<'a> MapView<'a> {
    /// Checks that a message is the map of a job with `size` ranks.
    pub fn new_checked(bytes: &'a [u8], size: u32) -> Result<MapView<'a>, ModexFlaw> {
        let view = View::new_checked(bytes).map_err(ModexFlaw::Message)?;
        let map = MapView { view, size };
        // Sections are as many as the bytes pay for, so this is the first look that is in proportion to `size`.
        let is_whole = map.view.sections().iter().any(|section| {
            section.segment() == JOB
                && section.containers().next() == Some(0)
                && section.last_container().checked_add(1) == Some(size)
                && section.count() == size
                && [PROC_NODE, PROC_APP].iter().all(|key| section.columns().any(|(known, _)| known == *key))
        });
        let fits = |rank| {
            u32::try_from(map.number(rank, PROC_NODE)).is_ok() && u32::try_from(map.number(rank, PROC_APP)).is_ok()
        };
        if is_whole && (0..size).all(fits) { Ok(map) } else { Err(ModexFlaw::Map) }
    }

    /// Number of ranks.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The node of a rank; `None` if there is no such rank.
    pub fn node_of(&self, rank: u32) -> Option<u32> {
        (rank < self.size).then(|| self.number(rank, PROC_NODE) as u32)
    }

    /// Which of the job's programs a rank runs; `None` if there is no such rank.
    pub fn app_of(&self, rank: u32) -> Option<u32> {
        (rank < self.size).then(|| self.number(rank, PROC_APP) as u32)
    }

    /// The name of a node, if the launcher left names.
    pub fn name_of(&self, node: u32) -> Option<&'a str> {
        match self.view.get(SegmentId::Nodes, node, NODE_NAME) {
            Some(Value::Text(name)) => Some(name),
            _ => None,
        }
    }

    fn number(&self, rank: u32, key: crate::gpr::key::Key) -> u64 {
        match self.view.get(JOB, rank, key) {
            Some(Value::Number(number)) => number,
            _ => u64::MAX,
        }
    }
}

/// The segment of the job that a launcher runs; its registry holds no other one.
pub(super) const JOB: SegmentId = SegmentId::Job(0);
