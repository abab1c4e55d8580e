//! Why the registry refuses something.

use super::key::{Key, Kind};
use super::names::NoKey;
use super::segment::{CONTAINERS_MAX, SegmentId};

/// Why the registry refuses something. It has changed nothing then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such segment.
    Segment(SegmentId),
    /// The segment is there already.
    SegmentTwice(SegmentId),
    /// The segment has not so many containers.
    Container {
        /// The segment.
        segment: SegmentId,
        /// The container that was named.
        container: u32,
        /// Those that it has.
        containers: u32,
    },
    /// No container, or more than [`CONTAINERS_MAX`].
    Containers(u32),
    /// Neither in the schema nor given out by the name service.
    Key(Key),
    /// The key's values are of another kind.
    Kind {
        /// The key.
        key: Key,
        /// Their kind.
        wanted: Kind,
    },
    /// A column would hold more than 4 GiB.
    Full(Key),
    /// A name that came in a message contradicts the names that are known.
    Name(NoKey),
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Refusal::Segment(segment) => write!(f, "the registry does not have {segment}"),
            Refusal::SegmentTwice(segment) => write!(f, "the registry has {segment} already"),
            Refusal::Container { segment, container, containers } => {
                write!(f, "{segment} has {containers} containers, counted from 0, so that there is no {container}")
            }
            Refusal::Containers(count) => write!(f, "a segment has 1 to {CONTAINERS_MAX} containers, not {count}"),
            Refusal::Key(key) => write!(f, "key {} has no name in this registry", key.number()),
            Refusal::Kind { key, wanted } => write!(f, "values of key {} are of the kind {wanted:?}", key.number()),
            Refusal::Full(key) => write!(f, "the values of key {} would take more than 4 GiB", key.number()),
            Refusal::Name(why) => write!(f, "a name cannot be taken over: {why}"),
        }
    }
}
