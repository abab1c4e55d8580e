//! The operations, in calls on the two levels. Described to an executor, as all of them are.

use crate::layout::Layout;
use alloc::vec::Vec;
use ompi_core::data::{Blocks, Counts, Data, Source, no_room};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::Call;
use ompi_core::op::Op;

/// The modules that serve the two levels. Calls are made of parts of an operation's arguments and of the executor's
/// scratch memory.
pub trait Levels {
    /// Among the ranks of this rank's node, numbered by their places; all of them ask.
    fn node(&self, call: Call<'_>, executor: &mut dyn Executor) -> Result<()>;

    /// Among the leaders, numbered by their nodes; all of them ask, and nobody else.
    fn leaders(&self, call: Call<'_>, executor: &mut dyn Executor) -> Result<()>;
}

/// One rank's view of one operation.
pub struct Here<'a> {
    levels: &'a dyn Levels,
    layout: &'a Layout,
    rank: usize,
    node: usize,
    leads: bool,
}

impl<'a> Here<'a> {
    /// Of this rank.
    pub fn new(levels: &'a dyn Levels, layout: &'a Layout, rank: usize) -> Here<'a> {
        let (node, place) = layout.place(rank);
        Here { levels, layout, rank, node, leads: place == 0 }
    }

    /// MPI_Barrier: when a leader is through with the others, all ranks have come.
    pub fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        self.levels.node(Call::Barrier, executor)?;
        if self.leads {
            self.levels.leaders(Call::Barrier, executor)?;
        }
        self.levels.node(Call::Barrier, executor)
    }

    /// MPI_Bcast. The root's node begins if the root does not lead it.
    pub fn bcast(&self, (data, root): (&Data<'_>, usize), executor: &mut dyn Executor) -> Result<()> {
        let (root_node, place) = self.layout.place(root);
        let begins = place != 0 && self.node == root_node;
        if begins {
            self.levels.node(Call::Bcast(data, place), executor)?;
        }
        if self.leads {
            self.levels.leaders(Call::Bcast(data, root_node), executor)?;
        }
        if begins { Ok(()) } else { self.levels.node(Call::Bcast(data, 0), executor) }
    }

    /// MPI_Reduce: `to` at the root only. Where the ranks of each node follow each other operands meet in rank order.
    pub fn reduce(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        (op, root): (&Op, usize),
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let Some(own) = own(from, to) else { return Ok(()) };
        let (root_node, place) = self.layout.place(root);
        // The root's leader combines where the result belongs if it is the root, all others aside.
        let to_here = to.filter(|_| self.leads);
        let sum = match to_here {
            Some(to) => Some(*to),
            None if self.leads => Some(executor.scratch(&own)?),
            None => None,
        };
        let given = if to_here.is_some() { from } else { Source::From(own) };
        self.levels.node(Call::Reduce(given, sum.as_ref(), op, 0), executor)?;
        if let Some(sum) = &sum {
            let call = match self.node == root_node {
                true => Call::Reduce(Source::InPlace, Some(sum), op, root_node),
                false => Call::Reduce(Source::From(*sum), None, op, root_node),
            };
            self.levels.leaders(call, executor)?;
        }
        match (sum, to) {
            _ if place == 0 => Ok(()),
            (Some(sum), _) if self.node == root_node => executor.send(&sum, root),
            (_, Some(to)) => executor.recv(to, self.layout.leaders()[root_node]),
            _ => Ok(()),
        }
    }

    /// MPI_Allreduce: all ranks get the bits of their leader, and all leaders the same.
    pub fn allreduce(&self, from: Source<'_>, (to, op): (&Data<'_>, &Op), executor: &mut dyn Executor) -> Result<()> {
        if self.leads {
            self.levels.node(Call::Reduce(from, Some(to), op, 0), executor)?;
            self.levels.leaders(Call::Allreduce(Source::InPlace, to, op), executor)?;
        } else {
            let own = own(from, Some(to)).unwrap_or(*to);
            self.levels.node(Call::Reduce(Source::From(own), None, op, 0), executor)?;
        }
        self.levels.node(Call::Bcast(to, 0), executor)
    }

    /// MPI_Allgather: leaders gather the blocks of their nodes and then those of all others.
    pub fn allgather(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let (count, layout) = (to.count, self.layout);
        let all = Data { count: count * layout.size(), ..*to };
        let own = match from {
            Source::From(own) => own,
            Source::InPlace => block(to, self.rank),
        };
        if !self.leads {
            self.levels.node(Call::Gather(Source::From(own), None, 0), executor)?;
            return self.levels.node(Call::Bcast(&all, 0), executor);
        }
        let by_node = self.by_node(to, executor)?;
        let given = if layout.is_in_order() { from } else { Source::From(own) };
        self.levels.node(Call::Gather(given, Some(&block(&by_node, layout.begin(self.node))), 0), executor)?;
        self.all_nodes(&by_node, executor)?;
        self.pairs(by_node, *to).try_for_each(|(by_node, by_rank)| executor.copy(&by_node, &by_rank))?;
        self.levels.node(Call::Bcast(&all, 0), executor)
    }

    /// The leaders tell each other the blocks of their nodes.
    fn all_nodes(&self, by_node: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let (members, count) = (self.layout.members(), by_node.count);
        if members.iter().all(|others| others.len() == members[0].len()) {
            let equal = Data { count: members[0].len() * count, ..*by_node };
            return self.levels.leaders(Call::Allgather(Source::InPlace, &equal), executor);
        }
        let (mut counts, mut displacements) = (Vec::new(), Vec::new());
        for list in [&mut counts, &mut displacements] {
            list.try_reserve_exact(members.len()).map_err(|_| no_room(members.len() * size_of::<i64>()))?;
        }
        counts.extend(members.iter().map(|members| (members.len() * count) as i64));
        displacements.extend((0..members.len()).map(|node| (self.layout.begin(node) * count) as i64));
        let (counts, displacements) = (Counts::Large(&counts), Counts::Large(&displacements));
        let blocks = Blocks { at: by_node.at, counts, displacements, datatype: by_node.datatype };
        self.levels.leaders(Call::Allgatherv(Source::InPlace, &blocks), executor)
    }

    /// MPI_Gather: `to` at the root only. The leaders send what they gathered to the root itself.
    pub fn gather(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let layout = self.layout;
        let own = match (from, to) {
            (Source::From(own), _) => own,
            (Source::InPlace, Some(to)) => block(to, self.rank),
            (Source::InPlace, None) => return Ok(()),
        };
        let all = to.map(|to| self.by_node(to, executor)).transpose()?;
        if !self.leads {
            self.levels.node(Call::Gather(Source::From(own), None, 0), executor)?;
        } else if let Some(all) = &all {
            let given = if layout.is_in_order() { from } else { Source::From(own) };
            self.levels.node(Call::Gather(given, Some(&block(all, layout.begin(self.node))), 0), executor)?;
        } else {
            let blocks = Data { count: own.count * layout.members()[self.node].len(), ..own };
            let blocks = executor.scratch(&blocks)?;
            self.levels
                .node(Call::Gather(Source::From(own), Some(&Data { count: own.count, ..blocks }), 0), executor)?;
            executor.send(&blocks, root)?;
        }
        let (Some(all), Some(to)) = (all, to) else { return Ok(()) };
        for (node, leader) in self.other_leaders() {
            executor.start_recv(&self.of_node(&all, node), leader)?;
        }
        executor.finish()?;
        self.pairs(all, *to).try_for_each(|(by_node, by_rank)| executor.copy(&by_node, &by_rank))
    }

    /// MPI_Scatter: `from` at the root only, which sends each leader the blocks of its node.
    pub fn scatter(
        &self,
        from: Option<&Data<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let all = from.map(|from| self.by_node(from, executor)).transpose()?;
        if let (Some(all), Some(from)) = (&all, from) {
            self.pairs(*all, *from).try_for_each(|(by_node, by_rank)| executor.copy(&by_rank, &by_node))?;
            for (node, leader) in self.other_leaders() {
                executor.start_send(&self.of_node(all, node), leader)?;
            }
            executor.finish()?;
        }
        let blocks = match (all, to) {
            (Some(all), _) if self.leads => Some(block(&all, self.layout.begin(self.node))),
            (None, Some(to)) if self.leads => {
                let blocks =
                    executor.scratch(&Data { count: to.count * self.layout.members()[self.node].len(), ..*to })?;
                executor.recv(&blocks, root)?;
                Some(Data { count: to.count, ..blocks })
            }
            _ => None,
        };
        // Its own block comes back to a root that does not lead, also if it lies in its place already.
        let back = match (from, to) {
            (Some(from), None) if !self.leads => Some(executor.scratch(from)?),
            _ => None,
        };
        self.levels.node(Call::Scatter(blocks.as_ref(), to.or(back.as_ref()), 0), executor)
    }

    /// Where the blocks of a buffer with one per rank lie node by node: there, or in room for as many.
    fn by_node<'d>(&self, of: &Data<'d>, executor: &mut dyn Executor) -> Result<Data<'d>> {
        match self.layout.is_in_order() {
            true => Ok(*of),
            false => {
                Ok(Data { count: of.count, ..executor.scratch(&Data { count: of.count * self.layout.size(), ..*of })? })
            }
        }
    }

    /// Each rank's block node by node, and by rank; none if they are the same.
    fn pairs<'d>(&self, by_node: Data<'d>, by_rank: Data<'d>) -> impl Iterator<Item = (Data<'d>, Data<'d>)> {
        let moved = !self.layout.is_in_order();
        let ranks = self.layout.members().iter().flat_map(|ranks| ranks.iter()).enumerate().filter(move |_| moved);
        ranks.map(move |(place, rank)| (block(&by_node, place), block(&by_rank, rank as usize)))
    }

    /// All blocks of a node.
    fn of_node<'d>(&self, by_node: &Data<'d>, node: usize) -> Data<'d> {
        let blocks = self.layout.members()[node].len();
        Data { count: blocks * by_node.count, ..block(by_node, self.layout.begin(node)) }
    }

    fn other_leaders(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.layout.leaders().iter().copied().enumerate().filter(|(_, leader)| *leader != self.rank)
    }
}

/// What a rank contributes to a reduction, which with MPI_IN_PLACE lies in the target.
fn own<'a>(from: Source<'a>, to: Option<&Data<'a>>) -> Option<Data<'a>> {
    match from {
        Source::From(own) => Some(own),
        Source::InPlace => to.copied(),
    }
}

/// A block of a buffer of which `data` describes the first one.
fn block<'a>(data: &Data<'a>, index: usize) -> Data<'a> {
    data.at_element((index * data.count) as isize, data.count)
}
