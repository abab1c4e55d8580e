//! The module: turns the framework's unsafe calls into calls of the algorithms.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::algorithm::{Allgather, Allreduce, Alltoall, Bcast, ReduceScatter};
use crate::reduce_scatter::Blocks;
use crate::select::{Forced, Selected};
use crate::{allgather, allreduce, alltoall, bcast, params, reduce_scatter};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::{Counts, Data, Source, no_room};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{self, Call, Fallback, Function, Functions, Module, Table, set_of};
use ompi_core::op::Op;
use opal_core::message;
use opal_core::sync::Once;

/// For one communicator.
pub struct Tuned {
    forced: Forced,
    // The ranks have different decision files.
    disagreed: Once<()>,
    // Recordable, because calls that this module passes on may be recorded, too.
    fallback: Fallback,
    // Those whose next module serves parts of the communicator, too.
    partial: Once<Functions>,
}

const SERVED: [Function; 6] = [
    Function::Bcast,
    Function::Allreduce,
    Function::Allgather,
    Function::Alltoall,
    Function::ReduceScatter,
    Function::ReduceScatterBlock,
];

impl Tuned {
    /// What the parameters force.
    pub fn new(forced: Forced) -> Tuned {
        Tuned { forced, disagreed: Once::new(), fallback: Fallback::new(&SERVED), partial: Once::new() }
    }

    fn in_force(&self) -> Forced {
        match self.disagreed.get() {
            None => self.forced,
            Some(()) => Forced { file: None, ..self.forced },
        }
    }

    /// The algorithm of a call, after a trace line.
    fn report<T: Copy>(
        &self,
        function: Function,
        (bytes, size): (usize, usize),
        Selected { algorithm, why, named }: Selected<T>,
        word: fn(T) -> &'static str,
    ) -> T {
        // Of a call that only passes through, the next component says it.
        if named || !self.forced.named_only {
            coll::ran("tuned", (function, bytes, size), format_args!(", {why}"), word(algorithm));
        }
        algorithm
    }

    // Whether it is done; else the next component does it.
    fn bcast(&self, (data, root): (&Data<'_>, usize), executor: &mut dyn Executor) -> Result<bool> {
        let (bytes, size) = (data.bytes(), executor.size());
        let algorithm = self.report(Function::Bcast, (bytes, size), self.in_force().bcast(bytes, size), Bcast::word);
        match algorithm {
            Bcast::Fallback => return Ok(false),
            Bcast::ScatterAllgather => bcast::scatter_allgather(executor, data, root)?,
            Bcast::Chain => bcast::chain(executor, data, root, params::BCAST_SEGMENT.size())?,
        }
        Ok(true)
    }

    fn allreduce(&self, (from, to, op): Operands<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let (bytes, size) = (to.bytes(), executor.size());
        let algorithm = self.report(
            Function::Allreduce,
            (bytes, size),
            self.in_force().allreduce(bytes, to.count, size, op.is_commutative()),
            Allreduce::word,
        );
        match algorithm {
            Allreduce::Fallback => return Ok(false),
            Allreduce::Ring => allreduce::ring(executor, from, to, op)?,
            Allreduce::Halving => allreduce::halving(executor, from, to, op)?,
        }
        Ok(true)
    }

    fn allgather(&self, (from, to): (Source<'_>, &Data<'_>), executor: &mut dyn Executor) -> Result<bool> {
        let (bytes, size) = (to.bytes(), executor.size());
        let algorithm =
            self.report(Function::Allgather, (bytes, size), self.in_force().allgather(bytes, size), Allgather::word);
        match algorithm {
            Allgather::Fallback => return Ok(false),
            Allgather::Doubling => allgather::doubling(executor, from, to)?,
            Allgather::Bruck => allgather::bruck(executor, from, to)?,
            Allgather::Neighbor => allgather::neighbor(executor, from, to)?,
        }
        Ok(true)
    }

    fn alltoall(&self, (from, to): (Source<'_>, &Data<'_>), executor: &mut dyn Executor) -> Result<bool> {
        let (bytes, size) = (to.bytes(), executor.size());
        let algorithm =
            self.report(Function::Alltoall, (bytes, size), self.in_force().alltoall(bytes, size), Alltoall::word);
        match (algorithm, from) {
            (Alltoall::Bruck, Source::From(from)) => alltoall::bruck(executor, &from, to)?,
            (Alltoall::Pairwise, Source::From(from)) => alltoall::pairwise(executor, &from, to)?,
            // MPI_IN_PLACE is said by all ranks or none (MPI 5.0 §6.8).
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn reduce_scatter(&self, operands: Operands<'_>, counts: Counts<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let size = executor.size();
        let mut begins = Vec::new();
        begins.try_reserve_exact(size + 1).map_err(|_| no_room(size * size_of::<usize>()))?;
        begins.push(0usize);
        for rank in 0..size {
            begins.push(begins[rank].saturating_add(counts.count(rank)));
        }
        self.scattered(operands, |rank| begins[rank], Function::ReduceScatter, executor)
    }

    fn scattered(
        &self,
        (from, to, op): Operands<'_>,
        begin: impl Fn(usize) -> usize,
        function: Function,
        executor: &mut dyn Executor,
    ) -> Result<bool> {
        let size = executor.size();
        let count = begin(size);
        let bytes = count.saturating_mul(to.datatype.layout.size());
        let algorithm = self.report(
            function,
            (bytes, size),
            self.in_force().reduce_scatter(bytes, count, size, op.is_commutative()),
            ReduceScatter::word,
        );
        let blocks = || Blocks::new(from, to, size, &begin);
        match algorithm {
            ReduceScatter::Fallback => return Ok(false),
            ReduceScatter::Ring => reduce_scatter::ring(executor, &blocks(), to, op)?,
            ReduceScatter::Halving => reduce_scatter::halving(executor, &blocks(), to, op)?,
        }
        Ok(true)
    }
}

type Operands<'a> = (Source<'a>, &'a Data<'a>, &'a Op);

impl Module for Tuned {
    fn functions(&self) -> Functions {
        self.fallback.functions()
    }

    fn fingerprint(&self) -> u64 {
        self.forced.file.map_or(0, |file| file.fingerprint())
    }

    fn disagreed(&self) {
        if self.forced.file.is_some() {
            message!(
                "coll_tuned_decisions: the file is not the same on all ranks of a communicator, which does without it"
            );
        }
        self.disagreed.call_once(|| ());
    }

    fn forced(&self) -> Functions {
        self.forced.functions()
    }

    fn forcing(&self) -> Option<Arc<dyn Module>> {
        Some(Arc::new(Tuned::new(Forced { named_only: true, ..self.in_force() })))
    }

    fn partial(&self) -> Functions {
        self.partial.get().copied().unwrap_or(0)
    }

    fn set_fallback(&self, others: &Table) {
        self.fallback.keep(others, Table::recordable_entry);
        let serves_parts =
            |function: &&Function| match (others.recordable_entry(**function), others.partial_entry(**function)) {
                (Some((next, _)), Some((partial, _))) => next == partial,
                _ => false,
            };
        self.partial
            .call_once(|| SERVED.iter().filter(serves_parts).fold(0, |all, function| all | set_of(&[*function])));
    }

    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let done = match *call {
            Call::Bcast(data, root) => self.bcast((data, root), executor)?,
            Call::Allreduce(from, to, op) => self.allreduce((from, to, op), executor)?,
            Call::Allgather(from, to) => self.allgather((from, to), executor)?,
            Call::Alltoall(from, to) => self.alltoall((from, to), executor)?,
            Call::ReduceScatter(from, to, counts, op) => self.reduce_scatter((from, to, op), counts, executor)?,
            Call::ReduceScatterBlock(from, to, op) => {
                let begin = |rank: usize| rank.saturating_mul(to.count);
                self.scattered((from, to, op), begin, Function::ReduceScatterBlock, executor)?
            }
            _ => false,
        };
        // SAFETY: this method has the same contract.
        if done { Ok(()) } else { unsafe { self.fallback.call(call, executor) } }
    }
}
