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
mod waiting;

use super::Session;
use crate::failure::Result;

/// `cluster/…`: cases that wait, a few at once; then test hosts by themselves and under each launcher, and the cases of
/// `tests/cluster/two_networks.sh`.
pub fn tier(session: &mut Session) -> Result<()> {
    let mut all = links::waiting();
    all.extend(strangers::waiting());
    all.extend(failure::waiting(session.options.all));
    all.extend(jobs::waiting());
    all.extend(tree::waiting());
    all.extend(mapping::waiting());
    waiting::cases(session, all)?;
    hosts::cases(session);
    direct::cases(session);
    ssh::cases(session);
    slurm::cases(session);
    pmix::cases(session);
    slurm_mpirun::cases(session);
    jobs::cases(session);
    real::cases(session);
    document::cases(session);
    links::cases(session)
}
