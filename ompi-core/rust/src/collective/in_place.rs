//! Collectives with one buffer for both sides: MPI_IN_PLACE.
#![allow(unsafe_code)] // hands borrowed buffers to the library

use super::Root;
use super::begin::now;
use super::call;
use super::operation::Operation;
use crate::Result;
use crate::datatype::BufferMut;
use crate::raw::target;
use crate::topology::IntraCommunicator;
use ompi_core::data::Source::InPlace;

/// Collectives without a root whose buffer holds this rank's data, and then the result.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{SystemOperation, traits::*};
///
/// let world = universe.world();
/// let mut residual = 0.25;
/// world.all_reduce_in_place(&mut residual, SystemOperation::sum())?;
/// assert_eq!(residual, 0.25 * f64::from(world.size()));
///
/// let mut squares = vec![0; world.size() as usize];
/// squares[world.rank() as usize] = world.rank() * world.rank();
/// world.all_gather_in_place(&mut squares)?;
/// assert!((0..world.size()).map(|rank| rank * rank).eq(squares));
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait InPlaceCollectives: IntraCommunicator {
    /// Everybody's block to all; this rank's lies at its place.
    fn all_gather_in_place<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        let (owned, mut all) = (self.owned(), target(buffer));
        let call = call::all_gather(owned.comm(), InPlace, &mut all);
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "all_gather_in_place", call) }
    }

    /// From each to each a block; what comes replaces what goes.
    fn all_to_all_in_place<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        let (owned, mut all) = (self.owned(), target(buffer));
        let call = call::all_to_all(owned.comm(), InPlace, &mut all);
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "all_to_all_in_place", call) }
    }

    /// Combines everybody's data; all get the result.
    fn all_reduce_in_place<B: BufferMut + ?Sized, O: Operation>(&self, buffer: &mut B, operation: O) -> Result<()> {
        let (owned, to) = (self.owned(), target(buffer));
        let op = owned.checked("all_reduce_in_place", operation.op(to.datatype))?;
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "all_reduce_in_place", call::all_reduce(InPlace, &to, &op)) }
    }

    /// Combines everybody's blocks; this rank's result is the first block of the buffer then.
    fn reduce_scatter_block_in_place<B, O>(&self, buffer: &mut B, operation: O) -> Result<()>
    where
        B: BufferMut + ?Sized,
        O: Operation,
    {
        let (owned, mut all) = (self.owned(), target(buffer));
        let op = owned.checked("reduce_scatter_block_in_place", operation.op(all.datatype))?;
        let call = call::reduce_scatter_block_in_place(owned.comm(), &mut all, &op);
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "reduce_scatter_block_in_place", call) }
    }

    /// Combines the data of the ranks up to this one.
    fn scan_in_place<B: BufferMut + ?Sized, O: Operation>(&self, buffer: &mut B, operation: O) -> Result<()> {
        let (owned, to) = (self.owned(), target(buffer));
        let op = owned.checked("scan_in_place", operation.op(to.datatype))?;
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "scan_in_place", call::scan(InPlace, &to, &op)) }
    }

    /// Combines the data of the ranks below this one; rank 0's stays as it is.
    fn exclusive_scan_in_place<B: BufferMut + ?Sized, O: Operation>(&self, buffer: &mut B, operation: O) -> Result<()> {
        let (owned, to) = (self.owned(), target(buffer));
        let op = owned.checked("exclusive_scan_in_place", operation.op(to.datatype))?;
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "exclusive_scan_in_place", call::exclusive_scan(InPlace, &to, &op)) }
    }
}

impl<C: IntraCommunicator + ?Sized> InPlaceCollectives for C {}

/// What the root does whose own part stays in its buffer. The others call the methods of [`Root`].
pub trait InPlaceRoot: Root {
    /// Everybody's blocks to the root, whose own lies at its place.
    fn gather_in_place_root<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        let ((owned, root), mut all) = (self.root(), target(buffer));
        let call = call::gather(owned.comm(), InPlace, &mut all, root);
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "gather_in_place_root", call) }
    }

    /// A block of the root's data to each other process.
    fn scatter_in_place_root<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        let ((owned, root), mut all) = (self.root(), target(buffer));
        let call = call::scatter(owned.comm(), &mut all, None, root);
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "scatter_in_place_root", call) }
    }

    /// Combines everybody's data at the root, whose own lies in the buffer.
    fn reduce_in_place_root<B: BufferMut + ?Sized, O: Operation>(&self, buffer: &mut B, operation: O) -> Result<()> {
        let ((owned, root), to) = (self.root(), target(buffer));
        let op = owned.checked("reduce_in_place_root", operation.op(to.datatype))?;
        let call = call::reduce(owned.comm(), InPlace, &to, &op, root);
        // SAFETY: a buffer that is borrowed mutably.
        unsafe { now(owned, "reduce_in_place_root", call) }
    }
}

impl<R: Root + ?Sized> InPlaceRoot for R {}
