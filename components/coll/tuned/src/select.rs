//! Which algorithm serves a call: by parameters, else by the decision file, else by values that are equal on all ranks.

use crate::algorithm::{Allgather, Allreduce, Alltoall, Bcast, ReduceScatter, SERVED, Subject};
use crate::decisions::{self, Decisions};
use crate::params;
use ompi_core::framework::coll::{Algorithms, Functions, set_of};

/// An algorithm and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected<T> {
    /// Which one.
    pub algorithm: T,
    /// Half a sentence.
    pub why: &'static str,
    /// The user has named it.
    pub named: bool,
}

impl<T> Selected<T> {
    /// Another one, which it had to be.
    fn instead(self, algorithm: T, why: &'static str) -> Selected<T> {
        Selected { algorithm, why, ..self }
    }
}

/// The algorithms that parameters and the decision file name.
#[derive(Clone, Copy, Default)]
#[allow(missing_docs)] // by function
pub struct Forced {
    pub bcast: Option<Bcast>,
    pub allreduce: Option<Allreduce>,
    pub allgather: Option<Allgather>,
    pub alltoall: Option<Alltoall>,
    pub reduce_scatter: Option<ReduceScatter>,
    pub file: Option<&'static Decisions>,
    /// Functions without a named algorithm are left to the next component.
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
        let in_file = |subject| self.file.is_some_and(|file| file.names(subject));
        let named = SERVED.iter().filter(|served| self.has_parameter(served.subject) || in_file(served.subject));
        named.fold(0, |all, served| all | set_of(served.functions))
    }

    /// Whether a parameter names an algorithm of coll/tuned.
    fn has_parameter(&self, subject: Subject) -> bool {
        fn names<T: Algorithms + PartialEq>(forced: Option<T>) -> bool {
            forced.is_some_and(|algorithm| algorithm != T::FALLBACK)
        }
        match subject {
            Subject::Bcast => names(self.bcast),
            Subject::Allreduce => names(self.allreduce),
            Subject::Allgather => names(self.allgather),
            Subject::Alltoall => names(self.alltoall),
            Subject::ReduceScatter => names(self.reduce_scatter),
        }
    }

    fn pick<T: Algorithms + PartialEq>(
        &self,
        forced: Option<T>,
        (subject, size, bytes): (Subject, usize, usize),
        automatic: impl FnOnce() -> T,
    ) -> Selected<T> {
        let named = |algorithm: T, why| Selected { algorithm, why, named: algorithm != T::FALLBACK };
        if let Some(algorithm) = forced {
            return named(algorithm, "as its parameter says");
        }
        match self.file.and_then(|file| file.algorithm(subject, size, bytes)).and_then(T::by_word) {
            Some(algorithm) => named(algorithm, "as the decision file says"),
            None if self.named_only => {
                Selected { algorithm: T::FALLBACK, why: "since nobody has named one", named: false }
            }
            None => Selected { algorithm: automatic(), why: "by the built-in limits", named: false },
        }
    }

    /// `bytes` of the type signature.
    pub fn bcast(&self, bytes: usize, size: usize) -> Selected<Bcast> {
        self.pick(self.bcast, (Subject::Bcast, size, bytes), || match bytes {
            LARGE.. if size > 8 => Bcast::ScatterAllgather,
            _ => Bcast::Fallback,
        })
    }

    /// `bytes` of the result, `count` elements.
    pub fn allreduce(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Selected<Allreduce> {
        let cut = bytes >= if size > 16 { SMALL } else { MEDIUM } && count >= size;
        let automatic = || if cut { Allreduce::Halving } else { Allreduce::Fallback };
        let selected = self.pick(self.allreduce, (Subject::Allreduce, size, bytes), automatic);
        // The ring combines in an order that differs from piece to piece.
        match selected.algorithm {
            Allreduce::Ring if !commutes => selected.instead(Allreduce::Fallback, IN_ORDER),
            _ => selected,
        }
    }

    /// `bytes` of one rank's block.
    pub fn allgather(&self, bytes: usize, size: usize) -> Selected<Allgather> {
        let automatic = || match size.is_power_of_two() {
            true if bytes < LARGE => Allgather::Doubling,
            false if bytes < SMALL && size > 16 => Allgather::Bruck,
            _ => Allgather::Fallback,
        };
        let selected = self.pick(self.allgather, (Subject::Allgather, size, bytes), automatic);
        match selected.algorithm {
            Allgather::Doubling if !size.is_power_of_two() => selected.instead(Allgather::Bruck, NO_POWER),
            Allgather::Neighbor if !size.is_multiple_of(2) => {
                selected.instead(Allgather::Fallback, "for an odd number of ranks")
            }
            _ => selected,
        }
    }

    /// `bytes` from one rank to another.
    pub fn alltoall(&self, bytes: usize, size: usize) -> Selected<Alltoall> {
        self.pick(self.alltoall, (Subject::Alltoall, size, bytes), || match bytes {
            ..TINY if size > 16 => Alltoall::Bruck,
            LARGE.. if size > 8 => Alltoall::Pairwise,
            _ => Alltoall::Fallback,
        })
    }

    /// `bytes` of all blocks together, `count` elements.
    pub fn reduce_scatter(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Selected<ReduceScatter> {
        let automatic = || match size.is_power_of_two() {
            _ if count < size => ReduceScatter::Fallback,
            true if size > 2 && bytes < LARGE => ReduceScatter::Halving,
            _ => ReduceScatter::Ring,
        };
        let case = (Subject::ReduceScatter, size, bytes);
        let selected = self.pick(self.reduce_scatter, case, automatic);
        match selected.algorithm {
            _ if !commutes => selected.instead(ReduceScatter::Fallback, IN_ORDER),
            ReduceScatter::Halving if !size.is_power_of_two() => selected.instead(ReduceScatter::Ring, NO_POWER),
            _ => selected,
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
