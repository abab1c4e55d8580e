//! Communicators, their processes, and groups. MPI 5.0 §7 and §8.

mod communicator;
mod group;
mod intra;
mod owned;
mod process;

pub use communicator::{Communicator, CommunicatorRelation, SimpleCommunicator};
pub use group::{Group, GroupRelation};
pub use intra::IntraCommunicator;
#[doc(hidden)]
pub use owned::Owned;
pub use process::{AnyProcess, Process};

/// A process's number in a group.
pub type Rank = i32;
