//! Fabrics by UCX: what btl/uct finds and says, programs over its transports on this node and over test hosts.

use super::super::cluster::rig::{Rig, contains, expect, on_two_with, reached_by, run};
use super::super::foreign::{UCX, library};
use super::super::session::deadline::Ended;
use super::super::{Session, deadline};
use super::program::{LIMIT, PROGRAMS, Said, compiled, job_of, unless_lacking};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};
use crate::shell;
use std::process::Command;

/// A case on two hosts.
type OnTwo = fn(&Rig, &Cluster) -> Result<()>;

/// `fabrics/uct/…`
pub fn cases(session: &mut Session) {
    let said: [(&str, Said); 4] =
        [("ompi_info", ompi_info), ("asked_in_vain", asked_in_vain), ("not_unasked", not_unasked), ("killed", killed)];
    for (name, case) in said {
        session.case(&format!("fabrics/uct/{name}"), |session| unless_lacking(UCX.lacks(), || case(session)));
    }
    for (transports, program, ranks) in runs(session.options.all) {
        session.case(&format!("fabrics/uct/{transports}/{program}@{ranks}"), |session| {
            unless_lacking(UCX.lacks(), || on_this_node(session, transports, program, ranks))
        });
    }
    for (transports, reads, keeps) in reads(session.options.all) {
        session.case(&format!("fabrics/uct/{transports}/get@2/{reads}_{keeps}"), |session| {
            unless_lacking(UCX.lacks(), || get(session, transports, reads, keeps))
        });
    }
    let on_two: [(&str, OnTwo); 2] = [("places", places), ("programs", programs)];
    for (name, case) in on_two {
        session.case(&format!("fabrics/uct/two_hosts_{name}"), |session| {
            unless_lacking(UCX.lacks().or_else(|| hosts::lacks(&session.tree)), || {
                let dist = library(session)?;
                on_two_with(session, &dist, "fabrics_uct", Manager::None, case)
            })
        });
    }
}

/// Transports, program of `tests/c`, ranks.
fn runs(all: bool) -> Vec<(&'static str, &'static str, u32)> {
    if !all {
        return vec![
            ("tcp", "pt2pt_blocking", 2),
            ("tcp", "coll_blocking_1", 4),
            ("tcp", "threads_pt2pt", 2),
            ("posix,cma", "pt2pt_nonblocking", 2),
        ];
    }
    let programs = PROGRAMS.iter().flat_map(|program| [(*program, 2), (*program, 4)]);
    let of = |transports| programs.clone().map(move |(program, ranks)| (transports, program, ranks));
    ["tcp", "posix", "sysv", "posix,cma"].into_iter().flat_map(of).collect()
}

/// Transports, how long messages go, and what becomes of registrations.
fn reads(all: bool) -> Vec<(&'static str, &'static str, &'static str)> {
    match all {
        false => vec![("posix,cma", "get", "kept")],
        true => vec![
            ("posix,cma", "get", "kept"),
            ("posix,cma", "get", "ended"),
            ("posix,cma", "fragments", "kept"),
            ("posix", "fragments", "kept"),
            ("tcp", "fragments", "kept"),
        ],
    }
}

/// Each transport over each device with its reason.
fn ompi_info(session: &mut Session) -> Result<()> {
    let dist = library(session)?;
    let info = |words: &[&str]| -> Result<String> {
        let mut command = Command::new(dist.join("bin/ompi_info"));
        shell::output(command.args(words))
    };
    let said = info(&[])?;
    for part in [
        "UCX 1.",
        "tcp over lo: not taken, btl/tcp serves the system's sockets",
        "posix over memory: not taken, btl/sm serves processes of this node",
        "self over memory0: not taken, it reaches this process alone",
    ] {
        contains(&said, part)?;
    }
    let said = info(&["--mca", "btl_uct_transports", "tcp", "--mca", "btl_uct_devices", "lo"])?;
    contains(&said, "tcp over lo: taken")?;
    contains(&said, "posix over memory: not taken, btl_uct_transports is `tcp`")?;
    let said = info(&["--mca", "btl_uct_library", "libucx-of-nobody.so.0"])?;
    contains(&said, "this host has no libucx-of-nobody.so.0")
}

/// A transport that was asked for and cannot be had ends the start, although btl/tcp would reach all ranks.
fn asked_in_vain(session: &mut Session) -> Result<()> {
    let cases: [(&[&str], &str); 4] = [
        (&["--mca", "btl_uct_transports", "dc_mlx5"], "tcp over lo: not taken, btl_uct_transports is `dc_mlx5`"),
        (
            &["--mca", "btl_uct_transports", "tcp", "--mca", "btl_uct_devices", "eth77"],
            "tcp over lo: not taken, btl_uct_devices is `eth77`",
        ),
        (
            &["--mca", "btl_uct_transports", "cma"],
            "cma over memory: not taken, it moves memory and carries no messages",
        ),
        (
            &["--mca", "btl", "self,tcp,uct", "--mca", "btl_uct_library", "libnobody.so.0"],
            "this host has no libnobody.so.0",
        ),
    ];
    for (options, words) in cases {
        let ended = job_of(session, ("c", &["pt2pt_blocking"]), 2, &[&["--mca", "btl", "^sm"], options].concat())?;
        if ended.status.is_none() || ended.ended_with(0) {
            return Err(fail(format!("{options:?}: it should fail\n{}", ended.story())));
        }
        contains(&ended.err, "btl/uct was asked for and cannot run")?;
        contains(&ended.err, words)?;
    }
    Ok(())
}

/// Without a word of the user's nothing over sockets is taken, and nothing of this node.
fn not_unasked(session: &mut Session) -> Result<()> {
    let options = ["--mca", "btl", "^sm", "--mca", "btl_base_verbose", "40"];
    let ended = job_of(session, ("c", &["pt2pt_blocking"]), 2, &options)?;
    expect(&ended, 0)?;
    contains(&ended.err, "uct declines: UCX 1.")?;
    contains(&ended.err, "process 1 is reached by tcp (")
}

/// A rank that dies is missed by the others, whom mpirun leaves alone here, through UCX.
fn killed(session: &mut Session) -> Result<()> {
    let options = [&over("tcp")[..], &["--disable-auto-cleanup"]].concat();
    let ended = job_of(session, ("mpirun", &["ends", "kill-caught"]), 3, &options)?;
    if ended.status.is_none() || ended.ended_with(0) {
        return Err(fail(format!("it should fail\n{}", ended.story())));
    }
    contains(&ended.err, "btl/uct: rank 2 is not there any more: ")
}

fn on_this_node(session: &mut Session, transports: &str, program: &str, ranks: u32) -> Result<()> {
    let more = ["--mca", "smsc", "^cma,map", "--mca", "btl_base_verbose", "40"];
    let ended = job_of(session, ("c", &[program]), ranks, &[&over(transports)[..], &more].concat())?;
    expect(&ended, 0)?;
    nobody_is_lost(&ended)?;
    contains(&ended.err, "process 1 is reached by uct (")
}

/// Long messages that the receiver reads by itself, and how often memory is registered for them.
fn get(session: &mut Session, transports: &str, reads: &str, keeps: &str) -> Result<()> {
    let executable = compiled(session, "fabrics", "get")?;
    let mut command = Command::new(library(session)?.join("bin/mpirun"));
    command.args(["-n", "2"]).args(over(transports)).args(["--mca", "smsc", "^cma,map"]);
    if reads == "fragments" {
        command.args(["--mca", "pml_ob1_get_bytes_min", "1000000000"]);
    }
    if keeps == "ended" {
        command.args(["--mca", "rcache", "^grdma"]);
    }
    command.arg(executable).args([reads, keeps]);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("fabrics/job.log"))?;
    expect(&ended, 0)
}

/// Ranks in blocks and in turn: shared memory within a host, UCX between them.
fn places(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (by, nodes) in [("slot", [0, 0, 1, 1]), ("node", [0, 1, 0, 1])] {
        let mut command = mpirun(rig, cluster)?;
        command.args(["--host", "h1:2,h2:2", "--map-by", by, "-n", "4", "--mca", "btl_base_verbose", "40"]);
        reached_by(rig, &mut command, nodes, "0", "uct")?;
    }
    Ok(())
}

/// Under load; nobody counts as lost because the others left first.
fn programs(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = mpirun(rig, cluster)?;
    command.args(["--host", "h1:1,h2:1", "-n", "2"]).arg(&rig.pairs).args(["1048576", "8"]);
    let ended = run(rig, &mut command)?;
    expect(&ended, 0)?;
    nobody_is_lost(&ended)
}

/// On the node where one logs in, over the transport that needs no hardware.
fn mpirun(rig: &Rig, cluster: &Cluster) -> Result<Command> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(["--mca", "btl_uct_transports", "tcp"]);
    Ok(command)
}

fn over(transports: &str) -> [&str; 6] {
    ["--mca", "btl", "self,uct", "--mca", "btl_uct_transports", transports]
}

fn nobody_is_lost(ended: &Ended) -> Result<()> {
    match ended.err.contains("counts as lost") {
        false => Ok(()),
        true => Err(fail(format!("a rank counts as lost that has left in good order\n{}", ended.story()))),
    }
}
