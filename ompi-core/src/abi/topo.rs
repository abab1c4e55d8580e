//! Virtual topologies. MPI 5.0 §8.5.

use super::comm::made;
use super::kinds::{Array, Comm, Count, Hints, Out, OutArray, Rank, Raw, array, array_mut};
use crate::comm::{self, Communicator};
use crate::error::{Class, Fault, Result};
use crate::status::UNDEFINED;
use crate::topo::dist::{Named, Side, check_not_negative};
use crate::topo::{self, Cart, DistGraph, Graph, Shape, dims};
use alloc::format;
use alloc::vec::Vec;
use core::ffi::c_int;

rows! {
    /// A communicator with a Cartesian grid. MPI 5.0 §8.5.1.
    fn Cart_create(
        comm_old: Comm, ndims: Raw<c_int>, dims: Array<c_int>, periods: Array<c_int>, reorder: Raw<c_int>,
        comm_cart: Out<usize>,
    ) [] => {
        one_group(comm_old, "comm_old")?;
        let cart = grid(comm_old, ndims, dims, periods)?;
        let new = topo::cart_create(comm_old, cart, reorder != 0)?.unwrap_or(comm::NULL);
        comm_cart.set(made(new, "MPI_Cart_create", comm_old));
        Ok(())
    }

    /// A balanced grid for a number of processes. MPI 5.0 §8.5.2.
    fn Dims_create(nnodes: Raw<c_int>, ndims: Raw<c_int>, dims: OutArray<c_int>) [] => {
        let ndims = number(ndims, "ndims", Class::Dims)?;
        // SAFETY: the array has `ndims` elements by the standard.
        dims::fill(nnodes, unsafe { array_mut(dims, ndims, "dims")? })
    }

    /// A communicator with a graph that all processes know. MPI 5.0 §8.5.3.
    fn Graph_create(
        comm_old: Comm, nnodes: Raw<c_int>, index: Array<c_int>, edges: Array<c_int>, reorder: Raw<c_int>,
        comm_graph: Out<usize>,
    ) [] => {
        one_group(comm_old, "comm_old")?;
        let graph = graph(comm_old, nnodes, index, edges)?;
        let new = topo::graph_create(comm_old, graph, reorder != 0)?.unwrap_or(comm::NULL);
        comm_graph.set(made(new, "MPI_Graph_create", comm_old));
        Ok(())
    }

    /// A communicator with a graph of which each process names its neighbours. MPI 5.0 §8.5.4.
    fn Dist_graph_create_adjacent(
        comm_old: Comm, indegree: Raw<c_int>, sources: Array<c_int>, sourceweights: Array<c_int>,
        outdegree: Raw<c_int>, destinations: Array<c_int>, destweights: Array<c_int>, info: Hints,
        reorder: Raw<c_int>, comm_dist_graph: Out<usize>,
    ) [] => {
        one_group(comm_old, "comm_old")?;
        // No hint changes anything.
        drop(info);
        let degrees = (number(indegree, "indegree", Class::Arg)?, number(outdegree, "outdegree", Class::Arg)?);
        let unweighted = [(degrees.0, sourceweights), (degrees.1, destweights)].map(|(_, at)| at as usize == UNWEIGHTED);
        if unweighted[0] != unweighted[1] && degrees.0 > 0 && degrees.1 > 0 {
            let why = "MPI_UNWEIGHTED is for both sourceweights and destweights or for neither";
            return Err(Fault::new(Class::Arg).argument("destweights").because(why));
        }
        let inward = side(comm_old, degrees.0, sources, sourceweights, ["sources", "sourceweights"])?;
        let outward = side(comm_old, degrees.1, destinations, destweights, ["destinations", "destweights"])?;
        let mine = DistGraph { inward, outward, weighted: unweighted != [true; 2] };
        let new = topo::dist_graph_create_adjacent(comm_old, mine, reorder != 0)?;
        comm_dist_graph.set(made(new, "MPI_Dist_graph_create_adjacent", comm_old));
        Ok(())
    }

    /// A communicator with a graph of which each process names any edges. MPI 5.0 §8.5.4.
    fn Dist_graph_create(
        comm_old: Comm, n: Count, sources: Array<c_int>, degrees: Array<c_int>, destinations: Array<c_int>,
        weights: Array<c_int>, info: Hints, reorder: Raw<c_int>, comm_dist_graph: Out<usize>,
    ) [] => {
        one_group(comm_old, "comm_old")?;
        // No hint changes anything.
        drop(info);
        // SAFETY: the array has `n` elements by the standard.
        let sources = unsafe { array(sources, n, "sources")? };
        // SAFETY: the array has `n` elements by the standard.
        let degrees = unsafe { array(degrees, n, "degrees")? };
        check_not_negative(degrees, "degrees")?;
        let edges = degrees.iter().map(|degree| *degree as usize).sum();
        // SAFETY: the array has the sum of the degrees of elements by the standard.
        let destinations = unsafe { array(destinations, edges, "destinations")? };
        let weights = weighting(weights, edges, "weights")?;
        let named = Named { sources, degrees, destinations, weights };
        named.check(comm_old.size())?;
        let new = topo::dist_graph_create(comm_old, &named, reorder != 0)?;
        comm_dist_graph.set(made(new, "MPI_Dist_graph_create", comm_old));
        Ok(())
    }

    /// Which kind of topology a communicator has. MPI 5.0 §8.5.5.
    fn Topo_test(comm: Comm, status: Out<c_int>) [] => {
        status.set(match comm.topology().map(|topology| &topology.shape) {
            None => UNDEFINED,
            Some(Shape::Cart(_)) => CART,
            Some(Shape::Graph(_)) => GRAPH,
            Some(Shape::DistGraph(_)) => DIST_GRAPH,
        });
        Ok(())
    }

    /// Numbers of nodes and edges of a graph. MPI 5.0 §8.5.5.
    fn Graphdims_get(comm: Comm, nnodes: Out<c_int>, nedges: Out<c_int>) [] => {
        let graph = comm.graph()?;
        nnodes.set(graph.index().len() as c_int);
        nedges.set(graph.edges().len() as c_int);
        Ok(())
    }

    /// The graph. MPI 5.0 §8.5.5.
    fn Graph_get(
        comm: Comm, maxindex: Raw<c_int>, maxedges: Raw<c_int>, index: OutArray<c_int>, edges: OutArray<c_int>,
    ) [] => {
        let graph = comm.graph()?;
        let room = [room(maxindex, graph.index(), "maxindex")?, room(maxedges, graph.edges(), "maxedges")?];
        // SAFETY: the caller says that there is that much room.
        unsafe { array_mut(index, room[0], "index")? }.copy_from_slice(graph.index());
        // SAFETY: as above.
        unsafe { array_mut(edges, room[1], "edges")? }.copy_from_slice(graph.edges());
        Ok(())
    }

    /// Number of dimensions of a grid. MPI 5.0 §8.5.5.
    fn Cartdim_get(comm: Comm, ndims: Out<c_int>) [] => {
        ndims.set(comm.cart()?.dims().len() as c_int);
        Ok(())
    }

    /// The grid and this process's place in it. MPI 5.0 §8.5.5.
    fn Cart_get(
        comm: Comm, maxdims: Raw<c_int>, dims: OutArray<c_int>, periods: OutArray<c_int>, coords: OutArray<c_int>,
    ) [] => {
        let cart = comm.cart()?;
        let count = room(maxdims, cart.dims(), "maxdims")?;
        let wraps: Vec<c_int> = cart.periods().iter().map(|wraps| c_int::from(*wraps)).collect();
        // SAFETY: the caller says that there is that much room.
        unsafe { array_mut(dims, count, "dims")? }.copy_from_slice(cart.dims());
        // SAFETY: as above.
        unsafe { array_mut(periods, count, "periods")? }.copy_from_slice(&wraps);
        // SAFETY: as above.
        unsafe { array_mut(coords, count, "coords")? }.copy_from_slice(&cart.coords(comm.rank as usize));
        Ok(())
    }

    /// The rank at given coordinates. MPI 5.0 §8.5.5.
    fn Cart_rank(comm: Comm, coords: Array<c_int>, rank: Out<c_int>) [] => {
        let cart = comm.cart()?;
        // SAFETY: the array has an element per dimension by the standard.
        rank.set(cart.rank(unsafe { array(coords, cart.dims().len(), "coords")? })? as c_int);
        Ok(())
    }

    /// The coordinates of a rank. MPI 5.0 §8.5.5.
    fn Cart_coords(comm: Comm, rank: Rank, maxdims: Raw<c_int>, coords: OutArray<c_int>) [] => {
        let cart = comm.cart()?;
        let rank = node(comm, rank)?;
        let count = room(maxdims, cart.dims(), "maxdims")?;
        // SAFETY: the caller says that there is that much room.
        unsafe { array_mut(coords, count, "coords")? }.copy_from_slice(&cart.coords(rank));
        Ok(())
    }

    /// Number of neighbours of a rank in a graph. MPI 5.0 §8.5.5.
    fn Graph_neighbors_count(comm: Comm, rank: Rank, nneighbors: Out<c_int>) [] => {
        let graph = comm.graph()?;
        nneighbors.set(graph.neighbors(node(comm, rank)?).len() as c_int);
        Ok(())
    }

    /// The neighbours of a rank in a graph. MPI 5.0 §8.5.5.
    fn Graph_neighbors(comm: Comm, rank: Rank, maxneighbors: Raw<c_int>, neighbors: OutArray<c_int>) [] => {
        let graph = comm.graph()?;
        let all = graph.neighbors(node(comm, rank)?);
        let count = room(maxneighbors, all, "maxneighbors")?;
        // SAFETY: the caller says that there is that much room.
        unsafe { array_mut(neighbors, count, "neighbors")? }.copy_from_slice(all);
        Ok(())
    }

    /// Numbers of this process's neighbours in a distributed graph. MPI 5.0 §8.5.5.
    fn Dist_graph_neighbors_count(
        comm: Comm, indegree: Out<c_int>, outdegree: Out<c_int>, weighted: Out<c_int>,
    ) [] => {
        let graph = comm.dist_graph()?;
        indegree.set(graph.inward.ranks.len() as c_int);
        outdegree.set(graph.outward.ranks.len() as c_int);
        weighted.set(c_int::from(graph.weighted));
        Ok(())
    }

    /// This process's neighbours in a distributed graph, as many as there is room for. MPI 5.0 §8.5.5.
    fn Dist_graph_neighbors(
        comm: Comm, maxindegree: Count, sources: OutArray<c_int>, sourceweights: OutArray<c_int>,
        maxoutdegree: Count, destinations: OutArray<c_int>, destweights: OutArray<c_int>,
    ) [] => {
        let graph = comm.dist_graph()?;
        give(&graph.inward, maxindegree, sources, sourceweights, ["sources", "sourceweights"])?;
        give(&graph.outward, maxoutdegree, destinations, destweights, ["destinations", "destweights"])
    }

    /// Source and destination of a shift along one dimension. MPI 5.0 §8.5.6.
    fn Cart_shift(
        comm: Comm, direction: Raw<c_int>, disp: Raw<c_int>, rank_source: Out<c_int>, rank_dest: Out<c_int>,
    ) [] => {
        let cart = comm.cart()?;
        if !(0..cart.dims().len() as c_int).contains(&direction) {
            let why = format!("{direction} is not a dimension of this grid, which has {}; they are counted from 0", cart.dims().len());
            return Err(Fault::new(Class::Arg).argument("direction").because(why));
        }
        let (source, destination) = cart.shift(comm.rank as usize, direction as usize, disp);
        rank_source.set(source);
        rank_dest.set(destination);
        Ok(())
    }

    /// Communicators for lower-dimensional parts of a grid. MPI 5.0 §8.5.7.
    fn Cart_sub(comm: Comm, remain_dims: Array<c_int>, newcomm: Out<usize>) [] => {
        let cart = comm.cart()?;
        // SAFETY: the array has an element per dimension by the standard.
        let keep = logicals(unsafe { array(remain_dims, cart.dims().len(), "remain_dims")? });
        newcomm.set(made(topo::cart_sub(comm, cart, &keep)?, "MPI_Cart_sub", comm));
        Ok(())
    }

    /// A good rank for this process in a grid. MPI 5.0 §8.5.8.
    fn Cart_map(
        comm: Comm, ndims: Raw<c_int>, dims: Array<c_int>, periods: Array<c_int>, newrank: Out<c_int>,
    ) [] => {
        one_group(comm, "comm")?;
        if has_no_place(ndims, dims) {
            newrank.set(UNDEFINED);
            return Ok(());
        }
        let cart = grid(comm, ndims, dims, periods)?;
        newrank.set(topo::cart_map(comm, &cart)?.map_or(UNDEFINED, |rank| rank as c_int));
        Ok(())
    }

    /// A good rank for this process in a graph. MPI 5.0 §8.5.8.
    fn Graph_map(
        comm: Comm, nnodes: Raw<c_int>, index: Array<c_int>, edges: Array<c_int>, newrank: Out<c_int>,
    ) [] => {
        one_group(comm, "comm")?;
        let graph = graph(comm, nnodes, index, edges)?;
        newrank.set(topo::graph_map(comm, &graph)?.map_or(UNDEFINED, |rank| rank as c_int));
        Ok(())
    }
}

/// MPI_CART.
const CART: c_int = 211;
/// MPI_GRAPH.
const GRAPH: c_int = 212;
/// MPI_DIST_GRAPH.
const DIST_GRAPH: c_int = 213;
/// MPI_UNWEIGHTED.
const UNWEIGHTED: usize = 10;
/// MPI_WEIGHTS_EMPTY.
const WEIGHTS_EMPTY: usize = 11;

/// Topologies are for intracommunicators (MPI 5.0 §8.1).
fn one_group(comm: &Communicator, argument: &'static str) -> Result<()> {
    match comm.is_inter() {
        false => Ok(()),
        true => Err(Fault::new(Class::Comm).argument(argument).because("an intercommunicator cannot have a topology")),
    }
}

fn number(raw: c_int, argument: &'static str, class: Class) -> Result<usize> {
    usize::try_from(raw).map_err(|_| Fault::new(class).argument(argument).because(format!("{raw} is negative")))
}

fn logicals(all: &[c_int]) -> Vec<bool> {
    all.iter().map(|one| *one != 0).collect()
}

/// Whether a dimension is empty, and none wrong otherwise. Other libraries map nobody into such a grid, and programs divide
/// a small number of ranks until they ask for one.
fn has_no_place(ndims: c_int, dims: *const c_int) -> bool {
    // SAFETY: the array has `ndims` elements by the standard.
    let dims = number(ndims, "ndims", Class::Dims).and_then(|ndims| unsafe { array(dims, ndims, "dims") });
    dims.is_ok_and(|dims| dims.contains(&0) && dims.iter().all(|places| *places >= 0))
}

fn grid(comm: &Communicator, ndims: c_int, dims: *const c_int, periods: *const c_int) -> Result<Cart> {
    let ndims = number(ndims, "ndims", Class::Dims)?;
    // SAFETY: the array has `ndims` elements by the standard.
    let dims = unsafe { array(dims, ndims, "dims")? };
    // SAFETY: as above.
    let periods = logicals(unsafe { array(periods, ndims, "periods")? });
    Cart::new(dims, &periods, comm.size())
}

fn graph(comm: &Communicator, nnodes: c_int, index: *const c_int, edges: *const c_int) -> Result<Graph> {
    let nodes = number(nnodes, "nnodes", Class::Arg)?;
    if nodes > comm.size() {
        let why = format!("a graph of {nodes} nodes is larger than the communicator of {} processes", comm.size());
        return Err(Fault::new(Class::Topology).argument("nnodes").because(why));
    }
    // SAFETY: the array has `nnodes` elements by the standard.
    let index = unsafe { array(index, nodes, "index")? };
    let count = topo::graph::count(index)?;
    // SAFETY: the array has as many elements as `index` says, by the standard.
    Graph::new(index, unsafe { array(edges, count, "edges")? })
}

/// The weights of `count` edges; `None` for MPI_UNWEIGHTED.
fn weighting(at: *const c_int, count: usize, argument: &'static str) -> Result<Option<&'static [c_int]>> {
    match at as usize {
        UNWEIGHTED => Ok(None),
        WEIGHTS_EMPTY if count > 0 => {
            let why = format!("MPI_WEIGHTS_EMPTY is for no edges only, but there are {count}");
            Err(Fault::new(Class::Arg).argument(argument).because(why))
        }
        // SAFETY: the array has an element per edge by the standard.
        _ => unsafe { array(at, count, argument) }.map(Some),
    }
}

fn side(
    comm: &Communicator,
    count: usize,
    ranks: *const c_int,
    weights: *const c_int,
    arguments: [&'static str; 2],
) -> Result<Side> {
    // SAFETY: the array has `count` elements by the standard.
    let ranks = unsafe { array(ranks, count, arguments[0])? };
    Side::new(ranks, weighting(weights, count, arguments[1])?, comm.size(), arguments)
}

/// Writes as much as there is room for; weights unless there are none or they are not wanted.
fn give(side: &Side, room: usize, ranks: *mut c_int, weights: *mut c_int, arguments: [&'static str; 2]) -> Result<()> {
    let count = room.min(side.ranks.len());
    // SAFETY: the caller says that there is that much room.
    unsafe { array_mut(ranks, count, arguments[0])? }.copy_from_slice(&side.ranks[..count]);
    let wanted = weights as usize != UNWEIGHTED && weights as usize != WEIGHTS_EMPTY;
    let weighted = count.min(side.weights.len());
    if wanted && weighted > 0 {
        // SAFETY: as above.
        unsafe { array_mut(weights, weighted, arguments[1])? }.copy_from_slice(&side.weights[..weighted]);
    }
    Ok(())
}

/// How much is written, or that there is no room for it.
fn room(raw: c_int, all: &[c_int], argument: &'static str) -> Result<usize> {
    match usize::try_from(raw).is_ok_and(|room| room >= all.len()) {
        true => Ok(all.len()),
        false => {
            let why = format!("there is room for {raw} entries, but {} are needed", all.len());
            Err(Fault::new(Class::Arg).argument(argument).because(why))
        }
    }
}

/// A rank of a communicator with a topology.
fn node(comm: &Communicator, rank: c_int) -> Result<usize> {
    match (rank as u32 as usize) < comm.size() {
        true => Ok(rank as usize),
        false => {
            let why = format!("{rank} is not a rank of the communicator (0 to {})", comm.size() - 1);
            Err(Fault::new(Class::Rank).argument("rank").because(why))
        }
    }
}
