//! The processes that this one can talk to.

use alloc::vec::Vec;
use opal_core::sync::Once;
use orte_core::framework::ess;

/// A process of the job.
#[derive(Debug)]
pub struct Process {
    /// Index in the table of processes; for those of the own job the rank in MPI_COMM_WORLD.
    pub index: u32,
    /// Its node.
    pub node: u32,
    /// This very process.
    pub is_self: bool,
    /// On this process's node.
    pub same_node: bool,
    addresses: Once<Vec<u8>>,
}

impl Process {
    /// A process that was not asked for its addresses yet.
    pub fn new(index: u32, node: u32, is_self: bool, same_node: bool) -> Process {
        Process { index, node, is_self, same_node, addresses: Once::new() }
    }

    /// What it published, a list of [`crate::addresses`]; waits for it the first time.
    pub fn addresses(&self) -> opal_core::Result<&[u8]> {
        if let Some(known) = self.addresses.get() {
            return Ok(known);
        }
        let environment = ess::selected().ok_or(opal_core::Error::NotFound)?;
        let found = environment.lookup(self.index)?;
        Ok(self.addresses.call_once(|| found))
    }
}

static PROCESSES: Once<Vec<Process>> = Once::new();

/// Provides the table, indexed by [`Process::index`]: once, during MPI_Init.
pub fn open(processes: Vec<Process>) {
    debug_assert!(processes.iter().enumerate().all(|(index, process)| process.index as usize == index));
    PROCESSES.call_once(|| processes);
}

/// A process by its index.
///
/// # Panics
/// Before [`open`], or for an index that no process has; indices come from groups, which are made of this table.
pub fn get(index: u32) -> &'static Process {
    &all()[index as usize]
}

/// This process.
pub fn me() -> &'static Process {
    all().iter().find(|process| process.is_self).expect("this process is in its own table")
}

/// Number of processes.
pub fn count() -> usize {
    all().len()
}

fn all() -> &'static [Process] {
    PROCESSES.get().expect("the processes are known during MPI_Init")
}
