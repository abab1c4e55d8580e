//! Collectives with blocks of any size. MPI 5.0 §6.5 to §6.8 and §6.10.2.
#![allow(unsafe_code)] // hands borrowed buffers to the library

use super::Root;
use super::begin::now;
use super::call::{at_root, scattered};
use super::operation::Operation;
use super::varcount_call::{self as call, blocks, blocks_of};
use crate::Result;
use crate::datatype::{Buffer, BufferMut, Partition, PartitionMut};
use crate::raw::{source, target};
use crate::topology::IntraCommunicator;
use ompi_core::data::{Counts, Source};
use ompi_core::framework::coll::Call;

/// Collectives without a root whose blocks may differ in size.
pub trait VarcountCollectives: IntraCommunicator {
    /// Everybody's data to all: a block of its own size from each.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{datatype::PartitionMut, traits::*};
    ///
    /// let world = universe.world();
    /// let mine = vec![world.rank(); world.rank() as usize + 1];
    /// let counts: Vec<usize> = (1..=world.size() as usize).collect();
    /// let mut all = vec![-1; counts.iter().sum()];
    /// world.all_gather_varcount_into(&mine, &mut PartitionMut::contiguous(&mut all, &counts)?)?;
    /// assert_eq!(all[0], 0);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn all_gather_varcount_into<S, R>(&self, send: &S, receive: &mut PartitionMut<'_, R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, from) = (self.owned(), source(send));
        let to = blocks(target(receive.buffer), &receive.blocks);
        let call = call::all_gather(owned.comm(), from, &to);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "all_gather_varcount_into", call) }
    }

    /// From each to each a block of its own size.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{datatype::{Partition, PartitionMut}, traits::*};
    ///
    /// let world = universe.world();
    /// let counts = vec![2; world.size() as usize];
    /// let send = vec![world.rank(); 2 * counts.len()];
    /// let mut received = vec![-1; send.len()];
    /// world.all_to_all_varcount_into(
    ///     &Partition::contiguous(&send, &counts)?,
    ///     &mut PartitionMut::contiguous(&mut received, &counts)?,
    /// )?;
    /// assert_eq!(received[..2], [0, 0]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn all_to_all_varcount_into<S, R>(&self, send: &Partition<'_, S>, receive: &mut PartitionMut<'_, R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let owned = self.owned();
        let from = blocks_of(send);
        let to = blocks(target(receive.buffer), &receive.blocks);
        let call = call::all_to_all(owned.comm(), &from, &to);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "all_to_all_varcount_into", call) }
    }

    /// From each to each a buffer of its own, of any type: `send[r]` to rank r, what rank r sends to `receive[r]`.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let (pressure, mut heard) = ([1.5f64; 2], vec![[0.0f64; 2]; world.size() as usize]);
    /// let send: Vec<&dyn Buffer> = (0..world.size()).map(|_| &pressure as &dyn Buffer).collect();
    /// let mut receive: Vec<&mut dyn BufferMut> = heard.iter_mut().map(|one| one as &mut dyn BufferMut).collect();
    /// world.all_to_all_buffers_into(&send, &mut receive)?;
    /// assert!(heard.iter().all(|one| *one == pressure));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn all_to_all_buffers_into(&self, send: &[&dyn Buffer], receive: &mut [&mut dyn BufferMut]) -> Result<()> {
        let owned = self.owned();
        let from = call::Several::of(send.iter().map(|one| source(*one)));
        let to = call::Several::of(receive.iter_mut().map(|one| target(&mut **one)));
        let (from, to) = (from.blocks(), to.blocks());
        let done = call::each_has_one(owned.comm(), from.datatypes.len(), to.datatypes.len());
        // SAFETY: borrowed buffers, which cannot overlap, one for each rank.
        unsafe { now(owned, "all_to_all_buffers_into", done.map(|()| Call::Alltoallw(Some(&from), &to))) }
    }

    /// Combines everybody's data; each rank gets the result of the block whose size `counts` names for it.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{SystemOperation, traits::*};
    ///
    /// let world = universe.world();
    /// let counts: Vec<usize> = (1..=world.size() as usize).collect();
    /// let all = vec![1.0; counts.iter().sum()];
    /// let mut mine = vec![0.0; counts[world.rank() as usize]];
    /// world.reduce_scatter_into(&all, &mut mine, &counts, SystemOperation::sum())?;
    /// assert!(mine.iter().all(|one| *one == f64::from(world.size())));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn reduce_scatter_into<S, R, O>(&self, send: &S, receive: &mut R, counts: &[usize], operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation,
    {
        let (owned, from, to) = (self.owned(), source(send), target(receive));
        let op = owned.checked("reduce_scatter_into", operation.op(from.datatype))?;
        let counts: alloc::vec::Vec<i64> = counts.iter().map(|count| *count as i64).collect();
        let done = scattered(owned.comm(), &from, &to, &counts);
        let call = done.map(|()| Call::ReduceScatter(Source::From(from), &to, Counts::Large(&counts), &op));
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "reduce_scatter_into", call) }
    }
}

impl<C: IntraCommunicator + ?Sized> VarcountCollectives for C {}

/// Collectives with a root whose blocks may differ in size; the others have one block.
pub trait VarcountRoot: Root {
    /// A block of any size from each to the root: the others' part.
    #[inline(never)]
    fn gather_varcount_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<()> {
        let (owned, root) = self.root();
        let call = at_root(owned.comm(), root, false).map(|root| Call::Gatherv(Source::From(source(send)), None, root));
        // SAFETY: a borrowed buffer.
        unsafe { now(owned, "gather_varcount_into", call) }
    }

    /// A block of any size from each to the root: the root's part.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{datatype::PartitionMut, traits::*};
    ///
    /// let world = universe.world();
    /// let root = world.process_at_rank(0);
    /// let mine = vec![world.rank(); world.rank() as usize + 1];
    /// if world.rank() == root.rank() {
    ///     let counts: Vec<usize> = (1..=world.size() as usize).collect();
    ///     let mut all = vec![-1; counts.iter().sum()];
    ///     root.gather_varcount_into_root(&mine, &mut PartitionMut::contiguous(&mut all, &counts)?)?;
    ///     assert_eq!(all[0], 0);
    /// } else {
    ///     root.gather_varcount_into(&mine)?;
    /// }
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn gather_varcount_into_root<S, R>(&self, send: &S, receive: &mut PartitionMut<'_, R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), from) = (self.root(), source(send));
        let to = blocks(target(receive.buffer), &receive.blocks);
        let call = call::gather(owned.comm(), from, &to, root);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "gather_varcount_into_root", call) }
    }

    /// A block of any size of the root's data to each: the others' part. `Err(Truncate)` if it is longer than the buffer.
    #[inline(never)]
    fn scatter_varcount_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<()> {
        let ((owned, root), to) = (self.root(), target(receive));
        let call = at_root(owned.comm(), root, false).map(|root| Call::Scatterv(None, Some(&to), root));
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "scatter_varcount_into", call) }
    }

    /// A block of any size of the root's data to each: the root's part.
    #[inline(never)]
    fn scatter_varcount_into_root<S, R>(&self, send: &Partition<'_, S>, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), to) = (self.root(), target(receive));
        let from = blocks_of(send);
        let call = call::scatter(owned.comm(), &from, &to, root);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "scatter_varcount_into_root", call) }
    }
}

impl<R: Root + ?Sized> VarcountRoot for R {}
