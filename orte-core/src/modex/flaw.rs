//! What can be wrong with what a neighbour in the tree sends.

use crate::gpr::flaw::MessageFlaw;
use crate::gpr::refusal::Refusal;
use crate::segment::record::ADDRESSES_BYTES;

/// A flaw of a frame, or of a map. A node that reports one is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModexFlaw {
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

impl core::fmt::Display for ModexFlaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            ModexFlaw::Length(bytes) => {
                write!(f, "a frame of {bytes} bytes does not have the length that its kind wants")
            }
            ModexFlaw::Format(theirs) => write!(f, "the frame has format {theirs}, which this mpirun does not read"),
            ModexFlaw::Kind(kind) => write!(f, "there is no frame of kind {kind}"),
            ModexFlaw::Message(flaw) => write!(f, "{flaw}"),
            ModexFlaw::Registry(refusal) => write!(f, "{refusal}"),
            ModexFlaw::Subject => f.write_str("the message says something else than the addresses of ranks"),
            ModexFlaw::Rank(rank) => write!(f, "the message speaks of rank {rank}, which the job does not have"),
            ModexFlaw::Long(rank) => write!(f, "the addresses of rank {rank} are longer than {ADDRESSES_BYTES} bytes"),
            ModexFlaw::Twice(rank) => write!(f, "the addresses of rank {rank} were here already"),
            ModexFlaw::Order => f.write_str("a frame of this kind cannot come from there now"),
            ModexFlaw::Barrier { named, due } => write!(f, "the frame names barrier {named}, but {due} is due"),
            ModexFlaw::Child(node) => write!(f, "node {node} is no child of this one"),
            ModexFlaw::Parent => f.write_str("node 0 has no parent"),
            ModexFlaw::Map => f.write_str("the parts of the job's map do not fit together"),
        }
    }
}
