//! Which resource manager gave this process an allocation, and which hosts and slots that has.

use super::hostlist::{counts, expand};
use super::{Host, text};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A resource manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceManager {
    /// Slurm.
    Slurm,
    /// PBS Pro, OpenPBS, Torque.
    Pbs,
    /// Grid Engine of any maker.
    GridEngine,
    /// IBM's Spectrum LSF.
    Lsf,
}

/// What a manager leaves to the first process of a job.
pub trait Surroundings {
    /// A variable of the environment; an empty one counts as none.
    fn variable(&self, name: &str) -> Option<String>;

    /// The content of a file, or why it cannot be read.
    fn file(&self, path: &str) -> Result<String, String>;
}

impl ResourceManager {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            ResourceManager::Slurm => "Slurm",
            ResourceManager::Pbs => "PBS",
            ResourceManager::GridEngine => "Grid Engine",
            ResourceManager::Lsf => "LSF",
        }
    }

    /// The one that runs this process, if one does. A job of one may be run inside of another's; then the first of this
    /// order counts, and mpirun's `--host` and `--hostfile` go before all.
    pub fn of(surroundings: &impl Surroundings) -> Option<ResourceManager> {
        let has = |name| surroundings.variable(name).is_some();
        if has("SLURM_JOB_ID") && (has("SLURM_JOB_NODELIST") || has("SLURM_NODELIST")) {
            return Some(ResourceManager::Slurm);
        }
        if has("PBS_JOBID") && has("PBS_NODEFILE") {
            return Some(ResourceManager::Pbs);
        }
        if has("LSB_JOBID") && (has("LSB_DJOB_HOSTFILE") || has("LSB_MCPU_HOSTS")) {
            return Some(ResourceManager::Lsf);
        }
        (has("JOB_ID") && has("PE_HOSTFILE")).then_some(ResourceManager::GridEngine)
    }

    /// The hosts that it gave.
    fn hosts(self, surroundings: &impl Surroundings) -> Result<Vec<Host>, String> {
        let of_file = |variable: &str, read: fn(&str) -> Result<Vec<Host>, String>| {
            let path = surroundings.variable(variable).ok_or_else(|| format!("{variable} is not set"))?;
            let text = surroundings.file(&path).map_err(|why| format!("{variable} names {path}: {why}"))?;
            read(&text).map_err(|why| format!("{path}, which {variable} names: {why}"))
        };
        match self {
            ResourceManager::Slurm => slurm(surroundings),
            ResourceManager::Pbs => of_file("PBS_NODEFILE", text::line_per_slot),
            ResourceManager::GridEngine => of_file("PE_HOSTFILE", text::grid_engine),
            ResourceManager::Lsf if surroundings.variable("LSB_DJOB_HOSTFILE").is_some() => {
                of_file("LSB_DJOB_HOSTFILE", text::line_per_slot)
            }
            ResourceManager::Lsf => {
                let text = surroundings.variable("LSB_MCPU_HOSTS").ok_or("LSB_MCPU_HOSTS is not set")?;
                text::pairs(&text).map_err(|why| format!("LSB_MCPU_HOSTS: {why}"))
            }
        }
    }
}

/// The allocation that this process runs in: `Ok(None)` if no manager gave one, `Err` with a sentence if it gave one that
/// cannot be understood.
pub fn allocation(surroundings: &impl Surroundings) -> Result<Option<(ResourceManager, Vec<Host>)>, String> {
    let Some(manager) = ResourceManager::of(surroundings) else { return Ok(None) };
    match manager.hosts(surroundings) {
        Ok(hosts) => Ok(Some((manager, hosts))),
        Err(why) => Err(format!("the allocation of {} cannot be read: {why}", manager.name())),
    }
}

/// The names of the hosts in an allocation of Slurm.
pub fn slurm_names(surroundings: &impl Surroundings) -> Result<Vec<String>, String> {
    let list = ["SLURM_JOB_NODELIST", "SLURM_NODELIST"]
        .into_iter()
        .find_map(|name| surroundings.variable(name).map(|value| (name, value)));
    let (name, list) = list.ok_or("SLURM_JOB_NODELIST is not set")?;
    expand(&list).map_err(|why| format!("{name}: {why}"))
}

fn slurm(surroundings: &impl Surroundings) -> Result<Vec<Host>, String> {
    let first = |names: [&'static str; 2]| {
        names.into_iter().find_map(|name| surroundings.variable(name).map(|value| (name, value)))
    };
    let names = slurm_names(surroundings)?;
    let (name, slots) = first(["SLURM_TASKS_PER_NODE", CPUS])
        .ok_or("neither SLURM_TASKS_PER_NODE nor SLURM_JOB_CPUS_PER_NODE is set")?;
    let counted = counts(&slots, names.len()).map_err(|why| format!("{name}: {why}"));
    // In a step on a part of the nodes, such as a shell that srun started, SLURM_TASKS_PER_NODE is the step's.
    let of_job = |why| match (surroundings.variable("SLURM_STEP_NODELIST"), surroundings.variable(CPUS)) {
        (Some(_), Some(slots)) => counts(&slots, names.len()).map_err(|_| why),
        _ => Err(why),
    };
    let slots = counted.or_else(of_job)?;
    Ok(names.into_iter().zip(slots).map(|(name, slots)| Host { name, slots }).collect())
}

const CPUS: &str = "SLURM_JOB_CPUS_PER_NODE";
