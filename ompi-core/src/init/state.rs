//! Where MPI is in its life: the state that rows ask for, and thread levels. `init.rs` has the steps that change it.

use crate::error::{Class, Fault, Result};
use opal_core::sync::{AtomicU32, Ordering, threads_possible};
use opal_core::sys;

pub(super) const BEFORE: u32 = 0;
pub(super) const STARTING: u32 = 1;
pub(super) const ACTIVE: u32 = 2;
pub(super) const FINALIZED: u32 = 3;
/// In a child that a rank forked: MPI is the rank's.
pub(super) const FORKED: u32 = 4;

pub(super) static STATE: AtomicU32 = AtomicU32::new(BEFORE);
// The world model and the sessions that use MPI now.
pub(super) static USERS: AtomicU32 = AtomicU32::new(0);
pub(super) static THREAD_LEVEL: AtomicU32 = AtomicU32::new(0);
// The highest level that a user of MPI, the world model or a session, asked for.
pub(super) static HIGHEST_LEVEL: AtomicU32 = AtomicU32::new(0);
// MPI_T_init_thread calls without their MPI_T_finalize.
pub(super) static TOOLS: AtomicU32 = AtomicU32::new(0);
pub(super) static MAIN_THREAD: AtomicU32 = AtomicU32::new(0);

/// MPI_THREAD_*: what a caller asks for and gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum ThreadLevel {
    /// MPI_THREAD_SINGLE.
    Single = 0,
    /// MPI_THREAD_FUNNELED.
    Funneled = 1024,
    /// MPI_THREAD_SERIALIZED.
    Serialized = 2048,
    /// MPI_THREAD_MULTIPLE.
    Multiple = 4096,
}

impl ThreadLevel {
    const ALL: [ThreadLevel; 4] =
        [ThreadLevel::Single, ThreadLevel::Funneled, ThreadLevel::Serialized, ThreadLevel::Multiple];

    /// The level that the standard spells like this.
    pub fn from_symbol(symbol: &str) -> Option<ThreadLevel> {
        ThreadLevel::ALL.into_iter().find(|level| level.symbol() == symbol)
    }

    /// The level of this number.
    pub fn from_int(number: i32) -> Option<ThreadLevel> {
        ThreadLevel::ALL.into_iter().find(|level| *level as i32 == number)
    }

    /// As the standard spells it.
    pub fn symbol(self) -> &'static str {
        match self {
            ThreadLevel::Single => "MPI_THREAD_SINGLE",
            ThreadLevel::Funneled => "MPI_THREAD_FUNNELED",
            ThreadLevel::Serialized => "MPI_THREAD_SERIALIZED",
            ThreadLevel::Multiple => "MPI_THREAD_MULTIPLE",
        }
    }
}

/// Whether calls that need MPI may be made: the world model is in use, or a session is.
#[inline(always)]
pub fn is_active() -> bool {
    USERS.load(Ordering::Relaxed) != 0
}

/// Whether MPI_COMM_WORLD and MPI_COMM_SELF may be used.
pub fn is_world_active() -> bool {
    STATE.load(Ordering::Relaxed) == ACTIVE
}

/// Whether MPI_Init was called and succeeded, finalised or not.
pub fn was_initialized() -> bool {
    STATE.load(Ordering::Relaxed) >= ACTIVE
}

/// Whether MPI_Finalize has completed. So it is for a forked child, too: a guard of its program's then leaves MPI alone.
pub fn is_finalized() -> bool {
    STATE.load(Ordering::Relaxed) >= FINALIZED
}

/// The level in force.
pub fn thread_level() -> i32 {
    THREAD_LEVEL.load(Ordering::Relaxed) as i32
}

/// The level that holds for the whole process: the highest one that the world model or a session asked for, or what the
/// threads that were seen need.
pub fn level_in_force() -> ThreadLevel {
    match threads_possible() {
        true => ThreadLevel::Multiple,
        false => ThreadLevel::from_int(HIGHEST_LEVEL.load(Ordering::Relaxed) as i32).unwrap_or(ThreadLevel::Single),
    }
}

/// Whether the calling thread is the one that started MPI.
pub fn is_main_thread() -> bool {
    MAIN_THREAD.load(Ordering::Relaxed) == sys::thread_id()
}

/// For rows: refuses a call before MPI_Init and after MPI_Finalize.
#[inline(always)]
pub fn initialized() -> Result<()> {
    if is_active() { Ok(()) } else { Err(not_active()) }
}

/// For rows that may always be called.
#[inline(always)]
pub fn always() -> Result<()> {
    Ok(())
}

/// For rows of MPI_T: refuses a call outside MPI_T_init_thread and MPI_T_finalize.
pub fn tool_initialized() -> Result<()> {
    match TOOLS.load(Ordering::Acquire) {
        0 => Err(Fault::new(Class::ToolNotInitialized)),
        _ => Ok(()),
    }
}

#[cold]
pub(super) fn not_active() -> Fault {
    Fault::new(Class::Other).because(match STATE.load(Ordering::Relaxed) {
        FINALIZED => "it was called after MPI_Finalize",
        FORKED => FORKED_CHILD,
        _ if MAIN_THREAD.load(Ordering::Relaxed) != 0 => {
            "it was called after the last MPI_Session_finalize, and MPI_Init was not called"
        }
        _ if opal_core::sys::other_copy_in_use() => OTHER_COPY,
        _ => "it was called before MPI_Init",
    })
}

const FORKED_CHILD: &str =
    "it was called in a process that a rank forked after MPI_Init; only the rank itself can call MPI";

const OTHER_COPY: &str = "it was called before MPI_Init, but another copy of ompi-rs in this process is in use: a plug-in or \
    library and its program each hold an MPI of their own. Link plug-ins and libraries with `mpicc -shared`, and a program \
    with -static-mpi by mpicc, too, so that it shows its MPI functions to them";
