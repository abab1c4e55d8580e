//! Ranks that a manager started which speaks PMIx: Slurm's srun and Open MPI's mpirun, by a library that has ess/pmix.

use super::super::foreign::{PMIX, library};
use super::super::{Session, Verdict};
use super::rig::{OnTwo, Rig, contains, expect, on_two_with, reached_as_placed, rig_with, run, verdict};
use super::srun::Srun;
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};
use crate::shell;
use std::process::Command;

type OnOne = fn(&Rig) -> Result<()>;

/// `cluster/pmix…`
pub fn cases(session: &mut Session) {
    let on_two: [(&str, Manager, OnTwo); 6] = [
        ("two_hosts", Manager::Slurm, |rig, cluster| SRUN.two_hosts(rig, cluster)),
        ("wire", Manager::Slurm, |rig, cluster| SRUN.wire(rig, cluster)),
        ("abort", Manager::Slurm, |rig, cluster| SRUN.abort(rig, cluster)),
        ("killed", Manager::Slurm, |rig, cluster| SRUN.killed(rig, cluster)),
        ("unusable", Manager::Slurm, unusable),
        ("openmpi_two_hosts", Manager::None, openmpi_two_hosts),
    ];
    for (name, manager, case) in on_two {
        session.case(&format!("cluster/pmix_{name}"), |session| {
            let lacks = PMIX.lacks().or_else(|| (manager == Manager::None).then(lacks_openmpi).flatten());
            match lacks.or_else(|| hosts::lacks(&session.tree)).or_else(|| hosts::lacks_for(manager)) {
                Some(why) => Verdict::Skipped(why),
                None => verdict(library(session).and_then(|dist| on_two_with(session, &dist, "pmix", manager, case))),
            }
        });
    }
    let on_one: [(&str, OnOne); 3] =
        [("openmpi", openmpi), ("no_manager", no_manager), ("without_component", without_component)];
    for (name, case) in on_one {
        session.case(&format!("cluster/pmix_{name}"), |session| match PMIX.lacks().or_else(lacks_openmpi) {
            Some(why) => Verdict::Skipped(why),
            None => verdict(library(session).and_then(|dist| case(&rig_with(session, &dist)?))),
        });
    }
}

/// Whether Open MPI is missing.
pub fn lacks_openmpi() -> Option<String> {
    let is_there = shell::which(OPEN_MPI).is_some();
    (!is_there).then(|| "Open MPI is not installed: apt-get install --no-install-recommends openmpi-bin".to_owned())
}

/// A manager that is there, and no libpmix on the host: both sides' versions and what to do are said, by every rank.
fn unusable(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = cluster.command("head", &SRUN.line(&["-N2", "-n2"]))?;
    command.env("OMPI_MCA_ess_pmix_library", "libpmix-of-nobody.so.2");
    let ended = run(rig, command.arg(&rig.places))?;
    if ended.status.is_none() || ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    for part in
        ["speaks PMIx (4.", "this host has no libpmix-of-nobody.so.2", "install libpmix", "srun --mpi=pmi2", "or unset"]
    {
        contains(&ended.err, part)?;
    }
    Ok(())
}

/// The manager is Open MPI's mpirun, over ssh.
fn openmpi_two_hosts(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut line = open_mpi();
    line.extend(["--host", "h1:2,h2:2", "-n", "4", "-x", "OMPI_MCA_btl_base_verbose"].map(str::to_owned));
    let mut command = cluster.command("head", &line)?;
    command.env("OMPI_MCA_btl_base_verbose", "40");
    reached_as_placed(rig, &mut command, [0, 0, 1, 1], "0")
}

/// On this node, with two programs: MPI_APPNUM.
fn openmpi(rig: &Rig) -> Result<()> {
    let line = open_mpi();
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).args(["-n", "2"]).arg(&rig.places).args([":", "-n", "1"]).arg(&rig.places);
    let ended = run(rig, &mut command)?;
    expect(&ended, 0)?;
    contains(&ended.out, "rank 1 of 3, program 0, with 3")?;
    contains(&ended.out, "rank 2 of 3, program 1, with 3")
}

/// Variables without the manager that left them.
fn no_manager(rig: &Rig) -> Result<()> {
    let mut command = Command::new(&rig.places);
    command.envs([("PMIX_NAMESPACE", "gone.1"), ("PMIX_RANK", "1"), ("PMIX_VERSION", "9.8.7")]);
    command.env("PMIX_SERVER_URI41", "pmix-server.1;tcp4://127.0.0.1:1");
    let ended = run(rig, &mut command)?;
    if ended.status.is_none() || ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    for part in ["(PMIx 9.8.7, PMIX_NAMESPACE=gone.1)", "its own PMIx, `OpenPMIx", "says ", "ess_pmix_library"] {
        contains(&ended.err, part)?;
    }
    Ok(())
}

/// The selection list of the user goes before what Open MPI's mpirun sets: without ess/pmix there is nobody who speaks with it.
fn without_component(rig: &Rig) -> Result<()> {
    for words in [&["-x", "OMPI_MCA_ess=^pmix"][..], &["env", "OMPI_MCA_ess=^pmix"]] {
        let line = open_mpi();
        let mut command = Command::new(&line[0]);
        let ended = run(rig, command.args(&line[1..]).args(["-n", "2"]).args(words).arg(&rig.places))?;
        if ended.status.is_none() || ended.ended_with(0) {
            return Err(fail(ended.story()));
        }
        contains(&ended.err, "another launcher started this process as one of several")?;
        contains(&ended.err, "ess/pmix")?;
    }
    Ok(())
}

/// More ranks than cores; by the superuser, as these tests run.
fn open_mpi() -> Vec<String> {
    [OPEN_MPI, "--allow-run-as-root", "--oversubscribe"].map(str::to_owned).to_vec()
}

const OPEN_MPI: &str = "mpirun.openmpi";
const SRUN: Srun = Srun { interface: "pmix", app: "0" };
