//! Which algorithm serves a call: by parameters, else by the decision file, else by values that are equal on all ranks.

use crate::decisions::{self, Decisions, Subject};
use crate::params;

ompi_core::coll_ways! {
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
}

impl<T> Picked<T> {
    /// Another one, which it had to be.
    fn instead(way: T, why: &'static str) -> Picked<T> {
        Picked { way, why }
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
        }
    }

    fn pick<T>(
        &self,
        forced: Option<T>,
        (subject, size, bytes): (Subject, usize, usize),
        by_word: fn(&str) -> Option<T>,
        automatic: impl FnOnce() -> T,
    ) -> Picked<T> {
        if let Some(way) = forced {
            return Picked { way, why: "as its parameter says" };
        }
        let decided = self.file.and_then(|file| file.algorithm(subject, size, bytes)).and_then(by_word);
        match decided {
            Some(way) => Picked { way, why: "as the decision file says" },
            None => Picked { way: automatic(), why: "by the built-in limits" },
        }
    }

    /// `bytes` of the type signature.
    pub fn bcast(&self, bytes: usize, size: usize) -> Picked<Bcast> {
        self.pick(self.bcast, (Subject::Bcast, size, bytes), Bcast::by_word, || match bytes {
            LARGE.. if size > 8 => Bcast::ScatterAllgather,
            _ => Bcast::Next,
        })
    }

    /// `bytes` of the result, `count` elements.
    pub fn allreduce(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Picked<Allreduce> {
        let cut = bytes >= if size > 16 { SMALL } else { MEDIUM } && count >= size;
        let automatic = || if cut { Allreduce::Halving } else { Allreduce::Next };
        let picked = self.pick(self.allreduce, (Subject::Allreduce, size, bytes), Allreduce::by_word, automatic);
        // The ring combines in an order that differs from piece to piece.
        match picked.way {
            Allreduce::Ring if !commutes => Picked::instead(Allreduce::Next, IN_ORDER),
            _ => picked,
        }
    }

    /// `bytes` of one rank's block.
    pub fn allgather(&self, bytes: usize, size: usize) -> Picked<Allgather> {
        let automatic = || match size.is_power_of_two() {
            true if bytes < LARGE => Allgather::Doubling,
            false if bytes < SMALL && size > 16 => Allgather::Bruck,
            _ => Allgather::Next,
        };
        let picked = self.pick(self.allgather, (Subject::Allgather, size, bytes), Allgather::by_word, automatic);
        match picked.way {
            Allgather::Doubling if !size.is_power_of_two() => Picked::instead(Allgather::Bruck, NO_POWER),
            Allgather::Neighbor if !size.is_multiple_of(2) => {
                Picked::instead(Allgather::Next, "for an odd number of ranks")
            }
            _ => picked,
        }
    }

    /// `bytes` from one rank to another.
    pub fn alltoall(&self, bytes: usize, size: usize) -> Picked<Alltoall> {
        self.pick(self.alltoall, (Subject::Alltoall, size, bytes), Alltoall::by_word, || match bytes {
            ..TINY if size > 16 => Alltoall::Bruck,
            LARGE.. if size > 8 => Alltoall::Pairwise,
            _ => Alltoall::Next,
        })
    }

    /// `bytes` of all blocks together, `count` elements.
    pub fn reduce_scatter(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Picked<ReduceScatter> {
        let automatic = || match size.is_power_of_two() {
            _ if count < size => ReduceScatter::Next,
            true if size > 2 && bytes < LARGE => ReduceScatter::Halving,
            _ => ReduceScatter::Ring,
        };
        let case = (Subject::ReduceScatter, size, bytes);
        let picked = self.pick(self.reduce_scatter, case, ReduceScatter::by_word, automatic);
        match picked.way {
            _ if !commutes => Picked::instead(ReduceScatter::Next, IN_ORDER),
            ReduceScatter::Halving if !size.is_power_of_two() => Picked::instead(ReduceScatter::Ring, NO_POWER),
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
