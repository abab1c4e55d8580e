//! Sessions: MPI 5.0 §11.3. Each keeps MPI in use until it is finalised; process sets are what it can make groups of.
//!
//! **Invariant:** the tables here are locked at every thread level: MPI 5.0 §11.6 lets any thread open a session.

use crate::errhandler;
use crate::handle::HandleTable;
use crate::info::{Info, MEMORY_KINDS};
use crate::init::level_in_force;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicUsize, Ordering};

mod init;
mod process_sets;
pub use init::{close, open};
pub use process_sets::{group, members, process_sets, set_info};

/// MPI_SESSION_NULL.
pub const NULL: usize = 0x120;

static DYNAMIC: HandleTable<Session> = HandleTable::new();

/// What a debugger needs to know of sessions.
pub(crate) static FACTS: [Fact; 1] = [Fact::address("session.table", &raw const DYNAMIC)];

/// A session in use.
pub struct Session {
    /// Kinds of memory that were asked for and are there, beside those that always are.
    pub memory_kinds: String,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
}

/// The session behind a handle.
pub fn get(handle: usize) -> Option<Arc<Session>> {
    DYNAMIC.get(handle)
}

impl Session {
    /// MPI_Session_get_info: what is in force, which may be more than what was asked for.
    pub fn info(&self) -> Info {
        let kinds = format!("{}{}", MEMORY_KINDS.1, self.memory_kinds);
        Info::of([(THREAD_LEVEL, level_in_force().symbol()), (MEMORY_KINDS.0, &kinds)])
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(Ordering::Relaxed));
    }
}

/// The info key of the thread level.
const THREAD_LEVEL: &str = "thread_level";
