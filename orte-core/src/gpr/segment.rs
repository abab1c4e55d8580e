//! Segments: the parts of the registry, and what the containers of each are.

use super::column::Column;
use super::key::Key;
use alloc::collections::BTreeMap;

/// Part of a registry: what its containers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SegmentId {
    /// Dynamic keys, by number. Only the registry itself writes it.
    Names,
    /// Nodes, by node id.
    Nodes,
    /// Processes of the job of that number, by vpid.
    Job(u16),
}

/// Most containers of a segment.
pub const CONTAINERS_MAX: u32 = 1 << 24;

/// Columns of a number of containers.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub containers: u32,
    pub columns: BTreeMap<Key, Column>,
}

impl core::fmt::Display for SegmentId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            SegmentId::Names => f.write_str("the segment of names"),
            SegmentId::Nodes => f.write_str("the segment of nodes"),
            SegmentId::Job(job) => write!(f, "the segment of job {job}"),
        }
    }
}
