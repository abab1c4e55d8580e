//! Which algorithm serves a call: by parameters, else by the decision file, else by values that are equal on all ranks.

use crate::decisions::{self, Decisions, Subject};
use crate::params;
use ompi_core::framework::coll::{Algorithms, Function, Functions, set_of};

ompi_core::coll_algorithms! {
    /// Ways of MPI_Bcast.
    Bcast {
        /// Pieces scattered by a binomial tree, passed around a ring.
        ScatterAllgather = "scatter_allgather",
        /// Segments down a chain.
        Chain = "chain",
    }
    /// Ways of MPI_Allreduce.
    Allreduce {
        /// Pieces reduced around a ring, passed around again.
        Ring = "ring",
        /// Recursive halving and doubling.
        Halving = "halving",
    }
    /// Ways of MPI_Allgather.
    Allgather {
        /// Recursive doubling.
        Doubling = "doubling",
        /// Doubling for any number of ranks, with a rotation at the end.
        Bruck = "bruck",
        /// Pairs of blocks between neighbours.
        Neighbor = "neighbor",
    }
    /// Ways of MPI_Alltoall.
    Alltoall {
        /// Store and forward in logarithmically many rounds.
        Bruck = "bruck",
        /// One partner after the other.
        Pairwise = "pairwise",
    }
    /// Ways of MPI_Reduce_scatter and MPI_Reduce_scatter_block.
    ReduceScatter {
        /// Around a ring.
        Ring = "ring",
        /// Recursive halving.
        Halving = "halving",
    }
}

/// An algorithm and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked<T> {
    /// Which one.
    pub way: T,
    /// Half a sentence.
    pub why: &'static str,
    /// The user has named it.
    pub named: bool,
}

impl<T> Picked<T> {
    /// Another one, which it had to be.
    fn instead(self, way: T, why: &'static str) -> Picked<T> {
        Picked { way, why, ..self }
    }
}

/// What parameters and the decision file say.
#[derive(Clone, Copy, Default)]
#[allow(missing_docs)] // by function
pub struct Forced {
    pub bcast: Option<Bcast>,
    pub allreduce: Option<Allreduce>,
    pub allgather: Option<Allgather>,
    pub alltoall: Option<Alltoall>,
    pub reduce_scatter: Option<ReduceScatter>,
    pub file: Option<&'static Decisions>,
    /// What nobody has named is left to the next component.
    pub named_only: bool,
}

impl Forced {
    /// As the parameters are now.
    pub fn by_parameters() -> Forced {
        Forced {
            bcast: Bcast::by_word(params::BCAST_ALGORITHM.text()),
            allreduce: Allreduce::by_word(params::ALLREDUCE_ALGORITHM.text()),
            allgather: Allgather::by_word(params::ALLGATHER_ALGORITHM.text()),
            alltoall: Alltoall::by_word(params::ALLTOALL_ALGORITHM.text()),
            reduce_scatter: ReduceScatter::by_word(params::REDUCE_SCATTER_ALGORITHM.text()),
            file: decisions::in_force(),
            named_only: false,
        }
    }

    /// For which functions an algorithm is named, whatever the size.
    pub fn functions(&self) -> Functions {
        let parameters = [
            (Subject::Bcast, self.bcast.is_some_and(|way| way != Bcast::Fallback)),
            (Subject::Allreduce, self.allreduce.is_some_and(|way| way != Allreduce::Fallback)),
            (Subject::Allgather, self.allgather.is_some_and(|way| way != Allgather::Fallback)),
            (Subject::Alltoall, self.alltoall.is_some_and(|way| way != Alltoall::Fallback)),
            (Subject::ReduceScatter, self.reduce_scatter.is_some_and(|way| way != ReduceScatter::Fallback)),
        ];
        let in_file = |subject| self.file.is_some_and(|file| file.names(subject));
        let named = parameters.into_iter().filter(|(subject, parameter)| *parameter || in_file(*subject));
        named.fold(0, |all, (subject, _)| {
            all | match subject {
                Subject::Bcast => set_of(&[Function::Bcast]),
                Subject::Allreduce => set_of(&[Function::Allreduce]),
                Subject::Allgather => set_of(&[Function::Allgather]),
                Subject::Alltoall => set_of(&[Function::Alltoall]),
                Subject::ReduceScatter => set_of(&[Function::ReduceScatter, Function::ReduceScatterBlock]),
            }
        })
    }

    fn pick<T: Algorithms + PartialEq>(
        &self,
        forced: Option<T>,
        (subject, size, bytes): (Subject, usize, usize),
        automatic: impl FnOnce() -> T,
    ) -> Picked<T> {
        let named = |way: T, why| Picked { way, why, named: way != T::FALLBACK };
        if let Some(way) = forced {
            return named(way, "as its parameter says");
        }
        match self.file.and_then(|file| file.algorithm(subject, size, bytes)).and_then(T::by_word) {
            Some(way) => named(way, "as the decision file says"),
            None if self.named_only => Picked { way: T::FALLBACK, why: "since nobody has named one", named: false },
            None => Picked { way: automatic(), why: "by the built-in limits", named: false },
        }
    }

    /// `bytes` of the type signature.
    pub fn bcast(&self, bytes: usize, size: usize) -> Picked<Bcast> {
        self.pick(self.bcast, (Subject::Bcast, size, bytes), || match bytes {
            LARGE.. if size > 8 => Bcast::ScatterAllgather,
            _ => Bcast::Fallback,
        })
    }

    /// `bytes` of the result, `count` elements.
    pub fn allreduce(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Picked<Allreduce> {
        let cut = bytes >= if size > 16 { SMALL } else { MEDIUM } && count >= size;
        let automatic = || if cut { Allreduce::Halving } else { Allreduce::Fallback };
        let picked = self.pick(self.allreduce, (Subject::Allreduce, size, bytes), automatic);
        // The ring combines in an order that differs from piece to piece.
        match picked.way {
            Allreduce::Ring if !commutes => picked.instead(Allreduce::Fallback, IN_ORDER),
            _ => picked,
        }
    }

    /// `bytes` of one rank's block.
    pub fn allgather(&self, bytes: usize, size: usize) -> Picked<Allgather> {
        let automatic = || match size.is_power_of_two() {
            true if bytes < LARGE => Allgather::Doubling,
            false if bytes < SMALL && size > 16 => Allgather::Bruck,
            _ => Allgather::Fallback,
        };
        let picked = self.pick(self.allgather, (Subject::Allgather, size, bytes), automatic);
        match picked.way {
            Allgather::Doubling if !size.is_power_of_two() => picked.instead(Allgather::Bruck, NO_POWER),
            Allgather::Neighbor if !size.is_multiple_of(2) => {
                picked.instead(Allgather::Fallback, "for an odd number of ranks")
            }
            _ => picked,
        }
    }

    /// `bytes` from one rank to another.
    pub fn alltoall(&self, bytes: usize, size: usize) -> Picked<Alltoall> {
        self.pick(self.alltoall, (Subject::Alltoall, size, bytes), || match bytes {
            ..TINY if size > 16 => Alltoall::Bruck,
            LARGE.. if size > 8 => Alltoall::Pairwise,
            _ => Alltoall::Fallback,
        })
    }

    /// `bytes` of all blocks together, `count` elements.
    pub fn reduce_scatter(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Picked<ReduceScatter> {
        let automatic = || match size.is_power_of_two() {
            _ if count < size => ReduceScatter::Fallback,
            true if size > 2 && bytes < LARGE => ReduceScatter::Halving,
            _ => ReduceScatter::Ring,
        };
        let case = (Subject::ReduceScatter, size, bytes);
        let picked = self.pick(self.reduce_scatter, case, automatic);
        match picked.way {
            _ if !commutes => picked.instead(ReduceScatter::Fallback, IN_ORDER),
            ReduceScatter::Halving if !size.is_power_of_two() => picked.instead(ReduceScatter::Ring, NO_POWER),
            _ => picked,
        }
    }
}

const IN_ORDER: &str = "for an operation that does not commute";
const NO_POWER: &str = "for a number of ranks that is no power of two";

// Measured with 2 to 8 ranks on 2 cores of one node; what is said of more ranks follows from numbers of messages and from
// `cargo xtask bench scale`.
const TINY: usize = 256;
const SMALL: usize = 2048;
const MEDIUM: usize = 32 << 10;
const LARGE: usize = 1 << 20;
