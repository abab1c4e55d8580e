//! Collectives in which one process is the root.
//!
//! Each method has a frame of its own, so that mpirun and debuggers can tell which one a rank is in.
#![allow(unsafe_code)] // hands borrowed buffers to the library

use super::begin::now;
use super::call;
use super::operation::Operation;
use crate::Result;
use crate::datatype::{Buffer, BufferMut};
use crate::raw::{source, target};
use crate::topology::{Owned, Process, Rank};
use ompi_core::data::Source;

/// The root of collectives, by [`process_at_rank`](crate::traits::Communicator::process_at_rank). All processes of its
/// communicator call: the root calls the methods that end in `_root` where there are two. `Err(Root)` if it does not.
pub trait Root {
    /// The communicator and the rank; the first is of no use to programs.
    #[doc(hidden)]
    fn root(&self) -> (&Owned, Rank);

    /// The root's data to all.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let mut parameters = if world.rank() == 0 { [0.5, 100.0] } else { [0.0; 2] };
    /// world.process_at_rank(0).broadcast_into(&mut parameters)?;
    /// assert_eq!(parameters, [0.5, 100.0]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn broadcast_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        let ((owned, root), data) = (self.root(), target(buffer));
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "broadcast_into", call::broadcast(owned.comm(), &data, root)) }
    }

    /// Everybody's data to the root: the others' part.
    #[inline(never)]
    fn gather_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<()> {
        let (owned, root) = self.root();
        // SAFETY: a borrowed buffer.
        unsafe { now(owned, "gather_into", call::gather_part(owned.comm(), source(send), root)) }
    }

    /// Everybody's data to the root, in the order of ranks: the root's part. `Err(Count)` if there is no room for just that.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let root = world.process_at_rank(0);
    /// if world.rank() == root.rank() {
    ///     let mut all = vec![0; world.size() as usize];
    ///     root.gather_into_root(&world.rank(), &mut all)?;
    ///     assert!((0..world.size()).eq(all));
    /// } else {
    ///     root.gather_into(&world.rank())?;
    /// }
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn gather_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), from, mut all) = (self.root(), source(send), target(receive));
        let call = call::gather(owned.comm(), Source::From(from), &mut all, root);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "gather_into_root", call) }
    }

    /// A block of the root's data to each: the others' part.
    #[inline(never)]
    fn scatter_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<()> {
        let ((owned, root), to) = (self.root(), target(receive));
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "scatter_into", call::scatter_part(owned.comm(), &to, root)) }
    }

    /// A block of the root's data to each, in the order of ranks: the root's part. `Err(Count)` if the blocks are not equal.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let root = world.process_at_rank(0);
    /// let mut mine = [0; 2];
    /// if world.rank() == root.rank() {
    ///     let all: Vec<i32> = (0..2 * world.size()).collect();
    ///     root.scatter_into_root(&all, &mut mine)?;
    /// } else {
    ///     root.scatter_into(&mut mine)?;
    /// }
    /// assert_eq!(mine, [2 * world.rank(), 2 * world.rank() + 1]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn scatter_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), mut all, to) = (self.root(), source(send), target(receive));
        let call = call::scatter(owned.comm(), &mut all, Some(&to), root);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "scatter_into_root", call) }
    }

    /// Combines everybody's data at the root: the others' part.
    #[inline(never)]
    fn reduce_into<S, O>(&self, send: &S, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        O: Operation,
    {
        let ((owned, root), from) = (self.root(), source(send));
        let op = owned.checked("reduce_into", operation.op(from.datatype))?;
        // SAFETY: a borrowed buffer.
        unsafe { now(owned, "reduce_into", call::reduce_part(owned.comm(), from, &op, root)) }
    }

    /// Combines everybody's data at the root, element by element: the root's part.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{SystemOperation, traits::*};
    ///
    /// let world = universe.world();
    /// let root = world.process_at_rank(0);
    /// if world.rank() == root.rank() {
    ///     let mut largest = 0;
    ///     root.reduce_into_root(&world.rank(), &mut largest, SystemOperation::max())?;
    ///     assert_eq!(largest, world.size() - 1);
    /// } else {
    ///     root.reduce_into(&world.rank(), SystemOperation::max())?;
    /// }
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn reduce_into_root<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation,
    {
        let ((owned, root), from, to) = (self.root(), source(send), target(receive));
        let op = owned.checked("reduce_into_root", operation.op(from.datatype))?;
        let call = call::reduce(owned.comm(), Source::From(from), &to, &op, root);
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "reduce_into_root", call) }
    }
}

impl Root for Process<'_> {
    #[inline(never)]
    fn root(&self) -> (&Owned, Rank) {
        self.parts()
    }
}
