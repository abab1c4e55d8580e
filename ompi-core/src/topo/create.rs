//! Making communicators with a topology. Every function but the maps is collective; arguments were checked.

use super::cart::Cart;
use super::dist::{self, DistGraph, Named, Side};
use super::exchange::alltoallv;
use super::graph::Graph;
use super::reorder::{local_order, order};
use super::topology::{Shape, Topology};
use crate::comm::{self, Communicator, Hints};
use crate::error::{Class, Result};
use crate::framework::topo::Pattern;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// MPI_Cart_create. `None` on a process that is not in the grid.
pub fn cart_create(comm: &Communicator, cart: Cart, reorder: bool) -> Result<Option<usize>> {
    let order = order(comm, cart.size(), reorder, || cart.pattern())?;
    attach(comm, &order, |_| Ok(Shape::Cart(cart)))
}

/// MPI_Cart_sub.
pub fn cart_sub(comm: &Communicator, cart: &Cart, keep: &[bool]) -> Result<usize> {
    let (part, color, key) = cart.part(comm.rank as usize, keep);
    let made = comm::split(comm, Some(color as u64), key as i32, Hints::default())?.ok_or(Class::Intern)?;
    give(made, Shape::Cart(part))?;
    Ok(made)
}

/// MPI_Graph_create. `None` on a process that is not in the graph.
pub fn graph_create(comm: &Communicator, graph: Graph, reorder: bool) -> Result<Option<usize>> {
    let order = order(comm, graph.index().len(), reorder, || graph.pattern())?;
    attach(comm, &order, |_| Ok(Shape::Graph(graph)))
}

/// MPI_Dist_graph_create.
pub fn dist_graph_create(comm: &Communicator, named: &Named<'_>, reorder: bool) -> Result<usize> {
    let mine = distribute(named, comm)?;
    dist_graph_create_adjacent(comm, mine, reorder)
}

/// MPI_Dist_graph_create_adjacent. Neighbours belong to ranks: a process that gets another rank gets the
/// neighbours that the process with that number named.
pub fn dist_graph_create_adjacent(comm: &Communicator, mine: DistGraph, reorder: bool) -> Result<usize> {
    let pattern = match reorder {
        true => collect(comm, &mine)?,
        false => Pattern::default(),
    };
    let order = order(comm, comm.size(), reorder, || pattern)?;
    let made = attach(comm, &order, |rank| match reorder {
        true => Ok(Shape::DistGraph(hand_over(comm, &mine, order[comm.rank as usize], rank)?)),
        false => Ok(Shape::DistGraph(mine)),
    })?;
    made.ok_or_else(|| Class::Intern.into())
}

/// MPI_Cart_map: the rank that this process would get. `None` on a process that would not be in the grid.
pub fn cart_map(comm: &Communicator, cart: &Cart) -> Result<Option<usize>> {
    map(comm, &cart.pattern())
}

/// MPI_Graph_map.
pub fn graph_map(comm: &Communicator, graph: &Graph) -> Result<Option<usize>> {
    map(comm, &graph.pattern())
}

/// Sends each process the edges that it is an end of; returns those of this process.
fn distribute(named: &Named<'_>, comm: &Communicator) -> Result<DistGraph> {
    let mut blocks: Vec<Vec<u64>> = vec![vec![u64::from(named.weights.is_some())]; comm.size()];
    let mut next = 0;
    for (source, degree) in named.sources.iter().zip(named.degrees) {
        for index in next..next + *degree as usize {
            let (destination, weight) = (named.destinations[index], named.weights.map_or(1, |all| all[index]));
            blocks[*source as usize].extend([OUTWARD, dist::pack(destination, weight)]);
            blocks[destination as usize].extend([INWARD, dist::pack(*source, weight)]);
        }
        next += *degree as usize;
    }
    let answers = alltoallv(comm, &blocks)?;
    let weighted = answers.iter().any(|block| block.first() == Some(&1));
    let side = |which: u64| {
        let entries = answers.iter().flat_map(|block| block.get(1..).unwrap_or(&[]).chunks_exact(2));
        let words: Vec<u64> = entries.filter(|entry| entry[0] == which).map(|entry| entry[1]).collect();
        let weights = words.iter().filter(|_| weighted).map(|word| dist::unpack(*word).1).collect();
        Side { ranks: words.iter().map(|word| dist::unpack(*word).0).collect(), weights }
    };
    Ok(DistGraph { inward: side(INWARD), outward: side(OUTWARD), weighted })
}

const OUTWARD: u64 = 0;
const INWARD: u64 = 1;

fn map(comm: &Communicator, pattern: &Pattern) -> Result<Option<usize>> {
    Ok(local_order(comm, pattern)?.iter().position(|rank| *rank == comm.rank as usize))
}

/// The communicator in which `order[r]` of this one has rank r, with the topology that `shape` says for that rank.
fn attach(comm: &Communicator, order: &[usize], shape: impl FnOnce(usize) -> Result<Shape>) -> Result<Option<usize>> {
    let mine = order.iter().position(|rank| *rank == comm.rank as usize);
    let Some(rank) = mine else {
        comm::split(comm, None, 0, Hints::default())?;
        return Ok(None);
    };
    let shape = shape(rank)?;
    let made = comm::split(comm, Some(0), rank as i32, Hints::default())?.ok_or(Class::Intern)?;
    give(made, shape)?;
    Ok(Some(made))
}

fn give(handle: usize, shape: Shape) -> Result<()> {
    let comm = comm::borrow(handle).ok_or(Class::Intern)?;
    comm.set_topology(Arc::new(Topology::new(shape, comm.rank as usize)));
    Ok(())
}

/// The lists of the process whose rank this one takes; its own go to the process that takes its rank.
fn hand_over(comm: &Communicator, mine: &DistGraph, successor: usize, rank: usize) -> Result<DistGraph> {
    let mut blocks = vec![Vec::new(); comm.size()];
    blocks[successor] = mine.to_words();
    let mut answers = alltoallv(comm, &blocks)?;
    DistGraph::from_words(&core::mem::take(&mut answers[rank])).ok_or_else(|| Class::Intern.into())
}

/// The whole graph, at the first process.
fn collect(comm: &Communicator, mine: &DistGraph) -> Result<Pattern> {
    let mut blocks = vec![Vec::new(); comm.size()];
    blocks[0] = mine.out_words();
    let edge = |word: &u64| {
        let (to, weight) = dist::unpack(*word);
        (to as usize, weight as u64)
    };
    let edges = alltoallv(comm, &blocks)?.iter().map(|words| words.iter().map(edge).collect()).collect();
    Ok(Pattern { edges })
}
