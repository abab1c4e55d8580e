//! Parameters: limits, and for each function the algorithm that is forced.

use crate::algorithm::Algorithm;

opal_core::params! {
    /// Largest communicator that is served.
    pub static MAX_RANKS: Size = Int(16), "ranks", level 4;
    /// How MPI_Bcast is done: next is the way of the component with the next lower priority, message is one (two ranks only, else next), lines goes through shared
    /// memory (short data only, else next), direct copies straight between the ranks' buffers (where the system allows it,
    /// else next), pipeline streams through shared memory (where there is room, else next), measured tries these two and keeps
    /// the better one, as long data is done by itself.
    pub static BCAST_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Allgather is done: as MPI_Bcast.
    pub static ALLGATHER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Alltoall is done: as MPI_Bcast. MPI_IN_PLACE is never done directly.
    pub static ALLTOALL_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Reduce is done: as MPI_Bcast, but never as a message. Types with gaps are done neither directly nor in a pipeline.
    pub static REDUCE_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Allreduce is done: as MPI_Reduce.
    pub static ALLREDUCE_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Gather is done: as MPI_Bcast, but never directly, and neither is what follows.
    pub static GATHER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Scatter is done.
    pub static SCATTER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Allgatherv is done.
    pub static ALLGATHERV_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Alltoallv is done: in a pipeline only if blocks differ little in length.
    pub static ALLTOALLV_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Alltoallw is done: as MPI_Alltoallv.
    pub static ALLTOALLW_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Reduce_scatter is done. Types with gaps are not done in a pipeline, here and in what follows.
    pub static REDUCE_SCATTER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Reduce_scatter_block is done.
    pub static REDUCE_SCATTER_BLOCK_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Scan is done: two ranks do without lines.
    pub static SCAN_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How MPI_Exscan is done: as MPI_Scan.
    pub static EXSCAN_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5;
    /// How much of a peer's data a direct reduction reads in one go: it should stay in a core's own cache.
    pub static REDUCE_PIECE: Size = Int(65536), "bytes", level 6;
    /// How much goes through shared memory in one piece of a pipeline, at most an eighth of a ring. If it is not the same on all
    /// ranks of a communicator, that does without pipelines.
    pub static PIPELINE_PIECE: Size = Int(16384), "bytes", level 6;
    /// How long the rings of a pipeline are, 64 KiB to 16 MiB; less with many ranks, or where there is no room. As the piece.
    pub static PIPELINE_RING: Size = Int(1048576), "bytes", level 6;
}
