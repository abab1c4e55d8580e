//! The algorithms of coll/tuned, by function.
//!
//! A new algorithm has these places:
//!
//! 1. its name here; parameter, decision file and `ompi_info --coll` know it then;
//! 2. its code in the file of its function, and its arm in `module`;
//! 3. in `select`: from how many bytes it is chosen, and the calls that it cannot serve;
//! 4. a sentence in `params`, for users;
//! 5. `tests/coll/tests/outstanding.rs` and `flaws.rs` run it alone, `xtask/src/test/coll/choices.rs` forces it in a job.
//!
//! One more function needs a row of [`SERVED`], too, and its parameter.

use ompi_core::framework::coll::Function;

ompi_core::coll_algorithms! {
    /// Algorithms of MPI_Bcast.
    Bcast {
        /// Pieces scattered by a binomial tree, passed around a ring.
        ScatterAllgather = "scatter_allgather",
        /// Segments down a chain.
        Chain = "chain",
    }
    /// Algorithms of MPI_Allreduce.
    Allreduce {
        /// Pieces reduced around a ring, passed around again.
        Ring = "ring",
        /// Recursive halving and doubling.
        Halving = "halving",
    }
    /// Algorithms of MPI_Allgather.
    Allgather {
        /// Recursive doubling.
        Doubling = "doubling",
        /// Doubling for any number of ranks, with a rotation at the end.
        Bruck = "bruck",
        /// Pairs of blocks between neighbours.
        Neighbor = "neighbor",
    }
    /// Algorithms of MPI_Alltoall.
    Alltoall {
        /// Store and forward in logarithmically many rounds.
        Bruck = "bruck",
        /// One partner after the other.
        Pairwise = "pairwise",
    }
    /// Algorithms of MPI_Reduce_scatter and MPI_Reduce_scatter_block.
    ReduceScatter {
        /// Around a ring.
        Ring = "ring",
        /// Recursive halving.
        Halving = "halving",
    }
}

/// A function as the decision file and the parameters name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the functions' names
pub enum Subject {
    Bcast,
    Allreduce,
    Allgather,
    Alltoall,
    ReduceScatter,
}

/// What coll/tuned serves under one name.
pub struct Served {
    /// The name.
    pub name: &'static str,
    /// The same as a value.
    pub subject: Subject,
    /// The functions.
    pub functions: &'static [Function],
    /// Names of algorithms, with auto and next before them.
    pub words: &'static [&'static str],
    /// What bytes of a call are counted.
    pub counts: &'static str,
}

/// All of it.
pub const SERVED: [Served; 5] = [
    Served {
        name: "bcast",
        subject: Subject::Bcast,
        functions: &[Function::Bcast],
        words: Bcast::WORDS,
        counts: "of the data",
    },
    Served {
        name: "allreduce",
        subject: Subject::Allreduce,
        functions: &[Function::Allreduce],
        words: Allreduce::WORDS,
        counts: "of the result",
    },
    Served {
        name: "allgather",
        subject: Subject::Allgather,
        functions: &[Function::Allgather],
        words: Allgather::WORDS,
        counts: "of a rank's block",
    },
    Served {
        name: "alltoall",
        subject: Subject::Alltoall,
        functions: &[Function::Alltoall],
        words: Alltoall::WORDS,
        counts: "from one rank to another",
    },
    Served {
        name: "reduce_scatter",
        subject: Subject::ReduceScatter,
        functions: &[Function::ReduceScatter, Function::ReduceScatterBlock],
        words: ReduceScatter::WORDS,
        counts: "of all blocks",
    },
];
