//! Starting and ending MPI, and what it says of this process. MPI 5.0 §9 and §11.

use crate::life::{Life, OneThread};
use crate::topology::{InterCommunicator, Owned, SimpleCommunicator};
use crate::{Error, Result};
use crate::{panics, raw};
use alloc::string::String;
use alloc::sync::Arc;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, Ordering};
use ompi_core::buffer::Owner;
use ompi_core::comm;
use ompi_core::init::{self, ThreadLevel};
use opal_core::framework::timer;

/// How many threads may call MPI: MPI_THREAD_….
pub use ompi_core::init::ThreadLevel as Threading;

/// MPI in use by the world model.
#[derive(Debug)]
pub struct Universe {
    life: Arc<Life>,
    here: OneThread,
}

/// Starts MPI for one thread; `None` if it was started before in this process.
///
/// ```
/// # use test_singleton as _;
/// let universe = ompi::initialize().unwrap();
/// assert!(ompi::initialize().is_none());
/// ```
pub fn initialize() -> Option<Universe> {
    initialize_with_threading(Threading::Single).map(|(universe, _)| universe)
}

/// Starts MPI; the second value is the thread level in force.
///
/// ```
/// # use test_singleton as _;
/// use ompi::Threading;
///
/// let (universe, level) = ompi::initialize_with_threading(Threading::Multiple).unwrap();
/// assert!(level >= Threading::Funneled && universe.threading() == level);
/// ```
pub fn initialize_with_threading(wanted: Threading) -> Option<(Universe, Threading)> {
    let level = init::init(wanted).ok()?;
    panics::note();
    Some((Universe { life: Arc::new(Life::World), here: PhantomData }, level))
}

impl Universe {
    /// All processes of the job: MPI_COMM_WORLD.
    pub fn world(&self) -> SimpleCommunicator {
        SimpleCommunicator::of(Owned::predefined(comm::WORLD_HANDLE, self.life.clone()))
    }

    /// This process alone: MPI_COMM_SELF.
    pub fn myself(&self) -> SimpleCommunicator {
        SimpleCommunicator::of(Owned::predefined(comm::SELF_HANDLE, self.life.clone()))
    }

    /// The processes that had this job started, if any did: the first time; `None` afterwards. See [`crate::dynamic`].
    pub fn parent(&self) -> Option<InterCommunicator> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let handle = ompi_core::dynamic::parent();
        if handle == comm::NULL || TAKEN.swap(true, Ordering::Relaxed) {
            return None;
        }
        Some(InterCommunicator::of(Owned::made(handle, self.life.clone())))
    }

    /// The thread level in force.
    pub fn threading(&self) -> Threading {
        threading()
    }

    /// Gives buffered sends room for `bytes`, in place of the room that they had; 0 takes it away. Waits until what is in
    /// the old room has left. Each message needs its own length and the standard's MPI_BSEND_OVERHEAD.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// universe.set_buffer_size(4096)?;
    /// let me = universe.world().rank();
    /// let world = universe.world();
    /// world.process_at_rank(me).buffered_send(&[1u8, 2, 3])?;
    /// assert_eq!(world.any_process().receive_vec::<u8>()?.0, [1, 2, 3]);
    /// universe.set_buffer_size(0)?;
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn set_buffer_size(&mut self, bytes: usize) -> Result<()> {
        raw::replace_buffer(Owner::Process, bytes).map_err(Error::from)
    }
}

/// Seconds since some time in the past: MPI_Wtime.
///
/// ```
/// # let universe = test_singleton::universe();
/// let start = ompi::time();
/// assert!(ompi::time() >= start && ompi::environment::time_resolution() < 0.001);
/// ```
pub fn time() -> f64 {
    timer::ticks() as f64 / timer::frequency() as f64
}

/// Seconds between two readings of [`time`]: MPI_Wtick.
pub fn time_resolution() -> f64 {
    1.0 / timer::frequency() as f64
}

/// The name of this machine.
pub fn processor_name() -> String {
    init::processor_name()
}

/// The version of this library.
///
/// ```
/// assert!(ompi::environment::library_version().starts_with("ompi-rs"));
/// ```
pub fn library_version() -> String {
    init::library_version()
}

/// The version of the standard: number and part.
pub fn version() -> (i32, i32) {
    (5, 0)
}

/// The thread level in force.
pub fn threading() -> Threading {
    ThreadLevel::from_int(init::thread_level()).unwrap_or(Threading::Single)
}
