//! mpirun in an allocation of Slurm: srun starts its daemons (plm/slurm). A fake ssh in PATH fails, so that no case passes by it.

use super::super::{Session, Verdict};
use super::rig::{OnHosts, Rig, all_reached, contains, expect, killed_ends, on, placed, run, verdict};
use super::srun::nothing_left;
use super::tree::connections_on_all as connections;
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::process::Command;
use std::sync::Mutex;

/// `cluster/slurm_mpirun…`
pub fn cases(session: &mut Session) {
    let cases: [(&str, u32, OnHosts); 7] = [
        ("salloc", 4, salloc),
        ("tree", 4, tree),
        ("sbatch", 2, sbatch),
        ("part", 2, part),
        ("killed", 2, killed),
        ("daemon_killed", 2, daemon_killed),
        ("lacks", 2, lacks),
    ];
    for (name, hosts, case) in cases {
        session.case(&format!("cluster/slurm_mpirun_{name}"), |session| {
            match hosts::lacks(&session.tree).or_else(|| hosts::lacks_for(Manager::Slurm)) {
                Some(why) => Verdict::Skipped(why),
                None => verdict(on(session, "slurm_mpirun", hosts, Manager::Slurm, case)),
            }
        });
    }
}

/// mpirun on a node outside of the allocation, on four hosts: as many ranks on each as Slurm says.
fn salloc(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = allocated(rig, cluster, &["-N4", "-n8"], &["--mca", "btl_base_verbose", "40"])?;
    let ended = run(rig, command.arg(&rig.places))?;
    expect(&ended, 0)?;
    placed(&ended.out, 8, |_| 2)?;
    for rank in 0..8 {
        contains(&ended.out, &format!("rank {rank} of 8, program 0, with 2 on h{}, sum 36", rank / 2 + 1))?;
    }
    all_reached(&ended.err, 8, |from, to| match (from == to, from / 2 == to / 2) {
        (true, _) => "self",
        (false, true) => "sm",
        (false, false) => "tcp",
    })?;
    nothing_left(cluster)
}

/// srun starts all daemons, and each speaks with its neighbours in the tree alone.
fn tree(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (radix, expected) in [("2", [2, 3, 1, 1, 1]), ("1", [1, 2, 2, 2, 1])] {
        let words = ["--mca", "plm_tree_radix", radix];
        let held = Mutex::new(Vec::new());
        let mut command = allocated(rig, cluster, &["-N4", "-n8"], &words)?;
        killed_ends(rig, command.arg(&rig.places).arg("sleep"), |rank| {
            *held.lock().expect("nobody panics with it") = connections(cluster)?;
            cluster.command("h1", &["kill", "-KILL", rank])
        })?;
        let found = held.into_inner().expect("nobody panics with it");
        if found != expected {
            return Err(fail(format!("radix {radix}: {found:?} connections on head, h1 … h4, not {expected:?}")));
        }
        nothing_left(cluster)?;
        let ended = run(rig, allocated(rig, cluster, &["-N4", "-n8"], &words)?.arg(&rig.places))?;
        expect(&ended, 0)?;
        placed(&ended.out, 8, |_| 2)?;
        nothing_left(cluster)?;
    }
    Ok(())
}

/// mpirun on the first host of the allocation, where it starts ranks itself; and mpirun as a step of the allocation.
fn sbatch(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let path = fake_ssh(rig)?;
    let mpirun = rig.dist.join("bin/mpirun").display().to_string();
    let line = format!("{mpirun} {}", rig.places.display());
    let file = rig.log.with_extension("sbatch");
    for wrapped in [line.clone(), format!("srun -N1 -n1 {line}")] {
        let output = format!("--output={}", file.display());
        let words = ["sbatch", "--quiet", "--wait", "-N2", "-n4", &output, "--wrap", &wrapped];
        let ended = run(rig, cluster.command("head", &words)?.env("PATH", &path))?;
        let said = shell::read(&file).unwrap_or_default();
        if !ended.ended_with(0) {
            return Err(fail(format!("{}\n{said}", ended.story())));
        }
        placed(&said, 4, |_| 2)?;
        nothing_left(cluster)?;
    }
    Ok(())
}

/// A part of the allocation, in another order; and the agent that somebody asks for.
fn part(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let ended = run(rig, allocated(rig, cluster, &["-N2", "-n4"], &["--host", "h2:2"])?.arg(&rig.places))?;
    expect(&ended, 0)?;
    contains(&ended.out, "rank 1 of 2, program 0, with 2 on h2, sum 3")?;
    let ended = run(rig, allocated(rig, cluster, &["-N2", "-n4"], &["--host", "h2:2,h1:1"])?.arg(&rig.places))?;
    expect(&ended, 0)?;
    contains(&ended.out, "rank 0 of 3, program 0, with 2 on h2, sum 6")?;
    for asked in [["--mca", "plm", "ssh"], ["--mca", "plm_ssh_agent", "ssh"]] {
        let ended = run(rig, allocated(rig, cluster, &["-N2", "-n4"], &asked)?.arg(&rig.places))?;
        contains(&ended.err, "no daemon started there: ssh ended with status 9")?;
    }
    nothing_left(cluster)
}

/// A rank that is killed ends the job, its message names rank and host, and nothing of the job is left.
fn killed(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = allocated(rig, cluster, &["-N2", "-n4"], &[])?;
    let err = killed_ends(rig, command.arg(&rig.places).arg("sleep"), |process| {
        cluster.command("h1", &["kill", "-KILL", process])
    })?;
    contains(&err, "rank 1")?;
    contains(&err, "h1")?;
    nothing_left(cluster)
}

/// The daemon of a host dies: mpirun says which one, and the other host is told.
fn daemon_killed(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = allocated(rig, cluster, &["-N2", "-n4"], &[])?;
    let err = killed_ends(rig, command.arg(&rig.places).arg("sleep"), |_| {
        cluster.command("h2", &["sh", "-c", "kill -KILL $(pgrep -f -o 'mpirun --ompi-rs-daemon')"])
    })?;
    contains(&err, "host h2")?;
    contains(&err, "its daemon ended")?;
    nothing_left(cluster)
}

/// What is missing is a sentence: srun, the allocation, ompi-rs on a host, a host outside of the allocation.
fn lacks(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = allocated(rig, cluster, &["-N2", "-n4"], &["--prefix", "/nowhere"])?;
    let ended = run(rig, command.arg(&rig.places))?;
    if ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    contains(&ended.err, "no daemon started there: srun ended with status 2")?;
    contains(&ended.err, "see whether ompi-rs is there as /nowhere/bin/mpirun")?;
    let mpirun = rig.dist.join("bin/mpirun").display().to_string();
    let places = rig.places.display().to_string();
    let line = ["salloc", "--quiet", "-N2", "-n4", "env", "PATH=/nowhere", &mpirun, &places];
    let ended = run(rig, &mut cluster.command("head", &line)?)?;
    contains(&ended.err, "srun, which starts daemons in Slurm's allocation")?;
    contains(&ended.err, "is not in PATH; add it, or write --mca plm ssh")?;
    let ended =
        run(rig, cluster.command("head", &[&mpirun, "--host", "h1", "--mca", "plm", "slurm"])?.arg(&rig.places))?;
    contains(&ended.err, "SLURM_JOB_ID is not set, so there is no allocation of Slurm")?;
    let asked = ["--host", "elsewhere.invalid", "--mca", "plm", "slurm"];
    let ended = run(rig, allocated(rig, cluster, &["-N2", "-n4"], &asked)?.arg(&rig.places))?;
    contains(&ended.err, "host elsewhere.invalid is not in Slurm's allocation")?;
    nothing_left(cluster)
}

/// `salloc … mpirun …`, where ssh fails.
fn allocated(rig: &Rig, cluster: &Cluster, salloc: &[&str], words: &[&str]) -> Result<Command> {
    let mpirun = rig.dist.join("bin/mpirun").display().to_string();
    let line: Vec<&str> = ["salloc", "--quiet"].iter().chain(salloc).copied().chain([mpirun.as_str()]).collect();
    let mut command = cluster.command("head", &line)?;
    command.args(words).env("PATH", fake_ssh(rig)?);
    Ok(command)
}

/// A PATH in which ssh fails.
fn fake_ssh(rig: &Rig) -> Result<String> {
    let folder = rig.log.with_file_name("no_ssh");
    shell::folder(&folder)?;
    let ssh = folder.join("ssh");
    std::fs::write(&ssh, "#!/bin/sh\nexit 9\n").at("write a script")?;
    shell::output(Command::new("chmod").arg("+x").arg(&ssh))?;
    Ok(format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default()))
}
