//! Jobs over several networks: namespaces of this machine, joined by virtual wires whose counters are read; and test hosts.

mod direct;
mod document;
mod failure;
mod hosts;
mod jobs;
mod links;
mod mapping;
mod pmix;
mod real;
pub mod rig;
mod slurm;
mod slurm_mpirun;
mod srun;
mod ssh;
mod strangers;
mod tree;

use super::Session;
use crate::failure::Result;

/// `cluster/…`: the test hosts, then the cases of `tests/cluster/two_networks.sh`.
pub fn tier(session: &mut Session) -> Result<()> {
    hosts::cases(session);
    direct::cases(session);
    ssh::cases(session);
    slurm::cases(session);
    pmix::cases(session);
    slurm_mpirun::cases(session);
    mapping::cases(session);
    failure::cases(session);
    strangers::cases(session);
    jobs::cases(session);
    real::cases(session);
    tree::cases(session);
    document::cases(session);
    links::cases(session)
}
