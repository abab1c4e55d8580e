//! What can be wrong with what a neighbour in the tree sends.

use super::frame::FORMAT;
use crate::gpr::flaw::MessageFlaw;
use crate::gpr::refusal::Refusal;
use crate::segment::record::ADDRESSES_BYTES;

/// A flaw of a frame, or of a map. A node that reports one is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A frame has another length than its kind wants.
    Length(usize),
    /// It was written in another version of the format.
    Format(u8),
    /// There is no frame of this kind.
    Kind(u8),
    /// The message of the registry in it is malformed.
    Message(MessageFlaw),
    /// The registry refuses what the message says.
    Registry(Refusal),
    /// The message says something else than addresses of ranks.
    Subject,
    /// There is no such rank in the job.
    Rank(u32),
    /// The addresses of a rank are longer than a record has room for.
    Long(u32),
    /// The addresses of a rank came before, or are of this node.
    Twice(u32),
    /// A frame of this kind came already, or does not go in this direction.
    Order,
    /// A barrier of another number than the one that is due.
    Barrier {
        /// The one that was named.
        named: u32,
        /// The one that is due.
        due: u32,
    },
    /// No such child.
    Child(u32),
    /// mpirun has no parent.
    Parent,
    /// The parts of a map do not fit together, or are not those of this job.
    Map,
}

impl core::fmt::Display for Flaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Flaw::Length(bytes) => write!(f, "a frame of {bytes} bytes does not have the length that its kind wants"),
            Flaw::Format(theirs) => write!(f, "the frame has format {theirs}, this mpirun reads format {FORMAT}"),
            Flaw::Kind(kind) => write!(f, "there is no frame of kind {kind}"),
            Flaw::Message(flaw) => write!(f, "{flaw}"),
            Flaw::Registry(refusal) => write!(f, "{refusal}"),
            Flaw::Subject => f.write_str("the message says something else than the addresses of ranks"),
            Flaw::Rank(rank) => write!(f, "the message speaks of rank {rank}, which the job does not have"),
            Flaw::Long(rank) => write!(f, "the addresses of rank {rank} are longer than {ADDRESSES_BYTES} bytes"),
            Flaw::Twice(rank) => write!(f, "the addresses of rank {rank} were here already"),
            Flaw::Order => f.write_str("a frame of this kind cannot come from there now"),
            Flaw::Barrier { named, due } => write!(f, "the frame names barrier {named}, but {due} is due"),
            Flaw::Child(node) => write!(f, "node {node} is no child of this one"),
            Flaw::Parent => f.write_str("node 0 has no parent"),
            Flaw::Map => f.write_str("the parts of the job's map do not fit together"),
        }
    }
}
