//! The module. Everything is a copy from this process to itself.
#![allow(unsafe_code)]

use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{ALL_FUNCTIONS, Functions, Module};
use ompi_core::op::Op;

/// The same for every communicator.
pub struct Alone;

/// Copies what is not in place already.
fn deliver(executor: &mut dyn Executor, from: Option<Data<'_>>, to: Option<Data<'_>>) -> Result<()> {
    match (from, to) {
        (Some(from), Some(to)) => executor.copy(&from, &to),
        _ => Ok(()),
    }
}

fn source(from: Source<'_>) -> Option<Data<'_>> {
    match from {
        Source::InPlace => None,
        Source::From(from) => Some(from),
    }
}

macro_rules! copies {
    ($($name:ident($($argument:ident: $type:ty),*) $(checks $op:ident)? => $from:expr, $to:expr;)*) => {
        $(unsafe fn $name(&self, $($argument: $type,)* executor: &mut dyn Executor) -> Result<()> {
            let (from, to): (Option<Data<'_>>, Option<Data<'_>>) = ($from, $to);
            $(if let Some(data) = to.or(from) {
                $op.check(data.datatype)?;
            })?
            deliver(executor, from, to)
        })*
    };
}

impl Module for Alone {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS
    }

    fn barrier(&self, _: &mut dyn Executor) -> Result<()> {
        Ok(())
    }

    copies! {
        bcast(_data: &Data<'_>, _root: usize) => None, None;
        gather(from: Source<'_>, to: Option<&Data<'_>>, _root: usize) => source(from), to.copied();
        gatherv(from: Source<'_>, to: Option<&Blocks<'_>>, _root: usize) => source(from), to.map(|to| to.block(0));
        scatter(from: Option<&Data<'_>>, to: Option<&Data<'_>>, _root: usize) => from.copied(), to.copied();
        scatterv(from: Option<&Blocks<'_>>, to: Option<&Data<'_>>, _root: usize)
            => from.map(|from| from.block(0)), to.copied();
        allgather(from: Source<'_>, to: &Data<'_>) => source(from), Some(*to);
        allgatherv(from: Source<'_>, to: &Blocks<'_>) => source(from), Some(to.block(0));
        alltoall(from: Source<'_>, to: &Data<'_>) => source(from), Some(*to);
        alltoallv(from: Option<&Blocks<'_>>, to: &Blocks<'_>) => from.map(|from| from.block(0)), Some(to.block(0));
        alltoallw(from: Option<&TypedBlocks<'_>>, to: &TypedBlocks<'_>)
            => from.map(|from| from.block(0)), Some(to.block(0));
        reduce(from: Source<'_>, to: Option<&Data<'_>>, op: &Op, _root: usize) checks op => source(from), to.copied();
        allreduce(from: Source<'_>, to: &Data<'_>, op: &Op) checks op => source(from), Some(*to);
        reduce_scatter(from: Source<'_>, to: &Data<'_>, _counts: Counts<'_>, op: &Op) checks op
            => source(from), Some(*to);
        reduce_scatter_block(from: Source<'_>, to: &Data<'_>, op: &Op) checks op => source(from), Some(*to);
        scan(from: Source<'_>, to: &Data<'_>, op: &Op) checks op => source(from), Some(*to);
    }

    unsafe fn exscan(&self, _: Source<'_>, to: &Data<'_>, op: &Op, _: &mut dyn Executor) -> Result<()> {
        // MPI 5.0 §6.11.2: rank 0's receive buffer stays as it is.
        op.check(to.datatype)
    }
}
