//! Virtual topologies. MPI 5.0 §8.5.

use super::kinds::{Array, Comm, Count, Hints, Out, OutArray, Rank, Raw, array_mut};
use crate::status::UNDEFINED;
use crate::topo;
use core::ffi::c_int;

rows! {
    /// A communicator with a Cartesian grid. MPI 5.0 §8.5.1.
    fn Cart_create(
        comm_old: Comm, ndims: Raw<c_int>, dims: Array<c_int>, periods: Array<c_int>, reorder: Raw<c_int>,
        comm_cart: Out<usize>,
    ) [] => unsupported

    /// A balanced grid for a number of processes. MPI 5.0 §8.5.2.
    fn Dims_create(nnodes: Raw<c_int>, ndims: Count, dims: OutArray<c_int>) [] => {
        // SAFETY: the array has `ndims` elements by the standard.
        topo::balance(nnodes, unsafe { array_mut(dims, ndims, "dims")? })
    }

    /// A communicator with a graph that all processes know. MPI 5.0 §8.5.3.
    fn Graph_create(
        comm_old: Comm, nnodes: Raw<c_int>, index: Array<c_int>, edges: Array<c_int>, reorder: Raw<c_int>,
        comm_graph: Out<usize>,
    ) [] => unsupported

    /// A communicator with a graph of which each process names its neighbours. MPI 5.0 §8.5.4.
    fn Dist_graph_create_adjacent(
        comm_old: Comm, indegree: Raw<c_int>, sources: Array<c_int>, sourceweights: Array<c_int>,
        outdegree: Raw<c_int>, destinations: Array<c_int>, destweights: Array<c_int>, info: Hints,
        reorder: Raw<c_int>, comm_dist_graph: Out<usize>,
    ) [] => unsupported

    /// A communicator with a graph of which each process names any edges. MPI 5.0 §8.5.4.
    fn Dist_graph_create(
        comm_old: Comm, n: Count, sources: Array<c_int>, degrees: Array<c_int>, destinations: Array<c_int>,
        weights: Array<c_int>, info: Hints, reorder: Raw<c_int>, comm_dist_graph: Out<usize>,
    ) [] => unsupported

    /// Which kind of topology a communicator has. MPI 5.0 §8.5.5.
    fn Topo_test(comm: Comm, status: Out<c_int>) [] => {
        // No communicator can have a topology yet.
        let _unused = comm;
        status.set(UNDEFINED);
        Ok(())
    }

    /// Numbers of nodes and edges of a graph. MPI 5.0 §8.5.5.
    fn Graphdims_get(comm: Comm, nnodes: Out<c_int>, nedges: Out<c_int>) [] => unsupported

    /// The graph. MPI 5.0 §8.5.5.
    fn Graph_get(
        comm: Comm, maxindex: Raw<c_int>, maxedges: Raw<c_int>, index: Out<c_int>, edges: OutArray<c_int>,
    ) [] => unsupported

    /// Number of dimensions of a grid. MPI 5.0 §8.5.5.
    fn Cartdim_get(comm: Comm, ndims: Out<c_int>) [] => unsupported

    /// The grid and this process's place in it. MPI 5.0 §8.5.5.
    fn Cart_get(
        comm: Comm, maxdims: Raw<c_int>, dims: OutArray<c_int>, periods: OutArray<c_int>, coords: OutArray<c_int>,
    ) [] => unsupported

    /// The rank at given coordinates. MPI 5.0 §8.5.5.
    fn Cart_rank(comm: Comm, coords: Array<c_int>, rank: Out<c_int>) [] => unsupported

    /// The coordinates of a rank. MPI 5.0 §8.5.5.
    fn Cart_coords(comm: Comm, rank: Rank, maxdims: Raw<c_int>, coords: OutArray<c_int>) [] => unsupported

    /// Number of neighbours of a rank in a graph. MPI 5.0 §8.5.5.
    fn Graph_neighbors_count(comm: Comm, rank: Rank, nneighbors: Out<c_int>) [] => unsupported

    /// The neighbours of a rank in a graph. MPI 5.0 §8.5.5.
    fn Graph_neighbors(comm: Comm, rank: Rank, maxneighbors: Raw<c_int>, neighbors: OutArray<c_int>) [] => unsupported

    /// Numbers of this process's neighbours in a distributed graph. MPI 5.0 §8.5.5.
    fn Dist_graph_neighbors_count(
        comm: Comm, indegree: Out<c_int>, outdegree: Out<c_int>, weighted: Out<c_int>,
    ) [] => unsupported

    /// This process's neighbours in a distributed graph. MPI 5.0 §8.5.5.
    fn Dist_graph_neighbors(
        comm: Comm, maxindegree: Count, sources: OutArray<c_int>, sourceweights: OutArray<c_int>,
        maxoutdegree: Count, destinations: OutArray<c_int>, destweights: OutArray<c_int>,
    ) [] => unsupported

    /// Source and destination of a shift along one dimension. MPI 5.0 §8.5.6.
    fn Cart_shift(
        comm: Comm, direction: Raw<c_int>, disp: Raw<c_int>, rank_source: Out<c_int>, rank_dest: Out<c_int>,
    ) [] => unsupported

    /// Communicators for lower-dimensional parts of a grid. MPI 5.0 §8.5.7.
    fn Cart_sub(comm: Comm, remain_dims: Array<c_int>, newcomm: Out<usize>) [] => unsupported

    /// A good rank for this process in a grid. MPI 5.0 §8.5.8.
    fn Cart_map(
        comm: Comm, ndims: Raw<c_int>, dims: Array<c_int>, periods: Array<c_int>, newrank: Out<c_int>,
    ) [] => unsupported

    /// A good rank for this process in a graph. MPI 5.0 §8.5.8.
    fn Graph_map(
        comm: Comm, nnodes: Raw<c_int>, index: Array<c_int>, edges: Array<c_int>, newrank: Out<c_int>,
    ) [] => unsupported
}
