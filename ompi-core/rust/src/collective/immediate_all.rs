//! Collectives without a root that go on after the call. MPI 5.0 §6.12.
#![allow(unsafe_code)] // hands lent buffers to the library

use super::begin::{begin, lend};
use super::call;
use super::operation::Operation;
use crate::Result;
use crate::datatype::{Buffer, BufferMut};
use crate::request::{Request, Scope, StaticScope};
use crate::topology::IntraCommunicator;
use ompi_core::data::Source;
use ompi_core::framework::coll::Call;

/// The methods of [`CommunicatorCollectives`](super::CommunicatorCollectives), begun inside of a scope. All processes
/// begin them in the same order; all must be completed, by a wait or by the end of the scope.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{SystemOperation, request, traits::*};
///
/// let world = universe.world();
/// let (mine, mut sum) = ([1.5, 2.5], [0.0; 2]);
/// request::scope(|scope| {
///     let reduction = world.immediate_all_reduce_into(scope, &mine, &mut sum, SystemOperation::sum())?;
///     // … work that needs no sum …
///     reduction.wait()
/// })?;
/// assert_eq!(sum, mine.map(|one| one * f64::from(world.size())));
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait ImmediateCollectives: IntraCommunicator {
    /// Begins a [`barrier`](super::CommunicatorCollectives::barrier).
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// universe.world().immediate_barrier()?.wait()?;
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn immediate_barrier(&self) -> Result<Request<'static, (), StaticScope>> {
        // SAFETY: there is no data.
        unsafe { begin((self.owned(), StaticScope), "immediate_barrier", (), Ok(Call::Barrier)) }
    }

    /// Begins [`all_gather_into`](super::CommunicatorCollectives::all_gather_into).
    fn immediate_all_gather_into<'a, Sc, S, R>(
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
        let (away, from, mut all) = lend(send, receive);
        let call = call::all_gather(self.owned().comm(), Source::From(from), &mut all);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { begin((self.owned(), scope), "immediate_all_gather_into", away, call) }
    }

    /// Begins [`all_to_all_into`](super::CommunicatorCollectives::all_to_all_into).
    fn immediate_all_to_all_into<'a, Sc, S, R>(
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
        let (away, from, mut all) = lend(send, receive);
        let call = call::all_to_all(self.owned().comm(), Source::From(from), &mut all);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { begin((self.owned(), scope), "immediate_all_to_all_into", away, call) }
    }

    /// Begins [`all_reduce_into`](super::CommunicatorCollectives::all_reduce_into).
    fn immediate_all_reduce_into<'a, Sc, S, R, O>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation + 'a,
    {
        let (owned, (away, from, to)) = (self.owned(), lend(send, receive));
        let op = owned.checked("immediate_all_reduce_into", operation.op(from.datatype))?;
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured.
        unsafe {
            begin((owned, scope), "immediate_all_reduce_into", away, call::all_reduce(Source::From(from), &to, &op))
        }
    }

    /// Begins [`reduce_scatter_block_into`](super::CommunicatorCollectives::reduce_scatter_block_into).
    fn immediate_reduce_scatter_block_into<'a, Sc, S, R, O>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation + 'a,
    {
        let (owned, (away, from, to)) = (self.owned(), lend(send, receive));
        let op = owned.checked("immediate_reduce_scatter_block_into", operation.op(from.datatype))?;
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured.
        unsafe {
            begin(
                (owned, scope),
                "immediate_reduce_scatter_block_into",
                away,
                call::reduce_scatter_block(owned.comm(), from, &to, &op),
            )
        }
    }

    /// Begins [`scan_into`](super::CommunicatorCollectives::scan_into).
    fn immediate_scan_into<'a, Sc, S, R, O>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation + 'a,
    {
        let (owned, (away, from, to)) = (self.owned(), lend(send, receive));
        let op = owned.checked("immediate_scan_into", operation.op(from.datatype))?;
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured.
        unsafe { begin((owned, scope), "immediate_scan_into", away, call::scan(Source::From(from), &to, &op)) }
    }

    /// Begins [`exclusive_scan_into`](super::CommunicatorCollectives::exclusive_scan_into).
    fn immediate_exclusive_scan_into<'a, Sc, S, R, O>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<Request<'a, (&'a S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation + 'a,
    {
        let (owned, (away, from, to)) = (self.owned(), lend(send, receive));
        let op = owned.checked("immediate_exclusive_scan_into", operation.op(from.datatype))?;
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured.
        unsafe {
            begin(
                (owned, scope),
                "immediate_exclusive_scan_into",
                away,
                call::exclusive_scan(Source::From(from), &to, &op),
            )
        }
    }
}

impl<C: IntraCommunicator + ?Sized> ImmediateCollectives for C {}
