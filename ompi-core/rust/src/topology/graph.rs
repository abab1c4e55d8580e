//! Graphs of processes. MPI 5.0 §8.5.3 and §8.5.4.

use super::{Communicator, IntraCommunicator, Neighborhood, Owned, Rank, SimpleCommunicator};
use crate::Result;
use alloc::format;
use ompi_core::error::{Class, Fault, Result as Inner};
use ompi_core::topo::dist::{Named, Side};
use ompi_core::topo::{self, DistGraph, Graph, graph};

/// A communicator with a graph that every process knows.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{topology::GraphCommunicator, traits::*};
///
/// // Every process has itself as its neighbour.
/// let world = universe.world();
/// let ranks: Vec<i32> = (0..world.size()).collect();
/// let ends: Vec<i32> = (1..=world.size()).collect();
/// let graph = GraphCommunicator::new(&world, &ends, &ranks, false)?.unwrap();
/// assert_eq!(graph.neighbors(graph.rank()), [graph.rank()]);
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct GraphCommunicator(Owned);

impl GraphCommunicator {
    /// A graph in which the neighbours of rank r are `edges[index[r - 1]..index[r]]`. Collective. `None` for processes that
    /// are no node.
    pub fn new<C>(parent: &C, index: &[i32], edges: &[Rank], reorder: bool) -> Result<Option<GraphCommunicator>>
    where
        C: IntraCommunicator + ?Sized,
    {
        let owned = parent.owned();
        let shape = checked_graph(index, edges, owned.comm().size());
        let made = shape.and_then(|shape| topo::graph_create(owned.comm(), shape, reorder));
        let made = owned.checked("GraphCommunicator::new", made)?;
        Ok(made.map(|handle| GraphCommunicator(Owned::made(handle, owned.life().clone()))))
    }

    /// The graph of a communicator that has one: a duplicate's. `Err(Topology)` if it has none.
    pub fn of(communicator: SimpleCommunicator) -> Result<GraphCommunicator> {
        communicator.owned().comm().graph()?;
        Ok(GraphCommunicator(communicator.into_owned()))
    }

    /// The neighbours of a process.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn neighbors(&self, rank: Rank) -> &[Rank] {
        let graph = self.0.comm().graph().expect("it was made with a graph");
        graph.neighbors(self.process_at_rank(rank).rank() as usize)
    }
}

fn checked_graph(index: &[i32], edges: &[Rank], size: usize) -> Inner<Graph> {
    let wrong = |why| Err(Fault::new(Class::Topology).argument("index").because(why));
    if index.len() > size {
        return wrong(format!("a graph of {} nodes is larger than the communicator of {size} processes", index.len()));
    }
    match graph::count(index)? {
        count if count == edges.len() => Graph::new(index, edges),
        count => wrong(format!("it ends with {count}, where there are {} edges", edges.len())),
    }
}

/// A communicator with a graph of which each process knows its neighbours.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{topology::DistGraphCommunicator, traits::*};
///
/// let world = universe.world();
/// let next = [(world.rank() + 1) % world.size()];
/// let before = [(world.rank() + world.size() - 1) % world.size()];
/// let ring = DistGraphCommunicator::adjacent(&world, &before, None, &next, None, false)?;
/// assert_eq!((ring.sources(), ring.destinations()), (&before[..], &next[..]));
/// let mut heard = [-1];
/// ring.neighbor_all_gather_into(&ring.rank(), &mut heard)?;
/// assert_eq!(heard, before);
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct DistGraphCommunicator(Owned);

impl DistGraphCommunicator {
    /// Each process names from whom edges come to it and where they go; weights say how much there will be to send.
    /// Collective.
    pub fn adjacent<C>(
        parent: &C,
        sources: &[Rank],
        source_weights: Option<&[i32]>,
        destinations: &[Rank],
        destination_weights: Option<&[i32]>,
        reorder: bool,
    ) -> Result<DistGraphCommunicator>
    where
        C: IntraCommunicator + ?Sized,
    {
        let owned = parent.owned();
        let size = owned.comm().size();
        let mine = || -> Inner<DistGraph> {
            let inward = side(sources, source_weights, size, ["sources", "sourceweights"])?;
            let outward = side(destinations, destination_weights, size, ["destinations", "destweights"])?;
            if source_weights.is_some() != destination_weights.is_some() {
                let why = "there are weights for both sides or for neither";
                return Err(Fault::new(Class::Arg).argument("destweights").because(why));
            }
            Ok(DistGraph { inward, outward, weighted: source_weights.is_some() })
        };
        let made = mine().and_then(|mine| topo::dist_graph_create_adjacent(owned.comm(), mine, reorder));
        DistGraphCommunicator::made(owned, "DistGraphCommunicator::adjacent", made)
    }

    /// Each process names any edges: `degrees[i]` of them go from `sources[i]` to the next of `destinations`. Collective.
    pub fn new<C>(
        parent: &C,
        sources: &[Rank],
        degrees: &[i32],
        destinations: &[Rank],
        weights: Option<&[i32]>,
        reorder: bool,
    ) -> Result<DistGraphCommunicator>
    where
        C: IntraCommunicator + ?Sized,
    {
        let owned = parent.owned();
        let named = Named { sources, degrees, destinations, weights };
        let made =
            complete(&named, owned.comm().size()).and_then(|()| topo::dist_graph_create(owned.comm(), &named, reorder));
        DistGraphCommunicator::made(owned, "DistGraphCommunicator::new", made)
    }

    /// The graph of a communicator that has one: a duplicate's. `Err(Topology)` if it has none.
    pub fn of(communicator: SimpleCommunicator) -> Result<DistGraphCommunicator> {
        communicator.owned().comm().dist_graph()?;
        Ok(DistGraphCommunicator(communicator.into_owned()))
    }

    /// From whom edges come to this process.
    pub fn sources(&self) -> &[Rank] {
        &self.graph().inward.ranks
    }

    /// Where edges go from this process.
    pub fn destinations(&self) -> &[Rank] {
        &self.graph().outward.ranks
    }

    /// The weights of the edges from the sources and to the destinations, if there are any.
    pub fn weights(&self) -> Option<(&[i32], &[i32])> {
        let graph = self.graph();
        graph.weighted.then_some((&*graph.inward.weights, &*graph.outward.weights))
    }

    fn graph(&self) -> &DistGraph {
        self.0.comm().dist_graph().expect("it was made with a distributed graph")
    }

    fn made(owned: &Owned, function: &'static str, made: Inner<usize>) -> Result<DistGraphCommunicator> {
        let made = owned.checked(function, made)?;
        Ok(DistGraphCommunicator(Owned::made(made, owned.life().clone())))
    }
}

fn side(ranks: &[Rank], weights: Option<&[i32]>, size: usize, arguments: [&'static str; 2]) -> Inner<Side> {
    as_many(weights, ranks.len(), arguments[1])?;
    Side::new(ranks, weights, size, arguments)
}

fn complete(named: &Named<'_>, size: usize) -> Inner<()> {
    let total =
        named.degrees.iter().try_fold(0usize, |total, degree| total.checked_add(usize::try_from(*degree).ok()?));
    if named.degrees.len() != named.sources.len() || total != Some(named.destinations.len()) {
        let why = format!(
            "{} degrees with the sum {total:?}, where there are {} sources and {} destinations",
            named.degrees.len(),
            named.sources.len(),
            named.destinations.len()
        );
        return Err(Fault::new(Class::Arg).argument("degrees").because(why));
    }
    as_many(named.weights, named.destinations.len(), "weights")?;
    named.check(size)
}

fn as_many(weights: Option<&[i32]>, edges: usize, argument: &'static str) -> Inner<()> {
    match weights.is_none_or(|weights| weights.len() == edges) {
        true => Ok(()),
        false => Err(Fault::new(Class::Arg).argument(argument).because(format!("there are {edges} edges"))),
    }
}

macro_rules! communicators {
    ($($name:ident),*) => {$(
        impl Communicator for $name {
            #[inline(always)]
            fn owned(&self) -> &Owned {
                &self.0
            }
        }

        impl IntraCommunicator for $name {}
        impl Neighborhood for $name {}
    )*};
}

communicators! { GraphCommunicator, DistGraphCommunicator }
