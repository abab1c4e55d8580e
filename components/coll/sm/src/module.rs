//! The module of one communicator: which way a call goes, and what it needs for that.

use crate::direct::data_movement::combined;
use crate::flags::data_movement as algorithms;
use crate::flags::data_movement::block;
use crate::flags::epoch::{Shape, Turn};
use crate::flags::layout as wire;
use crate::flags::pair::{self, Ends};
use crate::flags::reduction as combining;
use crate::flags::segment::{Lines, Peer};
use crate::flags::v_variants as varying;
use crate::flags::v_variants::{Several, Told};
use crate::large::{LongData, Task};
use crate::p2p as message;
use crate::select as choice;
use crate::select::{Choices, Way};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, FRAMEWORK, Fallback, Function};
use ompi_core::op::Op;
use opal_core::sync::{AtomicU32, Once, Ordering};
use opal_core::verbose;

/// For one communicator.
pub struct Sm {
    /// What parameters force.
    pub choices: Choices,
    /// Who serves what is not served here.
    pub next: Fallback,
    /// For long data.
    pub long: LongData,
    rank: usize,
    peers: Box<[Option<Peer>]>,
    // Calls that could have used the lines.
    calls: AtomicU32,
    lines: Once<Option<Lines>>,
}

const SERVED: [Function; 15] = [
    Function::Barrier,
    Function::Bcast,
    Function::Gather,
    Function::Scatter,
    Function::Allgather,
    Function::Allgatherv,
    Function::Alltoall,
    Function::Alltoallv,
    Function::Alltoallw,
    Function::Reduce,
    Function::Allreduce,
    Function::ReduceScatter,
    Function::ReduceScatterBlock,
    Function::Scan,
    Function::Exscan,
];

/// Whether it serves a function.
pub fn is_served(function: Function) -> bool {
    SERVED.contains(&function)
}

impl Sm {
    /// Peers by rank, `None` for this one.
    pub fn new(rank: usize, peers: Vec<Option<Peer>>) -> Sm {
        let (peers, choices) = (peers.into_boxed_slice(), Choices::by_parameters());
        let (calls, lines, next) = (AtomicU32::new(0), Once::new(), Fallback::new(&SERVED));
        Sm { rank, peers, choices, calls, lines, long: LongData::new(), next }
    }

    /// Does it; `false` on all ranks if the next component must.
    #[inline(always)]
    pub fn perform(&self, call: &Call<'_>, on: &mut dyn Executor) -> Result<bool> {
        // What is not done here goes another way, which the long ones choose.
        let is_short = match *call {
            Call::Barrier => match self.short(Function::Barrier, 0, on)? {
                Some(ends) if ends.0.size == 2 => pair::barrier(ends).map(|()| true)?,
                Some(ends) => meeting(ends, 0)?.meet().map(|()| true)?,
                None => false,
            },
            Call::Bcast(data, root) => self.bcast(data, root, on)?,
            Call::Gather(from, to, root) => self.gather(from, to, root, on)?,
            Call::Scatter(from, to, root) => self.scatter(from, to, root, on)?,
            Call::Allgather(from, to) => self.allgather(from, to, on)?,
            Call::Alltoall(from, to) => self.alltoall(from, to, on)?,
            Call::Reduce(from, to, op, root) => {
                let to = to.filter(|_| self.rank == root);
                // Else an error that the next component knows.
                match combined(call) {
                    Some(datatype) => {
                        op.check(datatype)?;
                        self.reduce((from, to, op), root, on)?
                    }
                    None => false,
                }
            }
            Call::Allreduce(from, to, op) => {
                op.check(to.datatype)?;
                self.allreduce((from, to, op), on)?
            }
            _ => self.seldom(call, on)?,
        };
        if is_short { Ok(true) } else { self.long(call, on) }
    }

    /// What programs call less often.
    #[inline(never)]
    fn seldom(&self, call: &Call<'_>, on: &mut dyn Executor) -> Result<bool> {
        match *call {
            Call::Allgatherv(from, to) => {
                let bytes = varying::longest(to, self.peers.len());
                if let Some(peer) = self.message(Function::Allgatherv, bytes) {
                    let blocks = (to.block(self.rank), to.block(peer));
                    return message::tell_each_other(peer, on, from, blocks).map(|()| true);
                }
                let Some(turn) = self.turn(Function::Allgatherv, (Shape::All, bytes), on)? else { return Ok(false) };
                varying::allgather(&turn, on, from, to).map(|()| true)
            }
            Call::Alltoallv(from, to) => self.blocks(call, (from.map(Several::Alike), Several::Alike(to)), on),
            Call::Alltoallw(from, to) => self.blocks(call, (from.map(Several::Typed), Several::Typed(to)), on),
            Call::ReduceScatter(from, to, counts, op) => {
                op.check(to.datatype)?;
                let extent = combining::extent(counts, self.rank, self.peers.len());
                self.reduce_scatter(Function::ReduceScatter, (from, to, op), extent, |rank| counts.count(rank), on)
            }
            Call::ReduceScatterBlock(from, to, op) => {
                op.check(to.datatype)?;
                let extent = (self.rank * to.count, self.peers.len().saturating_mul(to.count));
                self.reduce_scatter(Function::ReduceScatterBlock, (from, to, op), extent, |_| to.count, on)
            }
            Call::Scan(from, to, op) => self.scan(Function::Scan, (from, to, op), on),
            Call::Exscan(from, to, op) => self.scan(Function::Exscan, (from, to, op), on),
            _ => Ok(false),
        }
    }

    /// Lines for a short operation to which each rank that writes contributes `bytes`, which is equal on all ranks; `None` on
    /// all if it is not one, or there are none.
    #[inline(always)]
    fn short(&self, function: Function, bytes: usize, executor: &mut dyn Executor) -> Result<Option<Ends<'_>>> {
        if self.choices.way(function, bytes, self.peers.len()) != Way::Lines {
            return Ok(None);
        }
        let Some(lines) = self.lines(function, executor)? else { return Ok(None) };
        self.tell(function, bytes, "lines");
        Ok(Some((lines, &self.peers)))
    }

    /// Begins such an operation.
    #[inline(always)]
    fn turn(
        &self,
        function: Function,
        (shape, bytes): (Shape, usize),
        executor: &mut dyn Executor,
    ) -> Result<Option<Turn<'_>>> {
        match self.short(function, bytes, executor)? {
            Some((lines, peers)) => Turn::begin(lines, peers, shape, bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Whether one of two ranks' data goes as a message, and to or from whom.
    #[inline(always)]
    fn message(&self, function: Function, bytes: usize) -> Option<usize> {
        if self.peers.len() != 2 || self.choices.way(function, bytes, 2) != Way::Message {
            return None;
        }
        self.tell(function, bytes, "message");
        Some(1 - self.rank)
    }

    #[inline(always)]
    fn tell(&self, function: Function, bytes: usize, way: &str) {
        verbose!(FRAMEWORK, 40, "sm: {function:?} of {bytes} bytes among {} ranks: {way}", self.peers.len());
    }

    // Whether it is done, here and in what follows.
    #[inline(always)]
    fn bcast(&self, data: &Data<'_>, root: usize, on: &mut dyn Executor) -> Result<bool> {
        if let Some(peer) = self.message(Function::Bcast, data.bytes()) {
            if self.rank == root {
                on.send(data, peer)?
            } else {
                on.recv(data, peer)?
            }
            return Ok(true);
        }
        let Some(turn) = self.turn(Function::Bcast, (Shape::From(root), data.bytes()), on)? else { return Ok(false) };
        algorithms::bcast(&turn, on, data, root).map(|()| true)
    }

    fn gather(&self, from: Source<'_>, to: Option<&Data<'_>>, root: usize, on: &mut dyn Executor) -> Result<bool> {
        let bytes = contributed(from, to);
        if let Some(peer) = self.message(Function::Gather, bytes) {
            return message::gather((self.rank, peer), on, from, to).map(|()| true);
        }
        let Some(turn) = self.turn(Function::Gather, (Shape::To(root), bytes), on)? else { return Ok(false) };
        algorithms::gather(&turn, on, from, to).map(|()| true)
    }

    fn scatter(
        &self,
        from: Option<&Data<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        on: &mut dyn Executor,
    ) -> Result<bool> {
        let bytes = self.others_bytes(from.or(to).map_or(0, Data::bytes));
        if let Some(peer) = self.message(Function::Scatter, bytes) {
            return message::scatter((self.rank, peer), on, from, to).map(|()| true);
        }
        let Some(turn) = self.turn(Function::Scatter, (Shape::From(root), bytes), on)? else { return Ok(false) };
        algorithms::scatter(&turn, on, from, to, root).map(|()| true)
    }

    #[inline(always)]
    fn allgather(&self, from: Source<'_>, to: &Data<'_>, on: &mut dyn Executor) -> Result<bool> {
        let bytes = to.bytes();
        if let Some(peer) = self.message(Function::Allgather, bytes) {
            message::tell_each_other(peer, on, from, (block(to, self.rank), block(to, peer)))?;
            return Ok(true);
        }
        let Some(ends) = self.short(Function::Allgather, bytes, on)? else { return Ok(false) };
        match pair::serves(ends, bytes) {
            true => pair::allgather(ends, on, from, to)?,
            false => algorithms::allgather(&meeting(ends, bytes)?, on, from, to)?,
        }
        Ok(true)
    }

    #[inline(always)]
    fn alltoall(&self, from: Source<'_>, to: &Data<'_>, on: &mut dyn Executor) -> Result<bool> {
        let bytes = self.others_bytes(to.bytes());
        if let Some(peer) = self.message(Function::Alltoall, bytes) {
            let from = match from {
                Source::From(from) => Some((block(&from, peer), block(&from, self.rank))),
                Source::InPlace => None,
            };
            message::trade(peer, on, from, (block(to, peer), block(to, self.rank)))?;
            return Ok(true);
        }
        let Some(ends) = self.short(Function::Alltoall, bytes, on)? else { return Ok(false) };
        match pair::serves(ends, bytes) {
            true => pair::alltoall(ends, on, from, to)?,
            false => algorithms::alltoall(&meeting(ends, bytes)?, on, from, to)?,
        }
        Ok(true)
    }

    // MPI_Alltoallv and MPI_Alltoallw: how long the blocks are, ranks tell each other first.
    fn blocks(&self, call: &Call<'_>, (from, to): Exchanged<'_>, on: &mut dyn Executor) -> Result<bool> {
        let (function, size) = (call.function(), self.peers.len());
        if let Some(peer) = self.message(function, 0) {
            let from = from.map(|from| (from.block(peer), from.block(self.rank)));
            return message::trade(peer, on, from, (to.block(peer), to.block(self.rank))).map(|()| true);
        }
        let way = self.choices.way(function, 0, size);
        if size == 2 || matches!(way, Way::Next | Way::Direct) || !varying::has_room(size) {
            return Ok(false);
        }
        let Some(lines) = self.lines(function, on)? else { return Ok(false) };
        let turn = Turn::begin(lines, &self.peers, Shape::All, wire::area_bytes(size))?;
        let source = from.unwrap_or(to);
        let told = Told::tell(turn, on, source, to)?;
        if told.longest == 0 || way == Way::Lines && told.is_short() {
            self.tell(function, told.longest, "lines");
            let taken = told.take(on);
            return match from {
                Some(from) => taken.and(on.copy(&from.block(self.rank), &to.block(self.rank))).map(|()| true),
                None => taken.map(|()| true),
            };
        }
        let is_forced = self.choices.forces(function);
        let suits = told.is_even() && (is_forced || told.longest <= choice::EVEN_BLOCKS_MOST);
        if !suits || is_forced && way == Way::Lines {
            return Ok(false);
        }
        let task = Task { lines, peers: &self.peers, call, bytes: told.longest, way: Way::Pipeline };
        self.long.exchange(&task, on, (from, to), &told)
    }

    #[inline(always)]
    fn reduce(
        &self,
        (from, to, op): (Source<'_>, Option<&Data<'_>>, &Op),
        root: usize,
        on: &mut dyn Executor,
    ) -> Result<bool> {
        let shape = (Shape::To(root), contributed(from, to));
        let Some(turn) = self.turn(Function::Reduce, shape, on)? else { return Ok(false) };
        combining::reduce(&turn, on, from, to, op).map(|()| true)
    }

    #[inline(always)]
    fn allreduce(&self, (from, to, op): (Source<'_>, &Data<'_>, &Op), on: &mut dyn Executor) -> Result<bool> {
        let bytes = to.bytes();
        let Some(ends) = self.short(Function::Allreduce, bytes, on)? else { return Ok(false) };
        match pair::serves(ends, bytes) && pair::combines(to) {
            true => pair::allreduce(ends, on, from, to, op)?,
            false => combining::allreduce(&meeting(ends, bytes)?, on, from, to, op)?,
        }
        Ok(true)
    }

    fn reduce_scatter(
        &self,
        function: Function,
        operands: (Source<'_>, &Data<'_>, &Op),
        (before, all): (usize, usize),
        counts: impl Fn(usize) -> usize,
        on: &mut dyn Executor,
    ) -> Result<bool> {
        let bytes = all.saturating_mul(operands.1.datatype.layout.size());
        if let Some(peer) = self.message(function, bytes) {
            return message::trade_sums((self.rank, peer), on, operands, counts).map(|()| true);
        }
        let Some(turn) = self.turn(function, (Shape::All, bytes), on)? else { return Ok(false) };
        combining::reduce_scatter(&turn, on, operands, (before, all)).map(|()| true)
    }

    fn scan(&self, function: Function, operands: (Source<'_>, &Data<'_>, &Op), on: &mut dyn Executor) -> Result<bool> {
        let (is_exclusive, bytes) = (function == Function::Exscan, operands.1.bytes());
        operands.2.check(operands.1.datatype)?;
        if self.message(function, bytes).is_some() {
            return message::tell_sum(self.rank, on, operands, is_exclusive).map(|()| true);
        }
        let Some(turn) = self.turn(function, (Shape::Up, bytes), on)? else { return Ok(false) };
        combining::scan(&turn, on, operands, is_exclusive).map(|()| true)
    }

    /// Long data; whether it is done.
    #[inline(never)]
    fn long(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let size = self.peers.len();
        let bytes = match call {
            Call::Bcast(data, _) => data.bytes(),
            Call::Gather(from, to, _) => contributed(*from, *to),
            Call::Scatter(from, to, _) => self.others_bytes(from.or(*to).map_or(0, Data::bytes)),
            Call::Allgather(_, to) | Call::Allreduce(_, to, _) => to.bytes(),
            Call::Allgatherv(_, to) => varying::longest(to, size),
            Call::Alltoall(_, to) => self.others_bytes(to.bytes()),
            Call::Reduce(from, to, _, root) => contributed(*from, to.filter(|_| self.rank == *root)),
            Call::ReduceScatter(_, to, counts, _) => {
                combining::extent(*counts, 0, size).1.saturating_mul(to.datatype.layout.size())
            }
            Call::ReduceScatterBlock(_, to, _) => to.bytes().saturating_mul(size),
            Call::Scan(_, to, _) | Call::Exscan(_, to, _) => to.bytes(),
            _ => return Ok(false),
        };
        let way = self.choices.way(call.function(), bytes, size);
        if !matches!(way, Way::Direct | Way::Pipeline | Way::Measured) {
            return Ok(false);
        }
        let Some(lines) = self.lines(call.function(), executor)? else { return Ok(false) };
        self.long.perform(&Task { lines, peers: &self.peers, call, bytes, way }, executor)
    }

    #[inline(always)]
    fn lines(&self, function: Function, executor: &mut dyn Executor) -> Result<Option<&Lines>> {
        match self.lines.get() {
            Some(lines) => Ok(lines.as_ref()),
            None => self.establish(function, executor),
        }
    }

    #[cold]
    #[inline(never)]
    fn establish(&self, function: Function, executor: &mut dyn Executor) -> Result<Option<&Lines>> {
        // A communicator that is hardly used needs no lines. But if the first reductions of more than two ranks went another way
        // than those after them, equal calls would have different sums.
        let is_reproducible = self.peers.len() == 2 || !choice::combines(function);
        if is_reproducible && self.calls.fetch_add(1, Ordering::Relaxed) < CALLS_BEFORE {
            return Ok(None);
        }
        let lines = Lines::establish(self.rank, &self.peers, executor)?;
        Ok(self.lines.call_once(|| lines).as_ref())
    }

    fn others_bytes(&self, block: usize) -> usize {
        block.saturating_mul(self.peers.len() - 1)
    }
}

type Exchanged<'a> = (Option<Several<'a>>, Several<'a>);

const CALLS_BEFORE: u32 = 2;

/// Begins an operation in which all wait for all.
fn meeting((lines, peers): Ends<'_>, bytes: usize) -> Result<Turn<'_>> {
    Turn::begin(lines, peers, Shape::All, bytes)
}

/// Bytes of one rank's contribution, as the root and as the others know it.
fn contributed(from: Source<'_>, to: Option<&Data<'_>>) -> usize {
    match (from, to) {
        (_, Some(to)) => to.bytes(),
        (Source::From(from), None) => from.bytes(),
        (Source::InPlace, None) => 0,
    }
}
