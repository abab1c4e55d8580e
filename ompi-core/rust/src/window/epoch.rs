//! Accesses.
#![allow(unsafe_code)] // hands lent buffers to the library

use super::handle::Handle;
use crate::collective::SystemOperation;
use crate::datatype::Equivalence;
use crate::error::{Error, Result};
use crate::raw;
use crate::topology::Rank;
use core::cell::Cell;
use core::marker::PhantomData;
use ompi_core::data::Data;
use ompi_core::error::Class;
use ompi_core::framework::op::Operation;
use ompi_core::framework::osc::Access;
use ompi_core::op::Op;
use ompi_core::win;

/// What may be done while an epoch is open. Places count values from the first one of the target. Buffers come from `'env`, outside of
/// the epoch, and are lent for `'scope`.
#[derive(Debug)]
pub struct Epoch<'scope, 'env: 'scope, T: Equivalence> {
    handle: &'scope Handle,
    values: PhantomData<T>,
    // Neither longer nor shorter: what is lent is lent until the epoch has ended.
    loans: PhantomData<Cell<(&'scope (), &'env ())>>,
}

impl<'scope, 'env, T: Equivalence> Epoch<'scope, 'env, T> {
    pub(super) fn of(handle: &'scope Handle) -> Epoch<'scope, 'env, T> {
        Epoch { handle, values: PhantomData, loans: PhantomData }
    }

    /// Writes values to a target.
    pub fn put(&'scope self, rank: Rank, at: usize, values: &'scope [T]) -> Result<()> {
        self.access("Epoch::put", Access::Put(raw::source(values)), rank, at, values.len())
    }

    /// Reads values of a target.
    pub fn get(&'scope self, rank: Rank, at: usize, values: &'scope mut [T]) -> Result<()> {
        let count = values.len();
        self.access("Epoch::get", Access::Get(raw::target(values)), rank, at, count)
    }

    /// Combines values into those of a target. Each is combined as if nobody else did anything meanwhile.
    pub fn accumulate(
        &'scope self,
        rank: Rank,
        at: usize,
        values: &'scope [T],
        operation: SystemOperation,
    ) -> Result<()> {
        let origin = raw::source(values);
        let operation = self.combined(operation, &origin)?;
        self.access("Epoch::accumulate", Access::Accumulate(origin, operation), rank, at, values.len())
    }

    /// Combines values into those of a target, and reads what was there before.
    pub fn get_accumulate(
        &'scope self,
        rank: Rank,
        at: usize,
        values: &'scope [T],
        before: &'scope mut [T],
        operation: SystemOperation,
    ) -> Result<()> {
        if values.len() != before.len() {
            let why = "there are as many values before as after";
            return Err(Error::new(Class::Count, "before", why));
        }
        let origin = raw::source(values);
        let operation = self.combined(operation, &origin)?;
        let access = Access::GetAccumulate(origin, raw::target(before), operation);
        self.access("Epoch::get_accumulate", access, rank, at, values.len())
    }

    /// Completes the accesses to a target so far, here and there, in an epoch of [`Window::lock`](super::Window::lock) or
    /// [`Window::lock_all`](super::Window::lock_all). Buffers stay
    /// lent.
    pub fn flush(&'scope self, rank: Rank) -> Result<()> {
        self.handle.checked("Epoch::flush", self.handle.object().flush(Some(rank)))
    }

    fn combined(&self, operation: SystemOperation, origin: &Data<'_>) -> Result<Operation> {
        let op = Op::Predefined(operation.operation());
        self.handle.checked("Epoch::accumulate", win::accumulated(&op, &[origin], origin))
    }

    fn access(&self, function: &'static str, access: Access<'_>, rank: Rank, at: usize, values: usize) -> Result<()> {
        let datatype = T::equivalent_datatype().0;
        let target = Data { at: core::ptr::null_mut(), count: values * T::COUNT, datatype };
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        // SAFETY: the buffers are lent for `'scope`, which no code outside of the epoch can end before `during` has closed it; a failure
        // to close it ends the job or leaves nothing under way.
        let done = unsafe { self.handle.object().access(access, rank, at, target, false) };
        self.handle.checked(function, done.map(drop))
    }
}
