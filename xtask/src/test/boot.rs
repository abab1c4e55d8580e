//! Machines without an operating system: programs on guests of QEMU, and their failures.

mod grub;
mod job;
mod log;
mod net;
mod wrong;

pub use job::{image, missing};

use super::header::Header;
use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use crate::shell;
use deadline::Ended;
use job::{RUN_LIMIT, judged, launch, started};
use std::process::Command;

/// `boot/images`: alone, so that no time of a run has compiling in it.
pub fn images(session: &mut Session) -> Result<()> {
    session.case("boot/images", compiled);
    Ok(())
}

/// `boot/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for ranks in [1, 2, 4] {
        session.case(&format!("boot/ring.rs@{ranks}"), |session| {
            right(session, "examples/ring.rs", ranks, &[], "came back")
        });
    }
    for ranks in [2, 4] {
        session.case(&format!("boot/windows.rs@{ranks}"), |session| {
            right(session, "tests/rust/windows.rs", ranks, &[], "")
        });
    }
    for ranks in [2, 4, 8] {
        session.case(&format!("boot/heat@{ranks}"), |session| {
            right(session, "tests/c/heat.c", ranks, &[], "field identical to the serial run")
        });
    }
    session.case("boot/heat@4 --smp 2", |session| several(session, &["--smp", "2"], 4));
    session.case("boot/heat@2+2 hosted", |session| several(session, &["--hosted"], 2));
    session.case("boot/no_files@2", |session| right(session, "tests/baremetal/no_files.c", 2, &[], "no files here"));
    session.case("boot/no_files@2", |session| right(session, "tests/baremetal/no_files.c", 2, &[], "no files here"));
    session.case("boot/mca@2", chosen);
    session.case("boot/bench", bench);
    session.case("boot/heat@2 -DSEED_HALO_MISTAKE", seeded);
    match session.options.all {
        true => every_program(session)?,
        false => PROGRAMS.iter().for_each(|(program, ranks)| one_program(session, program, *ranks, &[])),
    }
    log::cases(session);
    net::cases(session);
    wrong::cases(session);
    grub::cases(session);
    Ok(())
}

/// A sample of the chapters, and on how many guests.
const PROGRAMS: &[(&str, u32)] =
    &[("pt2pt_blocking", 2), ("datatype_basic", 2), ("coll_blocking_1", 4), ("rma_fence", 2), ("rma_groups", 4)];
/// The chapters of tests/c that run on guests with `--all`.
const CHAPTERS: &[&str] = &["pt2pt_", "datatype_", "coll_", "neighbor_", "topo_"];
/// Programs of these chapters that cannot, and why.
const HOSTED_ONLY: &[(&str, &str)] = &[
    ("coll_refused_later", "it forbids itself copies between processes by a filter of Linux"),
    ("pt2pt_single_copy", "likewise"),
];

/// All programs of the chapters, with all their arguments, on as many guests as they want.
fn every_program(session: &mut Session) -> Result<()> {
    for source in programs::sources(&session.tree.root.join("tests/c"), &["c"])? {
        let stem = programs::stem(&source);
        let wanted = CHAPTERS.iter().any(|chapter| stem.starts_with(chapter));
        if !wanted || HOSTED_ONLY.iter().any(|(name, _)| *name == stem) {
            continue;
        }
        let header = Header::read(&shell::read(&source)?).map_err(fail)?;
        let usual: &[u32] = &[2, 4, 8];
        for ranks in header.ranks.as_deref().unwrap_or(usual) {
            header.arguments.iter().for_each(|arguments| one_program(session, &stem, *ranks, arguments));
        }
    }
    Ok(())
}

fn one_program(session: &mut Session, stem: &str, ranks: u32, arguments: &[String]) {
    let name = [format!("boot/{stem}@{ranks}")].into_iter().chain(arguments.iter().cloned());
    session.case(&name.collect::<Vec<_>>().join(" "), |session| {
        right(session, &format!("tests/c/{stem}.c"), ranks, arguments, "")
    });
}

/// Tools, and the first image of each kind: the others share what it is made of.
fn compiled(session: &mut Session) -> Verdict {
    if let Some(skipped) = missing() {
        return skipped;
    }
    let run = |session: &mut Session| {
        crate::build::tools::build(&session.tree, session.progress)?;
        ["examples/ring.rs", "tests/c/heat.c"].iter().try_for_each(|source| image(session, source, &[]).map(drop))
    };
    run(session).map_or_else(Verdict::from, |()| Verdict::Passed(String::new()))
}

fn right(session: &mut Session, source: &str, ranks: u32, arguments: &[String], says: &str) -> Verdict {
    let run = || launch(session, &image(session, source, &[])?, ranks, arguments);
    judged(run, |ended| (!ended.ended_with(0) || !ended.out.contains(says)).then(String::new))
}

/// The heat solver with two ranks on each machine, or with two ordinary processes in the job.
fn several(session: &mut Session, how: &[&str], ranks: u32) -> Verdict {
    let run = || {
        let image = image(session, "tests/c/heat.c", &[])?;
        match how[0] {
            "--smp" => started(session, &image, ranks, how[0], None, |options| options.smp = 2),
            _ => {
                let program = programs::compiled(session, &session.tree.root.join("tests/c/heat.c"), &[])?;
                started(session, &image, ranks, how[0], Some(&program), |options| options.hosted = 2)
            }
        }
    };
    let right = |ended: &Ended| ended.ended_with(0) && ended.out.contains("field identical to the serial run");
    judged(run, |ended| (!right(ended)).then(String::new))
}

/// Parameters reach the guests, and what carries their messages is what the page says.
fn chosen(session: &mut Session) -> Verdict {
    let run = || {
        let mca = ["mpi_show_components", "1"].map(str::to_owned).to_vec();
        started(session, &image(session, "examples/ring.rs", &[])?, 2, "mca", None, |options| options.mca = mca)
    };
    judged(run, |ended| {
        let chosen = |name: &&&str| !ended.out.contains(&format!("component {name}: chosen"));
        let missing = ["ess/static", "shmem/ivshmem", "btl/sm", "pml/ob1"].iter().find(chosen);
        let failed = (!ended.ended_with(0)).then(String::new);
        failed.or(missing.map(|name| format!("{name} was not chosen\n")))
    })
}

/// The benchmarks run on guests and have figures; how good those are is nobody's matter here.
fn bench(session: &mut Session) -> Verdict {
    let run = || {
        let own = std::env::current_exe().map_err(|error| fail(format!("cannot find my own program: {error}")))?;
        let mut command = Command::new(own);
        command.args(["bench", "boot", "--rounds", "1", "--samples", "2"]);
        deadline::run(&mut command, RUN_LIMIT, &session.scratch().join("boot/bench.log"))
    };
    let rows = ["started.c ", "ring.rs ", "machines: 8 ", "latency 8 bytes", "rate 8 bytes", "barrier, 8 machines"];
    let right = |ended: &Ended| ended.ended_with(0) && rows.iter().all(|row| ended.out.contains(row));
    judged(run, |ended| (!right(ended)).then(String::new))
}

fn seeded(session: &mut Session) -> Verdict {
    let run = || launch(session, &image(session, "tests/c/heat.c", &["-DSEED_HALO_MISTAKE"])?, 2, &[]);
    judged(run, |ended| (ended.ended_with(0) || !ended.out.contains("heat: FAILED")).then(String::new))
}
