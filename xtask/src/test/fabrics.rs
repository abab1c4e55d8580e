//! Fabrics by libfabric: what btl/ofi finds and says, programs over its providers on this node and over test hosts. Those by UCX stand in
//! `uct.rs`.

mod program;
mod uct;

use self::program::{LIMIT, PROGRAMS, Said, compiled, job_of, unless_lacking};
use super::cluster::rig::{Rig, contains, expect, on_two_with, reached_by, run};
use super::foreign::{LIBFABRIC, library};
use super::session::deadline::Ended;
use super::{Session, deadline};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};
use crate::shell;
use std::path::Path;
use std::process::Command;

/// A case on two hosts; `tests/c/rma_nodes.c`, compiled.
type OnTwo = fn(&Rig, &Cluster, &Path) -> Result<()>;

/// `fabrics/…`
pub fn tier(session: &mut Session) -> Result<()> {
    let said: [(&str, Said); 3] =
        [("ompi_info", ompi_info), ("asked_in_vain", asked_in_vain), ("not_unasked", not_unasked)];
    for (name, case) in said {
        session.case(&format!("fabrics/{name}"), |session| unless_lacking(LIBFABRIC.lacks(), || case(session)));
    }
    for (provider, program, ranks) in runs(session.options.all) {
        session.case(&format!("fabrics/{provider}/{program}@{ranks}"), |session| {
            unless_lacking(LIBFABRIC.lacks(), || on_this_node(session, provider, program, ranks))
        });
    }
    for (provider, window) in windows(session.options.all) {
        session.case(&format!("fabrics/{provider}/ahead@4/{window}"), |session| {
            unless_lacking(LIBFABRIC.lacks(), || ahead(session, provider, window))
        });
    }
    for (provider, reads, keeps) in reads(session.options.all) {
        session.case(&format!("fabrics/{provider}/get@2/{reads}_{keeps}"), |session| {
            unless_lacking(LIBFABRIC.lacks(), || get(session, provider, reads, keeps))
        });
    }
    for (provider, program, ranks) in windows_by_put(session.options.all) {
        session.case(&format!("fabrics/{provider}/rdma/{}@{ranks}", program.join("_")), |session| {
            unless_lacking(LIBFABRIC.lacks(), || by_put(session, provider, program, ranks))
        });
    }
    session.case("fabrics/sockets/computing@2", |session| unless_lacking(LIBFABRIC.lacks(), || computing(session)));
    let on_two: [(&str, OnTwo); 3] = [("places", places), ("programs", programs), ("windows", windows_of_two)];
    for (name, case) in on_two {
        session.case(&format!("fabrics/two_hosts_{name}"), |session| {
            let lacks = LIBFABRIC.lacks().or_else(|| hosts::lacks(&session.tree));
            unless_lacking(lacks, || {
                let dist = library(session)?;
                let windows = compiled(session, "c", "rma_nodes")?;
                on_two_with(session, &dist, "fabrics", Manager::None, |rig, cluster| case(rig, cluster, &windows))
            })
        });
    }
    uct::cases(session);
    Ok(())
}

/// Provider, program of `tests/c`, ranks.
fn runs(all: bool) -> Vec<(&'static str, &'static str, u32)> {
    if !all {
        return vec![("tcp", "pt2pt_blocking", 2), ("tcp", "coll_blocking_1", 4), ("net", "pt2pt_nonblocking", 2)];
    }
    let programs = PROGRAMS.iter().flat_map(|program| [(*program, 2), (*program, 4)]);
    let of = |provider| programs.clone().map(move |(program, ranks)| (provider, program, ranks));
    ["tcp", "net", "sockets"].into_iter().flat_map(of).collect()
}

/// Provider, program of `tests/c` with its arguments, ranks. Provider `net` has no atomic operations, so osc/rdma serves nothing there.
fn windows_by_put(all: bool) -> Vec<(&'static str, &'static [&'static str], u32)> {
    if !all {
        return vec![
            ("tcp", &["rma_fence"], 3),
            ("tcp", &["rma_passive"], 2),
            ("tcp", &["rma_differential", "7", "40", "rdma,am"], 3),
            ("sockets", &["rma_groups"], 3),
        ];
    }
    let programs = WINDOW_PROGRAMS.iter().flat_map(|program| [2, 3, 4].map(|ranks| (*program, ranks)));
    let of = |provider| programs.clone().map(move |(program, ranks)| (provider, program, ranks));
    let is_slow = |provider: &str, program: &[&str]| provider == "sockets" && SLOW_OVER_SOCKETS.contains(&program[0]);
    let all = ["tcp", "sockets"].into_iter().flat_map(of);
    all.filter(|(provider, program, _)| !is_slow(provider, program)).collect()
}

/// Provider, `btl_ofi_window`.
fn windows(all: bool) -> Vec<(&'static str, u32)> {
    if !all {
        return vec![("tcp", 32), ("net", 2)];
    }
    ["tcp", "net", "sockets"].into_iter().flat_map(|provider| [(provider, 32), (provider, 2)]).collect()
}

/// Provider, how long messages go, and what becomes of registrations.
fn reads(all: bool) -> Vec<(&'static str, &'static str, &'static str)> {
    if !all {
        return vec![("tcp", "get", "kept"), ("net", "get", "ended")];
    }
    let ways = [("get", "kept"), ("get", "ended"), ("fragments", "kept")];
    let of = |provider| ways.map(|(reads, keeps)| (provider, reads, keeps));
    ["tcp", "net", "sockets"].into_iter().flat_map(of).collect()
}

/// Each provider with its reason.
fn ompi_info(session: &mut Session) -> Result<()> {
    let dist = library(session)?;
    let info = |words: &[&str]| -> Result<String> {
        let mut command = Command::new(dist.join("bin/ompi_info"));
        shell::output(command.args(words))
    };
    let said = info(&[])?;
    for part in ["libfabric 1.", "tcp;ofi_rxm over lo (127.0.0.1/32): not taken, btl/tcp serves the system's sockets"] {
        contains(&said, part)?;
    }
    let said = info(&["--mca", "btl_ofi_provider_include", "net", "--mca", "btl_ofi_interface", "lo"])?;
    contains(&said, "net over lo (127.0.0.1/32): taken")?;
    contains(&said, "tcp;ofi_rxm over lo (127.0.0.1/32): not taken, btl_ofi_provider_include is `net`")?;
    let said = info(&["--mca", "btl_ofi_library", "libfabric-of-nobody.so.1"])?;
    contains(&said, "this host has no libfabric-of-nobody.so.1")
}

/// A fabric that was asked for and cannot be had ends the start, although btl/tcp would reach all ranks.
fn asked_in_vain(session: &mut Session) -> Result<()> {
    let cases: [(&[&str], &str); 4] = [
        (&["--mca", "btl_ofi_provider_include", "verbs"], "tcp;ofi_rxm over lo (127.0.0.1/32): not taken"),
        (
            &["--mca", "btl_ofi_provider_include", "tcp", "--mca", "btl_ofi_interface", "eth77"],
            "btl_ofi_interface is `eth77`",
        ),
        (
            &["--mca", "btl", "self,tcp,ofi", "--mca", "btl_ofi_library", "libnobody.so.1"],
            "this host has no libnobody.so.1",
        ),
        (
            &["--mca", "btl", "self,tcp,ofi", "--mca", "btl_ofi_provider_exclude", "tcp,net"],
            "it emulates a fabric, slowly",
        ),
    ];
    for (options, words) in cases {
        let ended = job(session, "pt2pt_blocking", 2, &[&["--mca", "btl", "^sm"], options].concat())?;
        if ended.status.is_none() || ended.ended_with(0) {
            return Err(fail(format!("{options:?}: it should fail\n{}", ended.story())));
        }
        contains(&ended.err, "btl/ofi was asked for and cannot run")?;
        contains(&ended.err, words)?;
    }
    Ok(())
}

/// Without a word of the user's nothing over sockets is taken.
fn not_unasked(session: &mut Session) -> Result<()> {
    let ended = job(session, "pt2pt_blocking", 2, &["--mca", "btl", "^sm", "--mca", "btl_base_verbose", "40"])?;
    expect(&ended, 0)?;
    contains(&ended.err, "ofi declines: libfabric 1.")?;
    contains(&ended.err, "process 1 is reached by tcp (")
}

fn on_this_node(session: &mut Session, provider: &str, program: &str, ranks: u32) -> Result<()> {
    let options = ["--mca", "btl", "self,ofi", "--mca", "btl_ofi_provider_include", provider];
    let smsc = ["--mca", "smsc", "^cma,map", "--mca", "btl_base_verbose", "40"];
    let ended = job(session, program, ranks, &[&options[..], &smsc].concat())?;
    expect(&ended, 0)?;
    contains(&ended.err, "process 1 is reached by ofi (")
}

/// Three ranks flood one that is outside MPI, then all flood all.
fn ahead(session: &mut Session, provider: &str, window: u32) -> Result<()> {
    let window = window.to_string();
    let run = |session: &mut Session, allowed: &str| {
        let executable = compiled(session, "fabrics", "ahead")?;
        let mut command = Command::new(library(session)?.join("bin/mpirun"));
        command.args(["-n", "4", "--mca", "btl", "self,ofi", "--mca", "btl_ofi_provider_include", provider]);
        command.args(["--mca", "btl_ofi_window", allowed]).arg(executable).arg(&window);
        deadline::run(&mut command, LIMIT, &session.scratch().join("fabrics/job.log"))
    };
    expect(&run(session, &window)?, 0)?;
    // The program sees a sender that runs further ahead than it was told.
    let ended = run(session, WIDE_WINDOW)?;
    expect(&ended, 1)?;
    contains(&ended.out, &format!("have left, {window} may be on their way"))
}

/// Long messages that the receiver reads by itself, and how often memory is registered for them.
fn get(session: &mut Session, provider: &str, reads: &str, keeps: &str) -> Result<()> {
    let executable = compiled(session, "fabrics", "get")?;
    let mut command = Command::new(library(session)?.join("bin/mpirun"));
    command.args(["-n", "2", "--mca", "btl", "self,ofi", "--mca", "btl_ofi_provider_include", provider]);
    command.args(["--mca", "smsc", "^cma,map"]);
    if reads == "fragments" {
        command.args(["--mca", "pml_ob1_get_bytes_min", "1000000000"]);
    }
    if keeps == "ended" {
        command.args(["--mca", "rcache", "^grdma"]);
    }
    command.arg(executable).args([reads, keeps]);
    expect(&deadline::run(&mut command, LIMIT, &session.scratch().join("fabrics/job.log"))?, 0)
}

/// A program whose windows osc/rdma serves, where they are not dynamic.
fn by_put(session: &mut Session, provider: &str, program: &[&str], ranks: u32) -> Result<()> {
    let options = ["--mca", "btl", "self,ofi", "--mca", "btl_ofi_provider_include", provider];
    let osc = ["--mca", "osc", "rdma,am", "--mca", "osc_base_verbose", "20", "--mca", "smsc", "^cma,map"];
    let ended = job_of(session, ("c", program), ranks, &[&options[..], &osc].concat())?;
    expect(&ended, 0)?;
    contains(&ended.err, "rdma serves a window of")
}

/// A target outside MPI: by put and get all is done meanwhile, by messages nothing is.
fn computing(session: &mut Session) -> Result<()> {
    let flag = session.scratch().join("fabrics/computing.flag");
    for (osc, seconds, code) in [("rdma,am", "60", 0), ("am", "1", 1)] {
        // It may be there from an earlier run.
        let _absent = std::fs::remove_file(&flag);
        let flag = flag.display().to_string();
        let options = ["--mca", "btl", "self,ofi", "--mca", "btl_ofi_provider_include", "sockets", "--mca", "osc", osc];
        let program: &[&str] = &["computing", seconds, &flag];
        let ended = job_of(session, ("fabrics", program), 2, &options)?;
        expect(&ended, code)?;
        if code != 0 {
            contains(
                &format!("{}{}", ended.out, ended.err),
                "nothing was done while the target computed for 1 seconds",
            )?;
        }
    }
    Ok(())
}

fn job(session: &mut Session, program: &str, ranks: u32, options: &[&str]) -> Result<Ended> {
    job_of(session, ("c", &[program]), ranks, options)
}

/// Ranks in blocks and in turn: shared memory within a host, the fabric between them.
fn places(rig: &Rig, cluster: &Cluster, _windows: &Path) -> Result<()> {
    for (by, nodes) in [("slot", [0, 0, 1, 1]), ("node", [0, 1, 0, 1])] {
        let mut command = mpirun(rig, cluster)?;
        command.args(["--host", "h1:2,h2:2", "--map-by", by, "-n", "4", "--mca", "btl_base_verbose", "40"]);
        reached_by(rig, &mut command, nodes, "0", "ofi")?;
    }
    Ok(())
}

/// Both kinds of peers in one communicator, under load.
fn programs(rig: &Rig, cluster: &Cluster, _windows: &Path) -> Result<()> {
    let mut command = mpirun(rig, cluster)?;
    command.args(["--host", "h1:1,h2:1", "-n", "2"]).arg(&rig.pairs).args(["1048576", "8"]);
    expect(&run(rig, &mut command)?, 0)
}

/// Two ranks on each host: copies within a host, and all else by put, get and atomic operations, also to the rank beside.
fn windows_of_two(rig: &Rig, cluster: &Cluster, windows: &Path) -> Result<()> {
    for by in ["slot", "node"] {
        let mut command = mpirun(rig, cluster)?;
        command.args(["--host", "h1:2,h2:2", "--map-by", by, "-n", "4", "--mca", "osc", "sm,han,rdma,am"]);
        let ended = run(rig, command.args(["--mca", "osc_base_verbose", "20"]).arg(windows))?;
        expect(&ended, 0)?;
        contains(&ended.err, "han serves what stays within a node, rdma the rest")?;
    }
    Ok(())
}

/// On the node where one logs in, over the provider that needs no hardware.
fn mpirun(rig: &Rig, cluster: &Cluster) -> Result<Command> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(["--mca", "btl_ofi_provider_include", "tcp"]);
    Ok(command)
}

const WINDOW_PROGRAMS: &[&[&str]] = &[
    &["rma_fence"],
    &["rma_groups"],
    &["rma_passive"],
    &["rma_lock_all", "create"],
    &["rma_lock_all", "allocate"],
    &["rma_random", "create"],
    &["rma_errors"],
    &["rma_objects"],
    &["rma_threads"],
    &["rma_polling", "create"],
    &["rma_corners", "rdma,am"],
    &["rma_litmus", "rdma,am"],
    &["rma_differential", "7", "100", "rdma,am"],
    &["rma_differential", "8", "100", "rdma,am"],
];
/// Each of their many accumulates is four operations of a provider that emulates.
const SLOW_OVER_SOCKETS: &[&str] = &["rma_litmus", "rma_random"];
/// Larger than any that is tested.
const WIDE_WINDOW: &str = "400";
