//! Where messages come from.

use super::status::one;
use super::{ANY_TAG, Message, Status, Tag};
use crate::Result;
use crate::datatype::{BufferMut, Equivalence};
use crate::raw;
use crate::request::{ReceiveFuture, Request, Scope, begin_receive};
use crate::topology::{AnyProcess, Owned, Process, Rank};
use alloc::vec::Vec;
use ompi_core::framework::pml::{self, MatchContext};

/// A process, or any, from which messages can be received. Methods without a tag take messages with every tag.
pub trait Source {
    /// The communicator and the rank; the first is of no use to programs.
    #[doc(hidden)]
    fn source(&self) -> (&Owned, Rank);

    /// Receives one value. `Err(Count)` if the message is something else, `Err(Truncate)` if it is longer.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// # universe.set_buffer_size(4096)?;
    /// # let world = universe.world();
    /// # let neighbour = world.this_process();
    /// # neighbour.buffered_send(&2.5)?;
    /// use ompi::traits::*;
    ///
    /// let (value, status) = world.any_process().receive::<f64>()?;
    /// assert_eq!((value, status.source_rank()), (2.5, neighbour.rank()));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn receive<T: Equivalence>(&self) -> Result<(T, Status)> {
        self.receive_with_tag(ANY_TAG)
    }

    /// As [`receive`](Self::receive), a message with a tag.
    #[inline]
    fn receive_with_tag<T: Equivalence>(&self, tag: Tag) -> Result<(T, Status)> {
        let (owned, rank) = self.source();
        let mut value = raw::zeroed::<T>();
        let received = raw::receive(owned.comm(), &mut value, rank, tag).map(Status);
        let received = received.and_then(|status| one::<T>(&status).map(|()| status));
        owned.checked("receive", received).map(|status| (value, status))
    }

    /// Receives into a buffer; the status tells how much. `Err(Truncate)` if the message is longer.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// # universe.set_buffer_size(4096)?;
    /// # let world = universe.world();
    /// # world.this_process().buffered_send(&[1u8, 2])?;
    /// use ompi::traits::*;
    ///
    /// let mut bytes = [0u8; 8];
    /// let status = world.any_process().receive_into(&mut bytes)?;
    /// assert_eq!(status.count::<u8>(), Some(2));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    #[inline(always)]
    fn receive_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<Status> {
        self.receive_into_with_tag(buffer, ANY_TAG)
    }

    /// As [`receive_into`](Self::receive_into), a message with a tag.
    #[inline(always)]
    fn receive_into_with_tag<B: BufferMut + ?Sized>(&self, buffer: &mut B, tag: Tag) -> Result<Status> {
        let (owned, rank) = self.source();
        owned.checked("receive_into", raw::receive(owned.comm(), buffer, rank, tag)).map(Status)
    }

    /// Receives a message of whatever length. `Err(Count)` if it is no whole number of values.
    fn receive_vec<T: Equivalence>(&self) -> Result<(Vec<T>, Status)> {
        self.receive_vec_with_tag(ANY_TAG)
    }

    /// As [`receive_vec`](Self::receive_vec), a message with a tag.
    fn receive_vec_with_tag<T: Equivalence>(&self, tag: Tag) -> Result<(Vec<T>, Status)> {
        self.matched_probe_with_tag(tag)?.receive_vec()
    }

    /// Waits for a message without receiving it.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// # universe.set_buffer_size(4096)?;
    /// # let world = universe.world();
    /// # world.this_process().buffered_send_with_tag(&[1u8, 2], 4)?;
    /// use ompi::traits::*;
    ///
    /// let status = world.any_process().probe()?;
    /// assert_eq!((status.tag(), status.count::<u8>()), (4, Some(2)));
    /// assert!(world.any_process().immediate_probe_with_tag(5)?.is_none());
    /// let (bytes, _) = world.any_process().receive_vec::<u8>()?;
    /// # assert_eq!(bytes, [1, 2]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn probe(&self) -> Result<Status> {
        self.probe_with_tag(ANY_TAG)
    }

    /// As [`probe`](Self::probe), for a message with a tag.
    fn probe_with_tag(&self, tag: Tag) -> Result<Status> {
        let (owned, rank) = self.source();
        let found = raw::checked_any_tag(tag).and_then(|tag| pml::selected().probe(rank, tag, match_context(owned)));
        owned.checked("probe", found).map(Status)
    }

    /// Looks for a message without receiving it.
    fn immediate_probe(&self) -> Result<Option<Status>> {
        self.immediate_probe_with_tag(ANY_TAG)
    }

    /// As [`immediate_probe`](Self::immediate_probe), for a message with a tag.
    fn immediate_probe_with_tag(&self, tag: Tag) -> Result<Option<Status>> {
        let (owned, rank) = self.source();
        let found = raw::checked_any_tag(tag).and_then(|tag| pml::selected().iprobe(rank, tag, match_context(owned)));
        Ok(owned.checked("immediate_probe", found)?.map(Status))
    }

    /// Waits for a message and takes it: no other receive will get it.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// # universe.set_buffer_size(4096)?;
    /// # let world = universe.world();
    /// # world.this_process().buffered_send(&[1u8, 2])?;
    /// use ompi::traits::*;
    ///
    /// let message = world.any_process().matched_probe()?;
    /// let mut bytes = vec![0u8; message.status().bytes() as usize];
    /// message.receive_into(&mut bytes)?;
    /// # assert_eq!(bytes, [1, 2]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn matched_probe(&self) -> Result<Message> {
        self.matched_probe_with_tag(ANY_TAG)
    }

    /// As [`matched_probe`](Self::matched_probe), for a message with a tag.
    fn matched_probe_with_tag(&self, tag: Tag) -> Result<Message> {
        let (owned, rank) = self.source();
        let found = raw::checked_any_tag(tag).and_then(|tag| pml::selected().mprobe(rank, tag, match_context(owned)));
        owned.checked("matched_probe", found).map(|matched| Message::new(owned, matched))
    }

    /// Takes a message if there is one.
    fn immediate_matched_probe(&self) -> Result<Option<Message>> {
        self.immediate_matched_probe_with_tag(ANY_TAG)
    }

    /// As [`immediate_matched_probe`](Self::immediate_matched_probe), a message with a tag.
    fn immediate_matched_probe_with_tag(&self, tag: Tag) -> Result<Option<Message>> {
        let (owned, rank) = self.source();
        let found = raw::checked_any_tag(tag).and_then(|tag| pml::selected().improbe(rank, tag, match_context(owned)));
        Ok(owned.checked("immediate_matched_probe", found)?.map(|matched| Message::new(owned, matched)))
    }

    /// Begins to receive one value.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let answer = world.any_process().immediate_receive::<u64>()?;
    /// let answer = answer.r#try()?.expect_err("nobody sent");
    /// world.this_process().send(&42u64)?;
    /// assert_eq!(answer.get()?.0, 42);
    /// drop(world.any_process().immediate_receive::<u64>()?);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn immediate_receive<T: Equivalence>(&self) -> Result<ReceiveFuture<T>> {
        self.immediate_receive_with_tag(ANY_TAG)
    }

    /// As [`immediate_receive`](Self::immediate_receive), a message with a tag.
    fn immediate_receive_with_tag<T: Equivalence>(&self, tag: Tag) -> Result<ReceiveFuture<T>> {
        let (owned, rank) = self.source();
        owned.checked("immediate_receive", ReceiveFuture::begin(owned.comm(), rank, tag))
    }

    /// Begins to receive; the buffer is on loan to the scope.
    fn immediate_receive_into<'a, Sc, B>(&self, scope: Sc, buffer: &'a mut B) -> Result<Request<'a, &'a mut B, Sc>>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        self.immediate_receive_into_with_tag(scope, buffer, ANY_TAG)
    }

    /// As [`immediate_receive_into`](Self::immediate_receive_into), a message with a tag.
    #[inline]
    fn immediate_receive_into_with_tag<'a, Sc, B>(
        &self,
        scope: Sc,
        buffer: &'a mut B,
        tag: Tag,
    ) -> Result<Request<'a, &'a mut B, Sc>>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        let (owned, rank) = self.source();
        owned.checked("immediate_receive_into", begin_receive(scope, owned.comm(), buffer, (rank, tag)))
    }
}

impl Source for Process<'_> {
    #[inline(always)]
    fn source(&self) -> (&Owned, Rank) {
        self.parts()
    }
}

impl Source for AnyProcess<'_> {
    #[inline(always)]
    fn source(&self) -> (&Owned, Rank) {
        self.parts()
    }
}

fn match_context(owned: &Owned) -> MatchContext<'_> {
    MatchContext { comm: owned.comm(), collective: false }
}
