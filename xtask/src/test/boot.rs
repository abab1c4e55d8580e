//! Machines without an operating system: programs on guests of QEMU, and their failures.

mod grub;
mod log;
mod wrong;

use super::header::Header;
use super::{Session, Verdict, deadline, programs};
use crate::bare::log::Log;
use crate::failure::{Result, fail};
use crate::{bare, boot, build, shell};
use deadline::Ended;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// `boot/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    // Alone, so that no time of a run has compiling in it.
    session.case("boot/images", compiled);
    for ranks in [1, 2, 4] {
        session.case(&format!("boot/ring.rs@{ranks}"), |session| {
            right(session, "examples/ring.rs", ranks, &[], "came back")
        });
    }
    for ranks in [2, 4, 8] {
        session.case(&format!("boot/heat@{ranks}"), |session| {
            right(session, "tests/c/heat.c", ranks, &[], "field identical to the serial run")
        });
    }
    session.case("boot/heat@4 --smp 2", |session| several(session, &["--smp", "2"], 4));
    session.case("boot/heat@2+2 hosted", |session| several(session, &["--hosted"], 2));
    session.case("boot/mca@2", chosen);
    session.case("boot/bench", bench);
    session.case("boot/heat@2 -DSEED_HALO_MISTAKE", seeded);
    match session.options.all {
        true => every_program(session)?,
        false => PROGRAMS.iter().for_each(|(program, ranks)| one_program(session, program, *ranks, &[])),
    }
    log::cases(session);
    wrong::cases(session);
    grub::cases(session);
    Ok(())
}

/// A sample of the chapters, and on how many guests.
const PROGRAMS: &[(&str, u32)] = &[("pt2pt_blocking", 2), ("datatype_basic", 2), ("coll_blocking_1", 4)];
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
        crate::tools::build(&session.tree, session.progress)?;
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

/// Runs something if anything can be booted here; `wrong` says what is wrong with its end.
fn judged(run: impl FnOnce() -> Result<Ended>, wrong: impl FnOnce(&Ended) -> Option<String>) -> Verdict {
    if let Some(skipped) = missing() {
        return skipped;
    }
    match run() {
        Ok(ended) => match wrong(&ended) {
            None => Verdict::Passed(String::new()),
            Some(why) => Verdict::Failed(why + &ended.story()),
        },
        Err(failure) => failure.into(),
    }
}

/// The image of a program, made once.
pub fn image(session: &Session, source: &str, flags: &[&str]) -> Result<PathBuf> {
    image_with(session, source, flags, Log::Text)
}

/// The image of a program that logs so, made once.
fn image_with(session: &Session, source: &str, flags: &[&str], log: Log) -> Result<PathBuf> {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("{source} {} {log:?}", flags.join(" "));
    if let Some(image) = made.get(&name) {
        return Ok(image.clone());
    }
    // What CI tests is the toolchain that is everywhere.
    let options = build::Options { bare_fallback: true, log, ..build::Options::default() };
    let image = bare::make(&session.tree, &session.tree.root.join(source), flags, &options, session.progress)?;
    made.insert(name, image.clone());
    Ok(image)
}

fn launch(session: &Session, image: &Path, ranks: u32, arguments: &[String]) -> Result<Ended> {
    let stem = image.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    started(session, image, ranks, &format!("{stem}@{ranks}"), None, |options| options.arguments = arguments.to_vec())
}

/// A job of guests with options that `set` makes; `hosted` runs beside them.
fn started(
    session: &Session,
    image: &Path,
    ranks: u32,
    log: &str,
    hosted: Option<&Path>,
    set: impl FnOnce(&mut boot::Options),
) -> Result<Ended> {
    let mut options = boot::Options::new(image, ranks, RUN_LIMIT.as_secs() as u32, Vec::new());
    set(&mut options);
    let mut limit = RUN_LIMIT;
    if options.arguments.iter().any(|word| word == "hang") {
        (limit, options.timeout) = (HANG, HANG.as_secs() as u32);
    }
    let mut command = boot::command(&session.tree, &options, image, hosted, session.progress)?;
    deadline::run(&mut command, limit + GRACE, &session.scratch().join(format!("boot/{log}.log")))
}

/// Why nothing can be booted here.
pub fn missing() -> Option<Verdict> {
    let qemu = shell::which(boot::guest::QEMU).is_none();
    qemu.then(|| Verdict::Skipped(format!("{} is not there; install qemu-system-x86", boot::guest::QEMU)))
}

/// A run takes seconds where nobody else wants the cores; eight guests on two busy cores may take a minute.
const RUN_LIMIT: Duration = Duration::from_secs(240);
/// For a run that is to hang.
const HANG: Duration = Duration::from_secs(8);
/// From mpirun's deadline to its end.
const GRACE: Duration = Duration::from_secs(20);
