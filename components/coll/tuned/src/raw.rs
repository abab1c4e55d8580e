//! The module: turns the framework's unsafe calls into calls of the algorithms.
#![allow(unsafe_code)]

use crate::choice::{Allgather, Allreduce, Alltoall, Bcast, Forced, Picked, ReduceScatter};
use crate::reduce_scatter::Blocks;
use crate::{allgather, allreduce, alltoall, bcast, params, reduce_scatter};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::{Counts, Data, Source, no_room};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{FRAMEWORK, Function, Functions, Module, Table};
use ompi_core::op::Op;
use opal_core::sync::Once;
use opal_core::{message, verbose};

/// For one communicator.
pub struct Tuned {
    forced: Forced,
    // The ranks have different decision files.
    disagreed: Once<()>,
    next: Once<[Option<Arc<dyn Module>>; SERVED.len()]>,
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
        Tuned { forced, disagreed: Once::new(), next: Once::new(), partial: Once::new() }
    }

    fn forced(&self) -> Forced {
        match self.disagreed.get() {
            None => self.forced,
            Some(()) => Forced { file: None, ..self.forced },
        }
    }

    /// Who would serve the function without this component.
    fn next(&self, function: Function) -> Result<&dyn Module> {
        let place = SERVED.iter().position(|served| *served == function);
        let module = place.and_then(|place| self.next.get()?[place].as_deref());
        module.ok_or_else(|| Fault::new(Class::UnsupportedOperation).because("no other coll component offers it here"))
    }

    /// # Safety
    /// That of the framework's methods.
    unsafe fn scattered<'a>(
        &self,
        (from, to, op): (Source<'a>, &Data<'a>, &Op),
        begin: impl Fn(usize) -> usize,
        function: Function,
        executor: &mut dyn Executor,
    ) -> Result<Option<&dyn Module>> {
        let size = executor.size();
        let count = begin(size);
        let bytes = count.saturating_mul(to.datatype.layout.size());
        let Picked { way, why } = self.forced().reduce_scatter(bytes, count, size, op.is_commutative());
        tell(function, bytes, size, (way.word(), why));
        let blocks = || Blocks::new(from, to, size, &begin);
        match way {
            ReduceScatter::Next => return self.next(function).map(Some),
            ReduceScatter::Ring => reduce_scatter::ring(executor, &blocks(), to, op)?,
            ReduceScatter::Halving => reduce_scatter::halving(executor, &blocks(), to, op)?,
        }
        Ok(None)
    }
}

fn tell(function: Function, bytes: usize, size: usize, (way, why): (&str, &str)) {
    verbose!(FRAMEWORK, 40, "tuned: {function:?} of {bytes} bytes among {size} ranks, {why}: {way}");
}

impl Module for Tuned {
    fn functions(&self) -> Functions {
        SERVED.iter().fold(0, |all, function| all | 1 << *function as u8)
    }

    fn fingerprint(&self) -> u64 {
        self.forced.file.map_or(0, |file| file.print())
    }

    fn disagreed(&self) {
        if self.forced.file.is_some() {
            message!(
                "coll_tuned_decisions: the file is not the same on all ranks of a communicator, which does without it"
            );
        }
        self.disagreed.call_once(|| ());
    }

    fn partial(&self) -> Functions {
        self.partial.get().copied().unwrap_or(0)
    }

    fn above(&self, others: &Table) {
        // Recordable, because what this module passes on may be recorded, too.
        self.next
            .call_once(|| SERVED.map(|function| others.recordable_entry(function).map(|(_, module)| module.clone())));
        let serves_parts =
            |function: &&Function| match (others.recordable_entry(**function), others.partial_entry(**function)) {
                (Some((next, _)), Some((partial, _))) => next == partial,
                _ => false,
            };
        self.partial
            .call_once(|| SERVED.iter().filter(serves_parts).fold(0, |all, function| all | 1 << *function as u8));
    }

    unsafe fn bcast(&self, data: &Data<'_>, root: usize, executor: &mut dyn Executor) -> Result<()> {
        let (bytes, size) = (data.bytes(), executor.size());
        let Picked { way, why } = self.forced().bcast(bytes, size);
        tell(Function::Bcast, bytes, size, (way.word(), why));
        match way {
            // SAFETY: this method has the same contract.
            Bcast::Next => unsafe { self.next(Function::Bcast)?.bcast(data, root, executor) },
            Bcast::ScatterAllgather => bcast::scatter_allgather(executor, data, root),
            Bcast::Chain => bcast::chain(executor, data, root, params::BCAST_SEGMENT.size()),
        }
    }

    unsafe fn allreduce(&self, from: Source<'_>, to: &Data<'_>, op: &Op, executor: &mut dyn Executor) -> Result<()> {
        let (bytes, size) = (to.bytes(), executor.size());
        let Picked { way, why } = self.forced().allreduce(bytes, to.count, size, op.is_commutative());
        tell(Function::Allreduce, bytes, size, (way.word(), why));
        match way {
            // SAFETY: this method has the same contract.
            Allreduce::Next => unsafe { self.next(Function::Allreduce)?.allreduce(from, to, op, executor) },
            Allreduce::Ring => allreduce::ring(executor, from, to, op),
            Allreduce::Halving => allreduce::halving(executor, from, to, op),
        }
    }

    unsafe fn allgather(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let (bytes, size) = (to.bytes(), executor.size());
        let Picked { way, why } = self.forced().allgather(bytes, size);
        tell(Function::Allgather, bytes, size, (way.word(), why));
        match way {
            // SAFETY: this method has the same contract.
            Allgather::Next => unsafe { self.next(Function::Allgather)?.allgather(from, to, executor) },
            Allgather::Doubling => allgather::doubling(executor, from, to),
            Allgather::Bruck => allgather::bruck(executor, from, to),
            Allgather::Neighbor => allgather::neighbor(executor, from, to),
        }
    }

    unsafe fn alltoall(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let (bytes, size) = (to.bytes(), executor.size());
        let Picked { way, why } = self.forced().alltoall(bytes, size);
        tell(Function::Alltoall, bytes, size, (way.word(), why));
        match (way, from) {
            (Alltoall::Bruck, Source::From(from)) => alltoall::bruck(executor, &from, to),
            (Alltoall::Pairwise, Source::From(from)) => alltoall::pairwise(executor, &from, to),
            // MPI_IN_PLACE is said by all ranks or none (MPI 5.0 §6.8).
            // SAFETY: this method has the same contract.
            (_, from) => unsafe { self.next(Function::Alltoall)?.alltoall(from, to, executor) },
        }
    }

    unsafe fn reduce_scatter(
        &self,
        from: Source<'_>,
        to: &Data<'_>,
        counts: Counts<'_>,
        op: &Op,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let size = executor.size();
        let mut begins = Vec::new();
        begins.try_reserve_exact(size + 1).map_err(|_| no_room(size * size_of::<usize>()))?;
        begins.push(0usize);
        for rank in 0..size {
            begins.push(begins[rank].saturating_add(counts.count(rank)));
        }
        let arguments = (from, to, op);
        // SAFETY: this method has the same contract.
        let next = unsafe { self.scattered(arguments, |rank| begins[rank], Function::ReduceScatter, executor)? };
        match next {
            // SAFETY: this method has the same contract.
            Some(next) => unsafe { next.reduce_scatter(from, to, counts, op, executor) },
            None => Ok(()),
        }
    }

    unsafe fn reduce_scatter_block(
        &self,
        from: Source<'_>,
        to: &Data<'_>,
        op: &Op,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let (count, function) = (to.count, Function::ReduceScatterBlock);
        // SAFETY: this method has the same contract.
        let next = unsafe { self.scattered((from, to, op), |rank| rank.saturating_mul(count), function, executor)? };
        match next {
            // SAFETY: this method has the same contract.
            Some(next) => unsafe { next.reduce_scatter_block(from, to, op, executor) },
            None => Ok(()),
        }
    }
}
