//! Ranks that Slurm's srun starts, without a daemon of ours: munge, slurmctld and slurmd on test hosts, as the distribution
//! brings them.

use super::super::{Session, Verdict};
use super::rig::{OnTwo, Rig, contains, expect, on_hosts, run, verdict};
use super::srun::Srun;
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};

/// `cluster/slurm…`
pub fn cases(session: &mut Session) {
    let cases: [(&str, OnTwo); 6] = [
        ("two_hosts", |rig, cluster| PMI2.two_hosts(rig, cluster)),
        ("wire", |rig, cluster| PMI2.wire(rig, cluster)),
        ("abort", |rig, cluster| PMI2.abort(rig, cluster)),
        ("killed", |rig, cluster| PMI2.killed(rig, cluster)),
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

const PMI2: Srun = Srun { interface: "pmi2", app: "-1" };
