//! Many operations under way, of which one waits for some. MPI 5.0 §3.7.5.
#![allow(unsafe_code)] // loans

use super::operation::checked;
use super::scope::complete;
use super::{Loan, LocalScope, Request, Scope, scope};
use crate::error::raise;
use crate::point_to_point::Status;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use ompi_core::abi::Scope as Object;
use ompi_core::error::{Class, Fault};
use ompi_core::request::NULL;
use ompi_core::request::handles::{self, Any};
use ompi_core::status;

/// Operations whose buffers `D` are of one type, in the order in which they were added.
pub struct RequestCollection<'a, D: Loan> {
    // NULL for those that have ended.
    handles: Vec<usize>,
    data: Vec<D::Away>,
    returned: bool,
    loans: PhantomData<(Cell<&'a mut ()>, D)>,
}

/// One that has ended: its place in the collection, its status, its buffers.
pub type Completed<D> = (usize, Status, D);

/// As [`scope()`], with a collection for about `capacity` requests.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, traits::*};
///
/// let world = universe.world();
/// let (numbers, mut heard) = ([1, 2, 3], [0; 3]);
/// request::multiple_scope(3, |scope, receives| {
///     for one in heard.iter_mut() {
///         receives.add(world.any_process().immediate_receive_into(scope, one)?);
///     }
///     for one in &numbers {
///         world.this_process().send(one)?;
///     }
///     while let Some((place, status, number)) = receives.wait_any()? {
///         assert_eq!((status.source_rank(), place as i32 + 1), (0, *number));
///     }
///     Ok::<(), ompi::Error>(())
/// })?;
/// assert_eq!(heard, numbers);
/// # Ok::<(), ompi::Error>(())
/// ```
pub fn multiple_scope<'a, D, F, R>(capacity: usize, body: F) -> R
where
    D: Loan + 'a,
    F: FnOnce(&LocalScope<'a>, &mut RequestCollection<'a, D>) -> R,
{
    scope(|scope| {
        let (handles, data) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        let mut collection = RequestCollection { handles, data, returned: false, loans: PhantomData };
        let result = body(scope, &mut collection);
        collection.returned = true;
        result
    })
}

/// Waits for all of these, and gives their statuses in the same order. All have ended when it returns, also when it returns
/// the first failure.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, traits::*};
///
/// let world = universe.world();
/// let mut heard = [0u8; 2];
/// request::scope(|scope| {
///     let receives: Vec<_> = heard
///         .iter_mut()
///         .map(|one| world.any_process().immediate_receive_into(scope, one))
///         .collect::<Result<_, _>>()?;
///     world.this_process().send(&7u8)?;
///     world.this_process().send(&8u8)?;
///     assert_eq!(request::wait_all(receives)?.len(), 2);
///     Ok::<(), ompi::Error>(())
/// })?;
/// assert_eq!(heard, [7, 8]);
/// # Ok::<(), ompi::Error>(())
/// ```
pub fn wait_all<'a, D: Loan, S: Scope<'a>>(
    requests: impl IntoIterator<Item = Request<'a, D, S>>,
) -> Result<Vec<Status>> {
    let ended: Vec<Result<Status>> = requests.into_iter().map(Request::wait).collect();
    ended.into_iter().collect()
}

impl<'a, D: Loan> RequestCollection<'a, D> {
    /// Adds an operation, and gives its place.
    pub fn add<S: Scope<'a>>(&mut self, request: Request<'a, D, S>) -> usize {
        let (handle, data) = request.leave();
        self.handles.push(handle);
        self.data.push(data);
        self.handles.len() - 1
    }

    /// Number of operations that were not completed.
    pub fn incomplete(&self) -> usize {
        self.handles.iter().filter(|handle| **handle != NULL).count()
    }

    /// Waits for one of them; `None` if there is none left.
    pub fn wait_any(&mut self) -> Result<Option<Completed<D>>> {
        let ended = handles::wait_any(&mut self.handles).map_err(|fault| failed("wait_any", fault))?;
        ended.map(|(place, status)| self.completed("wait_any", place, status)).transpose()
    }

    /// One of them if one has ended.
    pub fn test_any(&mut self) -> Result<Option<Completed<D>>> {
        match handles::test_any(&mut self.handles).map_err(|fault| failed("test_any", fault))? {
            Any::One(place, status) => self.completed("test_any", place, status).map(Some),
            Any::None | Any::Pending => Ok(None),
        }
    }

    /// Waits until at least one has ended, and gives those that have; none if there is none left. All that are given have
    /// ended when it returns the first failure.
    pub fn wait_some(&mut self) -> Result<Vec<Completed<D>>> {
        self.some("wait_some", handles::wait_some)
    }

    /// Those that have ended.
    pub fn test_some(&mut self) -> Result<Vec<Completed<D>>> {
        self.some("test_some", handles::test_some)
    }

    /// Waits for all of them. All have ended when it returns the first failure.
    pub fn wait_all(&mut self) -> Result<Vec<Completed<D>>> {
        let mut all = Vec::with_capacity(self.incomplete());
        let mut first = None;
        for place in 0..self.handles.len() {
            if self.handles[place] == NULL {
                continue;
            }
            let status = handles::wait(&mut self.handles[place]).map_err(|fault| failed("wait_all", fault))?;
            match self.completed("wait_all", place, status) {
                Ok(one) => all.push(one),
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(all), Err)
    }

    fn some<F>(&mut self, function: &'static str, call: F) -> Result<Vec<Completed<D>>>
    where
        F: FnOnce(&mut [usize], &mut [i32], Option<&mut [status::Status]>, &mut Option<usize>) -> Inner,
    {
        let length = self.handles.len();
        let (mut places, mut statuses) = (vec![0; length], vec![status::Status::EMPTY; length]);
        let mut count = None;
        match call(&mut self.handles, &mut places, Some(&mut statuses), &mut count) {
            // Which of them failed their statuses say.
            Err(fault) if fault.get() != Class::InStatus as i32 => return Err(failed(function, fault)),
            _ => {}
        }
        let ended = places.into_iter().zip(statuses).take(count.unwrap_or(0));
        let ended: Vec<_> = ended.map(|(place, status)| self.completed(function, place as usize, status)).collect();
        ended.into_iter().collect()
    }

    /// One that has just ended.
    fn completed(&self, function: &'static str, place: usize, status: status::Status) -> Result<Completed<D>> {
        let status = checked(function, status)?;
        // SAFETY: it has just ended, which it does once, and the loan lasts for 'a.
        Ok((place, status, unsafe { D::back(self.data[place]) }))
    }
}

type Inner = ompi_core::error::Result<()>;

#[cold]
fn failed(function: &'static str, fault: Fault) -> Error {
    raise(Object::None, function, fault)
}

impl<D: Loan> Drop for RequestCollection<'_, D> {
    fn drop(&mut self) {
        complete(&mut self.handles, !self.returned);
    }
}

impl<D: Loan> fmt::Debug for RequestCollection<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, incomplete) = (self.handles.len(), self.incomplete());
        f.debug_struct("RequestCollection").field("all", &all).field("incomplete", &incomplete).finish()
    }
}
