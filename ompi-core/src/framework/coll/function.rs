//! The collective functions and sets of them.

/// The collective functions, as bit numbers of [`Functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's names
#[repr(u8)]
pub enum Function {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// Number of [`Function`]s.
pub const FUNCTIONS: usize = 22;

/// A set of functions, bit `Function as u8`.
pub type Functions = u64;

/// The functions of MPI 5.0 §6, for every communicator.
pub const ALL_FUNCTIONS: Functions = (1 << Function::NeighborAllgather as u8) - 1;

/// Those among the neighbours of a topology, MPI 5.0 §8.6.
pub const NEIGHBOR_FUNCTIONS: Functions = (1 << FUNCTIONS) - 1 - ALL_FUNCTIONS;

/// Bits of functions.
pub const fn set_of(functions: &[Function]) -> Functions {
    let (mut set, mut index) = (0, 0);
    while index < functions.len() {
        set |= 1 << functions[index] as u8;
        index += 1;
    }
    set
}
