//! Collectives with a root that go on after the call. MPI 5.0 §6.12.
#![allow(unsafe_code)] // hands lent buffers to the library

use super::Root;
use super::begin::{begin, lend, lend_one};
use super::call;
use super::operation::Operation;
use crate::Result;
use crate::datatype::{Buffer, BufferMut};
use crate::raw::source;
use crate::request::{Loan, Request, Scope};
use ompi_core::data::Source;

/// The methods of [`Root`], begun inside of a scope.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, traits::*};
///
/// let world = universe.world();
/// let mut seed = if world.rank() == 0 { 42u64 } else { 0 };
/// request::scope(|scope| {
///     let broadcast = world.process_at_rank(0).immediate_broadcast_into(scope, &mut seed)?;
///     broadcast.wait()
/// })?;
/// assert_eq!(seed, 42);
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait ImmediateRoot: Root {
    /// Begins [`broadcast_into`](Root::broadcast_into).
    fn immediate_broadcast_into<'a, Sc, R>(&self, scope: Sc, buffer: &'a mut R) -> Result<Request<'a, &'a mut R, Sc>>
    where
        Sc: Scope<'a>,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), (away, data)) = (self.root(), lend_one(buffer));
        let call = call::broadcast(owned.comm(), &data, root);
        // SAFETY: a buffer that is lent mutably.
        unsafe { begin((owned, scope), "immediate_broadcast_into", away, call) }
    }

    /// Begins [`gather_into`](Root::gather_into).
    fn immediate_gather_into<'a, Sc, S>(&self, scope: Sc, send: &'a S) -> Result<Request<'a, &'a S, Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
    {
        let (owned, root) = self.root();
        let call = call::gather_part(owned.comm(), source(send), root);
        // SAFETY: a lent buffer.
        unsafe { begin((owned, scope), "immediate_gather_into", send.away(), call) }
    }

    /// Begins [`gather_into_root`](Root::gather_into_root).
    fn immediate_gather_into_root<'a, Sc, S, R>(
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
        let ((owned, root), (away, from, mut all)) = (self.root(), lend(send, receive));
        let call = call::gather(owned.comm(), Source::From(from), &mut all, root);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { begin((owned, scope), "immediate_gather_into_root", away, call) }
    }

    /// Begins [`scatter_into`](Root::scatter_into).
    fn immediate_scatter_into<'a, Sc, R>(&self, scope: Sc, receive: &'a mut R) -> Result<Request<'a, &'a mut R, Sc>>
    where
        Sc: Scope<'a>,
        R: BufferMut + ?Sized,
    {
        let ((owned, root), (away, to)) = (self.root(), lend_one(receive));
        let call = call::scatter_part(owned.comm(), &to, root);
        // SAFETY: a buffer that is lent mutably.
        unsafe { begin((owned, scope), "immediate_scatter_into", away, call) }
    }

    /// Begins [`scatter_into_root`](Root::scatter_into_root).
    fn immediate_scatter_into_root<'a, Sc, S, R>(
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
        let ((owned, root), (away, mut all, to)) = (self.root(), lend(send, receive));
        let call = call::scatter(owned.comm(), &mut all, Some(&to), root);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { begin((owned, scope), "immediate_scatter_into_root", away, call) }
    }

    /// Begins [`reduce_into`](Root::reduce_into).
    fn immediate_reduce_into<'a, Sc, S, O>(
        &self,
        scope: Sc,
        send: &'a S,
        operation: O,
    ) -> Result<Request<'a, &'a S, Sc>>
    where
        Sc: Scope<'a>,
        S: Buffer + ?Sized,
        O: Operation + 'a,
    {
        let ((owned, root), from) = (self.root(), source(send));
        let op = owned.checked("immediate_reduce_into", operation.op(from.datatype))?;
        let call = call::reduce_part(owned.comm(), from, &op, root);
        // SAFETY: a lent buffer; so is what the operation captured.
        unsafe { begin((owned, scope), "immediate_reduce_into", send.away(), call) }
    }

    /// Begins [`reduce_into_root`](Root::reduce_into_root).
    fn immediate_reduce_into_root<'a, Sc, S, R, O>(
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
        let ((owned, root), (away, from, to)) = (self.root(), lend(send, receive));
        let op = owned.checked("immediate_reduce_into_root", operation.op(from.datatype))?;
        let call = call::reduce(owned.comm(), Source::From(from), &to, &op, root);
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured.
        unsafe { begin((owned, scope), "immediate_reduce_into_root", away, call) }
    }
}

impl<R: Root + ?Sized> ImmediateRoot for R {}
