//! The workspace's own unit and integration tests: compiled by one `cargo test --no-run`, then each test program runs
//! with a deadline and every single test in it is counted.

use super::session::report;
use super::session::unit_tests::Program;
use super::{Session, Verdict, deadline};
use crate::failure::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// `unit/…`: compile, then run program by program.
pub fn tier(session: &mut Session) -> Result<()> {
    let start = Instant::now();
    let compiled = session.unit_tests();
    if !compiled.errors.is_empty() {
        session.report.result("unit/compile", start.elapsed(), Verdict::Failed(compiled.errors));
    }
    // What did compile is worth running all the same.
    compiled.programs.iter().try_for_each(|program| one_program(session, program))
}

fn one_program(session: &mut Session, program: &Program) -> Result<()> {
    let all = listed(session, program)?;
    // A program without libtest is one test by itself.
    let Some(all) = all else {
        let name = format!("unit/{}", program.name);
        let (command, log) = (program.command(), log(session, &program.name));
        session.case(&name, |_| alone(command, &log));
        return Ok(());
    };
    let full = |test: &str| format!("unit/{}::{test}", program.name);
    let wanted: Vec<&String> = all.iter().filter(|test| session.wants(&full(test))).collect();
    if session.options.list {
        wanted.iter().for_each(|test| println!("{}", full(test)));
        return Ok(());
    }
    if wanted.is_empty() {
        return Ok(());
    }
    session.report.begins(&format!("unit/{}", program.name));
    let mut command = program.command();
    // Two threads at least: with one, libtest writes a test's name before the test runs, and its output in between.
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
    command.arg(format!("--test-threads={threads}"));
    if session.options.all {
        // Tests that draw their cases draw so many times more of them.
        command.env("OMPI_TEST_TRIALS", "12");
    }
    // How long random bytes are tried on a decoder.
    let seconds = if session.options.all { "8" } else { "2" };
    if session.options.all || session.options.require_all {
        command.env("OMPI_TEST_FUZZ_S", seconds);
    }
    if wanted.len() < all.len() {
        command.arg("--exact").args(&wanted);
    }
    let start = Instant::now();
    let ended = deadline::run(&mut command, LIMIT, &log(session, &program.name))?;
    let each = start.elapsed() / u32::try_from(wanted.len()).unwrap_or(u32::MAX);
    let verdicts = verdicts(&ended.out);
    for test in wanted {
        let verdict = match verdicts.get(test.as_str()) {
            Some(Said::Ok) => Verdict::Passed(String::new()),
            // With a reason it is no test: a role that others start, or a measurement.
            Some(Said::Ignored(why)) if !why.is_empty() => continue,
            Some(Said::Ignored(_)) => Verdict::Failed("#[ignore] without a reason".to_owned()),
            Some(Said::Failed) => Verdict::Failed(own_output(&ended.out, test).unwrap_or_else(|| ended.story())),
            None => Verdict::Failed(format!("its program ended before it did\n{}", ended.story())),
        };
        session.report.result(&full(test), each, verdict);
    }
    if let Some(trouble) = ended.trouble {
        session.report.result(&format!("unit/{}", program.name), each, Verdict::Failed(trouble));
    }
    Ok(())
}

/// The tests in a program, or `None` if it does not know `--list`.
fn listed(session: &Session, program: &Program) -> Result<Option<Vec<String>>> {
    let log = log(session, &format!("{}.list", program.name));
    let ended = deadline::run(program.command().args(["--list", "--format", "terse"]), LIST_LIMIT, &log)?;
    let lines = ended.out.lines();
    let is_list =
        ended.ended_with(0) && lines.clone().all(|line| line.ends_with(": test") || line.ends_with(": benchmark"));
    let tests = lines.filter_map(|line| line.strip_suffix(": test")).map(str::to_owned);
    Ok(is_list.then(|| tests.collect()))
}

fn alone(mut command: Command, log: &Path) -> Verdict {
    match deadline::run(&mut command, LIMIT, log) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

fn log(session: &Session, name: &str) -> PathBuf {
    session.scratch().join("unit").join(format!("{}.log", name.replace('/', ".")))
}

/// What libtest says of one test.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Ok,
    Failed,
    /// With the reason, if one is given.
    Ignored(String),
}

/// Reads `test NAME ... ok` lines.
fn verdicts(out: &str) -> BTreeMap<&str, Said> {
    let line = |line: &'_ str| -> Option<(usize, Said)> {
        let (name, said) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let said = match said {
            "ok" => Said::Ok,
            "FAILED" => Said::Failed,
            _ => Said::Ignored(said.strip_prefix("ignored")?.to_owned()),
        };
        Some((name.len(), said))
    };
    let lines =
        out.lines().filter_map(|text| line(text).map(|(length, said)| (&text["test ".len()..][..length], said)));
    lines.map(|(name, said)| (name.strip_suffix(" - should panic").unwrap_or(name), said)).collect()
}

/// The part of libtest's output that belongs to a failed test.
fn own_output(out: &str, test: &str) -> Option<String> {
    let begin = format!("---- {test} stdout ----");
    let rest = &out[out.find(&begin)? + begin.len()..];
    let end = rest.find("\n---- ").or_else(|| rest.find("\nfailures:\n")).unwrap_or(rest.len());
    Some(report::tail(rest[..end].trim_start_matches('\n'), 60))
}

const LIST_LIMIT: Duration = Duration::from_secs(30);
/// For one program, which holds many tests.
const LIMIT: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_libtest_says() {
        let out = "\nrunning 4 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored, no device\n\
                   test e - should panic ... ok\ntest result: FAILED. 1 passed\n";
        let said = verdicts(out);
        assert_eq!(said.len(), 4);
        assert_eq!((&said["a::b"], &said["c"], &said["e"]), (&Said::Ok, &Said::Failed, &Said::Ok));
        assert_eq!(said["d"], Said::Ignored(", no device".to_owned()));
    }

    #[test]
    fn finds_the_output_of_one_test() {
        let out = "failures:\n\n---- a stdout ----\nwhy a\n\n---- b stdout ----\nwhy b\n\nfailures:\n    a\n    b\n";
        assert_eq!(own_output(out, "a").unwrap(), "why a");
        assert_eq!(own_output(out, "b").unwrap(), "why b");
        assert_eq!(own_output(out, "c"), None);
    }
}
