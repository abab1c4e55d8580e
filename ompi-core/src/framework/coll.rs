//! Collective operations: each communicator has a table *function → module*, filled when it is made.
//!
//! Which module serves a function is agreed by all ranks of the communicator at creation (a reduction of ability
//! bits); at call time a module may choose among algorithms only by what the standard makes equal everywhere.
//!
//! A module *describes* the operation to an executor, so that the same method serves the blocking function
//! (the executor runs each step at once), the nonblocking and the persistent one (it records them). A module that can
//! only run at once, over flags in shared memory or a wire, says so by leaving functions out of
//! [`Module::recordable`]; the table keeps a second entry for those.
#![allow(unsafe_code)] // linkme's expansion

use crate::comm::Communicator;
use alloc::sync::Arc;
use opal_core::mca;

mod about;
mod algorithms;
mod call;
mod fallback;
mod function;
mod module;
mod ran;
mod tags;

pub use about::{About, Case};
pub use algorithms::Algorithms;
pub use call::Call;
pub use fallback::Fallback;
pub use function::{ALL_FUNCTIONS, FUNCTIONS, Function, Functions, NEIGHBOR_FUNCTIONS, set_of};
pub use module::{Candidate, Entry, Module, Table, not_here};
pub use ran::{Ran, keep_last, leave_last, look_at_verbosity, ran, take_last};
pub use tags::{PART_SETUP, PIECES, Tags};

/// The root of a call on an intercommunicator is this process: MPI_ROOT.
pub const ROOT_HERE: usize = usize::MAX;

/// The root of a call on an intercommunicator is another process of this group, MPI_PROC_NULL: this process does nothing.
pub const ROOT_BESIDE: usize = usize::MAX - 1;

/// A kind of collectives.
pub trait Component: mca::Component {
    /// Reads the files that its parameters name. `Err` after a message ends the start of the job: the user asked for something
    /// that cannot be had.
    fn configure(&self) -> opal_core::Result<()> {
        Ok(())
    }

    /// Describes how it serves a function on intracommunicators (coll/inter on the others), and in a case; `None` if it never
    /// does. For `ompi_info`, without a job.
    fn about(&self, function: Function, case: Case) -> Option<About>;

    /// Priority and module for a communicator, or why not. Must not communicate.
    fn query(&self, comm: &Communicator) -> core::result::Result<(i32, Arc<dyn Module>), mca::Declined>;
}

opal_core::framework! {
    /// Collective operations.
    "coll", Ompi, version 1, ManyOfMany, OMPI_COLLS: dyn Component
}
