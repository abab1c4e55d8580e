//! How long buffers are on loan.

use crate::error::end;
use crate::panics;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;
use ompi_core::request::{NULL, handles};
use opal_core::message;

/// Where operations are begun: their buffers are borrowed for `'a`, which does not end before they do.
///
/// [`LocalScope`] sees to that by completing what is left; [`StaticScope`] because its buffers live for ever.
pub trait Scope<'a>: Copy + sealed::Keeper {}

/// What both scopes do with requests.
pub(super) mod sealed {
    /// Of no use to programs.
    pub trait Keeper {
        /// Notes a request; the number is for `forget`.
        fn keep(&self, handle: usize) -> usize;
        /// The request was completed.
        fn forget(&self, ticket: usize);
        /// Nobody will complete the request.
        fn abandon(&self, handle: usize);
    }
}

/// The scope that [`scope`] gives to its closure.
pub struct LocalScope<'a> {
    // Handles of requests that were not completed; NULL for those that were.
    open: RefCell<Vec<usize>>,
    returned: Cell<bool>,
    // Invariant: a scope for longer loans is no scope for shorter ones.
    loans: PhantomData<Cell<&'a mut ()>>,
}

/// Runs a closure that begins operations, and completes what it leaves under way before it returns: what the closure
/// dropped or forgot is waited for, as is what it could not end because of a panic (receives are cancelled then). What a panic
/// leaves under way for ten seconds ends the job: the other rank most likely waits for this one.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, traits::*};
///
/// let world = universe.world();
/// let mut into = [0u16; 2];
/// request::scope(|scope| {
///     std::mem::forget(world.any_process().immediate_receive_into(scope, &mut into)?);
///     world.this_process().send(&[5u16, 6])
/// })?;
/// assert_eq!(into, [5, 6], "it was waited for");
/// # Ok::<(), ompi::Error>(())
/// ```
pub fn scope<'a, F, R>(body: F) -> R
where
    F: FnOnce(&LocalScope<'a>) -> R,
{
    let scope = LocalScope { open: RefCell::new(Vec::new()), returned: Cell::new(false), loans: PhantomData };
    let result = body(&scope);
    scope.returned.set(true);
    result
}

impl Drop for LocalScope<'_> {
    fn drop(&mut self) {
        complete(self.open.get_mut(), !self.returned.get());
    }
}

/// Completes what is left of these requests; `panicking` asks for an early end.
pub(super) fn complete(open: &mut [usize], panicking: bool) {
    for handle in open.iter_mut().filter(|handle| **handle != NULL) {
        if panicking {
            // What cannot be cancelled ends by itself.
            let _asked = handles::cancel(*handle);
            wait_patiently(*handle);
        }
        match handles::wait(handle) {
            Ok(status) if status.error != 0 => {
                let error = crate::Error::from(status.fault());
                message!("an operation that nobody waited for failed: {error}");
            }
            Ok(_) => {}
            // The buffer is the library's for ever, and its owner is about to have it back.
            Err(fault) => end("waiting at the end of a scope", &fault.into()),
        }
        // A persistent one is only inactive.
        if *handle != NULL
            && let Err(fault) = handles::free(handle)
        {
            end("freeing a request at the end of a scope", &fault.into());
        }
    }
}

/// For the end of an operation that a panic left under way; ends the job if there is none.
fn wait_patiently(handle: usize) {
    let begun = crate::time();
    while let Ok(None) = handles::get_status(handle) {
        if crate::time() - begun > PATIENCE_S {
            panics::end_job();
        }
    }
}

impl sealed::Keeper for &LocalScope<'_> {
    #[inline]
    fn keep(&self, handle: usize) -> usize {
        let mut open = self.open.borrow_mut();
        open.push(handle);
        open.len() - 1
    }

    #[inline]
    fn forget(&self, ticket: usize) {
        let mut open = self.open.borrow_mut();
        open[ticket] = NULL;
        while open.last() == Some(&NULL) {
            open.pop();
        }
    }

    fn abandon(&self, _handle: usize) {}
}

impl<'a> Scope<'a> for &LocalScope<'a> {}

impl fmt::Debug for LocalScope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open.borrow().iter().filter(|handle| **handle != NULL).count();
        f.debug_struct("LocalScope").field("open", &open).finish()
    }
}

/// The scope of buffers that live for ever. A request that is dropped goes on by itself.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request::StaticScope, traits::*};
///
/// let world = universe.world();
/// let into: &'static mut [i32; 1] = Box::leak(Box::new([0]));
/// let receive = world.any_process().immediate_receive_into(StaticScope, into)?;
/// world.this_process().send(&[8])?;
/// assert_eq!(receive.wait_for_data()?, &[8]);
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StaticScope;

impl sealed::Keeper for StaticScope {
    fn keep(&self, _handle: usize) -> usize {
        0
    }

    fn forget(&self, _ticket: usize) {}

    fn abandon(&self, handle: usize) {
        let mut handle = handle;
        // A collective cannot be freed; its slot stays, as that of what was leaked.
        let _freed = handles::free(&mut handle);
    }
}

impl Scope<'static> for StaticScope {}

const PATIENCE_S: f64 = 10.0;
