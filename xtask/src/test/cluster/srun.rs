//! Jobs that Slurm's srun starts, whichever interface their ranks speak with it.

use super::hosts::said;
use super::rig::{Rig, contains, crosses, killed_ends, reached_as_placed, run};
use crate::cluster::hosts::Cluster;
use crate::failure::{Result, fail};
use std::time::{Duration, Instant};

/// How srun is called, and what ranks learn of it.
pub struct Srun {
    /// What `--mpi` names.
    pub interface: &'static str,
    /// The number of the program, as places.c prints it.
    pub app: &'static str,
}

impl Srun {
    /// A command line that starts the program which follows it.
    pub fn line(&self, arguments: &[&str]) -> Vec<String> {
        let first = ["srun".to_owned(), format!("--mpi={}", self.interface)];
        first.into_iter().chain(arguments.iter().map(|&word| word.to_owned())).collect()
    }

    /// Ranks in blocks and in turn: shared memory within a host, sockets between them.
    pub fn two_hosts(&self, rig: &Rig, cluster: &Cluster) -> Result<()> {
        for (order, nodes) in [("block", [0, 0, 1, 1]), ("cyclic", [0, 1, 0, 1])] {
            let mut command = cluster.command("head", &self.line(&["-N2", "-n4", "-m", order]))?;
            command.env("OMPI_MCA_btl_base_verbose", "40");
            reached_as_placed(rig, &mut command, nodes, self.app)?;
        }
        nothing_left(cluster)
    }

    /// Which bytes cross the wire.
    pub fn wire(&self, rig: &Rig, cluster: &Cluster) -> Result<()> {
        crosses(rig, cluster, |hosts| {
            let words: &[&str] = if hosts.len() == 2 { &["-N2", "-n2"] } else { &["-N1", "-n2", "-w", "h1"] };
            cluster.command("head", &self.line(words))
        })
    }

    /// Slurm kills the other ranks, so its own status is not always that of the rank; the rank's words arrive.
    pub fn abort(&self, rig: &Rig, cluster: &Cluster) -> Result<()> {
        let mut command = cluster.command("head", &self.line(&["-N2", "-n4"]))?;
        let ended = run(rig, command.arg(&rig.places).arg("abort"))?;
        if ended.status.is_none() || ended.ended_with(0) {
            return Err(fail(ended.story()));
        }
        contains(&ended.err, "called MPI_Abort")?;
        nothing_left(cluster)
    }

    /// A rank that is killed ends the job, and nothing of it is left.
    pub fn killed(&self, rig: &Rig, cluster: &Cluster) -> Result<()> {
        let mut command = cluster.command("head", &self.line(&["--kill-on-bad-exit", "-N2", "-n4"]))?;
        command.arg(&rig.places).arg("sleep");
        // Rank 1 is the second one of h1, where its number is the host's own.
        killed_ends(rig, &mut command, |process| cluster.command("h1", &["kill", "-KILL", process]))?;
        nothing_left(cluster)
    }
}

/// No process of a job, no job, no memory; the nodes take the next one. Slurm's own process of a step ends after the step.
pub fn nothing_left(cluster: &Cluster) -> Result<()> {
    let (end, count) = (Instant::now() + LIMIT, cluster.hosts().to_string());
    loop {
        let idle = said(cluster, "head", "squeue --noheader; sinfo --noheader --states=idle --format=%D")?;
        let hosts = (1..=cluster.hosts()).map(|number| said(cluster, &format!("h{number}"), LEFT));
        let left = hosts.collect::<Result<Vec<String>>>()?;
        if idle == count && left.iter().all(String::is_empty) {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(fail(format!("Slurm is still at it: `{idle}`, or left this on its hosts: {left:?}")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Says what of a job is left on a host.
const LEFT: &str =
    "ps -eo comm= | grep -e places -e slurmstepd -e mpirun; ls -A /dev/shm /tmp | grep -v -e : -e '^$'; true";

/// Slurm notices the end of a job within a second on an idle machine.
const LIMIT: Duration = Duration::from_secs(30);
