//! The window and its epochs.

use super::Epoch;
use super::handle::Handle;
use crate::datatype::Equivalence;
use crate::error::{Error, ErrorHandler, Result, end};
use crate::life::{Life, OneThread};
use crate::panics;
use crate::topology::{Communicator, Rank};
use alloc::sync::Arc;
use core::marker::PhantomData;
use ompi_core::errhandler;
use ompi_core::error::{Class, Fault};
use ompi_core::framework::osc::Flavor;
use ompi_core::win::{self, Wish};

/// Values of each process of a communicator that the others can access. Freed when it is dropped, which all processes do together.
#[derive(Debug)]
pub struct Window<T> {
    handle: Handle,
    len: usize,
    // MPI is in use as long as the window.
    _life: Arc<Life>,
    values: PhantomData<T>,
    one_thread: OneThread,
}

/// Who else may have an epoch with the same target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Nobody.
    Exclusive,
    /// Others that share it.
    Shared,
}

impl<T: Equivalence> Window<T> {
    /// A window with `len` values of this process, zeros at first. Collective; the numbers may differ.
    pub fn allocate<C: Communicator + ?Sized>(comm: &C, len: usize) -> Result<Window<T>> {
        let owned = comm.owned();
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or_else(|| Error::new(Class::Size, "len", "so many values fit no memory"))?;
        let wish = Wish {
            flavor: Flavor::Allocate,
            base: core::ptr::null_mut(),
            bytes,
            unit: size_of::<T>().max(1) as i64,
            info: None,
        };
        let handle = owned.checked("Window::allocate", win::create(owned.comm(), &wish))?;
        let life = owned.life().clone();
        Ok(Window { handle: Handle::of(handle), len, _life: life, values: PhantomData, one_thread: PhantomData })
    }

    /// Values of this process.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether this process has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of processes.
    pub fn size(&self) -> Rank {
        self.handle.object().size() as Rank
    }

    /// Puts an error handler in force.
    pub fn set_error_handler(&self, handler: ErrorHandler) {
        let place = &self.handle.object().errhandler;
        errhandler::set(place, errhandler::HandlerKind::Win, handler.handle())
            .expect("predefined error handlers are for all objects");
    }

    /// An epoch that all processes open and close together. When it returns, what all of them did in it is done.
    pub fn fence<'env, R>(
        &mut self,
        body: impl for<'scope> FnOnce(&'scope Epoch<'scope, 'env, T>) -> Result<R>,
    ) -> Result<R> {
        self.handle.checked("Window::fence", self.handle.object().fence(NOPRECEDE))?;
        self.during(body, |window| window.handle.object().fence(NOSUCCEED))
    }

    /// An epoch with one process as its target. When it returns, what was done in it is done.
    pub fn lock<'env, R>(
        &mut self,
        rank: Rank,
        lock: Lock,
        body: impl for<'scope> FnOnce(&'scope Epoch<'scope, 'env, T>) -> Result<R>,
    ) -> Result<R> {
        let kind = if lock == Lock::Exclusive { LOCK_EXCLUSIVE } else { LOCK_SHARED };
        self.handle.checked("Window::lock", self.handle.object().lock(kind, rank, 0))?;
        self.during(body, |window| window.handle.object().unlock(rank))
    }

    /// An epoch with all processes as its targets, which others may share.
    pub fn lock_all<'env, R>(
        &mut self,
        body: impl for<'scope> FnOnce(&'scope Epoch<'scope, 'env, T>) -> Result<R>,
    ) -> Result<R> {
        self.handle.checked("Window::lock_all", self.handle.object().lock_all(0))?;
        self.during(body, |window| window.handle.object().unlock_all())
    }

    /// Runs what an epoch is for, and ends it whatever happens: buffers are lent until then.
    fn during<'env, R>(
        &self,
        body: impl for<'scope> FnOnce(&'scope Epoch<'scope, 'env, T>) -> Result<R>,
        close: impl Fn(&Self) -> Result<(), Fault>,
    ) -> Result<R> {
        let closing = Closing { window: self, close };
        let result = body(&Epoch::of(&self.handle));
        let Closing { window, close } = &closing;
        let closed = window.handle.checked("closing an epoch of a window", close(window));
        core::mem::forget(closing);
        closed.and(result)
    }
}

/// Ends an epoch that a panic leaves.
struct Closing<'a, T: Equivalence, F: Fn(&Window<T>) -> Result<(), Fault>> {
    window: &'a Window<T>,
    close: F,
}

impl<T: Equivalence, F: Fn(&Window<T>) -> Result<(), Fault>> Drop for Closing<'_, T, F> {
    fn drop(&mut self) {
        if let Err(fault) = (self.close)(self.window) {
            end("closing an epoch of a window", &fault.into());
        }
    }
}

impl<T> Drop for Window<T> {
    fn drop(&mut self) {
        // The other ranks know nothing of a panic: waiting for them could take for ever.
        if panics::unwinding() {
            panics::end_job();
        }
        if let Err(fault) = self.handle.free() {
            end("freeing a window", &fault.into());
        }
    }
}

/// MPI_MODE_NOPRECEDE: no access came before.
const NOPRECEDE: i32 = 2048;
/// MPI_MODE_NOSUCCEED: none comes after.
const NOSUCCEED: i32 = 16384;
/// MPI_LOCK_EXCLUSIVE.
const LOCK_EXCLUSIVE: i32 = 301;
/// MPI_LOCK_SHARED.
const LOCK_SHARED: i32 = 302;
