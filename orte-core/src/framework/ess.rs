//! Environment-specific services: the rank of this process in its job, the other ranks, and the exchange of addresses.
#![allow(unsafe_code)] // linkme's expansion

use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::framework::shmem::Inherited;
use opal_core::sync::Once;
use opal_core::{Result, mca};

/// A process's place in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The job's number, unique on this system for its life.
    pub job: u64,
    /// Rank in the job.
    pub rank: u32,
    /// Number of ranks of the job.
    pub size: u32,
    /// Rank among those of this node.
    pub local_rank: u32,
    /// Number of ranks on this node.
    pub local_size: u32,
}

/// What the launcher is told of a process's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// MPI is in use from now on: to end without `Finalized` is a failure.
    Initialized,
    /// MPI is no longer in use: the process may end as it likes.
    Finalized,
}

/// Without whom a wait does not end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needed {
    /// Several of the job would do, or nobody knows whom.
    #[default]
    SomeOfJob,
    /// This rank of the job.
    Rank(u32),
    /// Processes of other jobs may end it, and nobody knows which.
    SomeOfOtherJobs,
    /// This process of another job.
    OfOtherJob(ProcessName),
    /// No process: a path to one broke, and is made again.
    Path,
    /// Whoever calls at a port: nobody need be there yet.
    Caller,
}

impl Needed {
    /// As numbers: of a job, of which 0 is the own one, and of a rank, plus 1.
    pub fn to_words(self) -> (u64, u32) {
        match self {
            Needed::SomeOfJob => (0, 0),
            Needed::Rank(rank) => (0, rank.saturating_add(1)),
            Needed::SomeOfOtherJobs => (u64::MAX, 0),
            Needed::OfOtherJob(name) => (name.job, name.rank.saturating_add(1)),
            Needed::Path => (u64::MAX, 1),
            Needed::Caller => (u64::MAX, 2),
        }
    }

    /// From numbers of unknown origin; `None` if nobody writes these.
    pub fn of_words(job: u64, rank_and_one: u32) -> Option<Needed> {
        match (job, rank_and_one.checked_sub(1)) {
            (0, None) => Some(Needed::SomeOfJob),
            (0, Some(rank)) => Some(Needed::Rank(rank)),
            (u64::MAX, None) => Some(Needed::SomeOfOtherJobs),
            (u64::MAX, Some(0)) => Some(Needed::Path),
            (u64::MAX, Some(1)) => Some(Needed::Caller),
            (_, None) => None,
            (job, Some(rank)) => Some(Needed::OfOtherJob(ProcessName { job, rank })),
        }
    }

    /// Whether the processes of the job cannot end it alone.
    pub fn is_beyond_job(self) -> bool {
        matches!(self, Needed::SomeOfOtherJobs | Needed::OfOtherJob(_))
    }
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited<'a> {
    /// Without whom the wait does not end.
    pub needed: Needed,
    /// The same for people: what goes on after `waits for`. Empty if nobody knows.
    pub words: &'a str,
}

/// A running environment.
pub trait Module: Sync {
    /// The rank of this process, and its job.
    fn identity(&self) -> Identity;

    /// Which of the job's programs this process runs, counted from 0: MPI_APPNUM (MPI 5.0 §11.10.3). `None` if nobody
    /// counted.
    fn app_number(&self) -> Option<u32> {
        None
    }

    /// As `app_number` for any rank.
    fn app_of(&self, _rank: u32) -> Option<u32> {
        None
    }

    /// How many ranks the job could have: MPI_UNIVERSE_SIZE (MPI 5.0 §11.10.1). `None` if nobody knows.
    fn universe_size(&self) -> Option<u32> {
        None
    }

    /// The node that a rank of the job runs on; equal numbers share memory.
    fn node_of(&self, rank: u32) -> u32;

    /// Hands out this process's addresses to all others: once, at start. `Err(OutOfResource)` if too long.
    fn publish(&self, addresses: &[u8]) -> Result<()>;

    /// What a rank published; waits for it, with a deadline. `Err(Timeout)` after a message that names the rank,
    /// `Err(Unreachable)` if it is known to be dead.
    fn lookup(&self, rank: u32) -> Result<Vec<u8>>;

    /// Waits until every rank of the job is here. Slow; for start and end only. `meanwhile` is called every now and then: others may need
    /// an answer of this process before they come. A manager of another kind, whose barrier is one call, calls it once.
    fn barrier(&self, meanwhile: &mut dyn FnMut()) -> Result<()>;

    /// What only processes of this job know, if the launcher left some; it travels neither in arguments nor in variables.
    fn secret(&self) -> Option<[u8; 32]> {
        None
    }

    /// The process on this node that all processes of the job here descend from, if there is one.
    fn launcher(&self) -> Option<u32> {
        None
    }

    /// The port of the launcher for further jobs and names; starts one if nobody launched this process. `Err` with a sentence.
    fn universe(&self) -> core::result::Result<String, String> {
        Err(String::from(NO_UNIVERSE))
    }

    /// As `universe` where a launcher runs already.
    fn running_universe(&self) -> Option<String> {
        self.universe().ok()
    }

    /// Who starts further jobs where mpirun is not asked.
    #[cfg(not(ompi_bare))]
    fn spawner(&self) -> Option<&dyn crate::universe::Spawner> {
        None
    }

    /// The port of the processes that had this job started, if any did.
    fn parent(&self) -> Option<String> {
        None
    }

    /// The node's shared memory, if the launcher left some.
    fn inherited(&self) -> Option<Inherited>;

    /// Tells the launcher.
    fn set_state(&self, state: State);

    /// Tells the launcher that this process sleeps because nothing has happened since `since_ns`; it is `now_ns`, both of
    /// the monotonic clock.
    fn sleeps(&self, _since_ns: u64, _now_ns: u64) {}

    /// Tells the launcher what this process waits for: before the first sleep of a wait.
    fn awaits(&self, _awaited: &Awaited<'_>) {}

    /// Tells the launcher what this process has counted until this time of the monotonic clock, in words: they are shown if it
    /// ends without having said that there is nothing to show (no words).
    fn tells(&self, _at_ns: u64, _words: &str) {}

    /// Tells the launcher that a call failed because a peer was lost: how this process ends now is a consequence, and the
    /// launcher looks for the rank that it began with.
    fn lost_peer(&self) {}

    /// A counter that rises when something happened to the job (a rank died): a process that waits for a peer looks at it.
    fn epoch(&self) -> u32;

    /// Whether the process of a rank has ended without MPI_Finalize; `None` where that is not known of single ranks.
    fn is_gone(&self, _rank: u32) -> Option<bool> {
        None
    }

    /// Ends the whole job: the launcher prints `message` once and exits with `status`. A message that begins with
    /// `called ` goes on after this rank's name, any other one stands for what made this rank end the job.
    fn abort(&self, status: i32, message: &str) -> !;
}

/// Why a process that another launcher started has no port of a launcher.
const NO_UNIVERSE: &str = "no mpirun of this library started this process: start the program with that";

/// A kind of environment.
pub trait Component: mca::Component {
    /// Priority and module: high for a component that finds its launcher's traces, low for the singleton, which always
    /// runs.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// Environment-specific services: identity, wire-up and life of a process.
    "ess", Orte, version 1, OneOfMany, OMPI_ESSES: dyn Component
}

static SELECTED: Once<&'static dyn Module> = Once::new();

/// Chooses the environment: once, first of all frameworks.
pub fn select() -> Result<&'static dyn Module> {
    let (_, module) = mca::select_one(&FRAMEWORK, &OMPI_ESSES, |component| component.query())?;
    Ok(*SELECTED.call_once(|| module))
}

/// The running module.
pub fn selected() -> Option<&'static dyn Module> {
    SELECTED.get().copied()
}

/// Tells the launcher, if there is one, that a call fails because a peer was lost.
#[cold]
pub fn lost_peer() {
    if let Some(environment) = selected() {
        environment.lost_peer();
    }
}
