//! Communicators that several threads use. MPI 5.0 §11.6.
#![allow(unsafe_code)] // the promise that threads may share it

use super::Communicator;
use core::ops::Deref;
use opal_core::sync::threads_possible;

/// A communicator for several threads, which exists only if MPI was started for them.
///
/// ```
/// # use test_singleton as _;
/// use ompi::{Threading, topology::Shared, traits::*};
///
/// let (universe, _) = ompi::initialize_with_threading(Threading::Multiple).unwrap();
/// let world = Shared::new(universe.world()).expect("MPI was started for several threads");
/// std::thread::scope(|scope| {
///     scope.spawn(|| world.process_at_rank(0).send(&7).unwrap());
///     assert_eq!(world.any_process().receive::<i32>().unwrap().0, 7);
/// });
/// ```
///
/// Without it, communicators stay on their thread:
///
/// ```compile_fail
/// # let universe = test_singleton::universe();
/// # use ompi::traits::*;
/// let world = universe.world();
/// std::thread::scope(|scope| {
///     scope.spawn(|| world.rank());
/// });
/// ```
#[derive(Debug)]
pub struct Shared<C: Communicator>(C);

impl<C: Communicator> Shared<C> {
    /// Lends a communicator to all threads. `Err` gives it back if MPI was started for one thread:
    /// [`Threading::Multiple`](crate::Threading) is needed.
    pub fn new(communicator: C) -> Result<Shared<C>, C> {
        // From then on everything in the library is locked, at once and for ever.
        if threads_possible() { Ok(Shared(communicator)) } else { Err(communicator) }
    }
}

impl<C: Communicator> Deref for Shared<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0
    }
}

// SAFETY: several threads may call the library, as `new` has seen; the communicators of this crate are handles of its
// objects and change nothing of their own.
unsafe impl<C: Communicator + Sealed> Sync for Shared<C> {}
// SAFETY: as above.
unsafe impl<C: Communicator + Sealed> Send for Shared<C> {}

/// The communicators of this crate.
pub trait Sealed {}

impl Sealed for super::SimpleCommunicator {}
impl Sealed for super::CartesianCommunicator {}
impl Sealed for super::GraphCommunicator {}
impl Sealed for super::DistGraphCommunicator {}
impl Sealed for super::InterCommunicator {}
