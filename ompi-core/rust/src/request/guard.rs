//! Requests that complete when they are dropped.

use super::{Loan, Request, Scope};
use crate::panics;

/// Waits for its request when it is dropped.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request::{self, WaitGuard}, traits::*};
///
/// let world = universe.world();
/// request::scope(|scope| {
///     let _sent = WaitGuard::from(world.this_process().immediate_send(scope, &[1u8, 2])?);
///     assert_eq!(world.any_process().receive_vec::<u8>()?.0, [1, 2]);
///     Ok::<(), ompi::Error>(())
/// })?;
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct WaitGuard<'a, D: Loan, S: Scope<'a>>(Option<Request<'a, D, S>>);

/// Cancels its request when it is dropped, and waits until that is done.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request::{self, CancelGuard}, traits::*};
///
/// let world = universe.world();
/// let mut never = 0u8;
/// request::scope(|scope| {
///     let receive = world.any_process().immediate_receive_into(scope, &mut never)?;
///     drop(CancelGuard::from(receive));
///     Ok::<(), ompi::Error>(())
/// })?;
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct CancelGuard<'a, D: Loan, S: Scope<'a>>(Option<Request<'a, D, S>>);

impl<'a, D: Loan, S: Scope<'a>> From<Request<'a, D, S>> for WaitGuard<'a, D, S> {
    fn from(request: Request<'a, D, S>) -> WaitGuard<'a, D, S> {
        WaitGuard(Some(request))
    }
}

impl<'a, D: Loan, S: Scope<'a>> From<Request<'a, D, S>> for CancelGuard<'a, D, S> {
    fn from(request: Request<'a, D, S>) -> CancelGuard<'a, D, S> {
        CancelGuard(Some(request))
    }
}

impl<'a, D: Loan, S: Scope<'a>> Drop for WaitGuard<'a, D, S> {
    fn drop(&mut self) {
        // Its scope completes it: the other rank may wait for what will not come.
        if panics::unwinding() {
            return;
        }
        // The error handler has run; who wants the error calls `wait`.
        let _ended = self.0.take().map(Request::wait);
    }
}

impl<'a, D: Loan, S: Scope<'a>> Drop for CancelGuard<'a, D, S> {
    fn drop(&mut self) {
        let request = self.0.take().inspect(|request| request.cancel()).filter(|_| !panics::unwinding());
        // As above.
        let _ended = request.map(Request::wait);
    }
}
