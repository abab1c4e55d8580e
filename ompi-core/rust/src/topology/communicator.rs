//! Methods of all communicators.

use super::{AnyProcess, Group, Owned, Process, Rank};
use crate::error::ErrorHandler;
use crate::info::Info;
use alloc::format;
use alloc::string::String;
use ompi_core::errhandler;
use ompi_core::{abi, init};

/// A group of processes in a context of its own: messages of one communicator never meet those of another.
///
/// Ranks are those of the other group if it is an [`InterCommunicator`](super::InterCommunicator).
pub trait Communicator {
    /// What every communicator is made of; of no use to programs.
    #[doc(hidden)]
    fn owned(&self) -> &Owned;

    /// This process's rank in its group.
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.owned().comm().rank as Rank
    }

    /// Number of processes in this process's group.
    #[inline(always)]
    fn size(&self) -> Rank {
        self.owned().comm().size() as Rank
    }

    /// Number of processes to which one can send: those of the other group of an intercommunicator.
    fn target_size(&self) -> Rank {
        self.owned().comm().peer_count() as Rank
    }

    /// The process of a rank.
    ///
    /// # Panics
    /// If the communicator has no such rank.
    #[inline(always)]
    fn process_at_rank(&self, rank: Rank) -> Process<'_> {
        Process::new(self.owned(), rank)
    }

    /// The process of a rank, or nobody: for neighbours that [`shift`](super::CartesianCommunicator::shift) names.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let nobody = world.process_or_null(None);
    /// nobody.send(&1.0)?;
    /// let mut halo = [7.0];
    /// assert_eq!(nobody.receive_into(&mut halo)?.count::<f64>(), Some(0));
    /// assert_eq!(halo, [7.0]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the communicator has no such rank.
    fn process_or_null(&self, rank: Option<Rank>) -> Process<'_> {
        match rank {
            Some(rank) => self.process_at_rank(rank),
            None => Process::null(self.owned()),
        }
    }

    /// Whoever sends.
    #[inline(always)]
    fn any_process(&self) -> AnyProcess<'_> {
        AnyProcess::new(self.owned())
    }

    /// The group that this process is in.
    fn group(&self) -> Group {
        Group::of(self.owned().comm().group.clone(), self.owned().life().clone())
    }

    /// How it compares with another one.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{topology::CommunicatorRelation, traits::*};
    ///
    /// let world = universe.world();
    /// assert_eq!(world.compare(&universe.world()), CommunicatorRelation::Identical);
    /// assert_eq!(world.compare(&world.duplicate()?), CommunicatorRelation::Congruent);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn compare<C: Communicator + ?Sized>(&self, other: &C) -> CommunicatorRelation {
        let (one, two) = (self.owned().comm(), other.owned().comm());
        if core::ptr::eq(one, two) {
            return CommunicatorRelation::Identical;
        }
        CommunicatorRelation::of(abi::comm::compare(one, two))
    }

    /// Its name, which messages about errors tell.
    fn name(&self) -> String {
        self.owned().comm().name()
    }

    /// Names it; what is longer than 127 bytes is cut.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// assert_eq!(world.name(), "MPI_COMM_WORLD");
    /// let halo = world.duplicate()?;
    /// halo.set_name("halo");
    /// assert_eq!(halo.name(), "halo");
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn set_name(&self, name: &str) {
        self.owned().comm().set_name(name[..name.floor_char_boundary(MAX_NAME)].into());
    }

    /// The hints in use.
    fn info(&self) -> Info {
        Info::of(self.owned().comm().hints.info())
    }

    /// Gives it hints; those that are not known are ignored. Collective.
    fn set_info(&self, info: &Info) {
        self.owned().comm().hints.update(info.inner());
    }

    /// Puts an error handler in force.
    fn set_error_handler(&self, handler: ErrorHandler) {
        let place = &self.owned().comm().errhandler;
        errhandler::set(place, errhandler::HandlerKind::Comm, handler.handle())
            .expect("predefined error handlers are for all objects");
    }

    /// Ends the job with a status.
    fn abort(&self, status: i32) -> ! {
        init::abort(status, &format!("abort was called on {} with status {status}", self.name()))
    }
}

const MAX_NAME: usize = 127;

/// How two communicators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommunicatorRelation {
    /// They are the same.
    Identical,
    /// The same processes with the same ranks, another context.
    Congruent,
    /// The same processes with other ranks.
    Similar,
    /// Other processes.
    Unequal,
}

impl CommunicatorRelation {
    /// MPI_IDENT to MPI_UNEQUAL.
    fn of(value: i32) -> CommunicatorRelation {
        match value {
            201 => CommunicatorRelation::Identical,
            202 => CommunicatorRelation::Congruent,
            203 => CommunicatorRelation::Similar,
            _ => CommunicatorRelation::Unequal,
        }
    }
}

/// A communicator of one group: the world, a duplicate, a part.
#[derive(Debug)]
pub struct SimpleCommunicator(Owned);

impl SimpleCommunicator {
    pub(crate) fn of(owned: Owned) -> SimpleCommunicator {
        SimpleCommunicator(owned)
    }

    pub(crate) fn into_owned(self) -> Owned {
        self.0
    }
}

impl Communicator for SimpleCommunicator {
    #[inline(always)]
    fn owned(&self) -> &Owned {
        &self.0
    }
}
