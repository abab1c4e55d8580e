//! Every function with every argument wrong in turn, made from the standard's data and `tests/bad_input/arguments.txt`.

mod emit;
mod random;
mod table;
mod words;

use super::{Session, Verdict, deadline, programs};
use crate::api::data::Data;
use crate::api::rows;
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use table::ArgumentTable;

/// `bad_input/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("bad_input/words", words::check);
    for (mode, least) in MODES {
        session.case(&format!("bad_input/{mode}"), |session| match check(session, mode, *least) {
            Ok(verdict) => verdict,
            Err(failure) => failure.into(),
        });
    }
    session.case("bad_input/mutant", |session| match mutated(session) {
        Ok(verdict) => verdict,
        Err(failure) => failure.into(),
    });
    Ok(())
}

/// Planted mistakes must be found: a handle that is not checked, a negative count that is taken.
fn mutated(session: &mut Session) -> Result<Verdict> {
    let program = compiled(session, true)?;
    let mut command = Command::new(&program);
    command.arg("return");
    programs::own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &program.with_file_name("mutant.log"))?;
    let crash = ended.out.contains("FAIL MPI_Type_size, datatype = (MPI_Datatype)0x7ffffff1: signal 11");
    let count = ended.out.contains("FAIL MPI_Testall, count = -1: expected MPI_ERR_COUNT, got MPI_SUCCESS");
    let fuzzer = program.with_file_name("fuzz_api_mutant");
    let arguments = ["--seed", "1", "--seconds", "20"].map(str::to_owned);
    let random = programs::launch(session, &fuzzer, 1, &arguments, LIMIT)?;
    let calls = random.out.contains("FAIL signal 11") && random.out.contains("--seed 1, call ");
    let last = random.out.lines().rev().find(|line| line.starts_with("    MPI_")).unwrap_or_default();
    Ok(match crash && count && calls && last.contains("MPI_Type_size((MPI_Datatype)0x7ffffff1") {
        true => Verdict::Passed("both tests found the planted mistakes".to_owned()),
        false => Verdict::Failed(format!("the planted mistakes were not found\n{}\n{}", ended.story(), random.story())),
    })
}

fn check(session: &mut Session, mode: &str, least: usize) -> Result<Verdict> {
    let program = compiled(session, false)?;
    let mut command = Command::new(&program);
    command.arg(mode);
    programs::own_choice(&mut command);
    // One process without a launcher: a child that is forked from it ends without ending a job.
    let folder = session.scratch().join("bad_input");
    command.current_dir(&folder);
    let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("{mode}.log")))?;
    let count = ended.out.lines().rev().find_map(|line| line.strip_prefix("cases ")?.parse::<usize>().ok());
    Ok(match count {
        Some(count) if ended.ended_with(0) && count < least => {
            Verdict::Failed(format!("{count} cases, {least} at least: did a kind lose its wrong values?"))
        }
        Some(count) if ended.ended_with(0) => Verdict::Passed(format!("{count} cases")),
        _ => Verdict::Failed(format!("{}\nonce more: {} {mode}", ended.story(), program.display())),
    })
}

/// `fuzz/api@N`: random calls with random arguments, the same on all ranks.
pub fn fuzz(session: &mut Session) -> Result<()> {
    let seconds = if session.options.all { 120 } else { 12 };
    for ranks in [1, 2, 3] {
        session.case(&format!("fuzz/api@{ranks}"), |session| match random(session, ranks, seconds) {
            Ok(verdict) => verdict,
            Err(failure) => failure.into(),
        });
    }
    if session.options.all {
        session.case("fuzz/valgrind@1", |session| match watched(session) {
            Ok(verdict) => verdict,
            Err(failure) => failure.into(),
        });
    }
    Ok(())
}

/// Under valgrind: no invalid access, whatever was passed.
fn watched(session: &mut Session) -> Result<Verdict> {
    if shell::which("valgrind").is_none() {
        return Ok(Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned()));
    }
    let program = compiled(session, false)?.with_file_name("fuzz_api");
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--undef-value-errors=no"]);
    command.arg(format!("--suppressions={}", session.tree.root.join("tests/valgrind.supp").display()));
    command.arg(&program).args(["--seconds", "60"]).env("FUZZ_NO_MEMORY_LIMIT", "1");
    programs::own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &program.with_file_name("valgrind.log"))?;
    Ok(if ended.ended_with(0) { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

fn random(session: &mut Session, ranks: u32, seconds: u64) -> Result<Verdict> {
    compiled(session, false)?;
    let program = session.scratch().join("bad_input/fuzz_api");
    let arguments = ["--seconds".to_owned(), seconds.to_string()];
    let mut command = programs::job(session, &program, ranks, &arguments)?;
    // Files that it makes by chance are made there.
    let folder = session.scratch().join("bad_input");
    let log = folder.join(format!("fuzz_api@{ranks}.log"));
    let ended = deadline::run(command.current_dir(folder), Duration::from_secs(seconds + 60), &log)?;
    let last = ended.out.lines().rev().find(|line| line.contains("calls ")).unwrap_or_default();
    Ok(match ended.ended_with(0) && !last.is_empty() {
        true => Verdict::Passed(last.to_owned()),
        false => {
            Verdict::Failed(format!("{}\nonce more: mpirun -n {ranks} {} --seed …", ended.story(), program.display()))
        }
    })
}

/// Writes the C and compiles it with the library's own mpicc.
fn compiled(session: &mut Session, mutant: bool) -> Result<PathBuf> {
    let root = session.tree.root.clone();
    let fixed = root.join("tests/bad_input");
    let table = ArgumentTable::read(&shell::read(&fixed.join("arguments.txt"))?)?;
    let data = Data::read(&root.join("ompi-core/api"))?;
    let strangers = table.strangers(&data.functions);
    if !strangers.is_empty() {
        return Err(fail(format!("arguments.txt speaks of what MPI does not have: {}", strangers.join(", "))));
    }
    let rows = rows::scan(&root.join("ompi-core/src/abi"))?;
    let known = data.functions.iter().filter_map(|function| {
        let row = rows.iter().find(|row| row.name == function.name)?;
        Some((function, emit::RowFacts { body: row.body, fails: row.fails }))
    });
    let known: Vec<_> = known.collect();
    let (text, _) = emit::program(&known, &table)?;
    let folder = session.scratch().join("bad_input");
    std::fs::create_dir_all(&folder).at(format!("create {}", folder.display()))?;
    let calls = folder.join("calls.c");
    shell::write(&calls, &text)?;
    let suffix = if mutant { "_mutant" } else { "" };
    let (objects, over) = (fixed.join("objects.c"), fixed.join("mutant.c"));
    let program = folder.join(format!("bad_input{suffix}"));
    let common: Vec<&PathBuf> = [&calls, &objects, &over].into_iter().take(if mutant { 3 } else { 2 }).collect();
    let driver = fixed.join("driver.c");
    compile(session, &[&fixed], &[&common[..], &[&driver]].concat(), &program)?;
    let (random, fuzz) = (folder.join("fuzz_calls.c"), root.join("tests/fuzz_api"));
    shell::write(&random, &random::program(&known, &table))?;
    let fuzzer = fuzz.join("fuzz.c");
    let sources = [&common[..], &[&random, &fuzzer]].concat();
    compile(session, &[&fixed, &fuzz], &sources, &folder.join(format!("fuzz_api{suffix}")))?;
    Ok(program)
}

/// Without warnings about what is old: those functions are tested, too.
fn compile(session: &mut Session, include: &[&Path], sources: &[&PathBuf], program: &Path) -> Result<()> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpicc"));
    command.args(["-O1", "-g", "-Wall", "-Wextra", "-Wno-deprecated-declarations"]);
    include.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
    command.args(sources).arg("-o").arg(program);
    programs::own_choice(&mut command);
    let outcome = shell::outcome(&mut command, Duration::from_secs(120))?;
    match outcome.status.success() {
        true => Ok(()),
        false => Err(fail(format!("{}mpicc did not compile it", outcome.stderr))),
    }
}

/// How calls are made, and the least number of cases: it may only grow.
const MODES: &[(&str, usize)] = &[("return", 7835), ("fatal", 7835), ("before", 660), ("after", 660)];
const LIMIT: Duration = Duration::from_secs(300);
