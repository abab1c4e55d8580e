//! The processes that this one can talk to.

use alloc::vec::Vec;
use opal_core::sync::Once;

/// A process of the job.
#[derive(Clone, Debug)]
pub struct Process {
    /// Index in the table of processes; for those of the own job the rank in MPI_COMM_WORLD.
    pub index: u32,
    /// Its node.
    pub node: u32,
    /// This very process.
    pub is_self: bool,
    /// On this process's node.
    pub same_node: bool,
    /// What its BML published.
    pub addresses: Vec<u8>,
}

static ALL: Once<Vec<Process>> = Once::new();
static ME: Once<u32> = Once::new();

/// Fills the table: once, when all addresses are known.
pub fn open(processes: Vec<Process>) {
    if let Some(me) = processes.iter().find(|process| process.is_self) {
        ME.call_once(|| me.index);
    }
    ALL.call_once(|| processes);
}

/// The process of this index.
///
/// # Panics
/// Before [`open`], or for an index that no group can hold.
pub fn get(index: u32) -> &'static Process {
    &all()[index as usize]
}

/// All processes.
pub fn all() -> &'static [Process] {
    ALL.get().map_or(&[], |all| all)
}

/// This process's index.
///
/// # Panics
/// Before [`open`].
pub fn me() -> u32 {
    *ME.get().expect("the process table is filled during MPI_Init")
}
