//! Unit tests under valgrind: invalid reads and writes, undefined values, leaks that nobody can reach. And C programs of one-sided
//! communication, by each component: invalid reads and writes, undefined values.

use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// `valgrind/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let packages: &[&str] = if session.options.all { ALL } else { SAMPLE };
    for package in packages {
        session.case(&format!("valgrind/{package}"), |session| check(session, package));
    }
    for (program, components) in if session.options.all { PROGRAMS } else { &PROGRAMS[..2] } {
        session.case(&format!("valgrind/{program} {components}"), |session| {
            if shell::which("valgrind").is_none() {
                return Verdict::Skipped(NO_VALGRIND.to_owned());
            }
            run(session, program, components).unwrap_or_else(Verdict::from)
        });
    }
    Ok(())
}

/// A program of tests/c on two ranks.
fn run(session: &mut Session, program: &str, components: &str) -> Result<Verdict> {
    let source = session.tree.root.join(format!("tests/c/{program}.c"));
    let executable = programs::compiled(session, &source, &[])?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    command.args([
        "-n",
        "2",
        "--mca",
        "osc",
        components,
        "valgrind",
        "--quiet",
        "--error-exitcode=99",
        "--fair-sched=yes",
    ]);
    command.arg(format!("--suppressions={}", session.tree.root.join("tests/valgrind.supp").display())).arg(executable);
    programs::own_choice(&mut command);
    let log = session.scratch().join(format!("valgrind.{program}.{components}.log"));
    let ended = deadline::run(&mut command, LIMIT, &log)?;
    Ok(if ended.ended_with(0) { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

fn check(session: &mut Session, package: &str) -> Verdict {
    if shell::which("valgrind").is_none() {
        return Verdict::Skipped(NO_VALGRIND.to_owned());
    }
    let compiled = session.unit_tests();
    let Some(program) = compiled.programs.iter().find(|program| program.name == package) else {
        return Verdict::Failed(format!("there is no test program of package {package}\n{}", compiled.errors));
    };
    let plain = program.command();
    let mut command = Command::new("valgrind");
    command.env("OMPI_RS_FEWER_ROUNDS", "1");
    command.args(["--quiet", "--error-exitcode=99", "--fair-sched=yes", "--leak-check=full"]);
    // Texts of parameters live as long as the process and are still pointed to; what is lost is a defect.
    command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    command.arg(format!("--suppressions={}", session.tree.root.join("tests/valgrind.supp").display()));
    command.arg(plain.get_program()).arg("--test-threads=1");
    LEFT_OUT.iter().for_each(|test| _ = command.args(["--skip", test]));
    if let Some(folder) = plain.get_current_dir() {
        command.current_dir(folder);
    }
    match deadline::run(&mut command, LIMIT, &session.scratch().join(format!("valgrind.{package}.log"))) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

const NO_VALGRIND: &str = "valgrind is not installed: apt-get install valgrind";
/// Programs, and the components of framework osc that may serve. The system copies undefined bytes of a long double in rma_fence.
const PROGRAMS: &[(&str, &str)] = &[
    ("rma_fence", "am"),
    ("rma_groups", "sm,am"),
    ("rma_fence", "sm,am"),
    ("rma_groups", "am"),
    ("rma_groups", "sm,cma"),
    ("rma_objects", "am"),
    ("rma_objects", "sm,am"),
    ("rma_objects", "sm,cma"),
];
const SAMPLE: &[&str] = &["opal-core"];
const ALL: &[&str] = &["opal-core", "orte-core", "ompi-core"];
/// Repeat by the ten thousand what shorter tests do once, spin between threads, of which valgrind runs one at a time, or take more
/// addresses than the 128 GiB that it has.
const LEFT_OUT: &[&str] = &[
    "order_and_content_over_many_wraps",
    "the_largest_payload_always_fits",
    "two_threads",
    "what_is_held_stays_mapped_in_a_range_of_its_own",
];
const LIMIT: Duration = Duration::from_secs(300);
