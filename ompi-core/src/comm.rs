//! Communicators.
#![allow(unsafe_code)]

use crate::framework::coll;
use crate::group::Group;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use opal_core::sync::{AtomicPtr, AtomicUsize, Guarded, Once, Ordering};

pub mod context;

/// A communicator. Ranks of messages are ranks of [`Communicator::peers`].
pub struct Communicator {
    /// This process's group.
    pub group: Arc<Group>,
    /// The other group of an intercommunicator.
    pub remote: Option<Arc<Group>>,
    /// This process's rank in `group`.
    pub rank: u32,
    /// The context number by which others reach this process here; local to it (see [`context`]).
    pub context: u32,
    /// The context number of each peer, by rank.
    pub peer_contexts: Box<[u32]>,
    /// Which module serves which collective function.
    pub coll: Once<coll::Table>,
    /// The PML's own; null until `add_comm`.
    pub pml: AtomicPtr<()>,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
    /// MPI_Comm_set_name.
    pub name: Guarded<String>,
}

impl Communicator {
    /// The group that ranks of messages mean: the remote one of an intercommunicator.
    #[inline(always)]
    pub fn peers(&self) -> &Group {
        match &self.remote {
            None => &self.group,
            Some(remote) => remote,
        }
    }

    /// Number of processes in this process's group.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Whether it joins two groups.
    pub fn is_inter(&self) -> bool {
        self.remote.is_some()
    }

    /// The table of collectives.
    ///
    /// # Panics
    /// Before the communicator is complete; no handle to it exists until then.
    #[inline]
    pub fn coll(&self) -> &coll::Table {
        self.coll.get().expect("a communicator gets its collectives before its handle")
    }

    /// The PML's own data.
    #[inline(always)]
    pub fn pml_data(&self) -> *mut () {
        // Acquire pairs with the Release of the PML's store in `add_comm`.
        self.pml.load(Ordering::Acquire)
    }
}
