//! Subscriptions: which node wants which keys, and from when on.

use super::key::Key;
use super::segment::SegmentId;
use alloc::vec::Vec;

/// When a subscription begins to send. Once it has begun it sends every change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// At once.
    Now,
    /// When every container of the segment has a value of this key: the gate at which a whole job has arrived.
    All(Key),
    /// When so many containers have one.
    Count(Key, u32),
}

/// What one node asked for.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The node that wants it, for all its ranks.
    pub node: u32,
    /// Where the values are.
    pub segment: SegmentId,
    /// Which.
    pub keys: Vec<Key>,
    /// From when on.
    pub trigger: Trigger,
}
