//! Collectives without a root.
#![allow(unsafe_code)] // hands borrowed buffers to the library

use super::begin::now;
use super::call;
use super::operation::Operation;
use crate::Result;
use crate::datatype::{Buffer, BufferMut};
use crate::raw::{source, target};
use crate::topology::IntraCommunicator;
use ompi_core::data::Source;
use ompi_core::executor;

/// Collectives without a root. All processes of the communicator call the same ones in the same order.
pub trait CommunicatorCollectives: IntraCommunicator {
    /// Waits until all have called it.
    #[inline(never)]
    fn barrier(&self) -> Result<()> {
        let owned = self.owned();
        owned.checked("barrier", executor::barrier(owned.comm()))
    }

    /// Everybody's data, in the order of ranks, to all. `Err(Count)` if there is no room for just that.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let mut ranks = vec![-1; world.size() as usize];
    /// world.all_gather_into(&world.rank(), &mut ranks[..])?;
    /// assert!((0..world.size()).eq(ranks));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn all_gather_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, from, mut all) = (self.owned(), source(send), target(receive));
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "all_gather_into", call::all_gather(owned.comm(), Source::From(from), &mut all)) }
    }

    /// From each to each a block of its own, in the order of ranks. `Err(Count)` if the buffers are not equal blocks.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let mine: Vec<i32> = (0..world.size()).map(|to| 10 * world.rank() + to).collect();
    /// let mut theirs = vec![0; mine.len()];
    /// world.all_to_all_into(&mine, &mut theirs)?;
    /// assert!((0..world.size()).map(|from| 10 * from + world.rank()).eq(theirs));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, from, mut all) = (self.owned(), source(send), target(receive));
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "all_to_all_into", call::all_to_all(owned.comm(), Source::From(from), &mut all)) }
    }

    /// Combines everybody's data, element by element; all get the result. `Err(Count)` if the buffers differ in length.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{SystemOperation, traits::*};
    ///
    /// let world = universe.world();
    /// let mut sum = 0;
    /// world.all_reduce_into(&world.rank(), &mut sum, SystemOperation::sum())?;
    /// assert_eq!(sum, (0..world.size()).sum());
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn all_reduce_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation,
    {
        let (owned, from, to) = (self.owned(), source(send), target(receive));
        let op = owned.checked("all_reduce_into", operation.op(from.datatype))?;
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "all_reduce_into", call::all_reduce(Source::From(from), &to, &op)) }
    }

    /// Combines everybody's data, which has a block for each rank; each gets the result of its block.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{SystemOperation, traits::*};
    ///
    /// let world = universe.world();
    /// let all = vec![world.rank(); 2 * world.size() as usize];
    /// let mut mine = [0; 2];
    /// world.reduce_scatter_block_into(&all, &mut mine, SystemOperation::max())?;
    /// assert_eq!(mine, [world.size() - 1; 2]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn reduce_scatter_block_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation,
    {
        let (owned, from, to) = (self.owned(), source(send), target(receive));
        let op = owned.checked("reduce_scatter_block_into", operation.op(from.datatype))?;
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "reduce_scatter_block_into", call::reduce_scatter_block(owned.comm(), from, &to, &op)) }
    }

    /// Combines the data of the ranks up to this one.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{SystemOperation, traits::*};
    ///
    /// let world = universe.world();
    /// let mut before = 0;
    /// world.scan_into(&1, &mut before, SystemOperation::sum())?;
    /// assert_eq!(before, world.rank() + 1);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(never)]
    fn scan_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation,
    {
        let (owned, from, to) = (self.owned(), source(send), target(receive));
        let op = owned.checked("scan_into", operation.op(from.datatype))?;
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "scan_into", call::scan(Source::From(from), &to, &op)) }
    }

    /// Combines the data of the ranks below this one; rank 0's buffer stays as it is.
    #[inline(never)]
    fn exclusive_scan_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation,
    {
        let (owned, from, to) = (self.owned(), source(send), target(receive));
        let op = owned.checked("exclusive_scan_into", operation.op(from.datatype))?;
        // SAFETY: borrowed buffers, which cannot overlap.
        unsafe { now(owned, "exclusive_scan_into", call::exclusive_scan(Source::From(from), &to, &op)) }
    }
}

impl<C: IntraCommunicator + ?Sized> CommunicatorCollectives for C {}
