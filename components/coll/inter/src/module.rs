//! The module: the parts of each operation between the groups and within each of them.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::cross::{self, no_buffer};
use crate::groups::{Groups, Root};
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::data::{Blocks, Counts, Data, Source, no_room};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::{Executor, Subset};
use ompi_core::framework::coll::{ALL_FUNCTIONS, Call, Fallback, Function, Functions, Module, Table, not_here, set_of};
use ompi_core::op::Op;

/// For one intercommunicator.
pub struct Inter {
    groups: Groups,
    // Of the merged intracommunicator, for some of its ranks.
    below: Fallback,
}

const BELOW: [Function; 5] =
    [Function::Barrier, Function::Bcast, Function::Reduce, Function::Scatter, Function::Scatterv];

impl Inter {
    /// The two groups in the merged intracommunicator.
    pub fn new(carried: [Range<usize>; 2]) -> Inter {
        Inter { groups: Groups::new(carried), below: Fallback::new(&BELOW) }
    }

    /// Asks the merged intracommunicator's module for a call among some of its ranks.
    ///
    /// # Safety
    /// That of the framework's methods.
    unsafe fn among(&self, ranks: &[usize], call: Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let Some(mut part) = Subset::new(executor, ranks) else { return Ok(()) };
        // SAFETY: the caller's promise.
        unsafe { self.below.call(&call, &mut part) }
    }

    /// The combination of this group's contributions goes to the other one's leader; the leader gets that of the other
    /// group into the room it returns.
    ///
    /// # Safety
    /// That of the framework's methods.
    unsafe fn swap_sums<'a>(
        &self,
        own: &Data<'a>,
        into: Option<Data<'a>>,
        op: &Op,
        executor: &mut dyn Executor,
    ) -> Result<Option<Data<'a>>> {
        let leads = executor.rank() == self.groups.here[0];
        let sum = if leads { Some(executor.scratch(own)?) } else { None };
        // SAFETY: the caller's promise; `sum` is room of the executor's.
        unsafe { self.among(&self.groups.here, Call::Reduce(Source::From(*own), sum.as_ref(), op, 0), executor)? };
        let Some(sum) = sum else { return Ok(None) };
        let other = match into {
            Some(into) => into,
            None => executor.scratch(own)?,
        };
        let peer = self.groups.there[0];
        executor.exchange(&sum, peer, &other, peer)?;
        Ok(Some(other))
    }

    fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        let all: Vec<usize> = (0..executor.size()).collect();
        // SAFETY: there is no data.
        unsafe { self.among(&all, Call::Barrier, executor) }
    }

    /// # Safety
    /// That of [`Module::call`].
    unsafe fn bcast(&self, data: &Data<'_>, root: usize, executor: &mut dyn Executor) -> Result<()> {
        let (root, receivers) = match self.groups.root(root) {
            Root::Beside => return Ok(()),
            Root::Here => (executor.rank(), &self.groups.there),
            Root::There(root) => (root, &self.groups.here),
        };
        let mut ranks = Vec::new();
        let number = receivers.len() + 1;
        ranks.try_reserve_exact(number).map_err(|_| no_room(number * size_of::<usize>()))?;
        ranks.push(root);
        ranks.extend_from_slice(receivers);
        // SAFETY: the caller's promise.
        unsafe { self.among(&ranks, Call::Bcast(data, 0), executor) }
    }

    /// # Safety
    /// That of [`Module::call`].
    unsafe fn reduce(
        &self,
        (from, to, op, root): (Source<'_>, Option<&Data<'_>>, &Op, usize),
        executor: &mut dyn Executor,
    ) -> Result<()> {
        match (self.groups.root(root), from, to) {
            (Root::Beside, ..) => Ok(()),
            (Root::Here, _, Some(to)) => {
                op.check(to.datatype)?;
                if to.count == 0 { Ok(()) } else { executor.recv(to, self.groups.there[0]) }
            }
            (Root::There(root), Source::From(own), _) => {
                op.check(own.datatype)?;
                let leads = executor.rank() == self.groups.here[0];
                let sum = if leads { Some(executor.scratch(&own)?) } else { None };
                let call = Call::Reduce(from, sum.as_ref(), op, 0);
                // SAFETY: the caller's promise; `sum` is room of the executor's.
                unsafe { self.among(&self.groups.here, call, executor)? };
                match sum.filter(|sum| sum.count > 0) {
                    Some(sum) => executor.send(&sum, root),
                    None => Ok(()),
                }
            }
            _ => Err(no_buffer()),
        }
    }

    /// # Safety
    /// That of [`Module::call`].
    unsafe fn allreduce(&self, from: Source<'_>, to: &Data<'_>, op: &Op, executor: &mut dyn Executor) -> Result<()> {
        op.check(to.datatype)?;
        if to.count == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.swap_sums(&own(from)?, Some(*to), op, executor)? };
        // SAFETY: the caller's promise.
        unsafe { self.among(&self.groups.here, Call::Bcast(to, 0), executor) }
    }

    /// # Safety
    /// That of [`Module::call`].
    unsafe fn reduce_scatter(
        &self,
        (from, to, op): (Source<'_>, &Data<'_>, &Op),
        counts: Counts<'_>,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        op.check(to.datatype)?;
        let number = self.groups.here.len();
        let mut begins = Vec::new();
        begins.try_reserve_exact(number).map_err(|_| no_room(number * size_of::<i64>()))?;
        let mut total = 0;
        for rank in 0..number {
            begins.push(total as i64);
            total = counts
                .count(rank)
                .checked_add(total)
                .filter(|total| *total <= i64::MAX as usize)
                .ok_or_else(too_many)?;
        }
        if total == 0 {
            return Ok(());
        }
        let whole = Data { count: total, ..own(from)? };
        // SAFETY: the caller's promise.
        let sum = unsafe { self.swap_sums(&whole, None, op, executor)? };
        let blocks =
            sum.map(|sum| Blocks { at: sum.at, counts, displacements: Counts::Large(&begins), datatype: sum.datatype });
        // SAFETY: the caller's promise; the blocks are the executor's scratch memory.
        unsafe { self.among(&self.groups.here, Call::Scatterv(blocks.as_ref(), Some(to), 0), executor) }
    }

    /// # Safety
    /// That of [`Module::call`].
    unsafe fn reduce_scatter_block(
        &self,
        from: Source<'_>,
        to: &Data<'_>,
        op: &Op,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        op.check(to.datatype)?;
        let total = to.count.checked_mul(self.groups.here.len()).filter(|total| *total <= i64::MAX as usize);
        let whole = Data { count: total.ok_or_else(too_many)?, ..own(from)? };
        if whole.count == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let sum = unsafe { self.swap_sums(&whole, None, op, executor)? };
        let sum = sum.map(|sum| Data { count: to.count, ..sum });
        // SAFETY: the caller's promise; the blocks are the executor's scratch memory.
        unsafe { self.among(&self.groups.here, Call::Scatter(sum.as_ref(), Some(to), 0), executor) }
    }
}

impl Module for Inter {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS & !set_of(&[Function::Scan, Function::Exscan])
    }

    fn set_fallback(&self, others: &Table) {
        self.below.keep(others, Table::partial_entry);
    }

    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let groups = &self.groups;
        match *call {
            Call::Barrier => self.barrier(executor),
            // SAFETY: this method has the same contract.
            Call::Bcast(data, root) => unsafe { self.bcast(data, root, executor) },
            Call::Gather(from, to, root) => {
                cross::collect(executor, groups, from, to.map(|to| |rank| part(to, rank)), groups.root(root))
            }
            Call::Gatherv(from, to, root) => {
                cross::collect(executor, groups, from, to.map(|to| |rank| to.block(rank)), groups.root(root))
            }
            Call::Scatter(from, to, root) => {
                cross::hand_out(executor, groups, from.map(|from| |rank| part(from, rank)), to, groups.root(root))
            }
            Call::Scatterv(from, to, root) => {
                cross::hand_out(executor, groups, from.map(|from| |rank| from.block(rank)), to, groups.root(root))
            }
            Call::Allgather(from, to) => {
                let from = own(from)?;
                cross::exchange(executor, groups, |_| from, |rank| part(to, rank))
            }
            Call::Allgatherv(from, to) => {
                let from = own(from)?;
                cross::exchange(executor, groups, |_| from, |rank| to.block(rank))
            }
            Call::Alltoall(from, to) => {
                let from = own(from)?;
                cross::exchange(executor, groups, |rank| part(&from, rank), |rank| part(to, rank))
            }
            Call::Alltoallv(from, to) => {
                let from = from.ok_or_else(no_buffer)?;
                cross::exchange(executor, groups, |rank| from.block(rank), |rank| to.block(rank))
            }
            Call::Alltoallw(from, to) => {
                let from = from.ok_or_else(no_buffer)?;
                cross::exchange(executor, groups, |rank| from.block(rank), |rank| to.block(rank))
            }
            // SAFETY: this method has the same contract.
            Call::Reduce(from, to, op, root) => unsafe { self.reduce((from, to, op, root), executor) },
            // SAFETY: this method has the same contract.
            Call::Allreduce(from, to, op) => unsafe { self.allreduce(from, to, op, executor) },
            // SAFETY: this method has the same contract.
            Call::ReduceScatter(from, to, counts, op) => unsafe {
                self.reduce_scatter((from, to, op), counts, executor)
            },
            // SAFETY: this method has the same contract.
            Call::ReduceScatterBlock(from, to, op) => unsafe { self.reduce_scatter_block(from, to, op, executor) },
            _ => not_here(),
        }
    }
}

/// The block of a rank of the other group.
fn part<'a>(whole: &Data<'a>, rank: usize) -> Data<'a> {
    whole.at_element((rank * whole.count) as isize, whole.count)
}

fn own(from: Source<'_>) -> Result<Data<'_>> {
    match from {
        Source::From(own) => Ok(own),
        Source::InPlace => Err(no_buffer()),
    }
}

#[cold]
fn too_many() -> Fault {
    Fault::new(Class::Count).because("the counts of all ranks together exceed the address space")
}
