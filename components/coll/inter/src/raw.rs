//! The module: what crosses between the groups, and what each of them does for itself.
#![allow(unsafe_code)]

use crate::cross::{self, no_buffer};
use crate::groups::{Groups, Root};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks, no_room};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::{Executor, Part};
use ompi_core::framework::coll::{ALL_FUNCTIONS, Call, Function, Functions, Module, Table};
use ompi_core::op::Op;
use opal_core::sync::Once;

/// For one intercommunicator.
pub struct Inter {
    groups: Groups,
    // Of the carrier, for some of its ranks.
    below: Once<[Option<Arc<dyn Module>>; BELOW.len()]>,
}

const BELOW: [Function; 5] =
    [Function::Barrier, Function::Bcast, Function::Reduce, Function::Scatter, Function::Scatterv];

impl Inter {
    /// The two groups in the carrier.
    pub fn new(carried: [Range<usize>; 2]) -> Inter {
        Inter { groups: Groups::new(carried), below: Once::new() }
    }

    /// Asks the carrier's module for a call among some of its ranks.
    ///
    /// # Safety
    /// That of the framework's methods.
    unsafe fn among(&self, ranks: &[usize], call: Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let Some(mut part) = Part::new(executor, ranks) else { return Ok(()) };
        let place = BELOW.iter().position(|function| *function == call.function());
        let module = place.and_then(|place| self.below.get()?[place].as_deref());
        let nobody =
            || Fault::new(Class::UnsupportedOperation).because("no other coll component offers it for a group");
        // SAFETY: the caller's promise.
        unsafe { call.ask(module.ok_or_else(nobody)?, &mut part) }
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
        let sum = if leads { Some(executor.room(own)?) } else { None };
        // SAFETY: the caller's promise; `sum` is room of the executor's.
        unsafe { self.among(&self.groups.here, Call::Reduce(Source::From(*own), sum.as_ref(), op, 0), executor)? };
        let Some(sum) = sum else { return Ok(None) };
        let other = match into {
            Some(into) => into,
            None => executor.room(own)?,
        };
        let peer = self.groups.there[0];
        executor.exchange(&sum, peer, &other, peer)?;
        Ok(Some(other))
    }
}

impl Module for Inter {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS & !(1 << Function::Scan as u8 | 1 << Function::Exscan as u8)
    }

    fn above(&self, others: &Table) {
        self.below.call_once(|| BELOW.map(|function| others.partial_entry(function).map(|(_, module)| module.clone())));
    }

    fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        let all: Vec<usize> = (0..executor.size()).collect();
        // SAFETY: there is no data.
        unsafe { self.among(&all, Call::Barrier, executor) }
    }

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
        // SAFETY: this method has the same contract.
        unsafe { self.among(&ranks, Call::Bcast(data, 0), executor) }
    }

    unsafe fn gather(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let block = to.map(|to| |rank: usize| part(to, rank));
        cross::collect(executor, &self.groups, from, block, self.groups.root(root))
    }

    unsafe fn gatherv(
        &self,
        from: Source<'_>,
        to: Option<&Blocks<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let block = to.map(|to| |rank: usize| to.block(rank));
        cross::collect(executor, &self.groups, from, block, self.groups.root(root))
    }

    unsafe fn scatter(
        &self,
        from: Option<&Data<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let block = from.map(|from| |rank: usize| part(from, rank));
        cross::hand_out(executor, &self.groups, block, to, self.groups.root(root))
    }

    unsafe fn scatterv(
        &self,
        from: Option<&Blocks<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let block = from.map(|from| |rank: usize| from.block(rank));
        cross::hand_out(executor, &self.groups, block, to, self.groups.root(root))
    }

    unsafe fn allgather(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let from = own(from)?;
        cross::exchange(executor, &self.groups, |_| from, |rank| part(to, rank))
    }

    unsafe fn allgatherv(&self, from: Source<'_>, to: &Blocks<'_>, executor: &mut dyn Executor) -> Result<()> {
        let from = own(from)?;
        cross::exchange(executor, &self.groups, |_| from, |rank| to.block(rank))
    }

    unsafe fn alltoall(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let from = own(from)?;
        cross::exchange(executor, &self.groups, |rank| part(&from, rank), |rank| part(to, rank))
    }

    unsafe fn alltoallv(&self, from: Option<&Blocks<'_>>, to: &Blocks<'_>, executor: &mut dyn Executor) -> Result<()> {
        let from = from.ok_or_else(no_buffer)?;
        cross::exchange(executor, &self.groups, |rank| from.block(rank), |rank| to.block(rank))
    }

    unsafe fn alltoallw(
        &self,
        from: Option<&TypedBlocks<'_>>,
        to: &TypedBlocks<'_>,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let from = from.ok_or_else(no_buffer)?;
        cross::exchange(executor, &self.groups, |rank| from.block(rank), |rank| to.block(rank))
    }

    unsafe fn reduce(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        op: &Op,
        root: usize,
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
                let sum = if leads { Some(executor.room(&own)?) } else { None };
                let call = Call::Reduce(from, sum.as_ref(), op, 0);
                // SAFETY: this method has the same contract; `sum` is room of the executor's.
                unsafe { self.among(&self.groups.here, call, executor)? };
                match sum.filter(|sum| sum.count > 0) {
                    Some(sum) => executor.send(&sum, root),
                    None => Ok(()),
                }
            }
            _ => Err(no_buffer()),
        }
    }

    unsafe fn allreduce(&self, from: Source<'_>, to: &Data<'_>, op: &Op, executor: &mut dyn Executor) -> Result<()> {
        op.check(to.datatype)?;
        if to.count == 0 {
            return Ok(());
        }
        // SAFETY: this method has the same contract.
        unsafe { self.swap_sums(&own(from)?, Some(*to), op, executor)? };
        // SAFETY: this method has the same contract.
        unsafe { self.among(&self.groups.here, Call::Bcast(to, 0), executor) }
    }

    unsafe fn reduce_scatter(
        &self,
        from: Source<'_>,
        to: &Data<'_>,
        counts: Counts<'_>,
        op: &Op,
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
        // SAFETY: this method has the same contract.
        let sum = unsafe { self.swap_sums(&whole, None, op, executor)? };
        let blocks =
            sum.map(|sum| Blocks { at: sum.at, counts, displacements: Counts::Large(&begins), datatype: sum.datatype });
        // SAFETY: this method has the same contract; the blocks are the executor's room.
        unsafe { self.among(&self.groups.here, Call::Scatterv(blocks.as_ref(), Some(to), 0), executor) }
    }

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
        // SAFETY: this method has the same contract.
        let sum = unsafe { self.swap_sums(&whole, None, op, executor)? };
        let sum = sum.map(|sum| Data { count: to.count, ..sum });
        // SAFETY: this method has the same contract; the blocks are the executor's room.
        unsafe { self.among(&self.groups.here, Call::Scatter(sum.as_ref(), Some(to), 0), executor) }
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
