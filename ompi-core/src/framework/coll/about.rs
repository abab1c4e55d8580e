//! How components describe themselves to `ompi_info --coll`.

use super::function::{FUNCTIONS, Function};

/// A call that may come.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Processes of the communicator, all on one node.
    pub ranks: usize,
    /// Bytes, as the component counts them for the function.
    pub bytes: usize,
}

/// How a component serves one function.
pub struct About {
    /// Its usual priority.
    pub priority: i32,
    /// Its algorithms, by the names that force them where they can be forced.
    pub algorithms: &'static [&'static str],
    /// Which bytes of a call a case counts.
    pub counts: &'static str,
    /// The user has named it, and so it is asked before those with higher priorities.
    pub forced: bool,
    /// The algorithm that it would choose for the case, and why it does; or why another component gets the call.
    pub choice: Result<(&'static str, &'static str), &'static str>,
}

impl Function {
    /// All of them, in the order of their numbers.
    pub const ALL: [Function; FUNCTIONS] = [
        Function::Barrier,
        Function::Bcast,
        Function::Gather,
        Function::Gatherv,
        Function::Scatter,
        Function::Scatterv,
        Function::Allgather,
        Function::Allgatherv,
        Function::Alltoall,
        Function::Alltoallv,
        Function::Alltoallw,
        Function::Reduce,
        Function::Allreduce,
        Function::ReduceScatter,
        Function::ReduceScatterBlock,
        Function::Scan,
        Function::Exscan,
        Function::NeighborAllgather,
        Function::NeighborAllgatherv,
        Function::NeighborAlltoall,
        Function::NeighborAlltoallv,
        Function::NeighborAlltoallw,
    ];

    /// The blocking function's name.
    pub fn name(self) -> &'static str {
        match self {
            Function::Barrier => "MPI_Barrier",
            Function::Bcast => "MPI_Bcast",
            Function::Gather => "MPI_Gather",
            Function::Gatherv => "MPI_Gatherv",
            Function::Scatter => "MPI_Scatter",
            Function::Scatterv => "MPI_Scatterv",
            Function::Allgather => "MPI_Allgather",
            Function::Allgatherv => "MPI_Allgatherv",
            Function::Alltoall => "MPI_Alltoall",
            Function::Alltoallv => "MPI_Alltoallv",
            Function::Alltoallw => "MPI_Alltoallw",
            Function::Reduce => "MPI_Reduce",
            Function::Allreduce => "MPI_Allreduce",
            Function::ReduceScatter => "MPI_Reduce_scatter",
            Function::ReduceScatterBlock => "MPI_Reduce_scatter_block",
            Function::Scan => "MPI_Scan",
            Function::Exscan => "MPI_Exscan",
            Function::NeighborAllgather => "MPI_Neighbor_allgather",
            Function::NeighborAllgatherv => "MPI_Neighbor_allgatherv",
            Function::NeighborAlltoall => "MPI_Neighbor_alltoall",
            Function::NeighborAlltoallv => "MPI_Neighbor_alltoallv",
            Function::NeighborAlltoallw => "MPI_Neighbor_alltoallw",
        }
    }
}
