//! Which algorithm serves a call: the one that a parameter forces, else by values that are equal on all ranks.

use crate::algorithm::Algorithm;
use crate::params;
use ompi_core::framework::coll::{Algorithms, Function, Functions, set_of};
use opal_core::mca::Param;

/// The functions served, their parameters, and the bytes up to which two levels serve them by default: of the data
/// or the result, of MPI_Gather, MPI_Scatter and MPI_Allgather of one rank's block. From `cargo xtask bench scale` for 128 and
/// 1024 ranks in nodes of 64, one after the other, where flat trees already are in two levels; there two levels must not cost more.
pub const SERVED: [(Function, &Param, usize); 7] = [
    (Function::Barrier, &params::BARRIER_ALGORITHM, usize::MAX),
    (Function::Bcast, &params::BCAST_ALGORITHM, 64 << 10),
    (Function::Reduce, &params::REDUCE_ALGORITHM, 8 << 10),
    (Function::Allreduce, &params::ALLREDUCE_ALGORITHM, 1 << 10),
    (Function::Allgather, &params::ALLGATHER_ALGORITHM, 1 << 10),
    (Function::Gather, &params::GATHER_ALGORITHM, 256),
    (Function::Scatter, &params::SCATTER_ALGORITHM, 1 << 10),
];

/// The algorithms that parameters force.
pub struct Choices([Option<Algorithm>; SERVED.len()]);

impl Choices {
    /// As the parameters are now.
    pub fn by_parameters() -> Choices {
        Choices(SERVED.map(|(_, param, _)| Algorithm::by_word(param.text())))
    }

    /// The functions that parameters give to this component, whatever the size.
    pub fn forced(&self) -> Functions {
        SERVED
            .iter()
            .filter(|(function, ..)| self.forces(*function))
            .fold(0, |all, (function, ..)| all | set_of(&[*function]))
    }

    /// Whether a function is one of them.
    pub fn forces(&self, function: Function) -> bool {
        let place = SERVED.iter().position(|(served, ..)| *served == function);
        place.is_some_and(|place| self.0[place] == Some(Algorithm::Leaders))
    }

    /// For so many bytes on so many ranks; and why.
    pub fn algorithm(&self, function: Function, bytes: usize, ranks: usize) -> (Algorithm, &'static str) {
        let Some(place) = SERVED.iter().position(|(served, ..)| *served == function) else {
            return (Algorithm::Fallback, "");
        };
        match self.0[place] {
            Some(algorithm) => (algorithm, "as its parameter says"),
            None if ranks <= FEW_RANKS && bytes <= FEW_BYTES && FLAT_IF_FEW.contains(&function) => {
                (Algorithm::Fallback, "since a leader is a step more for so few ranks")
            }
            None if bytes <= SERVED[place].2 => (Algorithm::Leaders, "by the built-in limits"),
            None => (Algorithm::Fallback, "by the built-in limits"),
        }
    }
}

/// With two nodes of two ranks a flat algorithm has one message within the node and one between nodes on its longest way. In two levels
/// MPI_Allreduce has one more within the node, and MPI_Bcast as many. What they save, a message between nodes for each step, pays for more ranks
/// and more bytes only.
const FLAT_IF_FEW: [Function; 2] = [Function::Bcast, Function::Allreduce];
const FEW_RANKS: usize = 4;
const FEW_BYTES: usize = 1 << 10;
