//! Output of a program arrives, however the job ends: in each language, and linked statically, too.

use super::super::programs::{compiled, own_choice};
use super::super::{Session, Verdict, deadline};
use super::cases::LIMIT;
use crate::failure::{Result, fail};
use crate::shell;
use std::path::PathBuf;
use std::process::Command;

/// `mpirun/printed-…`.
pub fn cases(session: &mut Session) {
    for (name, options, status) in ENDS {
        session.case(&format!("mpirun/printed-{name}"), |session| {
            ending(session, name, options, *status).unwrap_or_else(Verdict::from)
        });
    }
    session.case("mpirun/printed-around-init", |session| around_init(session).unwrap_or_else(Verdict::from));
    for language in LANGUAGES {
        session.case(&format!("mpirun/printed-by-{}", language.name), |session| {
            spoken(session, language).unwrap_or_else(Verdict::from)
        });
    }
}

/// How `tests/mpirun/printed.c` ends, options for mpirun, its status.
const ENDS: &[(&str, &[&str], i32)] = &[
    ("abort", &[], 3),
    ("error", &[], 2),
    ("segv", &[], 139),
    ("kill", &[], 137),
    ("exit", &[], 5),
    ("timeout", &["--timeout", "2"], 124),
    ("partial-abort", &[], 3),
    ("partial-error", &[], 2),
];

fn ending(session: &mut Session, end: &str, options: &[&str], status: i32) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/printed.c");
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("mpirun");
    for flags in [&[][..], &["-static"]] {
        let program = compiled(session, &source, flags)?;
        let mut command = Command::new(dist.join("bin/mpirun"));
        // Of the beginning of a line only that of the rank which ends the job is sure to come.
        let (ranks, printed) = match end.starts_with("partial-") {
            true => ("1", "printed before".to_owned()),
            false => ("2", "printed before\n".repeat(2)),
        };
        command.args(["-n", ranks]).args(options).arg(&program).arg(end);
        own_choice(&mut command);
        let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("printed-{end}{}", flags.concat())))?;
        if !ended.ended_with(status) || ended.out != printed {
            return Ok(Verdict::Failed(format!(
                "status {status} and `{printed}` were expected {}\n{}",
                flags.concat(),
                ended.story()
            )));
        }
    }
    Ok(Verdict::Passed(peers(session, end)?))
}

/// MPI_Init puts a pipe in place of the pseudo terminal: no line is lost or late, and their order stays.
fn around_init(session: &mut Session) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/printed_around.c");
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("mpirun");
    // More than a terminal or a pipe holds.
    let lines = 20_000;
    let many = |words: &str| format!("............... {words} ................\n").repeat(lines);
    for (flags, kept, is_used) in [
        (&[][..], false, true),
        (&[], false, false),
        (&["-static"], false, true),
        (&["-static"], false, false),
        (&[], true, true),
    ] {
        let program = compiled(session, &source, flags)?;
        let mut command = Command::new(dist.join("bin/mpirun"));
        command.args(if kept { &["--mca", "iof_pty_until_init", "0"][..] } else { &[] });
        // The shell has the terminal open, too.
        let words = format!(
            "\"$0\" {} {} {lines}; echo five",
            if kept { "terminal" } else { "pipe" },
            if is_used { "used" } else { "unused" }
        );
        command.args(["--disable-auto-cleanup", "-n", "1", "sh", "-c", &words]).arg(&program);
        own_choice(&mut command);
        let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("printed-around{}", flags.concat())))?;
        let half = if is_used { "and a half" } else { "half" };
        let expected = format!("one\n{}two {half}\nthree\n{}four\n", many("before"), many("after"));
        let printed = ended.out.replacen("five\n", "", 1);
        if printed != expected || !ended.out.contains("five\n") {
            let at = printed.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
            return Ok(Verdict::Failed(format!(
                "{flags:?}, kept {kept}, used {is_used}: {} bytes of {} came, the first {at} as expected, then `{}`\n{}",
                printed.len(),
                expected.len(),
                printed.get(at..(at + 80).min(printed.len())).unwrap_or_default(),
                ended.err
            )));
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// What became of the two lines under other launchers: for comparison, no condition.
fn peers(session: &mut Session, end: &str) -> Result<String> {
    if end == "timeout" || end.starts_with("partial-") {
        return Ok(String::new());
    }
    let source = session.tree.root.join("tests/mpirun/printed.c");
    let folder = session.scratch().join("mpirun");
    let mut seen = Vec::new();
    for (name, options) in [("openmpi", &["--allow-run-as-root", "--oversubscribe"][..]), ("mpich", &[])] {
        let (wrapper, launcher) = (format!("mpicc.{name}"), format!("mpirun.{name}"));
        if shell::which(&wrapper).is_none() || shell::which(&launcher).is_none() {
            continue;
        }
        let program = folder.join(format!("printed.{name}"));
        let mut compiler = Command::new(&wrapper);
        compiler.arg(&source).arg("-o").arg(&program);
        own_choice(&mut compiler);
        if !shell::outcome(&mut compiler, LIMIT)?.status.success() {
            continue;
        }
        let mut command = Command::new(&launcher);
        command.args(options).args(["-n", "2"]).arg(&program).arg(end);
        own_choice(&mut command);
        let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("printed-{end}.{name}")))?;
        seen.push(format!("{name}: {} of 2 lines", ended.out.matches("printed before\n").count()));
    }
    Ok(seen.join(", "))
}

/// A program that knows nothing of MPI and is killed after its first line.
struct Language {
    name: &'static str,
    source: &'static str,
    /// Its compiler; or the interpreter, which gets the source.
    tool: &'static str,
    flags: &'static [&'static str],
    is_compiled: bool,
    package: &'static str,
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "cxx",
        source: "printed.cc",
        tool: "g++",
        flags: &[],
        is_compiled: true,
        package: "apt-get install g++",
    },
    Language {
        name: "cxx-static",
        source: "printed.cc",
        tool: "g++",
        flags: &["-static"],
        is_compiled: true,
        package: "apt-get install g++",
    },
    Language {
        name: "fortran",
        source: "printed.f90",
        tool: "gfortran",
        flags: &[],
        is_compiled: true,
        package: "apt-get install gfortran",
    },
    Language {
        name: "rust",
        source: "printed.rs",
        tool: "rustc",
        flags: &["--edition", "2024"],
        is_compiled: true,
        package: "install Rust",
    },
    Language {
        name: "python",
        source: "printed.py",
        tool: "python3",
        flags: &[],
        is_compiled: false,
        package: "apt-get install python3",
    },
];

fn spoken(session: &mut Session, language: &Language) -> Result<Verdict> {
    if shell::which(language.tool).is_none() {
        return Ok(Verdict::Skipped(format!("{} is not there: {}", language.tool, language.package)));
    }
    let source = session.tree.root.join("tests/mpirun/printed").join(language.source);
    let folder = session.scratch().join("mpirun");
    std::fs::create_dir_all(&folder).map_err(|error| fail(format!("{}: {error}", folder.display())))?;
    let words: Vec<PathBuf> = match language.is_compiled {
        true => {
            let program = folder.join(format!("printed-by-{}", language.name));
            let mut compiler = Command::new(language.tool);
            compiler.args(language.flags).arg(&source).arg("-o").arg(&program);
            let outcome = shell::outcome(&mut compiler, LIMIT)?;
            if !outcome.status.success() {
                return Err(fail(format!("{}{} did not compile it", outcome.stderr, language.tool)));
            }
            vec![program]
        }
        false => vec![language.tool.into(), source],
    };
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "2"]).args(&words);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("printed-by-{}.log", language.name)))?;
    // The other rank may be ended before it starts.
    let lines = ended.out.matches("printed before\n").count();
    Ok(match ended.ended_with(137) && lines >= 1 && ended.out.len() == lines * "printed before\n".len() {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("the printed line and status 137 were expected\n{}", ended.story())),
    })
}
