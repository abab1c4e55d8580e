//! Parameters: for each function the algorithm that is forced, and nodes for tests.

use crate::algorithm::Algorithm;

opal_core::params! {
    /// How MPI_Barrier is done: leaders is the way in two levels, next that of the component with the next lower priority.
    pub static BARRIER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Bcast is done; as for the barrier.
    pub static BCAST_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Reduce is done; as for the barrier. An operation that does not commute goes next where the ranks of a node
    /// do not follow each other.
    pub static REDUCE_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allreduce is done; as for MPI_Reduce.
    pub static ALLREDUCE_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allgather is done; as for the barrier.
    pub static ALLGATHER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Gather is done; as for the barrier.
    pub static GATHER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Scatter is done; as for the barrier.
    pub static SCATTER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// For tests on one machine: numbers, comma between them, of the nodes on which the processes of MPI_COMM_WORLD are said
    /// to be, again from the first one when there are more processes. Only coll/han believes it: messages go the same ways.
    pub static PRETEND_NODES: Text = Text(""), "", level 9;
}
