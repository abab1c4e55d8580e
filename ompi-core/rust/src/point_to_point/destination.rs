//! Where messages go.

use super::Tag;
use crate::Result;
use crate::datatype::Buffer;
use crate::raw;
use crate::request::{Loan, Request, Scope, begin_send};
use crate::topology::{Owned, Process, Rank};
use ompi_core::framework::pml::Mode;
use ompi_core::request::done;

/// A process to which messages can be sent. Methods without a tag send with tag 0.
pub trait Destination {
    /// The communicator and the rank; the first is of no use to programs.
    #[doc(hidden)]
    fn destination(&self) -> (&Owned, Rank);

    /// Sends; returns when the buffer may be changed, which may be before the message is received.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{request, traits::*};
    ///
    /// let world = universe.world();
    /// let mut row = vec![0i64; 3];
    /// request::scope(|scope| {
    ///     let receive = world.this_process().immediate_receive_into(scope, &mut row[..])?;
    ///     world.this_process().send(&[1i64, 2, 3])?;
    ///     receive.wait()
    /// })?;
    /// assert_eq!(row, [1, 2, 3]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    ///
    /// What cannot be received safely cannot be sent:
    ///
    /// ```compile_fail
    /// # let universe = test_singleton::universe();
    /// # use ompi::traits::*;
    /// universe.world().this_process().send(&true);
    /// ```
    #[inline(always)]
    fn send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<()> {
        self.send_with_tag(buffer, 0)
    }

    /// As [`send`](Self::send) with a tag. `Err(Tag)` if it is negative.
    #[inline(always)]
    fn send_with_tag<B: Buffer + ?Sized>(&self, buffer: &B, tag: Tag) -> Result<()> {
        send(self, "send", (buffer, tag, Mode::Standard))
    }

    /// Copies the message to the room of [`set_buffer_size`](crate::Universe::set_buffer_size) and returns. `Err(Buffer)`
    /// if there is not enough.
    fn buffered_send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<()> {
        self.buffered_send_with_tag(buffer, 0)
    }

    /// As [`buffered_send`](Self::buffered_send) with a tag.
    fn buffered_send_with_tag<B: Buffer + ?Sized>(&self, buffer: &B, tag: Tag) -> Result<()> {
        let (owned, rank) = self.destination();
        owned.checked("buffered_send", raw::send_buffered(owned.comm(), buffer, rank, tag))
    }

    /// Sends; returns only after the receive has begun.
    fn synchronous_send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<()> {
        self.synchronous_send_with_tag(buffer, 0)
    }

    /// As [`synchronous_send`](Self::synchronous_send) with a tag.
    fn synchronous_send_with_tag<B: Buffer + ?Sized>(&self, buffer: &B, tag: Tag) -> Result<()> {
        send(self, "synchronous_send", (buffer, tag, Mode::Synchronous))
    }

    /// Sends to a receive that is known to have begun already; else it is an error of the program.
    fn ready_send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<()> {
        self.ready_send_with_tag(buffer, 0)
    }

    /// As [`ready_send`](Self::ready_send) with a tag.
    fn ready_send_with_tag<B: Buffer + ?Sized>(&self, buffer: &B, tag: Tag) -> Result<()> {
        send(self, "ready_send", (buffer, tag, Mode::Ready))
    }

    /// Begins to send; the buffer is on loan to the scope.
    fn immediate_send<'a, Sc, B>(&self, scope: Sc, buffer: &'a B) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        self.immediate_send_with_tag(scope, buffer, 0)
    }

    /// As [`immediate_send`](Self::immediate_send) with a tag.
    #[inline]
    fn immediate_send_with_tag<'a, Sc, B>(&self, scope: Sc, buffer: &'a B, tag: Tag) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        begin(self, "immediate_send", scope, (buffer, tag, Mode::Standard))
    }

    /// Begins a [`synchronous_send`](Self::synchronous_send).
    fn immediate_synchronous_send<'a, Sc, B>(&self, scope: Sc, buffer: &'a B) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        self.immediate_synchronous_send_with_tag(scope, buffer, 0)
    }

    /// As [`immediate_synchronous_send`](Self::immediate_synchronous_send) with a tag.
    fn immediate_synchronous_send_with_tag<'a, Sc, B>(
        &self,
        scope: Sc,
        buffer: &'a B,
        tag: Tag,
    ) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        begin(self, "immediate_synchronous_send", scope, (buffer, tag, Mode::Synchronous))
    }

    /// Begins a [`ready_send`](Self::ready_send).
    fn immediate_ready_send<'a, Sc, B>(&self, scope: Sc, buffer: &'a B) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        self.immediate_ready_send_with_tag(scope, buffer, 0)
    }

    /// As [`immediate_ready_send`](Self::immediate_ready_send) with a tag.
    fn immediate_ready_send_with_tag<'a, Sc, B>(
        &self,
        scope: Sc,
        buffer: &'a B,
        tag: Tag,
    ) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        begin(self, "immediate_ready_send", scope, (buffer, tag, Mode::Ready))
    }

    /// Begins a [`buffered_send`](Self::buffered_send), which is done at once.
    fn immediate_buffered_send<'a, Sc, B>(&self, scope: Sc, buffer: &'a B) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        self.immediate_buffered_send_with_tag(scope, buffer, 0)
    }

    /// As [`immediate_buffered_send`](Self::immediate_buffered_send) with a tag.
    fn immediate_buffered_send_with_tag<'a, Sc, B>(
        &self,
        scope: Sc,
        buffer: &'a B,
        tag: Tag,
    ) -> Result<Request<'a, &'a B, Sc>>
    where
        Sc: Scope<'a>,
        B: Buffer + ?Sized,
    {
        self.buffered_send_with_tag(buffer, tag)?;
        Ok(Request::new(scope, raw::Begun(done()), buffer.away()))
    }
}

#[inline(always)]
fn send<D, B>(to: &D, function: &'static str, (buffer, tag, mode): (&B, Tag, Mode)) -> Result<()>
where
    D: Destination + ?Sized,
    B: Buffer + ?Sized,
{
    let (owned, rank) = to.destination();
    owned.checked(function, raw::send(owned.comm(), buffer, rank, tag, mode))
}

#[inline]
fn begin<'a, D, Sc, B>(
    to: &D,
    function: &'static str,
    scope: Sc,
    (buffer, tag, mode): (&'a B, Tag, Mode),
) -> Result<Request<'a, &'a B, Sc>>
where
    D: Destination + ?Sized,
    Sc: Scope<'a>,
    B: Buffer + ?Sized,
{
    let (owned, rank) = to.destination();
    owned.checked(function, begin_send(scope, owned.comm(), buffer, (rank, tag), mode))
}

impl Destination for Process<'_> {
    #[inline(always)]
    fn destination(&self) -> (&Owned, Rank) {
        self.parts()
    }
}
