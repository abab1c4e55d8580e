//! The processes that this one can talk to.

use alloc::vec::Vec;

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
