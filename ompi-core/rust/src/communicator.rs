//! Starting MPI, communicators and their processes.

use crate::Error;
use ompi_core::comm;
use ompi_core::init::{self, ThreadLevel};

/// MPI in use; ends it when dropped.
#[derive(Debug)]
pub struct Universe(());

/// Starts MPI for one thread; `None` if it was started before in this process.
pub fn initialize() -> Option<Universe> {
    initialize_with_threading(ThreadLevel::Single).map(|(universe, _)| universe)
}

/// Starts MPI; the second value is the thread level in force.
pub fn initialize_with_threading(wanted: ThreadLevel) -> Option<(Universe, ThreadLevel)> {
    init::init(wanted).ok().map(|level| (Universe(()), level))
}

impl Universe {
    /// All processes of the job.
    pub fn world(&self) -> Communicator<'_> {
        Communicator { inner: comm::world(), universe: core::marker::PhantomData }
    }

    /// This process alone.
    pub fn myself(&self) -> Communicator<'_> {
        Communicator { inner: comm::itself(), universe: core::marker::PhantomData }
    }
}

impl Drop for Universe {
    fn drop(&mut self) {
        crate::or_end("MPI_Finalize", init::finalize().map_err(Error::from));
    }
}

/// A communicator, for as long as MPI is in use.
#[derive(Clone, Copy)]
pub struct Communicator<'a> {
    pub(crate) inner: &'a comm::Communicator,
    universe: core::marker::PhantomData<&'a Universe>,
}

impl<'a> Communicator<'a> {
    /// This process's rank.
    pub fn rank(&self) -> i32 {
        self.inner.rank as i32
    }

    /// Number of processes.
    pub fn size(&self) -> i32 {
        self.inner.size() as i32
    }

    /// The process of a rank.
    ///
    /// # Panics
    /// If the communicator has no such rank.
    pub fn process_at_rank(&self, rank: i32) -> Process<'a> {
        assert!((0..self.size()).contains(&rank), "rank {rank} of a communicator of {} processes", self.size());
        Process { comm: *self, rank }
    }

    /// Whoever sends.
    pub fn any_process(&self) -> AnyProcess<'a> {
        AnyProcess { comm: *self }
    }

    /// This process.
    pub fn this_process(&self) -> Process<'a> {
        Process { comm: *self, rank: self.rank() }
    }
}

/// One process of a communicator.
#[derive(Clone, Copy)]
pub struct Process<'a> {
    pub(crate) comm: Communicator<'a>,
    pub(crate) rank: i32,
}

impl Process<'_> {
    /// Its rank.
    pub fn rank(&self) -> i32 {
        self.rank
    }
}

/// Any process of a communicator, as a source.
#[derive(Clone, Copy)]
pub struct AnyProcess<'a> {
    pub(crate) comm: Communicator<'a>,
}

/// What is known of a received message.
#[derive(Clone, Copy, Debug)]
pub struct Status(pub(crate) ompi_core::status::Status);

impl Status {
    /// Who sent it.
    pub fn source_rank(&self) -> i32 {
        self.0.source
    }

    /// Its tag.
    pub fn tag(&self) -> i32 {
        self.0.tag
    }

    /// Number of elements of type `T`; `None` if its bytes are no multiple of one.
    pub fn count<T: crate::Equivalence>(&self) -> Option<usize> {
        let bytes = self.0.bytes() as usize;
        bytes.is_multiple_of(size_of::<T>()).then(|| bytes / size_of::<T>())
    }
}
