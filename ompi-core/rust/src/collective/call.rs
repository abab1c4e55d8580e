//! Arguments of blocking and immediate methods, checked. MPI 5.0 §6.
//!
//! **Invariant:** a call made here reads and writes no more than the buffers have.

use alloc::format;
use ompi_core::abi::kinds;
use ompi_core::comm::Communicator;
use ompi_core::data::{Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::coll::Call;
use ompi_core::op::Op;

/// MPI_Bcast.
pub fn broadcast<'x>(comm: &Communicator, data: &'x Data<'x>, rank: i32) -> Result<Call<'x>> {
    Ok(Call::Bcast(data, root(comm, rank)?))
}

/// MPI_Gather, at the root. `all` becomes each rank's part.
pub fn gather<'x>(comm: &Communicator, from: Source<'x>, all: &'x mut Data<'x>, rank: i32) -> Result<Call<'x>> {
    let root = at_root(comm, rank, true)?;
    *all = share(all, comm.size(), "recvbuf")?;
    holds_as_much(&from, all)?;
    Ok(Call::Gather(from, Some(all), root))
}

/// MPI_Gather, elsewhere.
pub fn gather_part<'x>(comm: &Communicator, from: Data<'x>, rank: i32) -> Result<Call<'x>> {
    Ok(Call::Gather(Source::From(from), None, at_root(comm, rank, false)?))
}

/// MPI_Scatter, at the root. `all` becomes each rank's part; `to` is none where it stays in there.
pub fn scatter<'x>(
    comm: &Communicator,
    all: &'x mut Data<'x>,
    to: Option<&'x Data<'x>>,
    rank: i32,
) -> Result<Call<'x>> {
    let root = at_root(comm, rank, true)?;
    *all = share(all, comm.size(), "sendbuf")?;
    if let Some(to) = to {
        equal(to, all, ["recvbuf", "sendbuf"])?;
    }
    Ok(Call::Scatter(Some(all), to, root))
}

/// MPI_Scatter, elsewhere.
pub fn scatter_part<'x>(comm: &Communicator, to: &'x Data<'x>, rank: i32) -> Result<Call<'x>> {
    Ok(Call::Scatter(None, Some(to), at_root(comm, rank, false)?))
}

/// MPI_Allgather. `all` becomes each rank's part.
pub fn all_gather<'x>(comm: &Communicator, from: Source<'x>, all: &'x mut Data<'x>) -> Result<Call<'x>> {
    *all = share(all, comm.size(), "recvbuf")?;
    holds_as_much(&from, all)?;
    Ok(Call::Allgather(from, all))
}

/// MPI_Alltoall. `all` becomes each rank's part.
pub fn all_to_all<'x>(comm: &Communicator, from: Source<'x>, all: &'x mut Data<'x>) -> Result<Call<'x>> {
    *all = share(all, comm.size(), "recvbuf")?;
    let from = match from {
        Source::InPlace => from,
        Source::From(data) => Source::From(share(&data, comm.size(), "sendbuf")?),
    };
    holds_as_much(&from, all)?;
    Ok(Call::Alltoall(from, all))
}

/// MPI_Reduce, at the root.
pub fn reduce<'x>(comm: &Communicator, from: Source<'x>, to: &'x Data<'x>, op: &'x Op, rank: i32) -> Result<Call<'x>> {
    let root = at_root(comm, rank, true)?;
    alike(&from, to)?;
    Ok(Call::Reduce(from, Some(to), op, root))
}

/// MPI_Reduce, elsewhere.
pub fn reduce_part<'x>(comm: &Communicator, from: Data<'x>, op: &'x Op, rank: i32) -> Result<Call<'x>> {
    Ok(Call::Reduce(Source::From(from), None, op, at_root(comm, rank, false)?))
}

/// MPI_Allreduce.
#[inline]
pub fn all_reduce<'x>(from: Source<'x>, to: &'x Data<'x>, op: &'x Op) -> Result<Call<'x>> {
    alike(&from, to)?;
    Ok(Call::Allreduce(from, to, op))
}

/// MPI_Scan.
pub fn scan<'x>(from: Source<'x>, to: &'x Data<'x>, op: &'x Op) -> Result<Call<'x>> {
    alike(&from, to)?;
    Ok(Call::Scan(from, to, op))
}

/// MPI_Exscan.
pub fn exclusive_scan<'x>(from: Source<'x>, to: &'x Data<'x>, op: &'x Op) -> Result<Call<'x>> {
    alike(&from, to)?;
    Ok(Call::Exscan(from, to, op))
}

/// MPI_Reduce_scatter_block; `from` has a part for each rank.
pub fn reduce_scatter_block<'x>(comm: &Communicator, from: Data<'x>, to: &'x Data<'x>, op: &'x Op) -> Result<Call<'x>> {
    alike(&Source::From(share(&from, comm.size(), "sendbuf")?), to)?;
    Ok(Call::ReduceScatterBlock(Source::From(from), to, op))
}

/// MPI_Reduce_scatter_block in one buffer, which becomes this rank's part.
pub fn reduce_scatter_block_in_place<'x>(comm: &Communicator, all: &'x mut Data<'x>, op: &'x Op) -> Result<Call<'x>> {
    *all = share(all, comm.size(), "recvbuf")?;
    Ok(Call::ReduceScatterBlock(Source::InPlace, all, op))
}

/// Whether the buffers of MPI_Reduce_scatter are as long as `counts` says.
pub fn scattered(comm: &Communicator, from: &Data<'_>, to: &Data<'_>, counts: &[i64]) -> Result<()> {
    let mine = counts.get(comm.rank as usize).copied().unwrap_or(-1);
    let total = counts.iter().try_fold(0i64, |total, count| total.checked_add(*count));
    let negative = counts.iter().any(|count| *count < 0);
    if negative || counts.len() != comm.size() || mine != to.count as i64 || total != Some(from.count as i64) {
        let why = format!(
            "{} counts with the sum {total:?} and {mine} for this rank, where there are {} ranks and buffers of {} and {} elements",
            counts.len(),
            comm.size(),
            from.count,
            to.count
        );
        return Err(Fault::new(Class::Count).argument("recvcounts").because(why));
    }
    alike(&Source::From(Data { count: to.count, ..*from }), to)
}

/// The part of each rank where there is room for all ranks' data.
fn share<'a>(all: &Data<'a>, ranks: usize, argument: &'static str) -> Result<Data<'a>> {
    match all.count.is_multiple_of(ranks) {
        true => Ok(Data { count: all.count / ranks, ..*all }),
        false => {
            let why =
                format!("{} elements are no equal parts for {ranks} ranks; the v variants take others", all.count);
            Err(Fault::new(Class::Count).argument(argument).because(why))
        }
    }
}

fn holds_as_much(from: &Source<'_>, to: &Data<'_>) -> Result<()> {
    match from {
        Source::InPlace => Ok(()),
        Source::From(from) => equal(from, to, ["sendbuf", "recvbuf"]),
    }
}

fn equal(one: &Data<'_>, other: &Data<'_>, arguments: [&'static str; 2]) -> Result<()> {
    match one.bytes() == other.bytes() {
        true => Ok(()),
        false => {
            let [name, other_name] = arguments;
            let why = format!("{} bytes, where {other_name} has {} for each rank", one.bytes(), other.bytes());
            Err(Fault::new(Class::Count).argument(name).because(why))
        }
    }
}

/// Both buffers of a reduction: as many elements of one datatype.
#[inline]
fn alike(from: &Source<'_>, to: &Data<'_>) -> Result<()> {
    match from {
        Source::From(from) if !core::ptr::eq(from.datatype, to.datatype) || from.count != to.count => {
            Err(not_alike(from, to))
        }
        _ => Ok(()),
    }
}

#[cold]
fn not_alike(from: &Data<'_>, to: &Data<'_>) -> Fault {
    if from.count == to.count {
        let why = "another datatype than that of sendbuf; a reduction gives what it takes";
        return Fault::new(Class::Type).argument("recvbuf").because(why);
    }
    let why = format!("room for {} elements, where the reduction gives {}", to.count, from.count);
    Fault::new(Class::Count).argument("recvbuf").because(why)
}

/// The root of a collective. `wanted` says whether the caller must be it.
pub fn at_root(comm: &Communicator, rank: i32, wanted: bool) -> Result<usize> {
    let root = root(comm, rank)?;
    match (comm.rank as usize == root) == wanted {
        true => Ok(root),
        false => {
            let why = match wanted {
                true => format!("rank {} calls the root's method, but {rank} is the root", comm.rank),
                false => format!("rank {rank} is the root and calls the method of the others; use the one with _root"),
            };
            Err(Fault::new(Class::Root).argument("root").because(why))
        }
    }
}

/// A rank that can be a root: not nobody, and of a communicator of one group.
fn root(comm: &Communicator, rank: i32) -> Result<usize> {
    if comm.is_inter() {
        let why = "collectives of this crate are for one group; InterCommunicator::merge makes one of both";
        return Err(Fault::new(Class::UnsupportedOperation).argument("comm").because(why));
    }
    kinds::root(rank, comm)
}
