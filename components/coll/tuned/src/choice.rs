//! Which algorithm serves a call: by parameters, else by values that are equal on all ranks.

use crate::params;
use opal_core::mca::Param;

macro_rules! ways {
    ($($(#[$doc:meta])* $name:ident { $($(#[$way_doc:meta])* $way:ident = $word:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                /// What the next component does.
                Next,
                $($(#[$way_doc])* $way,)*
            }

            impl $name {
                /// What the parameter accepts.
                pub const WORDS: &'static [&'static str] = &["auto", "next", $($word),*];

                /// The parameter's word for it.
                pub fn word(self) -> &'static str {
                    match self {
                        $name::Next => "next",
                        $($name::$way => $word,)*
                    }
                }

                fn forced_by(param: &Param) -> Option<$name> {
                    match param.text() {
                        "next" => Some($name::Next),
                        $($word => Some($name::$way),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}

ways! {
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

/// What the parameters force.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // by function
pub struct Forced {
    pub bcast: Option<Bcast>,
    pub allreduce: Option<Allreduce>,
    pub allgather: Option<Allgather>,
    pub alltoall: Option<Alltoall>,
    pub reduce_scatter: Option<ReduceScatter>,
}

impl Forced {
    /// As the parameters are now.
    pub fn by_parameters() -> Forced {
        Forced {
            bcast: Bcast::forced_by(&params::BCAST_ALGORITHM),
            allreduce: Allreduce::forced_by(&params::ALLREDUCE_ALGORITHM),
            allgather: Allgather::forced_by(&params::ALLGATHER_ALGORITHM),
            alltoall: Alltoall::forced_by(&params::ALLTOALL_ALGORITHM),
            reduce_scatter: ReduceScatter::forced_by(&params::REDUCE_SCATTER_ALGORITHM),
        }
    }

    /// `bytes` of the type signature.
    pub fn bcast(&self, bytes: usize, size: usize) -> Bcast {
        self.bcast.unwrap_or(match bytes {
            LARGE.. if size > 8 => Bcast::ScatterAllgather,
            _ => Bcast::Next,
        })
    }

    /// `bytes` of the result, `count` elements.
    pub fn allreduce(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> Allreduce {
        let cut = bytes >= MEDIUM && count >= size;
        let wanted = self.allreduce.unwrap_or(if cut { Allreduce::Halving } else { Allreduce::Next });
        // The ring combines in an order that differs from piece to piece.
        if wanted == Allreduce::Ring && !commutes { Allreduce::Next } else { wanted }
    }

    /// `bytes` of one rank's block.
    pub fn allgather(&self, bytes: usize, size: usize) -> Allgather {
        let wanted = self.allgather.unwrap_or(match size.is_power_of_two() {
            true if bytes < LARGE => Allgather::Doubling,
            false if bytes < SMALL && size > 16 => Allgather::Bruck,
            _ => Allgather::Next,
        });
        match wanted {
            Allgather::Doubling if !size.is_power_of_two() => Allgather::Bruck,
            Allgather::Neighbor if !size.is_multiple_of(2) => Allgather::Next,
            wanted => wanted,
        }
    }

    /// `bytes` from one rank to another.
    pub fn alltoall(&self, bytes: usize, size: usize) -> Alltoall {
        self.alltoall.unwrap_or(match bytes {
            ..TINY if size > 16 => Alltoall::Bruck,
            LARGE.. if size > 8 => Alltoall::Pairwise,
            _ => Alltoall::Next,
        })
    }

    /// `bytes` of all blocks together, `count` elements.
    pub fn reduce_scatter(&self, bytes: usize, count: usize, size: usize, commutes: bool) -> ReduceScatter {
        let automatic = match size.is_power_of_two() {
            _ if count < size => ReduceScatter::Next,
            true if size > 2 && bytes < LARGE => ReduceScatter::Halving,
            _ => ReduceScatter::Ring,
        };
        match self.reduce_scatter.unwrap_or(automatic) {
            _ if !commutes => ReduceScatter::Next,
            ReduceScatter::Halving if !size.is_power_of_two() => ReduceScatter::Ring,
            wanted => wanted,
        }
    }
}

// Measured with 2 to 8 ranks on 2 cores of one node; what is said of more ranks follows from numbers of messages.
const TINY: usize = 256;
const SMALL: usize = 2048;
const MEDIUM: usize = 32 << 10;
const LARGE: usize = 1 << 20;
