//! plm/slurm: in an allocation of Slurm one srun starts the daemons of all hosts, as a step of its own.

use super::settings::Settings;
use super::ssh::own_program;
use crate::agent::{Agent, is_there};
use crate::refusal::Refusal;
use orte_core::allocation::{self, ResourceManager, Surroundings};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How to start daemons by srun.
pub struct Slurm {
    /// Further words for srun.
    words: Vec<String>,
    program: PathBuf,
    radix: u32,
}

impl Slurm {
    /// Finds srun, and refuses hosts that it cannot reach.
    pub fn new(settings: &Settings, hosts: &[String], prefix: Option<&Path>) -> Result<Slurm, Refusal> {
        let Some(job) = crate::cli::Own.variable(JOB) else {
            return Err(Refusal::usage(format!(
                "--mca plm slurm: {JOB} is not set, so there is no allocation of Slurm; start mpirun in salloc or sbatch"
            )));
        };
        if !is_there(PROGRAM) {
            return Err(Refusal::usage(format!(
                "srun, which starts daemons in Slurm's allocation {job}, is not in PATH; add it, or write --mca plm ssh"
            )));
        }
        if let Some(host) = stranger(hosts) {
            return Err(Refusal::usage(format!(
                "--mca plm slurm: host {host} is not in Slurm's allocation {job}; leave it out, or write --mca plm ssh"
            )));
        }
        let program = prefix.map_or_else(own_program, |prefix| Ok(prefix.join("bin/mpirun")))?;
        let words = settings.slurm_arguments.split_whitespace().map(str::to_owned).collect();
        Ok(Slurm { words, program, radix: settings.radix })
    }

    /// Starts a daemon on each of these hosts.
    pub fn start(&self, hosts: &[String], invitation: &str) -> Result<Agent, Refusal> {
        let mut command = Command::new(PROGRAM);
        let count = hosts.len();
        command.args([
            format!("--nodes={count}"),
            format!("--ntasks={count}"),
            "--ntasks-per-node=1".to_owned(),
            format!("--nodelist={}", hosts.join(",")),
        ]);
        // A daemon that dies ends the job by itself, and mpirun says which one it was; the others have output to deliver.
        command.args(["--kill-on-bad-exit=0", "--mpi=none"]);
        command.args(&self.words).arg(&self.program).arg(crate::daemon::ARGUMENT);
        // What salloc and sbatch left for the ranks of an srun.
        OF_RANKS.iter().for_each(|name| _ = command.env_remove(name));
        // mpirun may be a step itself. Before 20.11, which has no such option, steps always share processors.
        command.env("SLURM_OVERLAP", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let failed = |error: &dyn std::fmt::Display| Refusal::system("starting srun", error);
        let agent = Agent::start(&mut command, invitation).map_err(|error| failed(&error))?;
        // When srun is killed Slurm knows of the step for some time, and the next one waits.
        Ok(agent.with_patience(PATIENCE))
    }

    /// So many daemons one speaks with; 0: mpirun with all.
    pub fn radix(&self) -> u32 {
        self.radix
    }

    /// The daemon's program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What to type to see whether srun reaches a host.
    pub fn check_line(&self, host: &str) -> String {
        format!("srun -N1 -n1 -w {host} true")
    }
}

/// This process runs in an allocation of Slurm, and all of these hosts are in it.
pub fn holds(hosts: &[String]) -> bool {
    ResourceManager::of(&crate::cli::Own) == Some(ResourceManager::Slurm) && stranger(hosts).is_none()
}

/// A host that is not in the allocation.
fn stranger(hosts: &[String]) -> Option<&String> {
    let names = allocation::slurm_names(&crate::cli::Own).unwrap_or_default();
    hosts.iter().find(|host| !names.contains(host))
}

/// The program.
pub const PROGRAM: &str = "srun";
const JOB: &str = "SLURM_JOB_ID";
/// What srun would read as options for a step of ranks.
const OF_RANKS: [&str; 9] = [
    "SLURM_DISTRIBUTION",
    "SLURM_EXACT",
    "SLURM_EXCLUSIVE",
    "SLURM_HOSTFILE",
    "SLURM_LABELIO",
    "SLURM_STDERRMODE",
    "SLURM_STDINMODE",
    "SLURM_STDOUTMODE",
    "SLURM_TIMELIMIT",
];
/// How long srun may take to end after its daemons, and again after it was asked to.
const PATIENCE: Duration = Duration::from_secs(2);
