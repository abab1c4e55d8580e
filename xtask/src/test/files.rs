//! Files on a file system that moves less than it was asked for, is interrupted, fails, or has files cut by others: a library with
//! fbtl/faulty. And jobs that are killed.

use super::integrity;
use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// `files/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let seeds = if session.options.all { 1..=6 } else { 1..=1 };
    for (program, ranks) in UNCHANGED {
        for seed in seeds.clone() {
            let name = format!("files/short_{program}@{ranks} {seed}");
            let source = format!("tests/c/{program}.c");
            let seed = seed.to_string();
            let faults = [&SHORT[..], &[["fbtl_faulty_seed", seed.as_str()]]].concat();
            session.case(&name, |session| verdict(faulty(session, &source, *ranks, &faults, None)));
        }
    }
    for ranks in [1, 2, 4] {
        let name = format!("files/failing@{ranks}");
        session.case(&name, |session| verdict(faulty(session, FAILING, ranks, &[], None)));
    }
    for ranks in [1, 3] {
        let name = format!("files/cut@{ranks}");
        session.case(&name, |session| verdict(faulty(session, FAILING, ranks, &CUT, Some("cut"))));
    }
    for ranks in [1, 2, 4] {
        let name = format!("files/killed@{ranks}");
        session.case(&name, |session| killed(session, ranks).unwrap_or_else(Verdict::from));
    }
    for (how, ranks) in UNCOPIED {
        session.case(&format!("files/{how}_memory@{ranks}"), |session| {
            uncopied(session, how, *ranks).unwrap_or_else(Verdict::from)
        });
    }
    session.case("files/chooses_who_gathers", |session| chooses(session).unwrap_or_else(Verdict::from));
    session.case("files/says_what_failed", |session| says(session).unwrap_or_else(Verdict::from));
    for (name, on_lustre, refuses, wanted) in STRIPES {
        let case = |session: &mut Session| striped(session, name, *on_lustre, *refuses, wanted);
        session.case(&format!("files/{name}"), |session| case(session).unwrap_or_else(Verdict::from));
    }
    Ok(())
}

fn verdict(ended: Result<deadline::Ended>) -> Verdict {
    match ended {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

/// A job whose ranks have faults: those of the parameters, or those that the program asks for.
fn faulty(
    session: &mut Session,
    source: &str,
    ranks: u32,
    faults: &[[&str; 2]],
    argument: Option<&str>,
) -> Result<deadline::Ended> {
    let program = compiled(session, &session.tree.root.join(source), &[])?;
    let dist = integrity::library(session).map_err(fail)?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", &ranks.to_string(), "--mca", "fbtl", "faulty"]);
    faults.iter().for_each(|pair| _ = command.arg("--mca").args(pair));
    command.arg(program).args(argument);
    own_choice(&mut command);
    let log = session.scratch().join("files").join(format!("{}@{ranks}.log", source.replace('/', "-")));
    deadline::run(&mut command, LIMIT, &log)
}

/// A job that is killed leaves what it had synchronised, and nothing but that in the file's folder.
fn killed(session: &mut Session, ranks: u32) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/files/killed.c"), &[])?;
    let (dist, scratch) = (session.library().map_err(fail)?.dist, session.scratch().join("files"));
    let folder = scratch.join(format!("killed-{ranks}"));
    let _ = std::fs::remove_dir_all(&folder);
    shell::folder(&folder)?;
    let run = |last: Option<&str>| {
        let mut command = Command::new(dist.join("bin/mpirun"));
        command.arg("-n").arg(ranks.to_string()).arg(&program).arg(folder.join("data")).args(last);
        own_choice(&mut command);
        let log = scratch.join(format!("killed@{ranks}{}.log", last.unwrap_or("")));
        deadline::run(&mut command, LIMIT, &log)
    };
    let ended = run(None)?;
    if ended.ended_with(0) {
        return Ok(Verdict::Failed(format!("the job should be killed\n{}", ended.story())));
    }
    let left = std::fs::read_dir(&folder).at(format!("list {}", folder.display()))?.count();
    if left != 1 {
        return Ok(Verdict::Failed(format!("{left} files are left in {} instead of 1", folder.display())));
    }
    let ended = run(Some("look"))?;
    Ok(match ended.ended_with(0) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(ended.story()),
    })
}

/// Who does which collective access: by itself where pieces do not lie evenly, and as hints say.
fn chooses(session: &mut Session) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/c/file_gather.c"), &[])?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    command.args(["-n", "4", "--mca", "fcoll_base_verbose", "20"]).arg(program);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("files/chooses.log"))?;
    let lines: Vec<&str> = ended.err.lines().map(str::trim_end).collect();
    let missing = CHOICES.iter().find(|words| !lines.iter().any(|line| line.ends_with(**words)));
    Ok(match missing {
        Some(words) => {
            Verdict::Failed(format!("standard error lacks a line that ends with `{words}`\n{}", ended.story()))
        }
        None if !ended.ended_with(0) => Verdict::Failed(ended.story()),
        None => Verdict::Passed(String::new()),
    })
}

/// Memory that the system stops to copy, or never copied: a library that says so, and whose data comes by messages.
fn uncopied(session: &mut Session, how: &str, ranks: u32) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/files/uncopied.c"), &[])?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    command.args(["-n", &ranks.to_string(), "--mca", "fcoll_base_verbose", "10"]).arg(program).arg(how);
    own_choice(&mut command);
    let log = session.scratch().join(format!("files/{how}_memory@{ranks}.log"));
    let ended = deadline::run(&mut command, LIMIT, &log)?;
    Ok(match ended.err.contains(BY_MESSAGES) {
        false => Verdict::Failed(format!("standard error lacks `{BY_MESSAGES}`\n{}", ended.story())),
        true if !ended.ended_with(0) => Verdict::Failed(ended.story()),
        true => Verdict::Passed(String::new()),
    })
}

/// Hints that lay a file over devices.
fn striped(session: &mut Session, name: &str, on_lustre: bool, refuses: bool, wanted: &[&str]) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/files/striped.c"), &[])?;
    let folder = session.scratch().join("files");
    shell::folder(&folder)?;
    let shim = folder.join("lustre.so");
    let mut compile = Command::new("gcc");
    compile.args(["-O1", "-Wall", "-Wextra", "-shared", "-fPIC"]).arg(session.tree.root.join("tests/files/lustre.c"));
    shell::output(compile.arg("-o").arg(&shim).arg("-ldl"))?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    command.args(["-n", "2", "--mca", "fs_base_verbose", "10"]);
    if on_lustre {
        command.arg("-x").arg(format!("LD_PRELOAD={}", shim.display()));
    }
    if refuses {
        command.args(["-x", "LUSTRE_REFUSES=1"]);
    }
    own_choice(command.arg(program));
    let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("{name}.log")))?;
    let squeezed = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    // One of the processes makes the file, once.
    let asked = squeezed.matches("stripes of a file").count();
    Ok(match wanted.iter().find(|words| !squeezed.contains(**words)) {
        Some(words) => Verdict::Failed(format!("standard error lacks `{words}`\n{}", ended.story())),
        None if !ended.ended_with(0) || asked != usize::from(on_lustre) => Verdict::Failed(ended.story()),
        None => Verdict::Passed(String::new()),
    })
}

/// An error that ends the job: file, place, and what the system said.
fn says(session: &mut Session) -> Result<Verdict> {
    let ended = faulty(session, FAILING, 2, &[], Some("fatal"))?;
    let squeezed = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(match SAYS.iter().find(|words| !squeezed.contains(**words)) {
        Some(words) => Verdict::Failed(format!("standard error lacks `{words}`\n{}", ended.story())),
        None if ended.ended_with(0) => Verdict::Failed(format!("the job should fail\n{}", ended.story())),
        None => Verdict::Passed(String::new()),
    })
}

/// Most calls move less, some are interrupted.
const SHORT: [[&str; 2]; 2] = [["fbtl_faulty_short", "600000"], ["fbtl_faulty_interrupt", "125000"]];
const CUT: [[&str; 2]; 2] = [["fbtl_faulty_truncate", "200000"], ["fbtl_faulty_short", "200000"]];
/// Where a small library answers as Lustre would, what it is asked; elsewhere, and where Lustre refuses, what people are told.
const STRIPES: &[(&str, bool, bool, &[&str])] = &[
    ("lustre", true, false, &[ASKED, "a file that is there keeps its stripes"]),
    ("lustre_refuses", true, true, &[ASKED, "is not done: Invalid argument"]),
    ("no_lustre", false, false, &["is not done: its file system does not lay files over several devices"]),
];
/// 4 devices from number 3 on, 1 MiB on each.
const ASKED: &str = "stripes of a file without any: d00bd10b01000000000000000000000000000000000000000000100004000300";
/// Programs whose verdict no short call and no signal changes.
const UNCHANGED: &[(&str, u32)] =
    &[("file_differential", 3), ("file_access", 2), ("file_views", 4), ("file_shared", 2), ("file_datarep", 3)];
const CHOICES: &[&str] = &[
    "dynamic does it",
    "dynamic does it, as a hint says",
    "two_phase does it, as a hint says",
    "individual does it, as a hint says",
];
const UNCOPIED: &[(&str, u32)] = &[("forbidden", 2), ("device", 2), ("device", 3)];
const BY_MESSAGES: &str = "its data goes by messages";
const FAILING: &str = "tests/files/failing.c";
const SAYS: &[&str] = &["MPI_File_write_at", "ompi-rs-failing-", "at byte 12845, after 12345 bytes", "errno 28"];
const LIMIT: Duration = Duration::from_secs(120);
