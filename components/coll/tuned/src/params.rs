//! Parameters: for each function the algorithm that is forced, the decision file, a segment size.

use crate::algorithm::{Allgather, Allreduce, Alltoall, Bcast, ReduceScatter};

opal_core::params! {
    /// How MPI_Bcast is done: next leaves it to the component with the next lower priority, scatter_allgather cuts the
    /// data into a piece per rank and passes the pieces around a ring, chain sends segments down a chain of ranks.
    pub static BCAST_ALGORITHM: Choice(Bcast::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allreduce is done: next, ring, or halving (recursive halving and doubling, Rabenseifner). An operation that
    /// does not commute is never given to the ring.
    pub static ALLREDUCE_ALGORITHM: Choice(Allreduce::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allgather is done: next, doubling (powers of two only), bruck, or neighbor (even numbers of ranks only).
    pub static ALLGATHER_ALGORITHM: Choice(Allgather::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Alltoall is done: next, bruck, or pairwise. Calls with MPI_IN_PLACE are always left to next.
    pub static ALLTOALL_ALGORITHM: Choice(Alltoall::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Reduce_scatter and MPI_Reduce_scatter_block are done: next, ring, or halving (powers of two only). Calls
    /// with an operation that does not commute are always left to next.
    pub static REDUCE_SCATTER_ALGORITHM: Choice(ReduceScatter::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// A file that says from how many ranks and bytes on which algorithm serves: a line for each, `function ranks bytes
    /// algorithm`, functions and algorithms named as in the parameters above; bytes as `ompi_info --coll` counts them.
    pub static DECISIONS: Text = Text(""), "file", level 5;
    /// Bytes of a segment of MPI_Bcast's chain.
    pub static BCAST_SEGMENT: Size = Int(32768), "bytes", level 6, change AllEqual;
}
