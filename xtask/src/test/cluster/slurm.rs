//! Ranks that Slurm's srun starts, without a daemon of ours: munge, slurmctld and slurmd on test hosts, as the distribution
//! brings them.

use super::super::{Session, Verdict};
use super::hosts::said;
use super::rig::{OnTwo, Rig, all_reached, contains, crosses, expect, killed_ends, on_hosts, placed, run, verdict};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};
use std::time::{Duration, Instant};

/// `cluster/slurm…`
pub fn cases(session: &mut Session) {
    let cases: [(&str, OnTwo); 6] = [
        ("two_hosts", two_hosts),
        ("wire", wire),
        ("abort", abort),
        ("killed", killed),
        ("no_pmi", no_pmi),
        ("alone", alone),
    ];
    for (name, case) in cases {
        session.case(&format!("cluster/slurm_{name}"), |session| {
            match hosts::lacks(&session.tree).or_else(|| hosts::lacks_for(Manager::Slurm)) {
                Some(why) => Verdict::Skipped(why),
                None => verdict(on_hosts(session, "slurm", Manager::Slurm, case)),
            }
        });
    }
}

/// Ranks in blocks and in turn: shared memory within a host, sockets between them.
fn two_hosts(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (order, node) in [("block", [0, 0, 1, 1]), ("cyclic", [0, 1, 0, 1])] {
        let mut command = cluster.command("head", &srun(&["-N2", "-n4", "-m", order]))?;
        command.env("OMPI_MCA_btl_base_verbose", "40");
        let ended = run(rig, command.arg(&rig.places))?;
        expect(&ended, 0)?;
        placed(&ended.out, 4, |_| 2)?;
        for (rank, node) in node.iter().enumerate() {
            contains(&ended.out, &format!("rank {rank} of 4, program -1, with 2 on h{}, sum 10", node + 1))?;
        }
        all_reached(&ended.err, 4, |from, to| match (from == to, node[from] == node[to]) {
            (true, _) => "self",
            (false, true) => "sm",
            (false, false) => "tcp",
        })?;
    }
    nothing_left(cluster)
}

fn wire(rig: &Rig, cluster: &Cluster) -> Result<()> {
    crosses(rig, cluster, |hosts| {
        let words: &[&str] = if hosts.len() == 2 { &["-N2", "-n2"] } else { &["-N1", "-n2", "-w", "h1"] };
        cluster.command("head", &srun(words))
    })
}

/// Slurm kills the other ranks, so its own status is not always that of the rank; the rank's words arrive.
fn abort(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = cluster.command("head", &srun(&["-N2", "-n4"]))?;
    let ended = run(rig, command.arg(&rig.places).arg("abort"))?;
    if ended.status.is_none() || ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    contains(&ended.err, "called MPI_Abort")?;
    nothing_left(cluster)
}

/// A rank that is killed ends the job, and nothing of it is left.
fn killed(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = cluster.command("head", &srun(&["--kill-on-bad-exit", "-N2", "-n4"]))?;
    command.arg(&rig.places).arg("sleep");
    // Rank 1 is the second one of h1, where its number is the host's own.
    killed_ends(rig, &mut command, |process| cluster.command("h1", &["kill", "-KILL", process]))?;
    nothing_left(cluster)
}

/// Each rank would take itself for the only one.
fn no_pmi(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (manager, how) in
        [("none", "neither --mpi=pmi2 nor"), ("pmix", "--mpi=pmix, which only a library with ess/pmix speaks")]
    {
        let line = ["srun", &format!("--mpi={manager}"), "-N2", "-n2"].map(str::to_owned);
        let ended = run(rig, cluster.command("head", &line)?.arg(&rig.places))?;
        if ended.status.is_none() || ended.ended_with(0) {
            return Err(fail(format!("--mpi={manager}: {}", ended.story())));
        }
        contains(&ended.err, "SLURM_STEP_NUM_TASKS is 2, so Slurm's srun started this process as one of several")?;
        contains(&ended.err, how)?;
        contains(&ended.err, "start the program with srun --mpi=pmi2")?;
    }
    Ok(())
}

/// One task is rank 0 of 1, with PMI-2 and without; and so is a program in a shell that has an allocation of several.
fn alone(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let places = rig.places.display().to_string();
    for line in
        [&["srun", "--mpi=pmi2", "-n1"][..], &["srun", "--mpi=none", "-n1"], &["salloc", "--quiet", "-N2", "-n4"]]
    {
        let mut line: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        line.push(places.clone());
        let ended = run(rig, &mut cluster.command("head", &line)?)?;
        expect(&ended, 0)?;
        contains(&ended.out, "rank 0 of 1, ")?;
    }
    Ok(())
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

fn srun(arguments: &[&str]) -> Vec<String> {
    ["srun", "--mpi=pmi2"].iter().chain(arguments).map(|&word| word.to_owned()).collect()
}

/// Slurm notices the end of a job within a second on an idle machine.
const LIMIT: Duration = Duration::from_secs(30);
