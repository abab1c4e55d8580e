//! Sessions: MPI 5.0 §11.3. Each keeps MPI in use until it is finalised; process sets are what it can make groups of.
//!
//! **Invariant:** the tables here are locked at every thread level: MPI 5.0 §11.6 lets any thread open a session.

use crate::errhandler;
use crate::handle::HandleTable;
use crate::info::{Info, MEMORY_KINDS};
use crate::init::ThreadLevel;
use alloc::sync::Arc;
use opal_core::sync::{AtomicUsize, Ordering};

mod init;
mod process_sets;
pub use init::{close, open};
pub use process_sets::{group, is_member, members, process_sets, set_info};

/// MPI_SESSION_NULL.
pub const NULL: usize = 0x120;

static DYNAMIC: HandleTable<Session> = HandleTable::new();

/// A session in use.
pub struct Session {
    /// Its thread level.
    pub level: ThreadLevel,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
}

/// The session behind a handle.
pub fn get(handle: usize) -> Option<Arc<Session>> {
    DYNAMIC.get(handle)
}

impl Session {
    /// MPI_Session_get_info.
    pub fn info(&self) -> Info {
        Info::of([(THREAD_LEVEL, self.level.symbol()), MEMORY_KINDS])
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(Ordering::Relaxed));
    }
}

/// The info key of the thread level.
const THREAD_LEVEL: &str = "thread_level";
