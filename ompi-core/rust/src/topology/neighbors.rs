//! Collectives among the neighbours of a topology. MPI 5.0 §8.6 and §8.7.
#![allow(unsafe_code)] // hands borrowed buffers to the library

use super::IntraCommunicator;
use crate::Result;
use crate::collective::varcount_call::{Several, blocks, one_each};
use crate::collective::{begin, lend, now};
use crate::datatype::{Buffer, BufferMut, Partition, PartitionMut};
use crate::raw::{source, target};
use crate::request::{Request, Scope};
use alloc::format;
use ompi_core::comm::Communicator;
use ompi_core::data::{Blocks, Data};
use ompi_core::error::{Class, Fault, Result as Inner};
use ompi_core::framework::coll::Call;

/// A communicator with a topology, in which each process has neighbours: a grid's are the one before and the one behind in
/// each dimension, in this order. Blocks of neighbours that do not exist are left alone.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, topology::CartesianCommunicator, traits::*};
///
/// let world = universe.world();
/// let ring = CartesianCommunicator::new(&world, &[world.size()], &[true], false)?.unwrap();
/// let mut halo = [0.0; 2];
/// ring.neighbor_all_to_all_into(&[1.0, 2.0], &mut halo)?;
/// assert_eq!(halo, [2.0, 1.0], "what goes one way comes from the other");
/// let mut later = [0.0; 2];
/// request::scope(|scope| ring.immediate_neighbor_all_gather_into(scope, &5.0, &mut later)?.wait())?;
/// assert_eq!(later, [5.0; 2]);
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait Neighborhood: IntraCommunicator {
    /// The same block to every neighbour; those of all come in the order of the neighbours.
    fn neighbor_all_gather_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, from, mut all) = (self.owned(), source(send), target(receive));
        let call = gather(owned.comm(), &from, &mut all);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "neighbor_all_gather_into", call) }
    }

    /// As [`neighbor_all_gather_into`](Self::neighbor_all_gather_into), with blocks of any size.
    fn neighbor_all_gather_varcount_into<S, R>(&self, send: &S, receive: &mut PartitionMut<'_, R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, from) = (self.owned(), source(send));
        let to = blocks(target(receive.buffer), &receive.blocks);
        let call = gather_varcount(owned.comm(), &from, &to);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "neighbor_all_gather_varcount_into", call) }
    }

    /// To every neighbour a block of its own, all equal.
    fn neighbor_all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, mut from, mut to) = (self.owned(), source(send), target(receive));
        let call = all_to_all(owned.comm(), &mut from, &mut to);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "neighbor_all_to_all_into", call) }
    }

    /// To every neighbour a block of its own size.
    fn neighbor_all_to_all_varcount_into<S, R>(
        &self,
        send: &Partition<'_, S>,
        receive: &mut PartitionMut<'_, R>,
    ) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let owned = self.owned();
        let from = blocks(source(send.buffer), &send.blocks);
        let to = blocks(target(receive.buffer), &receive.blocks);
        let call = all_to_all_varcount(owned.comm(), &from, &to);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "neighbor_all_to_all_varcount_into", call) }
    }

    /// To every neighbour a buffer of its own, of any type.
    fn neighbor_all_to_all_buffers_into(&self, send: &[&dyn Buffer], receive: &mut [&mut dyn BufferMut]) -> Result<()> {
        let owned = self.owned();
        let from = Several::of(send.iter().map(|one| source(*one)));
        let to = Several::of(receive.iter_mut().map(|one| target(&mut **one)));
        let (from, to) = (from.blocks(), to.blocks());
        let call = owned.comm().neighbors().and_then(|among| {
            enough(send.len(), among.destinations.len(), "sendcounts")?;
            enough(to.datatypes.len(), among.sources.len(), "recvcounts")?;
            Ok(Call::NeighborAlltoallw(&from, &to, among))
        });
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "neighbor_all_to_all_buffers_into", call) }
    }

    /// Begins [`neighbor_all_gather_into`](Self::neighbor_all_gather_into).
    fn immediate_neighbor_all_gather_into<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, (away, from, mut all)) = (self.owned(), lend(send, receive));
        let call = gather(owned.comm(), &from, &mut all);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { begin((owned, scope), "immediate_neighbor_all_gather_into", away, call) }
    }

    /// Begins [`neighbor_all_to_all_into`](Self::neighbor_all_to_all_into).
    fn immediate_neighbor_all_to_all_into<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, (away, mut from, mut to)) = (self.owned(), lend(send, receive));
        let call = all_to_all(owned.comm(), &mut from, &mut to);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { begin((owned, scope), "immediate_neighbor_all_to_all_into", away, call) }
    }

    /// Begins [`neighbor_all_gather_varcount_into`](Self::neighbor_all_gather_varcount_into).
    fn immediate_neighbor_all_gather_varcount_into<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: PartitionMut<'a, R>,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, PartitionMut { buffer, blocks: places }) = (self.owned(), receive);
        let (away, from, to) = lend(send, buffer);
        let to = blocks(to, &places);
        let call = gather_varcount(owned.comm(), &from, &to);
        // SAFETY: lent buffers, which cannot overlap; counts and displacements are copied.
        unsafe { begin((owned, scope), "immediate_neighbor_all_gather_varcount_into", away, call) }
    }

    /// Begins [`neighbor_all_to_all_varcount_into`](Self::neighbor_all_to_all_varcount_into).
    fn immediate_neighbor_all_to_all_varcount_into<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: Partition<'a, S>,
        receive: PartitionMut<'a, R>,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, PartitionMut { buffer, blocks: places }) = (self.owned(), receive);
        let (away, from, to) = lend(send.buffer, buffer);
        let (from, to) = (blocks(from, &send.blocks), blocks(to, &places));
        let call = all_to_all_varcount(owned.comm(), &from, &to);
        // SAFETY: lent buffers, which cannot overlap; counts and displacements are copied.
        unsafe { begin((owned, scope), "immediate_neighbor_all_to_all_varcount_into", away, call) }
    }
}

fn gather<'x>(comm: &'x Communicator, from: &'x Data<'x>, all: &'x mut Data<'x>) -> Inner<Call<'x>> {
    let among = comm.neighbors()?;
    *all = share(all, among.sources.len(), "recvbuf")?;
    Ok(Call::NeighborAllgather(from, all, among))
}

fn gather_varcount<'x>(comm: &'x Communicator, from: &'x Data<'x>, to: &'x Blocks<'x>) -> Inner<Call<'x>> {
    let among = comm.neighbors()?;
    one_each(to, among.sources.len(), "recvcounts")?;
    Ok(Call::NeighborAllgatherv(from, to, among))
}

fn all_to_all<'x>(comm: &'x Communicator, from: &'x mut Data<'x>, to: &'x mut Data<'x>) -> Inner<Call<'x>> {
    let among = comm.neighbors()?;
    *from = share(from, among.destinations.len(), "sendbuf")?;
    *to = share(to, among.sources.len(), "recvbuf")?;
    Ok(Call::NeighborAlltoall(from, to, among))
}

fn all_to_all_varcount<'x>(comm: &'x Communicator, from: &'x Blocks<'x>, to: &'x Blocks<'x>) -> Inner<Call<'x>> {
    let among = comm.neighbors()?;
    one_each(from, among.destinations.len(), "sendcounts")?;
    one_each(to, among.sources.len(), "recvcounts")?;
    Ok(Call::NeighborAlltoallv(from, to, among))
}

/// The part of each neighbour; nothing where there is none.
fn share<'a>(all: &Data<'a>, neighbors: usize, argument: &'static str) -> Inner<Data<'a>> {
    match neighbors {
        0 => Ok(Data { count: 0, ..*all }),
        _ if all.count.is_multiple_of(neighbors) => Ok(Data { count: all.count / neighbors, ..*all }),
        _ => {
            let why = format!("{} elements are no equal parts for {neighbors} neighbours", all.count);
            Err(Fault::new(Class::Count).argument(argument).because(why))
        }
    }
}

fn enough(have: usize, wanted: usize, argument: &'static str) -> Inner<()> {
    match have == wanted {
        true => Ok(()),
        false => {
            let why = format!("{have} buffers, where {wanted} are needed");
            Err(Fault::new(Class::Count).argument(argument).because(why))
        }
    }
}
