//! Small data, which fits into a slot or goes as one message each way: the algorithm of a call, and the segment that it needs.
//!
//! A method does the call and returns `true`, or returns `false` on all ranks and has done nothing.

use crate::algorithm::Algorithm;
use crate::buffer::{block, lies_packed, longest};
use crate::flags::data_movement;
use crate::flags::epoch::Epoch;
use crate::flags::pair_words;
use crate::flags::reduction;
use crate::flags::segment::{Pattern, Segment, Team};
use crate::flags::v_variants;
use crate::p2p;
use crate::peer::Peer;
use crate::select::{Choices, combines};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::data::{Blocks, Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{self, Function};
use ompi_core::op::Op;
use opal_core::sync::{AtomicU32, Once, Ordering};

/// Small data of one communicator.
pub struct SmallData {
    /// This process.
    pub rank: usize,
    /// By rank; `None` for this process.
    pub peers: Box<[Option<Peer>]>,
    /// The algorithms that parameters force.
    pub choices: Choices,
    // Calls that could have used the segment.
    calls: AtomicU32,
    segment: Once<Option<Segment>>,
}

impl SmallData {
    /// Peers by rank, `None` for this one. Nothing is allocated yet.
    pub fn new(rank: usize, peers: Vec<Option<Peer>>) -> SmallData {
        let (peers, choices) = (peers.into_boxed_slice(), Choices::by_parameters());
        SmallData { rank, peers, choices, calls: AtomicU32::new(0), segment: Once::new() }
    }

    /// MPI_Barrier.
    #[inline(always)]
    pub fn barrier(&self, executor: &mut dyn Executor) -> Result<bool> {
        match self.team(Function::Barrier, 0, executor)? {
            Some(team) if team.0.size == 2 => pair_words::barrier(team).map(|()| true),
            Some(team) => all_to_all(team, 0)?.barrier().map(|()| true),
            None => Ok(false),
        }
    }

    /// MPI_Bcast.
    #[inline(always)]
    pub fn bcast(&self, data: &Data<'_>, root: usize, executor: &mut dyn Executor) -> Result<bool> {
        if let Some(peer) = self.p2p_peer(Function::Bcast, data.bytes()) {
            if self.rank == root {
                executor.send(data, peer)?
            } else {
                executor.recv(data, peer)?
            }
            return Ok(true);
        }
        let Some(epoch) = self.epoch(Function::Bcast, (Pattern::OneToAll(root), data.bytes()), executor)? else {
            return Ok(false);
        };
        data_movement::bcast(&epoch, executor, data, root).map(|()| true)
    }

    /// MPI_Gather: `to` at the root.
    pub fn gather(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<bool> {
        let bytes = contribution_bytes(from, to);
        if let Some(peer) = self.p2p_peer(Function::Gather, bytes) {
            return p2p::gather((self.rank, peer), executor, from, to).map(|()| true);
        }
        let Some(epoch) = self.epoch(Function::Gather, (Pattern::AllToOne(root), bytes), executor)? else {
            return Ok(false);
        };
        data_movement::gather(&epoch, executor, from, to).map(|()| true)
    }

    /// MPI_Scatter: `from` at the root.
    pub fn scatter(
        &self,
        from: Option<&Data<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<bool> {
        let bytes = self.others_bytes(from.or(to).map_or(0, Data::bytes));
        if let Some(peer) = self.p2p_peer(Function::Scatter, bytes) {
            return p2p::scatter((self.rank, peer), executor, from, to).map(|()| true);
        }
        let Some(epoch) = self.epoch(Function::Scatter, (Pattern::OneToAll(root), bytes), executor)? else {
            return Ok(false);
        };
        data_movement::scatter(&epoch, executor, from, to, root).map(|()| true)
    }

    /// MPI_Allgather.
    #[inline(always)]
    pub fn allgather(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let bytes = to.bytes();
        if let Some(peer) = self.p2p_peer(Function::Allgather, bytes) {
            p2p::allgather(peer, executor, from, (block(to, self.rank), block(to, peer)))?;
            return Ok(true);
        }
        let Some(team) = self.team(Function::Allgather, bytes, executor)? else { return Ok(false) };
        match pair_words::serves(team, bytes) {
            true => pair_words::allgather(team, executor, from, to)?,
            false => data_movement::allgather(&all_to_all(team, bytes)?, executor, from, to)?,
        }
        Ok(true)
    }

    /// MPI_Allgatherv.
    pub fn allgatherv(&self, from: Source<'_>, to: &Blocks<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let bytes = longest(to, self.peers.len());
        if let Some(peer) = self.p2p_peer(Function::Allgatherv, bytes) {
            let blocks = (to.block(self.rank), to.block(peer));
            return p2p::allgather(peer, executor, from, blocks).map(|()| true);
        }
        let Some(epoch) = self.epoch(Function::Allgatherv, (Pattern::AllToAll, bytes), executor)? else {
            return Ok(false);
        };
        v_variants::allgather(&epoch, executor, from, to).map(|()| true)
    }

    /// MPI_Alltoall.
    #[inline(always)]
    pub fn alltoall(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let bytes = self.others_bytes(to.bytes());
        if let Some(peer) = self.p2p_peer(Function::Alltoall, bytes) {
            let from = match from {
                Source::From(from) => Some((block(&from, peer), block(&from, self.rank))),
                Source::InPlace => None,
            };
            p2p::alltoall(peer, executor, from, (block(to, peer), block(to, self.rank)))?;
            return Ok(true);
        }
        let Some(team) = self.team(Function::Alltoall, bytes, executor)? else { return Ok(false) };
        match pair_words::serves(team, bytes) {
            true => pair_words::alltoall(team, executor, from, to)?,
            false => data_movement::alltoall(&all_to_all(team, bytes)?, executor, from, to)?,
        }
        Ok(true)
    }

    /// MPI_Reduce: `to` at the root.
    #[inline(always)]
    pub fn reduce(
        &self,
        (from, to, op): (Source<'_>, Option<&Data<'_>>, &Op),
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<bool> {
        let bytes = contribution_bytes(from, to);
        let Some(team) = self.team(Function::Reduce, bytes, executor)? else { return Ok(false) };
        if reduction::goes_in_parts(team, bytes, Some(root)) {
            return reduction::reduce_in_parts(team, executor, (from, to, op), Some(root)).map(|()| true);
        }
        let epoch = Epoch::begin(team.0, team.1, Pattern::AllToOne(root), bytes)?;
        reduction::reduce(&epoch, executor, from, to, op).map(|()| true)
    }

    /// MPI_Allreduce.
    #[inline(always)]
    pub fn allreduce(&self, (from, to, op): (Source<'_>, &Data<'_>, &Op), executor: &mut dyn Executor) -> Result<bool> {
        let bytes = to.bytes();
        let Some(team) = self.team(Function::Allreduce, bytes, executor)? else { return Ok(false) };
        match pair_words::serves(team, bytes) && lies_packed(to) {
            true => pair_words::allreduce(team, executor, from, to, op)?,
            false if reduction::goes_in_parts(team, bytes, None) => {
                reduction::reduce_in_parts(team, executor, (from, Some(to), op), None)?;
            }
            false => reduction::allreduce(&all_to_all(team, bytes)?, executor, from, to, op)?,
        }
        Ok(true)
    }

    /// MPI_Reduce_scatter and MPI_Reduce_scatter_block, of elements before this rank's block and in all, and by rank.
    pub fn reduce_scatter(
        &self,
        function: Function,
        operands: (Source<'_>, &Data<'_>, &Op),
        (before, all): (usize, usize),
        counts: impl Fn(usize) -> usize,
        executor: &mut dyn Executor,
    ) -> Result<bool> {
        let bytes = all.saturating_mul(operands.1.datatype.layout.size());
        if let Some(peer) = self.p2p_peer(function, bytes) {
            return p2p::reduce_scatter((self.rank, peer), executor, operands, counts).map(|()| true);
        }
        let Some(epoch) = self.epoch(function, (Pattern::AllToAll, bytes), executor)? else { return Ok(false) };
        reduction::reduce_scatter(&epoch, executor, operands, (before, all)).map(|()| true)
    }

    /// MPI_Scan and MPI_Exscan.
    pub fn scan(
        &self,
        function: Function,
        operands: (Source<'_>, &Data<'_>, &Op),
        executor: &mut dyn Executor,
    ) -> Result<bool> {
        let (is_exclusive, bytes) = (function == Function::Exscan, operands.1.bytes());
        operands.2.check(operands.1.datatype)?;
        if self.p2p_peer(function, bytes).is_some() {
            return p2p::scan(self.rank, executor, operands, is_exclusive).map(|()| true);
        }
        let Some(epoch) = self.epoch(function, (Pattern::Scan, bytes), executor)? else { return Ok(false) };
        reduction::scan(&epoch, executor, operands, is_exclusive).map(|()| true)
    }

    /// The segment for an operation to which each rank that writes contributes `bytes`, which is equal on all ranks; `None` on
    /// all if flags do not serve it, or there is no segment.
    #[inline(always)]
    fn team(&self, function: Function, bytes: usize, executor: &mut dyn Executor) -> Result<Option<Team<'_>>> {
        if self.choices.algorithm(function, bytes, self.peers.len()) != Algorithm::Flags {
            return Ok(None);
        }
        let Some(segment) = self.segment(function, executor)? else {
            self.report(function, bytes, "next");
            return Ok(None);
        };
        self.report(function, bytes, "flags");
        Ok(Some((segment, &self.peers)))
    }

    /// Begins the epoch of such an operation.
    #[inline(always)]
    fn epoch(
        &self,
        function: Function,
        (pattern, bytes): (Pattern, usize),
        executor: &mut dyn Executor,
    ) -> Result<Option<Epoch<'_>>> {
        match self.team(function, bytes, executor)? {
            Some((segment, peers)) => Epoch::begin(segment, peers, pattern, bytes).map(Some),
            None => Ok(None),
        }
    }

    /// The peer, if there are two ranks and their data goes as a message.
    #[inline(always)]
    pub fn p2p_peer(&self, function: Function, bytes: usize) -> Option<usize> {
        if self.peers.len() != 2 || self.choices.algorithm(function, bytes, 2) != Algorithm::Message {
            return None;
        }
        self.report(function, bytes, "message");
        Some(1 - self.rank)
    }

    /// Says which algorithm serves a call.
    #[inline(always)]
    pub fn report(&self, function: Function, bytes: usize, algorithm: &'static str) {
        coll::ran("sm", (function, bytes, self.peers.len()), "", algorithm);
    }

    /// The segment; `None` on all ranks if there is none yet, or no room for one.
    #[inline(always)]
    pub fn segment(&self, function: Function, executor: &mut dyn Executor) -> Result<Option<&Segment>> {
        match self.segment.get() {
            Some(segment) => Ok(segment.as_ref()),
            None => self.create_segment(function, executor),
        }
    }

    #[cold]
    #[inline(never)]
    fn create_segment(&self, function: Function, executor: &mut dyn Executor) -> Result<Option<&Segment>> {
        // A communicator that is hardly used needs no segment. But if another algorithm did the first reductions of more than two
        // ranks than those after them, equal calls would have different sums.
        let is_reproducible = self.peers.len() == 2 || !combines(function);
        if is_reproducible && self.calls.fetch_add(1, Ordering::Relaxed) < CALLS_BEFORE {
            return Ok(None);
        }
        let segment = Segment::create(self.rank, &self.peers, self.choices.by_flags(), executor)?;
        Ok(self.segment.call_once(|| segment).as_ref())
    }

    /// Bytes of one rank's blocks for all others.
    pub fn others_bytes(&self, block: usize) -> usize {
        block.saturating_mul(self.peers.len() - 1)
    }
}

const CALLS_BEFORE: u32 = 2;

/// Begins an all-to-all epoch.
fn all_to_all((segment, peers): Team<'_>, bytes: usize) -> Result<Epoch<'_>> {
    Epoch::begin(segment, peers, Pattern::AllToAll, bytes)
}

/// Bytes of one rank's contribution, as the root and as the others know it.
pub fn contribution_bytes(from: Source<'_>, to: Option<&Data<'_>>) -> usize {
    match (from, to) {
        (_, Some(to)) => to.bytes(),
        (Source::From(from), None) => from.bytes(),
        (Source::InPlace, None) => 0,
    }
}
