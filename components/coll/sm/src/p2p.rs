//! Two ranks: operations that are one message, or one each way.

use crate::buffer::{block, contribution, lies_packed, packed};
use crate::raw::copy;
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// MPI_Gather: `to` at the root.
pub fn gather(
    (rank, peer): (usize, usize),
    executor: &mut dyn Executor,
    from: Source<'_>,
    to: Option<&Data<'_>>,
) -> Result<()> {
    match (from, to) {
        (Source::From(from), None) => executor.send(&from, peer),
        (Source::InPlace, None) => Ok(()),
        (from, Some(to)) => {
            let received = executor.recv(&block(to, peer), peer);
            match from {
                Source::From(from) => received.and(copy(executor, &from, &block(to, rank))),
                Source::InPlace => received,
            }
        }
    }
}

/// MPI_Scatter: `from` at the root.
pub fn scatter(
    (rank, peer): (usize, usize),
    executor: &mut dyn Executor,
    from: Option<&Data<'_>>,
    to: Option<&Data<'_>>,
) -> Result<()> {
    match (from, to) {
        (None, Some(to)) => executor.recv(to, peer),
        (None, None) => Ok(()),
        (Some(from), to) => {
            let sent = executor.send(&block(from, peer), peer);
            match to {
                Some(to) => sent.and(copy(executor, &block(from, rank), to)),
                None => sent,
            }
        }
    }
}

/// MPI_Allgather and MPI_Allgatherv, with the blocks of this rank and of its peer.
pub fn allgather(
    peer: usize,
    executor: &mut dyn Executor,
    from: Source<'_>,
    (mine, theirs): (Data<'_>, Data<'_>),
) -> Result<()> {
    let (out, apart) = match from {
        Source::From(from) => (from, Some((from, mine))),
        Source::InPlace => (mine, None),
    };
    exchange(executor, peer, (&out, &theirs), apart)
}

/// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw, with the blocks for the peer and for this rank, and the targets of those from
/// them. With MPI_IN_PLACE there are no source blocks: the block for the peer lies in the target of its own.
pub fn alltoall(
    peer: usize,
    executor: &mut dyn Executor,
    from: Option<(Data<'_>, Data<'_>)>,
    (theirs, mine): (Data<'_>, Data<'_>),
) -> Result<()> {
    if let Some((out, own)) = from {
        return exchange(executor, peer, (&out, &theirs), Some((own, mine)));
    }
    let out = executor.scratch(&packed(core::ptr::null_mut(), theirs.bytes()))?;
    executor.copy(&theirs, &out)?;
    exchange(executor, peer, (&out, &theirs), None)
}

// This rank's own block is copied afterwards, from and to `apart`.
fn exchange(
    executor: &mut dyn Executor,
    peer: usize,
    (out, into): (&Data<'_>, &Data<'_>),
    apart: Option<(Data<'_>, Data<'_>)>,
) -> Result<()> {
    let done = executor.exchange(out, peer, into, peer);
    match apart {
        Some((from, to)) => done.and(copy(executor, &from, &to)),
        None => done,
    }
}

/// MPI_Reduce_scatter and MPI_Reduce_scatter_block.
pub fn reduce_scatter(
    (rank, peer): (usize, usize),
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, &Data<'_>, &Op),
    counts: impl Fn(usize) -> usize,
) -> Result<()> {
    let whole = contribution(from, *to);
    let block = |rank: usize| whole.at_element(if rank == 0 { 0 } else { counts(0) as isize }, counts(rank));
    let (mine, theirs) = (block(rank), executor.scratch(to)?);
    executor.exchange(&block(peer), peer, &theirs, peer)?;
    let (first, second) = if rank == 0 { (mine, theirs) } else { (theirs, mine) };
    match from {
        Source::From(_) => executor.combine(op, &first, &second, to),
        // The result may lie across this rank's own block.
        Source::InPlace => {
            let sum = executor.scratch(to)?;
            executor.combine(op, &first, &second, &sum)?;
            executor.copy(&sum, to)
        }
    }
}

/// MPI_Scan, or MPI_Exscan.
pub fn scan(
    rank: usize,
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, &Data<'_>, &Op),
    is_exclusive: bool,
) -> Result<()> {
    match (rank, from) {
        (0, Source::From(from)) if !is_exclusive => {
            executor.send(&from, 1)?;
            copy(executor, &from, to)
        }
        (0, _) => executor.send(&contribution(from, *to), 1),
        _ if is_exclusive => executor.recv(to, 0),
        (_, Source::From(from)) if to.bytes() <= size_of::<u64>() && lies_packed(to) => {
            let mut theirs = 0u64;
            let theirs = Data { at: (&raw mut theirs).cast(), ..*to };
            executor.recv(&theirs, 0)?;
            copy(executor, &from, to)?;
            executor.reduce(op, &theirs, to)
        }
        _ => {
            let theirs = executor.scratch(to)?;
            executor.recv(&theirs, 0)?;
            executor.combine(op, &theirs, &contribution(from, *to), to)
        }
    }
}
