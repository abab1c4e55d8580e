//! Ranks that our own mpirun starts on test hosts by ssh: which transport reaches which rank, which bytes cross the
//! wire, and programs.

use super::super::{Session, Verdict, programs};
use super::rig::{OnTwo, Rig, crosses, expect, on_hosts, reached_as_placed, run, verdict};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::Result;
use std::process::Command;

/// `cluster/ssh…`
pub fn cases(session: &mut Session) {
    let cases: [(&str, OnTwo); 2] = [("places", places), ("wire", wire)];
    for (name, case) in cases {
        session.case(&format!("cluster/ssh_{name}"), |session| match hosts::lacks(&session.tree) {
            Some(why) => Verdict::Skipped(why),
            None => verdict(on_hosts(session, "ssh", Manager::None, case)),
        });
    }
    session.case("cluster/ssh_programs", |session| match hosts::lacks(&session.tree) {
        Some(why) => Verdict::Skipped(why),
        None => verdict(all_programs(session)),
    });
}

/// Ranks in blocks and in turn.
fn places(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (by, nodes) in [("slot", [0, 0, 1, 1]), ("node", [0, 1, 0, 1])] {
        let mut command = mpirun(rig, cluster, &["--host", "h1:2,h2:2", "--map-by", by, "-n", "4"])?;
        reached_as_placed(rig, command.args(["--mca", "btl_base_verbose", "40"]), nodes, "0")?;
    }
    Ok(())
}

fn wire(rig: &Rig, cluster: &Cluster) -> Result<()> {
    crosses(rig, cluster, |hosts| {
        let slots = if hosts.len() == 2 { ":1" } else { ":2" };
        let hosts: Vec<String> = hosts.iter().map(|host| format!("{host}{slots}")).collect();
        mpirun(rig, cluster, &["--host", &hosts.join(","), "-n", "2"])
    })
}

/// Programs of `tests/c` with two ranks on each of two hosts, and with one and three.
fn all_programs(session: &mut Session) -> Result<()> {
    let mut compiled = Vec::new();
    for name in PROGRAMS {
        let source = session.tree.root.join(format!("tests/c/{name}.c"));
        compiled.push(programs::compiled(session, &source, &[])?);
    }
    on_hosts(session, "ssh", Manager::None, |rig, cluster| {
        for hosts in ["h1:2,h2:2", "h1:1,h2:3"] {
            for program in &compiled {
                let ended = run(rig, mpirun(rig, cluster, &["--host", hosts, "-n", "4"])?.arg(program))?;
                expect(&ended, 0)?;
            }
        }
        Ok(())
    })
}

/// On the node where one logs in.
fn mpirun(rig: &Rig, cluster: &Cluster, words: &[&str]) -> Result<Command> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(words);
    Ok(command)
}

const PROGRAMS: &[&str] =
    &["comm_basic", "comm_hardware", "coll_blocking_1", "coll_nonblocking_4", "heat", "pt2pt_blocking", "session"];
