//! One operation under way.
#![allow(unsafe_code)] // loans

use super::{Loan, Scope};
use crate::datatype::{Buffer, BufferMut};
use crate::error::raise;
use crate::point_to_point::Status;
use crate::raw::{self, Begun};
use crate::{Error, Result};
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use ompi_core::abi::Scope as Object;
use ompi_core::comm::{self, Communicator};
use ompi_core::error::{Fault, Result as Inner};
use ompi_core::framework::pml::Mode;
use ompi_core::request::{done, handles};
use ompi_core::status;

/// An operation under way whose buffers `D` are on loan for `'a`.
///
/// Dropping or forgetting it leaves the operation to its scope.
pub struct Request<'a, D: Loan, S: Scope<'a>> {
    handle: usize,
    // None for what was done at once.
    ticket: Option<usize>,
    data: D::Away,
    scope: S,
    loan: PhantomData<(Loans<'a>, D)>,
}

// On one thread, and for just this long.
type Loans<'a> = *mut &'a ();

impl<'a, D: Loan, S: Scope<'a>> Request<'a, D, S> {
    #[inline]
    pub(crate) fn new(scope: S, begun: Begun, data: D::Away) -> Request<'a, D, S> {
        let Begun(request) = begun;
        let ticket = request != done();
        let handle = request.into_handle();
        let ticket = ticket.then(|| scope.keep(handle));
        Request { handle, ticket, data, scope, loan: PhantomData }
    }

    /// Waits until it has ended, and gives the buffers back to whoever lent them to the scope.
    #[inline]
    pub fn wait(self) -> Result<Status> {
        self.ended().map(|(status, _)| status)
    }

    /// As [`wait`](Self::wait), without the status.
    pub fn wait_without_status(self) -> Result<()> {
        self.wait().map(drop)
    }

    /// As [`wait`](Self::wait); gives the buffers to the caller, still inside of the scope.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{request, traits::*};
    ///
    /// let world = universe.world();
    /// let mut into = [0; 2];
    /// request::scope(|scope| {
    ///     let receive = world.any_process().immediate_receive_into(scope, &mut into)?;
    ///     world.this_process().send(&[3, 4])?;
    ///     let into = receive.wait_for_data()?;
    ///     into.reverse();
    ///     let again = world.any_process().immediate_receive_into(scope, &mut into[..1])?;
    ///     world.this_process().send(&9)?;
    ///     again.wait()
    /// })?;
    /// assert_eq!(into, [9, 3]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn wait_for_data(self) -> Result<D> {
        self.ended().map(|(_, data)| data)
    }

    /// Looks whether it has ended: `Ok(Ok(status))` if so, else `Ok(Err(request))`.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{request, traits::*};
    ///
    /// let world = universe.world();
    /// let mut into = 0;
    /// request::scope(|scope| {
    ///     let receive = world.any_process().immediate_receive_into(scope, &mut into)?;
    ///     let mut receive = receive.test()?.expect_err("nobody sent");
    ///     world.this_process().send(&7)?;
    ///     loop {
    ///         match receive.test()? {
    ///             Ok(status) => break Ok::<_, ompi::Error>(status),
    ///             Err(still) => receive = still,
    ///         }
    ///     }
    /// })?;
    /// assert_eq!(into, 7);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn test(self) -> Result<core::result::Result<Status, Self>> {
        let mut handle = self.handle;
        match handles::test(&mut handle) {
            Ok(None) => Ok(Err(self)),
            Ok(Some(status)) => {
                let this = ManuallyDrop::new(self);
                this.forget();
                checked("test", status).map(Ok)
            }
            Err(fault) => Err(raise(Object::None, "test", fault)),
        }
    }

    /// Takes it out of its scope: from now on the caller sees to it that it ends within `'a`.
    pub(super) fn leave(self) -> (usize, D::Away) {
        let this = ManuallyDrop::new(self);
        this.forget();
        (this.handle, this.data)
    }

    /// Asks to cancel it, which helps a receive that nothing has matched. It must be waited for all the same;
    /// [`Status::is_cancelled`] tells what came of it.
    pub fn cancel(&self) {
        // What is over already or cannot be cancelled ends by itself.
        let _asked = handles::cancel(self.handle);
    }

    #[inline]
    fn ended(self) -> Result<(Status, D)> {
        let this = ManuallyDrop::new(self);
        let mut handle = this.handle;
        match handles::wait(&mut handle) {
            Ok(status) => {
                this.forget();
                let status = checked("wait", status)?;
                // SAFETY: it has ended, `this` is gone, and the loan lasts for 'a.
                Ok((status, unsafe { D::back(this.data) }))
            }
            // It may still be under way: the scope keeps it.
            Err(fault) => Err(raise(Object::None, "wait", fault)),
        }
    }

    #[inline]
    fn forget(&self) {
        if let Some(ticket) = self.ticket {
            self.scope.forget(ticket);
        }
    }
}

impl<'a, D: Loan, S: Scope<'a>> Drop for Request<'a, D, S> {
    fn drop(&mut self) {
        self.scope.abandon(self.handle);
    }
}

impl<'a, D: Loan, S: Scope<'a>> fmt::Debug for Request<'a, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("handle", &self.handle).finish_non_exhaustive()
    }
}

/// The status for the caller; a failure of the operation runs the handler of its communicator.
#[inline]
pub(super) fn checked(function: &'static str, status: status::Status) -> Result<Status> {
    if status.error == 0 { Ok(Status(status)) } else { Err(failed(function, status.fault())) }
}

#[cold]
fn failed(function: &'static str, fault: Fault) -> Error {
    let on = fault.context().and_then(comm::of_context).map_or(Object::None, |(handle, _)| Object::Comm(handle));
    raise(on, function, fault)
}

/// Begins to send inside of a scope.
#[inline]
pub(crate) fn begin_send<'a, Sc, B>(
    scope: Sc,
    comm: &Communicator,
    buffer: &'a B,
    (to, tag): (i32, i32),
    mode: Mode,
) -> Inner<Request<'a, &'a B, Sc>>
where
    Sc: Scope<'a>,
    B: Buffer + ?Sized,
{
    // SAFETY: the loan is for 'a, and `Request::new` gives the operation to the scope, which ends it before that.
    let begun = unsafe { raw::begin_send(comm, buffer, to, tag, mode)? };
    Ok(Request::new(scope, begun, buffer.away()))
}

/// Begins to receive inside of a scope.
#[inline]
pub(crate) fn begin_receive<'a, Sc, B>(
    scope: Sc,
    comm: &Communicator,
    buffer: &'a mut B,
    (from, tag): (i32, i32),
) -> Inner<Request<'a, &'a mut B, Sc>>
where
    Sc: Scope<'a>,
    B: BufferMut + ?Sized,
{
    // The address comes first: one taken later would end the claim of the one that the library has.
    let away = buffer.away();
    // SAFETY: the loan that became this address is for 'a.
    let lent = unsafe { <&'a mut B>::back(away) };
    // SAFETY: as in `begin_send`.
    let begun = unsafe { raw::begin_receive(comm, lent, from, tag)? };
    Ok(Request::new(scope, begun, away))
}
