//! Arguments of collectives with blocks of any size, checked.
//!
//! **Invariant:** a call made here reads and writes no more than the buffers have: a [`Partition`] lies inside of its
//! buffer, and there is a block for each rank.

use super::call::at_root;
use crate::datatype::{Buffer, Partition, Places};
use crate::raw::source;
use alloc::format;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::coll::Call;

/// A buffer as blocks.
pub fn blocks<'a>(data: Data<'a>, places: &'a Places) -> Blocks<'a> {
    let (counts, displacements) = (Counts::Large(&places.counts), Counts::Large(&places.displacements));
    Blocks { at: data.at, counts, displacements, datatype: data.datatype }
}

/// A partition as blocks.
pub fn blocks_of<'a, B: Buffer + ?Sized>(partition: &'a Partition<'_, B>) -> Blocks<'a> {
    blocks(source(partition.buffer), &partition.blocks)
}

/// MPI_Allgatherv.
pub fn all_gather<'x>(comm: &Communicator, from: Data<'x>, to: &'x Blocks<'x>) -> Result<Call<'x>> {
    one_each(to, comm.size(), "recvcounts")?;
    fits(&from, &to.block(comm.rank as usize), "sendbuf")?;
    Ok(Call::Allgatherv(Source::From(from), to))
}

/// MPI_Alltoallv.
pub fn all_to_all<'x>(comm: &Communicator, from: &'x Blocks<'x>, to: &'x Blocks<'x>) -> Result<Call<'x>> {
    one_each(from, comm.size(), "sendcounts")?;
    one_each(to, comm.size(), "recvcounts")?;
    Ok(Call::Alltoallv(Some(from), to))
}

/// MPI_Gatherv, at the root.
pub fn gather<'x>(comm: &Communicator, from: Data<'x>, to: &'x Blocks<'x>, rank: i32) -> Result<Call<'x>> {
    let root = at_root(comm, rank, true)?;
    one_each(to, comm.size(), "recvcounts")?;
    fits(&from, &to.block(root), "sendbuf")?;
    Ok(Call::Gatherv(Source::From(from), Some(to), root))
}

/// MPI_Scatterv, at the root.
pub fn scatter<'x>(comm: &Communicator, from: &'x Blocks<'x>, to: &'x Data<'x>, rank: i32) -> Result<Call<'x>> {
    let root = at_root(comm, rank, true)?;
    one_each(from, comm.size(), "sendcounts")?;
    fits(&from.block(root), to, "recvbuf")?;
    Ok(Call::Scatterv(Some(from), Some(to), root))
}

/// Buffers of different datatypes, one for each process.
pub struct Several<'a> {
    counts: Vec<i64>,
    // Absolute addresses, as with MPI_BOTTOM.
    addresses: Vec<i64>,
    datatypes: Vec<&'a Datatype>,
}

impl<'a> Several<'a> {
    /// Of these.
    pub fn of(all: impl Iterator<Item = Data<'a>>) -> Several<'a> {
        let mut several = Several { counts: Vec::new(), addresses: Vec::new(), datatypes: Vec::new() };
        for data in all {
            several.counts.push(data.count as i64);
            several.addresses.push(data.at.expose_provenance() as i64);
            several.datatypes.push(data.datatype);
        }
        several
    }

    /// As the library takes them.
    pub fn blocks(&self) -> TypedBlocks<'_> {
        let (counts, displacements) = (Counts::Large(&self.counts), Counts::Large(&self.addresses));
        TypedBlocks { at: core::ptr::null_mut(), counts, displacements, datatypes: &self.datatypes }
    }
}

/// One buffer to send and one to receive for each rank.
pub fn each_has_one(comm: &Communicator, send: usize, receive: usize) -> Result<()> {
    match [send, receive] == [comm.size(); 2] {
        true => Ok(()),
        false => {
            let why = format!("{send} buffers to send and {receive} to receive, for {} ranks", comm.size());
            Err(Fault::new(Class::Count).argument("sendcounts").because(why))
        }
    }
}

/// As many blocks as processes.
pub fn one_each(blocks: &Blocks<'_>, processes: usize, argument: &'static str) -> Result<()> {
    let Counts::Large(counts) = blocks.counts else { return Err(Class::Intern.into()) };
    match counts.len() == processes {
        true => Ok(()),
        false => {
            let why = format!("{} blocks, where {processes} are needed", counts.len());
            Err(Fault::new(Class::Count).argument(argument).because(why))
        }
    }
}

fn fits(from: &Data<'_>, to: &Data<'_>, argument: &'static str) -> Result<()> {
    match from.bytes() == to.bytes() {
        true => Ok(()),
        false => {
            let why =
                format!("this rank sends itself {} bytes and has a block of {} for them", from.bytes(), to.bytes());
            Err(Fault::new(Class::Count).argument(argument).because(why))
        }
    }
}
