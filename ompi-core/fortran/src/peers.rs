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

const COMM_NULL: usize = 0x100;
const PROC_NULL: Int = -3;
const ROOT: Int = -4;
const CART: Int = 211;
const GRAPH: Int = 212;
const DIST_GRAPH: Int = 213;

/// Where the root of a collective operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// It is this process.
    Here,
    /// It is another one of the communicator, or of the other group.
    Elsewhere,
    /// It is another one of this group of an intercommunicator.
    Bystander,
}

/// By the argument of that name. In a call that C refuses nothing is looked at.
pub fn root(root: In<Int>, comm: In<Int>) -> Root {
    match (root.get(), is_inter(comm)) {
        (ROOT, true) => Root::Here,
        (PROC_NULL, true) => Root::Bystander,
        (_, true) => Root::Elsewhere,
        (root, false) if own_rank(comm) == usize::try_from(root).ok() => Root::Here,
        _ => Root::Elsewhere,
    }
}

/// Whether it is an intercommunicator.
pub fn is_inter(comm: In<Int>) -> bool {
    let mut inter = 0;
    is_comm(comm) && PMPI_Comm_test_inter(comm.handle(), &raw mut inter) == SUCCESS && inter != 0
}

/// The rank of this process in its group.
pub fn own_rank(comm: In<Int>) -> Option<usize> {
    let mut rank = 0;
    let known = is_comm(comm) && PMPI_Comm_rank(comm.handle(), &raw mut rank) == SUCCESS;
    usize::try_from(rank).ok().filter(|_| known)
}

/// The processes of this process's group.
pub fn members(comm: In<Int>) -> usize {
    let mut size = 0;
    let known = is_comm(comm) && PMPI_Comm_size(comm.handle(), &raw mut size) == SUCCESS;
    usize::try_from(size).ok().filter(|_| known).unwrap_or(0)
}

/// The processes of a communicator, or of its other group. None where `buffer` is MPI_IN_PLACE, whose types mean nothing.
pub fn peers(comm: In<Int>, buffer: Buffer) -> usize {
    match (buffer.is_in_place(), is_inter(comm)) {
        (true, _) => 0,
        (false, false) => members(comm),
        (false, true) => {
            let mut size = 0;
            let result = PMPI_Comm_remote_size(comm.handle(), &raw mut size);
            usize::try_from(size).ok().filter(|_| result == SUCCESS).unwrap_or(0)
        }
    }
}

/// What no communicator can be, the call itself refuses, under its own name.
fn is_comm(comm: In<Int>) -> bool {
    comm.get() > COMM_NULL as Int
}

/// The neighbors that a process sends to.
pub fn destinations(comm: In<Int>, _buffer: Buffer) -> usize {
    neighbors(comm).1
}

/// The neighbors that a process receives from.
pub fn sources(comm: In<Int>, _buffer: Buffer) -> usize {
    neighbors(comm).0
}

fn neighbors(comm: In<Int>) -> (usize, usize) {
    if !is_comm(comm) {
        return (0, 0);
    }
    let comm = comm.handle();
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
