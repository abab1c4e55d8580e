//! C and C++ programs of tests/: compiled by the library's own mpicc, launched by its own mpirun.

use super::header::Header;
use super::{Session, Verdict, deadline};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `c/…`: each program at several numbers of ranks.
pub fn tier(session: &mut Session) -> Result<()> {
    let sources = sources(&session.tree.root.join("tests/c"), &["c", "cc"])?;
    let (mutants, programs): (Vec<_>, Vec<_>) = sources.iter().partition(|source| stem(source) == "mutants");
    programs.into_iter().try_for_each(|source| program(session, source))?;
    mutants.into_iter().try_for_each(|source| mutated(session, source))?;
    Ok(())
}

fn program(session: &mut Session, source: &Path) -> Result<()> {
    let stem = stem(source);
    let header = match Header::read(&shell::read(source)?) {
        Ok(header) => header,
        Err(why) => {
            session.case(&format!("c/{stem}"), |_| Verdict::Failed(format!("{}: {why}", source.display())));
            return Ok(());
        }
    };
    for ranks in header.ranks.clone().unwrap_or_else(|| usual(session)) {
        for arguments in &header.arguments {
            let name = [format!("c/{stem}@{ranks}")].into_iter().chain(arguments.iter().cloned());
            let name = name.collect::<Vec<_>>().join(" ");
            session.case(&name, |session| right(session, source, ranks, arguments, header.limit));
        }
    }
    for mistake in &header.mistakes {
        for ranks in [2, 4] {
            let name = format!("c/{stem}@{ranks} -D{mistake}");
            session.case(&name, |session| wrong(session, source, ranks, mistake, header.limit));
        }
    }
    Ok(())
}

/// Mistakes put over the library through the profiling names: each must be found by the program that is named beside
/// it. `mutant N PROGRAM RANKS` lines of the file are the table.
fn mutated(session: &mut Session, mutants: &Path) -> Result<()> {
    let text = shell::read(mutants)?;
    let table: Vec<Mutant> = text.lines().filter_map(Mutant::read).collect();
    if table.is_empty() {
        return Err(fail(format!("{} has no line `mutant N PROGRAM RANKS`", mutants.display())));
    }
    for Mutant { number, program, ranks } in table {
        let source = mutants.with_file_name(format!("{program}.c"));
        let flags = [format!("-DMUTANT={number}"), mutants.display().to_string()];
        session.case(&format!("c/mutant_{number}_of_{program}@{ranks}"), |session| {
            let name = format!("mutant_{number}_of_{program}");
            let run = compiled_as(session, &source, &name, &flags)
                .and_then(|program| launch(session, &program, ranks, &[], Duration::from_secs(60)));
            match run {
                Ok(ended) if ended.ended_with(0) => {
                    Verdict::Failed(format!("it succeeds on a library with this mistake\n{}", ended.story()))
                }
                Ok(ended) if ended.trouble.is_none() => Verdict::Passed("found".to_owned()),
                Ok(ended) => Verdict::Failed(format!(
                    "it ended otherwise than by finding the mistake (status 1)\n{}",
                    ended.story()
                )),
                Err(failure) => failure.into(),
            }
        });
    }
    Ok(())
}

/// A line of the table.
struct Mutant {
    number: u32,
    program: String,
    ranks: u32,
}

impl Mutant {
    fn read(line: &str) -> Option<Mutant> {
        let mut words = line.split_once("/* mutant ")?.1.split_whitespace();
        let (number, program, ranks) = (words.next()?, words.next()?, words.next()?);
        let ranks = ranks.trim_end_matches(':').parse().ok()?;
        Some(Mutant { number: number.parse().ok()?, program: program.to_owned(), ranks })
    }
}

fn right(session: &mut Session, source: &Path, ranks: u32, arguments: &[String], limit: Duration) -> Verdict {
    let run = |session: &mut Session| {
        let program = compiled(session, source, &[])?;
        launch(session, &program, ranks, arguments, limit)
    };
    match run(session) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

/// With its mistake seeded the program must end by itself, and not with success.
fn wrong(session: &mut Session, source: &Path, ranks: u32, mistake: &str, limit: Duration) -> Verdict {
    let run = |session: &mut Session| {
        let program = compiled(session, source, &[&format!("-D{mistake}")])?;
        launch(session, &program, ranks, &[], limit)
    };
    match run(session) {
        Ok(ended) if ended.ended_with(0) => {
            Verdict::Failed(format!("it succeeds with {mistake} seeded: its check cannot fail\n{}", ended.story()))
        }
        Ok(ended) if ended.trouble.is_none() && ended.status.is_some_and(|status| status.code() == Some(1)) => {
            Verdict::Passed("found the seeded mistake".to_owned())
        }
        Ok(ended) => {
            Verdict::Failed(format!("it ended otherwise than by finding {mistake} (status 1)\n{}", ended.story()))
        }
        Err(failure) => failure.into(),
    }
}

/// A program under the library's own mpicc, with these flags.
pub fn compiled(session: &mut Session, source: &Path, flags: &[&str]) -> Result<PathBuf> {
    let name = format!("{}{}", stem(source), flags.concat());
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    compiled_as(session, source, &name, &flags)
}

/// Compiles a program unless it is newer than all that it is made of.
fn compiled_as(session: &mut Session, source: &Path, name: &str, flags: &[String]) -> Result<PathBuf> {
    let dist = session.library().map_err(fail)?.dist;
    let wrapper = if source.extension().is_some_and(|extension| extension == "cc") { "mpicxx" } else { "mpicc" };
    let origin = source.parent().unwrap_or(source);
    // Two folders may have programs of one name.
    let folder = session.scratch().join("compiled").join(origin.file_name().unwrap_or_default());
    shell::folder(&folder)?;
    let program = folder.join(name);
    let newest = |paths: &[PathBuf]| paths.iter().filter_map(|path| path.metadata().ok()?.modified().ok()).max();
    let mut inputs = sources(origin, &["h"])?;
    inputs.extend([source.to_path_buf(), dist.join("lib/libmpi_abi.a"), source.with_file_name("mutants.c")]);
    if newest(std::slice::from_ref(&program)).is_some_and(|made| Some(made) > newest(&inputs)) {
        return Ok(program);
    }
    let mut command = Command::new(dist.join("bin").join(wrapper));
    command.args(["-O1", "-g", "-Wall", "-Wextra"]).args(flags).arg(source).arg("-o").arg(&program).arg("-lm");
    own_choice(&mut command);
    let outcome = shell::outcome(&mut command, COMPILE_LIMIT)?;
    match outcome.status.success() {
        true => Ok(program),
        false => Err(fail(format!("{}{} did not compile it", outcome.stderr, wrapper))),
    }
}

/// Launches a program under the mpirun of the library under test.
pub fn launch(
    session: &mut Session,
    program: &Path,
    ranks: u32,
    arguments: &[String],
    limit: Duration,
) -> Result<deadline::Ended> {
    let mut command = job(session, program, ranks, arguments)?;
    let log = session.scratch().join("c/logs").join(format!("{}@{ranks}.log", stem(program)));
    deadline::run(&mut command, limit, &log)
}

/// The command that [`launch`] runs.
pub fn job(session: &mut Session, program: &Path, ranks: u32, arguments: &[String]) -> Result<Command> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.arg("-n").arg(ranks.to_string()).arg(program).args(arguments);
    own_choice(&mut command);
    Ok(command)
}

/// Tests are about defaults: what the user has set for other purposes must not reach them.
pub fn own_choice(command: &mut Command) {
    let theirs =
        |name: &str| ["OMPI_", "MPICC_", "MPICXX_", "MPICH_", "PMI"].iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(theirs) {
            command.env_remove(name);
        }
    }
}

fn usual(session: &Session) -> Vec<u32> {
    if session.options.all { vec![1, 2, 3, 4, 8] } else { vec![1, 2, 4] }
}

/// The files of a folder that end like this, sorted.
pub fn sources(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let what = format!("list {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).at(&what)? {
        let path = entry.at(&what)?.path();
        if path.extension().and_then(|extension| extension.to_str()).is_some_and(|have| extensions.contains(&have)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Its name without the ending.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
}

const COMPILE_LIMIT: Duration = Duration::from_secs(120);
