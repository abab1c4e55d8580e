//! Communicators, their processes, groups and topologies. MPI 5.0 §7 and §8.

mod cartesian;
mod communicator;
mod graph;
mod group;
mod inter;
mod intra;
mod neighbors;
mod owned;
mod process;
mod shared;

pub use cartesian::{CartesianCommunicator, balanced_dimensions};
pub use communicator::{Communicator, CommunicatorRelation, SimpleCommunicator};
pub use graph::{DistGraphCommunicator, GraphCommunicator};
pub use group::{Group, GroupRelation};
pub use inter::InterCommunicator;
pub use intra::IntraCommunicator;
pub use neighbors::Neighborhood;
#[doc(hidden)]
pub use owned::Owned;
pub use process::{AnyProcess, Process};
pub use shared::Shared;

/// A process's number in a group.
pub type Rank = i32;
