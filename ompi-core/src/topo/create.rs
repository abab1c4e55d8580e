//! Making communicators with a topology. Every function but the maps is collective; arguments were checked.

use super::dist::{self, Named};
use super::letters::trade;
use super::place::{local_order, order};
use super::{Cart, DistGraph, Graph, Shape, Topology};
use crate::comm::{self, Communicator, Hints};
use crate::error::{Class, Result};
use crate::framework::topo::Pattern;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// MPI_Cart_create. `None` for who is not in the grid.
pub fn cart(comm: &Communicator, cart: Cart, reorder: bool) -> Result<Option<usize>> {
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

/// MPI_Graph_create. `None` for who is not in the graph.
pub fn graph(comm: &Communicator, graph: Graph, reorder: bool) -> Result<Option<usize>> {
    let order = order(comm, graph.index().len(), reorder, || graph.pattern())?;
    attach(comm, &order, |_| Ok(Shape::Graph(graph)))
}

/// MPI_Dist_graph_create.
pub fn dist_graph(comm: &Communicator, named: &Named<'_>, reorder: bool) -> Result<usize> {
    let mine = named.distribute(comm)?;
    dist_graph_adjacent(comm, mine, reorder)
}

/// MPI_Dist_graph_create_adjacent. Neighbours belong to ranks: who gets another rank gets the list of who named it.
pub fn dist_graph_adjacent(comm: &Communicator, mine: DistGraph, reorder: bool) -> Result<usize> {
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

/// MPI_Cart_map: the rank that this process would get. `None` for who would not be in the grid.
pub fn cart_map(comm: &Communicator, cart: &Cart) -> Result<Option<usize>> {
    map(comm, &cart.pattern())
}

/// MPI_Graph_map.
pub fn graph_map(comm: &Communicator, graph: &Graph) -> Result<Option<usize>> {
    map(comm, &graph.pattern())
}

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
    let mut letters = vec![Vec::new(); comm.size()];
    letters[successor] = mine.to_words();
    let mut answers = trade(comm, &letters)?;
    DistGraph::from_words(&core::mem::take(&mut answers[rank])).ok_or_else(|| Class::Intern.into())
}

/// The whole graph, at the first process.
fn collect(comm: &Communicator, mine: &DistGraph) -> Result<Pattern> {
    let mut letters = vec![Vec::new(); comm.size()];
    letters[0] = mine.out_words();
    let edge = |word: &u64| {
        let (to, weight) = dist::unpack(*word);
        (to as usize, weight as u64)
    };
    let edges = trade(comm, &letters)?.iter().map(|words| words.iter().map(edge).collect()).collect();
    Ok(Pattern { edges })
}
