//! Ranks that another project's manager starts, without a daemon of ours: Hydra, the mpiexec of MPICH, on this machine and over
//! test hosts.

use super::super::{Session, Verdict};
use super::rig::{
    OnTwo, Rig, all_reached, contains, crosses, expect, killed_ends, on_hosts, placed, reached_as_placed, rig, run,
    verdict,
};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};
use crate::shell;
use std::process::Command;

type OnOne = fn(&Rig) -> Result<()>;

/// `cluster/hydra…`
pub fn cases(session: &mut Session) {
    let on_one: [(&str, OnOne); 5] =
        [("one_node", one_node), ("port", port), ("abort", abort), ("killed", killed), ("manager_gone", manager_gone)];
    for (name, case) in on_one {
        session.case(&format!("cluster/hydra_{name}"), |session| match lacks() {
            Some(why) => Verdict::Skipped(why),
            None => verdict(rig(session).and_then(|rig| case(&rig))),
        });
    }
    let on_two: [(&str, OnTwo); 2] = [("two_hosts", two_hosts), ("wire", wire)];
    for (name, case) in on_two {
        session.case(&format!("cluster/hydra_{name}"), |session| {
            match lacks().or_else(|| hosts::lacks(&session.tree)) {
                Some(why) => Verdict::Skipped(why),
                None => verdict(on_hosts(session, "direct", Manager::None, case)),
            }
        });
    }
}

/// What is missing for it here.
pub fn lacks() -> Option<String> {
    shell::which(HYDRA).is_none().then(|| LACKS_HYDRA.to_owned())
}

/// All ranks are on this node, and reach each other through its memory.
fn one_node(rig: &Rig) -> Result<()> {
    for ranks in [1, 4] {
        let ended = run(rig, Command::new(HYDRA).args(["-n", &ranks.to_string()]).args(SAYS).arg(&rig.places))?;
        expect(&ended, 0)?;
        placed(&ended.out, ranks, |_| ranks)?;
        all_reached(&ended.err, ranks, |from, to| if from == to { "self" } else { "sm" })?;
    }
    // Two programs: MPI_APPNUM.
    let ended =
        run(rig, Command::new(HYDRA).args(["-n", "1"]).arg(&rig.places).args([":", "-n", "1"]).arg(&rig.places))?;
    expect(&ended, 0)?;
    contains(&ended.out, "rank 1 of 2, program 1, with 2")
}

/// A manager that leaves a port in place of a descriptor.
fn port(rig: &Rig) -> Result<()> {
    let ended = run(rig, Command::new(HYDRA).args(["-pmi-port", "-n", "3"]).arg(&rig.places))?;
    expect(&ended, 0)?;
    placed(&ended.out, 3, |_| 3)
}

/// The status arrives, and the rank's own words.
fn abort(rig: &Rig) -> Result<()> {
    let ended = run(rig, Command::new(HYDRA).args(["-n", "3"]).arg(&rig.places).arg("abort"))?;
    expect(&ended, 7)?;
    contains(&ended.err, "called MPI_Abort")
}

/// A rank that is killed ends the job, and nothing of it is left.
fn killed(rig: &Rig) -> Result<()> {
    let mut command = Command::new(HYDRA);
    command.args(["-n", "3"]).arg(&rig.places).arg("sleep");
    killed_ends(rig, &mut command, |process| {
        let mut kill = Command::new("kill");
        kill.args(["-KILL", process]);
        Ok(kill)
    })
    .map(drop)
}

/// The variables of a manager whose descriptor nobody left: who, what and what to do.
fn manager_gone(rig: &Rig) -> Result<()> {
    let mut command = Command::new(&rig.places);
    command.envs([("PMI_FD", "77"), ("PMI_RANK", "0"), ("PMI_SIZE", "2")]);
    let ended = run(rig, &mut command)?;
    if ended.ended_with(0) || ended.status.is_none() {
        return Err(fail(ended.story()));
    }
    contains(&ended.err, "PMI_FD names descriptor 77, which is not open")?;
    contains(&ended.err, "start the program with mpiexec.hydra")
}

/// Two hosts by ssh, ranks in blocks and in turn.
fn two_hosts(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (each, nodes) in [("2", [0, 0, 1, 1]), ("1", [0, 1, 0, 1])] {
        let line = [HYDRA, "-hosts", "h1,h2", "-ppn", each, "-n", "4"];
        reached_as_placed(rig, cluster.command("head", &line)?.args(SAYS), nodes, "0")?;
    }
    Ok(())
}

fn wire(rig: &Rig, cluster: &Cluster) -> Result<()> {
    crosses(rig, cluster, |hosts| {
        let each = if hosts.len() == 2 { "1" } else { "2" };
        cluster.command("head", &[HYDRA, "-hosts", &hosts.join(","), "-ppn", each, "-n", "2"])
    })
}

/// Its program.
pub const HYDRA: &str = "mpiexec.hydra";
const LACKS_HYDRA: &str = "there is no mpiexec.hydra: apt-get install --no-install-recommends mpich";
const SAYS: [&str; 3] = ["-env", "OMPI_MCA_btl_base_verbose", "40"];
