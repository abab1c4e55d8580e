//! How many processes a call has to do with: arrays of datatypes are as long.

use crate::arguments::{Buffer, In, Int, SUCCESS};

unsafe extern "C" {
    safe fn PMPI_Comm_test_inter(comm: usize, flag: *mut Int) -> Int;
    safe fn PMPI_Comm_remote_size(comm: usize, size: *mut Int) -> Int;
    safe fn PMPI_Comm_size(comm: usize, size: *mut Int) -> Int;
    safe fn PMPI_Comm_rank(comm: usize, rank: *mut Int) -> Int;
    safe fn PMPI_Topo_test(comm: usize, status: *mut Int) -> Int;
    safe fn PMPI_Cartdim_get(comm: usize, ndims: *mut Int) -> Int;
    safe fn PMPI_Graph_neighbors_count(comm: usize, rank: Int, nneighbors: *mut Int) -> Int;
    safe fn PMPI_Dist_graph_neighbors_count(
        comm: usize,
        indegree: *mut Int,
        outdegree: *mut Int,
        weighted: *mut Int,
    ) -> Int;
}

const CART: Int = 211;
const GRAPH: Int = 212;
const DIST_GRAPH: Int = 213;

/// The processes of a communicator, or of its other group. None where `buffer` is MPI_IN_PLACE, whose types mean nothing.
pub fn peers(comm: In<Int>, buffer: Buffer) -> usize {
    if buffer.is_in_place() {
        return 0;
    }
    let (comm, mut inter, mut size) = (comm.handle(), 0, 0);
    // A communicator that is none raises its error in each of these, and again in the call itself.
    if PMPI_Comm_test_inter(comm, &raw mut inter) != SUCCESS {
        return 0;
    }
    let result = match inter {
        0 => PMPI_Comm_size(comm, &raw mut size),
        _ => PMPI_Comm_remote_size(comm, &raw mut size),
    };
    if result == SUCCESS { usize::try_from(size).unwrap_or(0) } else { 0 }
}

/// The neighbors that a process sends to.
pub fn destinations(comm: In<Int>, _buffer: Buffer) -> usize {
    neighbors(comm.handle()).1
}

/// The neighbors that a process receives from.
pub fn sources(comm: In<Int>, _buffer: Buffer) -> usize {
    neighbors(comm.handle()).0
}

fn neighbors(comm: usize) -> (usize, usize) {
    let (mut kind, mut first, mut second, mut third) = (0, 0, 0, 0);
    if PMPI_Topo_test(comm, &raw mut kind) != SUCCESS {
        return (0, 0);
    }
    let count = |value: Int| usize::try_from(value).unwrap_or(0);
    match kind {
        CART if PMPI_Cartdim_get(comm, &raw mut first) == SUCCESS => (2 * count(first), 2 * count(first)),
        GRAPH
            if PMPI_Comm_rank(comm, &raw mut second) == SUCCESS
                && PMPI_Graph_neighbors_count(comm, second, &raw mut first) == SUCCESS =>
        {
            (count(first), count(first))
        }
        DIST_GRAPH
            if PMPI_Dist_graph_neighbors_count(comm, &raw mut first, &raw mut second, &raw mut third) == SUCCESS =>
        {
            (count(first), count(second))
        }
        _ => (0, 0),
    }
}
