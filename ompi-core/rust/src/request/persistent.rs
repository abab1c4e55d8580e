//! Operations that are set up once and started many times. MPI 5.0 §3.9 and §6.13.
#![allow(unsafe_code)] // loans

use super::operation::checked;
use super::{Loan, Scope};
use crate::Result;
use crate::collective::Operation;
use crate::collective::{call, lend};
use crate::datatype::{BufferMut, shared};
use crate::error::raise;
use crate::point_to_point::{ANY_TAG, Destination, Source, Status, Tag};
use crate::raw::{self, checked_any_tag, checked_tag};
use crate::topology::{IntraCommunicator, Owned};
use core::fmt;
use core::marker::PhantomData;
use ompi_core::abi::Scope as Object;
use ompi_core::data::{Data, Source as From};
use ompi_core::error::Result as Inner;
use ompi_core::framework::coll::Call;
use ompi_core::framework::pml::Mode;
use ompi_core::request::persistent::{self, Direction};
use ompi_core::request::{Request, collective, handles};

/// An operation on the buffers `D`, which are on loan for `'a`; inactive until it is started. Between a completion and the
/// next start the buffers are [there](Self::buffers).
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, traits::*};
///
/// let world = universe.world();
/// let (mut out, mut into) = ([0; 1], [0; 1]);
/// request::scope(|scope| {
///     let mut send = world.this_process().send_init(scope, &mut out)?;
///     let mut receive = world.any_process().receive_init(scope, &mut into)?;
///     for step in 1..4 {
///         *send.buffers() = [10 * step];
///         receive.start()?;
///         send.start()?;
///         receive.wait()?;
///         send.wait()?;
///         assert_eq!(*receive.buffers(), [10 * step]);
///     }
///     Ok::<(), ompi::Error>(())
/// })?;
/// # Ok::<(), ompi::Error>(())
/// ```
///
/// What is under direction cannot be started again while its buffers are looked at:
///
/// ```compile_fail
/// # let universe = test_singleton::universe();
/// # use ompi::{request, traits::*};
/// # let world = universe.world();
/// # let mut into = [0; 1];
/// request::scope(|scope| {
///     let mut receive = world.any_process().receive_init(scope, &mut into)?;
///     let seen = receive.buffers();
///     receive.start()?;
///     seen[0] = 1;
///     Ok::<(), ompi::Error>(())
/// })?;
/// # Ok::<(), ompi::Error>(())
/// ```
pub struct PersistentRequest<'a, D: Loan, S: Scope<'a>> {
    handle: usize,
    data: D::Away,
    // Whether it was started and not completed.
    active: bool,
    loan: PhantomData<(*mut &'a (), D, S)>,
}

impl<'a, D: Loan, S: Scope<'a>> PersistentRequest<'a, D, S> {
    fn new(scope: S, request: Request, data: D::Away) -> PersistentRequest<'a, D, S> {
        let handle = request.into_handle();
        // The scope ends it, whatever becomes of this.
        scope.keep(handle);
        PersistentRequest { handle, data, active: false, loan: PhantomData }
    }

    /// Begins the operation. `Err(Request)` if it is under direction.
    pub fn start(&mut self) -> Result<()> {
        handles::start(self.handle).map_err(|fault| raise(Object::None, "start", fault))?;
        self.active = true;
        Ok(())
    }

    /// Waits until it has ended; at once, with an empty status, if it was not started.
    pub fn wait(&mut self) -> Result<Status> {
        let mut handle = self.handle;
        let status = handles::wait(&mut handle).map_err(|fault| raise(Object::None, "wait", fault))?;
        self.active = false;
        checked("wait", status)
    }

    /// The status if it has ended.
    pub fn test(&mut self) -> Result<Option<Status>> {
        let mut handle = self.handle;
        match handles::test(&mut handle).map_err(|fault| raise(Object::None, "test", fault))? {
            None => Ok(None),
            Some(status) => {
                self.active = false;
                checked("test", status).map(Some)
            }
        }
    }

    /// Whether it was started and not completed.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Its buffers.
    ///
    /// # Panics
    /// If it is active: wait first.
    pub fn buffers(&mut self) -> D::Shorter<'_> {
        assert!(!self.active, "the operation is under direction and has its buffers; wait first");
        // SAFETY: no operation has them, and this is borrowed mutably as long as they are lent.
        unsafe { D::lend(self.data) }
    }
}

impl<'a, D: Loan, S: Scope<'a>> fmt::Debug for PersistentRequest<'a, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PersistentRequest").field("active", &self.active).finish_non_exhaustive()
    }
}

/// A persistent operation on one buffer, or its failure.
type One<'a, B, Sc> = Result<PersistentRequest<'a, &'a mut B, Sc>>;

/// Persistent sends.
pub trait PersistentDestination: Destination {
    /// Sets up a [`send`](Destination::send).
    fn send_init<'a, Sc: Scope<'a>, B: BufferMut + ?Sized>(&self, scope: Sc, buffer: &'a mut B) -> One<'a, B, Sc> {
        self.send_init_with_tag(scope, buffer, 0)
    }

    /// Sets up a [`send_with_tag`](Destination::send_with_tag).
    fn send_init_with_tag<'a, Sc, B>(&self, scope: Sc, buffer: &'a mut B, tag: Tag) -> One<'a, B, Sc>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        let (owned, rank) = self.destination();
        prepare(owned, "send_init", scope, buffer, (rank, checked_tag(tag)), Direction::Send(Mode::Standard))
    }

    /// Sets up a [`synchronous_send_with_tag`](Destination::synchronous_send_with_tag).
    fn synchronous_send_init_with_tag<'a, Sc, B>(&self, scope: Sc, buffer: &'a mut B, tag: Tag) -> One<'a, B, Sc>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        let (owned, rank) = self.destination();
        let direction = Direction::Send(Mode::Synchronous);
        prepare(owned, "synchronous_send_init", scope, buffer, (rank, checked_tag(tag)), direction)
    }

    /// Sets up a [`ready_send_with_tag`](Destination::ready_send_with_tag).
    fn ready_send_init_with_tag<'a, Sc, B>(&self, scope: Sc, buffer: &'a mut B, tag: Tag) -> One<'a, B, Sc>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        let (owned, rank) = self.destination();
        prepare(owned, "ready_send_init", scope, buffer, (rank, checked_tag(tag)), Direction::Send(Mode::Ready))
    }

    /// Sets up a [`buffered_send_with_tag`](Destination::buffered_send_with_tag).
    fn buffered_send_init_with_tag<'a, Sc, B>(&self, scope: Sc, buffer: &'a mut B, tag: Tag) -> One<'a, B, Sc>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        let (owned, rank) = self.destination();
        prepare(owned, "buffered_send_init", scope, buffer, (rank, checked_tag(tag)), Direction::Buffered)
    }
}

impl<D: Destination + ?Sized> PersistentDestination for D {}

/// Persistent receives.
pub trait PersistentSource: Source {
    /// Sets up a [`receive_into`](Source::receive_into).
    fn receive_init<'a, Sc: Scope<'a>, B: BufferMut + ?Sized>(&self, scope: Sc, buffer: &'a mut B) -> One<'a, B, Sc> {
        self.receive_init_with_tag(scope, buffer, ANY_TAG)
    }

    /// Sets up a [`receive_into_with_tag`](Source::receive_into_with_tag).
    fn receive_init_with_tag<'a, Sc, B>(&self, scope: Sc, buffer: &'a mut B, tag: Tag) -> One<'a, B, Sc>
    where
        Sc: Scope<'a>,
        B: BufferMut + ?Sized,
    {
        let (owned, rank) = self.source();
        prepare(owned, "receive_init", scope, buffer, (rank, checked_any_tag(tag)), Direction::Receive)
    }
}

impl<S: Source + ?Sized> PersistentSource for S {}

fn prepare<'a, Sc: Scope<'a>, B: BufferMut + ?Sized>(
    owned: &Owned,
    function: &'static str,
    scope: Sc,
    buffer: &'a mut B,
    (peer, tag): (i32, Inner<Tag>),
    direction: Direction,
) -> One<'a, B, Sc> {
    let datatype = shared(buffer.as_datatype());
    let away = buffer.away();
    // SAFETY: just taken; the reference ends when it has become data.
    let lent = unsafe { <&'a mut B>::back(away) };
    let Data { at, count, .. } = raw::target(lent);
    let prepared = tag.and_then(|tag| {
        let operation = persistent::Transfer { at, count, datatype, peer, tag, comm: owned.handle(), direction };
        // SAFETY: the loan is for 'a, within which the scope ends the request; while it is active nobody has the buffer.
        unsafe { persistent::prepare(operation) }
    });
    Ok(PersistentRequest::new(scope, owned.checked(function, prepared)?, away))
}

/// Persistent collectives: MPI 5.0 §6.13. All processes set them up in the same order.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{SystemOperation, request, traits::*};
///
/// let world = universe.world();
/// let (mut mine, mut sum) = (0.0, 0.0);
/// request::scope(|scope| {
///     let mut total = world.all_reduce_init(scope, &mut mine, &mut sum, SystemOperation::sum())?;
///     for step in [0.5, 0.25] {
///         *total.buffers().0 = step;
///         total.start()?;
///         total.wait()?;
///         assert_eq!(*total.buffers().1, step * f64::from(world.size()));
///     }
///     Ok::<(), ompi::Error>(())
/// })?;
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait PersistentCollectives: IntraCommunicator {
    /// Sets up a [`barrier`](crate::collective::CommunicatorCollectives::barrier).
    fn barrier_init<'a, Sc: Scope<'a>>(&self, scope: Sc) -> Result<PersistentRequest<'a, (), Sc>> {
        // SAFETY: there is no data.
        unsafe { prepare_call(self.owned(), "barrier_init", scope, (), Ok(Call::Barrier)) }
    }

    /// Sets up an [`all_gather_into`](crate::collective::CommunicatorCollectives::all_gather_into).
    fn all_gather_init<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentRequest<'a, (&'a mut S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: BufferMut + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, (away, from, mut all)) = (self.owned(), lend_both(send, receive));
        let call = call::all_gather(owned.comm(), From::From(from), &mut all);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { prepare_call(owned, "all_gather_init", scope, away, call) }
    }

    /// Sets up an [`all_to_all_into`](crate::collective::CommunicatorCollectives::all_to_all_into).
    fn all_to_all_init<'a, Sc, S, R>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentRequest<'a, (&'a mut S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: BufferMut + ?Sized,
        R: BufferMut + ?Sized,
    {
        let (owned, (away, from, mut all)) = (self.owned(), lend_both(send, receive));
        let call = call::all_to_all(owned.comm(), From::From(from), &mut all);
        // SAFETY: lent buffers, which cannot overlap.
        unsafe { prepare_call(owned, "all_to_all_init", scope, away, call) }
    }

    /// Sets up an [`all_reduce_into`](crate::collective::CommunicatorCollectives::all_reduce_into).
    fn all_reduce_init<'a, Sc, S, R, O>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<PersistentRequest<'a, (&'a mut S, &'a mut R), Sc>>
    where
        Sc: Scope<'a>,
        S: BufferMut + ?Sized,
        R: BufferMut + ?Sized,
        O: Operation + 'a,
    {
        let (owned, (away, from, to)) = (self.owned(), lend_both(send, receive));
        let op = owned.checked("all_reduce_init", operation.op(from.datatype))?;
        // SAFETY: lent buffers, which cannot overlap; so is what the operation captured.
        unsafe { prepare_call(owned, "all_reduce_init", scope, away, call::all_reduce(From::From(from), &to, &op)) }
    }
}

impl<C: IntraCommunicator + ?Sized> PersistentCollectives for C {}

type Both<'a, S, R> = ((*mut S, *mut R), Data<'a>, Data<'a>);

fn lend_both<'a, S, R>(send: &'a mut S, receive: &'a mut R) -> Both<'a, S, R>
where
    S: BufferMut + ?Sized,
    R: BufferMut + ?Sized,
{
    let send = send.away();
    // SAFETY: just taken; the reference ends when it has become data.
    let ((_, receive), from, to) = lend(unsafe { &*send }, receive);
    ((send, receive), from, to)
}

/// # Safety
/// The call's data are the buffers that `away` was made of, lent for `'a`: sources readable, targets writable, without
/// overlap. What an operation of the user captured lives as long.
unsafe fn prepare_call<'a, D: Loan, Sc: Scope<'a>>(
    owned: &Owned,
    function: &'static str,
    scope: Sc,
    away: D::Away,
    call: Inner<Call<'_>>,
) -> Result<PersistentRequest<'a, D, Sc>> {
    // SAFETY: the caller's promise; the scope ends the request within 'a, and while it is active nobody has the buffers.
    let prepared = call.and_then(|call| unsafe { collective::prepare(owned.handle(), None, call) });
    Ok(PersistentRequest::new(scope, owned.checked(function, prepared)?, away))
}
