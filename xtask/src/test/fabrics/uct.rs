//! Fabrics by UCX: what btl/uct finds and says, programs over its transports on this node and over test hosts.

use super::super::Session;
use super::super::cluster::rig::contains;
use super::super::foreign::UCX;
use super::gone;
use super::program::{Fabric, POLLS, Said, at_2_and_4, fails, info_says, job_of};
use crate::failure::Result;

const UCT: Fabric = Fabric {
    foreign: UCX,
    btl: "uct",
    place: "uct/",
    alone: "self,uct",
    include: "btl_uct_transports",
    between_hosts: "tcp",
};

/// `fabrics/uct/…`
pub fn cases(session: &mut Session) {
    let said: [(&str, Said); 5] = [
        ("ompi_info", ompi_info),
        ("asked_in_vain", asked_in_vain),
        ("not_unasked", not_unasked),
        ("nothing_in_common", nothing_in_common),
        ("killed", killed),
    ];
    for (name, case) in said {
        UCT.case(session, &format!("uct/{name}"), case);
    }
    for (transports, program, ranks) in runs(session.options.all) {
        UCT.case(session, &format!("uct/{transports}/{program}@{ranks}"), |session| {
            UCT.on_this_node(session, transports, program, ranks)
        });
    }
    for (transports, reads, keeps) in reads(session.options.all) {
        UCT.case(session, &format!("uct/{transports}/get@2/{reads}_{keeps}"), |session| {
            UCT.get(session, transports, reads, keeps)
        });
    }
    for (transports, how) in polls(session.options.all) {
        UCT.case(session, &format!("uct/{transports}/polls@3/{how}"), |session| UCT.polls(session, transports, how));
    }
    match session.options.all {
        false => gone::cases(session, &UCT, &[], &[("posix,cma", "counted")]),
        true => gone::cases(session, &UCT, &[], &[("posix,cma", "counted"), ("tcp", "seen")]),
    }
    UCT.case_on_two(session, "uct/two_hosts_places", &[], |rig, cluster, _| UCT.places(rig, cluster));
    UCT.case_on_two(session, "uct/two_hosts_programs", &[], |rig, cluster, _| UCT.programs(rig, cluster));
}

/// Transports, program of `tests/c`, ranks.
fn runs(all: bool) -> Vec<(&'static str, &'static str, u32)> {
    if all {
        return at_2_and_4(&["tcp", "posix", "sysv", "posix,cma"]);
    }
    vec![
        ("tcp", "pt2pt_blocking", 2),
        ("tcp", "coll_blocking_1", 4),
        ("tcp", "threads_pt2pt", 2),
        ("posix,cma", "pt2pt_nonblocking", 2),
    ]
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

/// Transports, how ranks look for messages of one that is dead.
fn polls(all: bool) -> Vec<(&'static str, &'static str)> {
    if !all {
        return vec![("posix", "test")];
    }
    ["tcp", "posix"].into_iter().flat_map(|transports| POLLS.map(|how| (transports, how))).collect()
}

/// Each transport over each device with its reason.
fn ompi_info(session: &mut Session) -> Result<()> {
    let unasked = [
        "UCX 1.",
        "tcp over lo: not taken, btl/tcp serves the system's sockets",
        "posix over memory: not taken, btl/sm serves processes of this node",
        "self over memory0: not taken, it reaches this process alone",
    ];
    info_says(session, &[], &unasked)?;
    let tcp = ["--mca", "btl_uct_transports", "tcp", "--mca", "btl_uct_devices", "lo"];
    info_says(session, &tcp, &["tcp over lo: taken", "posix over memory: not taken, btl_uct_transports is `tcp`"])?;
    let nobody = ["--mca", "btl_uct_library", "libucx-of-nobody.so.0"];
    info_says(session, &nobody, &["this host has no libucx-of-nobody.so.0"])
}

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
    UCT.asked_in_vain(session, &cases)
}

fn not_unasked(session: &mut Session) -> Result<()> {
    UCT.not_unasked(session, "UCX")
}

fn nothing_in_common(session: &mut Session) -> Result<()> {
    UCT.nothing_in_common(session, ["tcp", "posix"], "btl/uct: no transport in common with rank ")
}

/// A rank that dies is missed by the others, whom mpirun leaves alone here, through UCX.
fn killed(session: &mut Session) -> Result<()> {
    let options = [&UCT.over("tcp")[..], &["--disable-auto-cleanup"]].concat();
    let ended = job_of(session, ("mpirun", &["ends", "kill-caught"]), 3, &options)?;
    fails(&ended)?;
    contains(&ended.err, "btl/uct: rank 2 is not there any more: ")
}
