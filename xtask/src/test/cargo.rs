//! The workspace's own unit and integration tests: compiled by one `cargo test --no-run`, then each test program runs
//! with a deadline and every single test in it is counted. A few programs run at once.

use super::deadline::Ended;
use super::session::unit_tests::Program;
use super::session::{at_once, report};
use super::{Session, Verdict, deadline};
use crate::failure::Result;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// `unit/…`: compile, then run the programs, a few at a time.
pub fn tier(session: &mut Session) -> Result<()> {
    let start = Instant::now();
    let compiled = session.unit_tests();
    if !compiled.errors.is_empty() {
        session.report.result("unit/compile", start.elapsed(), Verdict::Failed(compiled.errors));
    }
    // What did compile is worth running all the same.
    let runs = compiled.programs.iter().map(|program| Run::new(session, program)).collect::<Result<Vec<_>>>()?;
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    if session.options.list {
        runs.iter().flat_map(|run| &run.tests).for_each(|test| println!("{}", test.full));
        return Ok(());
    }
    at_once::each(
        &runs,
        AT_ONCE,
        |run| deadline::run(&mut run.command(), LIMIT, &run.log),
        |run, time, outcome| judge(session, run, time, &outcome?),
    )
}

/// One program, and what is wanted of it.
struct Run<'a> {
    program: &'a Program,
    tests: Vec<Test>,
    kind: Kind,
    environment: Vec<(&'static str, &'static str)>,
    log: PathBuf,
}

/// One test in a program.
struct Test {
    name: String,
    full: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Of libtest, all of its tests.
    Whole,
    /// Of libtest, some of its tests.
    Part,
    /// Without libtest: one test by itself.
    Alone,
}

impl<'a> Run<'a> {
    /// `None` when nothing of it is wanted.
    fn new(session: &Session, program: &'a Program) -> Result<Option<Run<'a>>> {
        let listed = listed(session, program)?;
        let all = listed.as_ref().map_or(1, Vec::len);
        let is_alone = listed.is_none();
        let test = |name: String| Test { full: format!("unit/{}::{name}", program.name), name };
        let alone = || Test { name: program.name.clone(), full: format!("unit/{}", program.name) };
        let mut tests: Vec<Test> = listed.map_or_else(|| vec![alone()], |all| all.into_iter().map(test).collect());
        tests.retain(|test| session.wants(&test.full));
        let kind = match tests.len() == all {
            _ if is_alone => Kind::Alone,
            true => Kind::Whole,
            false => Kind::Part,
        };
        let run = Run { program, tests, kind, environment: environment(session), log: log(session, &program.name) };
        Ok((!run.tests.is_empty()).then_some(run))
    }

    fn command(&self) -> Command {
        let mut command = self.program.command();
        command.envs(self.environment.iter().copied());
        if self.kind == Kind::Alone {
            return command;
        }
        // Two threads at least: with one, libtest writes a test's name before the test runs, and its output in between.
        let threads = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        command.arg(format!("--test-threads={threads}"));
        if self.kind == Kind::Part {
            command.arg("--exact").args(self.tests.iter().map(|test| &test.name));
        }
        command
    }
}

/// How much is tried.
fn environment(session: &Session) -> Vec<(&'static str, &'static str)> {
    let mut all = Vec::new();
    if session.options.all {
        // Tests that draw their cases draw so many times more of them.
        all.push(("OMPI_TEST_TRIALS", "12"));
    }
    // How long random bytes are tried on a decoder.
    let seconds = if session.options.all { "8" } else { "2" };
    if session.options.all || session.options.require_all {
        all.push(("OMPI_TEST_FUZZ_S", seconds));
    }
    all
}

fn judge(session: &mut Session, run: &Run, time: Duration, ended: &Ended) -> Result<()> {
    if run.kind == Kind::Alone {
        let verdict = match ended.ended_with(0) {
            true => Verdict::Passed(String::new()),
            false => Verdict::Failed(ended.story()),
        };
        session.report.result(&run.tests[0].full, time, verdict);
        return Ok(());
    }
    let each = time / u32::try_from(run.tests.len()).unwrap_or(u32::MAX);
    let verdicts = verdicts(&ended.out);
    for test in &run.tests {
        let verdict = match verdicts.get(test.name.as_str()) {
            Some(Said::Ok) => Verdict::Passed(String::new()),
            // With a reason it is no test: a role that others start, or a measurement.
            Some(Said::Ignored(why)) if !why.is_empty() => continue,
            Some(Said::Ignored(_)) => Verdict::Failed("#[ignore] without a reason".to_owned()),
            Some(Said::Failed) => Verdict::Failed(own_output(&ended.out, &test.name).unwrap_or_else(|| ended.story())),
            None => Verdict::Failed(format!("its program ended before it did\n{}", ended.story())),
        };
        session.report.result(&test.full, each, verdict);
    }
    if let Some(trouble) = &ended.trouble {
        session.report.result(&format!("unit/{}", run.program.name), each, Verdict::Failed(trouble.clone()));
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
/// Some programs compute on all cores, others wait for deadlines of theirs most of the time.
const AT_ONCE: usize = 3;
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
