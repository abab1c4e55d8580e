//! Parameters: limits, and for each function the algorithm that is forced.

use crate::algorithm::Algorithm;

opal_core::params! {
    /// Largest communicator that is served.
    pub static MAX_RANKS: Size = Int(16), "ranks", level 4, change AllEqual;
    /// How MPI_Bcast is done: next leaves it to the component with the next lower priority; message sends one (two ranks only,
    /// else next); flags uses flags in shared memory (short data only, else next); direct copies straight between the
    /// ranks' buffers (where the system allows it, else next); pipeline goes through rings in shared memory (where there is
    /// room, else next); measured tries direct and pipeline and keeps the faster one; auto chooses by size and ranks.
    pub static BCAST_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allgather is done: as MPI_Bcast.
    pub static ALLGATHER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Alltoall is done: as MPI_Bcast, but with MPI_IN_PLACE never by direct copies.
    pub static ALLTOALL_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Reduce is done: as MPI_Bcast, but not as a message, and for types with gaps neither by direct copies nor in a
    /// pipeline.
    pub static REDUCE_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allreduce is done: as MPI_Reduce.
    pub static ALLREDUCE_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Gather is done: as MPI_Bcast, but never by direct copies.
    pub static GATHER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Scatter is done: as MPI_Gather.
    pub static SCATTER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Allgatherv is done: as MPI_Gather.
    pub static ALLGATHERV_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Alltoallv is done: as MPI_Gather, but in a pipeline only if blocks differ little in length.
    pub static ALLTOALLV_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Alltoallw is done: as MPI_Alltoallv.
    pub static ALLTOALLW_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Reduce_scatter is done: as MPI_Gather, but for types with gaps not in a pipeline.
    pub static REDUCE_SCATTER_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Reduce_scatter_block is done: as MPI_Reduce_scatter.
    pub static REDUCE_SCATTER_BLOCK_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Scan is done: as MPI_Reduce_scatter, but two ranks never use flags.
    pub static SCAN_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How MPI_Exscan is done: as MPI_Scan.
    pub static EXSCAN_ALGORITHM: Choice(Algorithm::WORDS) = Text("auto"), "", level 5, change AllEqual;
    /// How more than two ranks find that all have come, in MPI_Barrier and whatever goes through flags: counter has them count
    /// themselves in at one word; flags has each set a flag of its own, which the others poll; auto takes flags where each rank has a core
    /// of its own.
    pub static ARRIVAL: Choice(&["auto", "counter", "flags"]) = Text("auto"), "", level 5, change AllEqual;
    /// How much of a peer's data a direct reduction reads in one go: it should stay in a core's own cache.
    pub static REDUCE_PIECE: Size = Int(65536), "bytes", level 6, change Local;
    /// How much goes through shared memory in one piece of a pipeline, at most an eighth of a ring. A communicator whose ranks
    /// have different values uses no pipelines.
    pub static PIPELINE_PIECE: Size = Int(16384), "bytes", level 6;
    /// How long the rings of a pipeline are, 64 KiB to 16 MiB; less with many ranks, or where there is no room. A communicator
    /// whose ranks have different values uses no pipelines.
    pub static PIPELINE_RING: Size = Int(1048576), "bytes", level 6;
}
