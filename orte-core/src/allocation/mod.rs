//! Allocations: which hosts a job may use, read from the variables and files of resource managers.
//!
//! | manager | found by | hosts and slots from |
//! |---|---|---|
//! | Slurm | `SLURM_JOB_ID` | `SLURM_JOB_NODELIST`, `SLURM_TASKS_PER_NODE` or else `SLURM_JOB_CPUS_PER_NODE` |
//! | PBS, Torque | `PBS_JOBID` | the file that `PBS_NODEFILE` names |
//! | Grid Engine | `JOB_ID` and `PE_HOSTFILE` | the file that `PE_HOSTFILE` names |
//! | LSF | `LSB_JOBID` | the file that `LSB_DJOB_HOSTFILE` names, or else `LSB_MCPU_HOSTS` |
//!
//! The formats are those of the managers' manuals: of Slurm sbatch(1) and scontrol(1), of PBS qsub(1), of Grid Engine
//! sge_pe(5), of LSF the reference of its environment variables.
//!
//! **Invariant:** everything here is a function of variables and texts, so that a test needs no manager. A text that is not
//! understood is refused with what was wrong and where; no job silently gets a wrong number of ranks.

mod hostlist;
mod manager;
mod text;

#[cfg(test)]
mod tests;

pub use hostlist::expand;
pub use manager::{ResourceManager, Surroundings, allocation, slurm_names};

use alloc::string::String;
use alloc::vec::Vec;

/// A host, and how many ranks a manager or a file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name or address, as written.
    pub name: String,
    /// Ranks that it has room for.
    pub slots: u32,
}

/// Most hosts of an allocation.
pub const HOSTS_MAX: usize = 1 << 16;

/// Adds slots to a host of the list, or the host to the list: the order is that of first mention.
pub(crate) fn add(hosts: &mut Vec<Host>, name: &str, slots: u32) {
    match hosts.iter_mut().rev().find(|host| host.name == name) {
        Some(host) => host.slots = host.slots.saturating_add(slots),
        None => hosts.push(Host { name: name.into(), slots }),
    }
}
