//! Collectives with blocks of any size that go on after the call. MPI 5.0 §6.12.
#![allow(unsafe_code)] // hands lent buffers to the library

use super::Root;
use super::begin::{begin, lend, lend_one};
use super::call::{at_root, scattered};
use super::operation::Operation;
use super::varcount_call::{self as call, blocks, blocks_of};
use crate::Result;
use crate::datatype::{Buffer, BufferMut, Partition, PartitionMut};
use crate::raw::{source, target};
use crate::request::{Loan, Request, Scope};
use crate::topology::IntraCommunicator;
use alloc::vec::Vec;
use ompi_core::data::{Counts, Source};
use ompi_core::framework::coll::Call;

/// The methods of [`VarcountCollectives`](super::VarcountCollectives), begun inside of a scope. Partitions are given away:
/// their buffers are on loan.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{datatype::PartitionMut, request, traits::*};
///
/// let world = universe.world();
/// let (mine, counts) = (vec![world.rank(); 2], vec![2; world.size() as usize]);
/// let mut all = vec![-1; 2 * counts.len()];
/// request::scope(|scope| {
///     let blocks = PartitionMut::contiguous(&mut all, &counts)?;
///     let gather = world.immediate_all_gather_varcount_into(scope, &mine, blocks)?;
///     gather.wait()
/// })?;
/// assert_eq!(all[..2], [0, 0]);
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait ImmediateVarcountCollectives: IntraCommunicator {
    /// Begins [`all_gather_varcount_into`](super::VarcountCollectives::all_gather_varcount_into).
    fn immediate_all_gather_varcount_into<'a, Sc, S, R>(
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
        let call = call::all_gather(owned.comm(), from, &to);
        // SAFETY: lent buffers, which cannot overlap; counts and displacements are copied.
        unsafe { begin((owned, scope), "immediate_all_gather_varcount_into", away, call) }
    }

    /// Begins [`all_to_all_varcount_into`](super::VarcountCollectives::all_to_all_varcount_into).
    fn immediate_all_to_all_varcount_into<'a, Sc, S, R>(
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
        let call = call::all_to_all(owned.comm(), &from, &to);
        // SAFETY: lent buffers, which cannot overlap; counts and displacements are copied.
        unsafe { begin((owned, scope), "immediate_all_to_all_varcount_into", away, call) }
    }

    /// Begins [`all_to_all_buffers_into`](super::VarcountCollectives::all_to_all_buffers_into).
    fn immediate_all_to_all_buffers_into<'a, Sc: Scope<'a>>(
        &self,
        scope: Sc,
        send: &[&'a dyn Buffer],
        receive: Vec<&'a mut dyn BufferMut>,
    ) -> Result<Request<'a, (), Sc>> {
        let owned = self.owned();
        let from = call::Several::of(send.iter().map(|one| source(*one)));
        let to = call::Several::of(receive.into_iter().map(target));
        let (from, to) = (from.blocks(), to.blocks());
        let call = call::each_has_one(owned.comm(), from.datatypes.len(), to.datatypes.len());
        let call = call.map(|()| Call::Alltoallw(Some(&from), &to));
        // SAFETY: lent buffers, which cannot overlap, one for each rank; all else is copied.
        unsafe { begin((owned, scope), "immediate_all_to_all_buffers_into", (), call) }
    }

    /// Begins [`reduce_scatter_into`](super::VarcountCollectives::reduce_scatter_into).
    fn immediate_reduce_scatter_into<'a, Sc, S, R, O>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
        operation: O,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation + 'a,
    {
        let (owned, (away, from, to)) = (self.owned(), lend(send, receive));
        let op = owned.checked("immediate_reduce_scatter_into", operation.op(from.datatype))?;
        let counts: Vec<i64> = counts.iter().map(|count| *count as i64).collect();
        let call = scattered(owned.comm(), &from, &to, &counts)
            .map(|()| Call::ReduceScatter(Source::From(from), &to, Counts::Large(&counts), &op));
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured; counts are copied.
        unsafe { begin((owned, scope), "immediate_reduce_scatter_into", away, call) }
    }
}

impl<C: IntraCommunicator + ?Sized> ImmediateVarcountCollectives for C {}

/// The methods of [`VarcountRoot`](super::VarcountRoot), begun inside of a scope.
pub trait ImmediateVarcountRoot: Root {
    /// Begins [`gather_varcount_into`](super::VarcountRoot::gather_varcount_into).
    fn immediate_gather_varcount_into<'a, Sc, S>(&self, scope: Sc, send: &'a S) -> Result<Request<'a, &'a S, Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
    {
        let (owned, root) = self.root();
        let call = at_root(owned.comm(), root, false).map(|root| Call::Gatherv(Source::From(source(send)), None, root));
        // SAFETY: a lent buffer.
        unsafe { begin((owned, scope), "immediate_gather_varcount_into", send.away(), call) }
    }

    /// Begins [`gather_varcount_into_root`](super::VarcountRoot::gather_varcount_into_root).
    fn immediate_gather_varcount_into_root<'a, Sc, S, R>(
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
        let ((owned, root), PartitionMut { buffer, blocks: places }) = (self.root(), receive);
        let (away, from, to) = lend(send, buffer);
        let to = blocks(to, &places);
        let call = call::gather(owned.comm(), from, &to, root);
        // SAFETY: lent buffers, which cannot overlap; counts and displacements are copied.
        unsafe { begin((owned, scope), "immediate_gather_varcount_into_root", away, call) }
    }

    /// Begins [`scatter_varcount_into`](super::VarcountRoot::scatter_varcount_into).
    fn immediate_scatter_varcount_into<'a, Sc, R>(
        &self,
        scope: Sc,
        receive: &'a mut R,
    ) -> Result<Request<'a, &'a mut R, Sc>>
    where
        Sc: Scope<'a>,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), (away, to)) = (self.root(), lend_one(receive));
        let call = at_root(owned.comm(), root, false).map(|root| Call::Scatterv(None, Some(&to), root));
        // SAFETY: a buffer that is lent mutably.
        unsafe { begin((owned, scope), "immediate_scatter_varcount_into", away, call) }
    }

    /// Begins [`scatter_varcount_into_root`](super::VarcountRoot::scatter_varcount_into_root).
    fn immediate_scatter_varcount_into_root<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: Partition<'a, S>,
        receive: &'a mut R,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), (away, _, to)) = (self.root(), lend(send.buffer, receive));
        let from = blocks_of(&send);
        let call = call::scatter(owned.comm(), &from, &to, root);
        // SAFETY: lent buffers, which cannot overlap; counts and displacements are copied.
        unsafe { begin((owned, scope), "immediate_scatter_varcount_into_root", away, call) }
    }
}

impl<R: Root + ?Sized> ImmediateVarcountRoot for R {}
