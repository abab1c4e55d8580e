//! Fabrics by libfabric: what btl/ofi finds and says, programs over its providers on this node and over test hosts. Those by UCX stand in
//! `uct.rs`.

mod gone;
mod program;
mod uct;

use self::program::{Fabric, POLLS, Said, at_2_and_4, info_says, job_of};
use super::Session;
use super::cluster::rig::{Rig, contains, expect, run};
use super::foreign::LIBFABRIC;
use crate::cluster::hosts::Cluster;
use crate::failure::Result;
use std::path::PathBuf;

const OFI: Fabric = Fabric {
    foreign: LIBFABRIC,
    btl: "ofi",
    place: "",
    alone: "self,ofi",
    include: "btl_ofi_provider_include",
    between_hosts: "tcp",
};

/// `fabrics/…`
pub fn tier(session: &mut Session) -> Result<()> {
    let said: [(&str, Said); 4] = [
        ("ompi_info", ompi_info),
        ("asked_in_vain", asked_in_vain),
        ("not_unasked", not_unasked),
        ("nothing_in_common", nothing_in_common),
    ];
    for (name, case) in said {
        OFI.case(session, name, case);
    }
    for (provider, program, ranks) in runs(session.options.all) {
        OFI.case(session, &format!("{provider}/{program}@{ranks}"), |session| {
            OFI.on_this_node(session, provider, program, ranks)
        });
    }
    for (provider, window) in windows(session.options.all) {
        OFI.case(session, &format!("{provider}/ahead@4/{window}"), |session| ahead(session, provider, window));
    }
    for (provider, reads, keeps) in reads(session.options.all) {
        OFI.case(session, &format!("{provider}/get@2/{reads}_{keeps}"), |session| {
            OFI.get(session, provider, reads, keeps)
        });
    }
    for (provider, program, ranks) in windows_by_put(session.options.all) {
        OFI.case(session, &format!("{provider}/rdma/{}@{ranks}", program.join("_")), |session| {
            by_put(session, provider, program, ranks)
        });
    }
    OFI.case(session, "sockets/computing@2", computing);
    for who in ["target", "holder"] {
        OFI.case(session, &format!("tcp/killed/{who}"), |session| killed(session, who));
    }
    for (provider, how) in polls(session.options.all) {
        OFI.case(session, &format!("{provider}/polls@3/{how}"), |session| OFI.polls(session, provider, how));
    }
    match session.options.all {
        false => gone::cases(session, &OFI, &["tcp"], &[]),
        true => gone::cases(session, &OFI, &["tcp"], &["tcp", "net", "sockets"].map(|provider| (provider, "counted"))),
    }
    OFI.case_on_two(session, "two_hosts_places", &[], |rig, cluster, _| OFI.places(rig, cluster));
    OFI.case_on_two(session, "two_hosts_programs", &[], |rig, cluster, _| OFI.programs(rig, cluster));
    OFI.case_on_two(session, "two_hosts_windows", &["rma_nodes"], windows_of_two);
    uct::cases(session);
    Ok(())
}

/// Provider, program of `tests/c`, ranks.
fn runs(all: bool) -> Vec<(&'static str, &'static str, u32)> {
    match all {
        false => vec![("tcp", "pt2pt_blocking", 2), ("tcp", "coll_blocking_1", 4), ("net", "pt2pt_nonblocking", 2)],
        true => at_2_and_4(&["tcp", "net", "sockets"]),
    }
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

/// Provider, how ranks look for messages of one that is dead.
fn polls(all: bool) -> Vec<(&'static str, &'static str)> {
    if !all {
        return vec![("tcp", "test"), ("tcp", "recv")];
    }
    ["tcp", "net", "sockets"].into_iter().flat_map(|provider| POLLS.map(|how| (provider, how))).collect()
}

/// Each provider with its reason.
fn ompi_info(session: &mut Session) -> Result<()> {
    let tcp = "tcp;ofi_rxm over lo (127.0.0.1/32): not taken, ";
    let unasked = format!("{tcp}btl/tcp serves the system's sockets");
    info_says(session, &[], &["libfabric 1.", &unasked])?;
    let net = ["--mca", "btl_ofi_provider_include", "net", "--mca", "btl_ofi_interface", "lo"];
    let other = format!("{tcp}btl_ofi_provider_include is `net`");
    info_says(session, &net, &["net over lo (127.0.0.1/32): taken", &other])?;
    let nobody = ["--mca", "btl_ofi_library", "libfabric-of-nobody.so.1"];
    info_says(session, &nobody, &["this host has no libfabric-of-nobody.so.1"])
}

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
    OFI.asked_in_vain(session, &cases)
}

fn not_unasked(session: &mut Session) -> Result<()> {
    OFI.not_unasked(session, "libfabric")
}

fn nothing_in_common(session: &mut Session) -> Result<()> {
    OFI.nothing_in_common(session, ["tcp", "net"], "btl/ofi: no provider in common with rank ")
}

/// Three ranks flood one that is outside MPI, then all flood all.
fn ahead(session: &mut Session, provider: &'static str, window: u32) -> Result<()> {
    let window = window.to_string();
    let run = |session: &mut Session, allowed: &str| {
        let options = [&OFI.over(provider)[..], &["--mca", "btl_ofi_window", allowed]].concat();
        job_of(session, ("fabrics", &["ahead", &window]), 4, &options)
    };
    expect(&run(session, &window)?, 0)?;
    // The program sees a sender that runs further ahead than it was told.
    let ended = run(session, WIDE_WINDOW)?;
    expect(&ended, 1)?;
    contains(&ended.out, &format!("have left, {window} may be on their way"))
}

/// A program whose windows osc/rdma serves, where they are not dynamic.
fn by_put(session: &mut Session, provider: &'static str, program: &[&str], ranks: u32) -> Result<()> {
    let osc = ["--mca", "osc", "rdma,am", "--mca", "osc_base_verbose", "20", "--mca", "smsc", "^cma,map"];
    let ended = job_of(session, ("c", program), ranks, &[&OFI.over(provider)[..], &osc].concat())?;
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
        let options = [&OFI.over("sockets")[..], &["--mca", "osc", osc]].concat();
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

/// A rank dies in the middle of a put of others, or with a lock: mpirun leaves the others alone here, and they are told.
fn killed(session: &mut Session, who: &str) -> Result<()> {
    let osc = ["--mca", "osc", "rdma,am", "--mca", "osc_base_verbose", "20", "--disable-auto-cleanup"];
    let ended = job_of(session, ("fabrics", &["dies", who]), 3, &[&OFI.over("tcp")[..], &osc].concat())?;
    contains(&ended.err, "rdma serves a window of")?;
    [0, 1].iter().try_for_each(|rank| contains(&ended.out, &format!("rank {rank} was told: MPI_ERR_PROC_ABORTED")))
}

/// Two ranks on each host: copies within a host, and all else by put, get and atomic operations, also to the rank beside.
fn windows_of_two(rig: &Rig, cluster: &Cluster, programs: &[PathBuf]) -> Result<()> {
    for by in ["slot", "node"] {
        let mut command = OFI.mpirun(rig, cluster)?;
        command.args(["--host", "h1:2,h2:2", "--map-by", by, "-n", "4", "--mca", "osc", "sm,han,rdma,am"]);
        let ended = run(rig, command.args(["--mca", "osc_base_verbose", "20"]).arg(&programs[0]))?;
        expect(&ended, 0)?;
        contains(&ended.err, "han serves what stays within a node, rdma the rest")?;
    }
    Ok(())
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
