//! MPICH's own tests of one-sided communication, compiled by our mpicc; they check themselves. A sample, and all with `--all`.
//!
//! They are made without MPICH's configure: what it would find out of a POSIX system is known here. Libraries with tests of their own
//! are in `libraries.rs` and `coarrays.rs`.

mod coarrays;
mod libraries;

use super::debian::MPICH;
use super::programs::{launch, own_choice, stem};
use super::{Session, Verdict};
use crate::failure::{Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `one_sided/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("one_sided/mpich", |session| match MPICH.unpacked(&session.tree.target) {
        Ok(source) => Suite { tests: source.join("test/mpi") }.run(session).unwrap_or_else(Verdict::from),
        Err(verdict) => verdict,
    });
    libraries::tier(session);
    coarrays::tier(session);
    Ok(())
}

struct Suite {
    tests: PathBuf,
}

/// A line of MPICH's list.
#[derive(Debug, PartialEq, Eq)]
struct Test {
    name: String,
    ranks: u32,
    arguments: Vec<String>,
}

impl Suite {
    fn run(&self, session: &mut Session) -> Result<Verdict> {
        let scratch = session.scratch().join("one_sided");
        shell::folder(&scratch)?;
        for empty in ["include/mpitestconf.h", "dtpools/dtpoolsconf.h"] {
            shell::write(&self.tests.join(empty), "")?;
        }
        let harness = self.harness(session, &scratch)?;
        let makefile = shell::read(&self.tests.join("rma/Makefile.am"))?.replace("\\\n", " ");
        let (mut passed, mut failed) = (0, Vec::new());
        let all = session.options.all;
        let tests = tests(&shell::read(&self.tests.join("rma/testlist.in"))?);
        for test in tests.iter().filter(|test| all || SAMPLE.contains(&test.name.as_str())) {
            match self.one(session, test, &makefile, &scratch, &harness) {
                Ok(None) => passed += 1,
                Ok(Some(why)) => failed.push(format!("{}@{} {:?}: {why}", test.name, test.ranks, test.arguments)),
                Err(failure) => failed.push(format!("{}: {}", test.name, failure.text)),
            }
        }
        let enough = if all { ALL } else { SAMPLE.len() };
        match failed.is_empty() && passed >= enough {
            true => Ok(Verdict::Passed(format!("{passed} runs; {} programs left out", LEFT_OUT.len()))),
            false => Ok(Verdict::Failed(format!("{passed} runs passed, {enough} must\n{}", failed.join("\n")))),
        }
    }

    /// What went wrong, if anything did.
    fn one(
        &self,
        session: &mut Session,
        test: &Test,
        makefile: &str,
        scratch: &Path,
        harness: &[PathBuf],
    ) -> Result<Option<String>> {
        let program = scratch.join(&test.name);
        let (mut sources, flags) = entries(makefile, &test.name);
        if sources.is_empty() {
            sources.push(format!("{}.c", test.name));
        }
        let mut command = self.compiler(session)?;
        command.args(flags).args(sources.iter().map(|source| self.tests.join("rma").join(source)));
        command.args(harness).arg("-lm").arg("-o").arg(&program);
        let outcome = shell::outcome(&mut command, LIMIT)?;
        if !outcome.status.success() {
            return Ok(Some(format!("does not compile: {}", outcome.stderr)));
        }
        let ended = launch(session, &program, test.ranks, &test.arguments, LIMIT)?;
        let right = ended.ended_with(0) && ended.out.contains("No Errors");
        Ok((!right).then(|| ended.story()))
    }

    /// The objects that every program is linked with.
    fn harness(&self, session: &mut Session, scratch: &Path) -> Result<Vec<PathBuf>> {
        let mut objects = Vec::new();
        for source in HARNESS {
            let object = scratch.join(format!("{}.o", stem(Path::new(source))));
            let mut command = self.compiler(session)?;
            shell::run(command.arg("-c").arg(self.tests.join(source)).arg("-o").arg(&object), false)?;
            objects.push(object);
        }
        Ok(objects)
    }

    fn compiler(&self, session: &mut Session) -> Result<Command> {
        let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpicc"));
        own_choice(&mut command);
        command.args(["-w", "-O1"]).args(FOUND_BY_CONFIGURE.map(|name| format!("-D{name}")));
        for folder in ["include", "dtpools/include"] {
            command.arg("-I").arg(self.tests.join(folder));
        }
        Ok(command)
    }
}

/// What the list asks for, without what is left out.
fn tests(list: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(Ok(ranks))) = (words.next(), words.next().map(str::parse)) else { continue };
        // Tests with a mark of configure's before their name need much memory.
        if name.starts_with('@') || LEFT_OUT.iter().any(|(left, _)| *left == name) {
            continue;
        }
        let arguments = words.filter_map(|word| word.strip_prefix("arg=")).map(str::to_owned).collect();
        tests.push(Test { name: name.to_owned(), ranks, arguments });
    }
    tests
}

/// Sources and definitions of a program, as far as the Makefile names any.
fn entries(makefile: &str, name: &str) -> (Vec<String>, Vec<String>) {
    let words = |what: &str, wanted: &dyn Fn(&str) -> bool| {
        let entry = format!("{name}_{what}");
        let line = makefile.lines().filter_map(|line| line.split_once('=')).find(|(left, _)| left.trim() == entry);
        let words = line.map_or("", |(_, right)| right).split_whitespace();
        words.filter(|word| wanted(word)).map(str::to_owned).collect()
    };
    (words("SOURCES", &|word| word.ends_with(".c")), words("CPPFLAGS", &|word| word.starts_with("-D")))
}

const HARNESS: &[&str] = &[
    "util/mtest.c",
    "util/mtest_common.c",
    "util/mtest_single.c",
    "dtpools/src/dtpools.c",
    "dtpools/src/dtpools_attr.c",
    "dtpools/src/dtpools_custom.c",
    "dtpools/src/dtpools_desc.c",
    "dtpools/src/dtpools_init_verify.c",
    "dtpools/src/dtpools_misc.c",
];

const FOUND_BY_CONFIGURE: [&str; 15] = [
    "HAVE_STDIO_H",
    "HAVE_STDLIB_H",
    "HAVE_STRING_H",
    "HAVE_UNISTD_H",
    "HAVE_STDARG_H",
    "HAVE_STDINT_H",
    "HAVE_INTTYPES_H",
    "HAVE_SYS_TIME_H",
    "HAVE_SYS_RESOURCE_H",
    "HAVE_MPI_WIN_CREATE",
    "HAVE_LONG_DOUBLE",
    "HAVE_LONG_LONG",
    "HAVE_USLEEP",
    "HAVE_PTHREAD_H",
    "THREAD_PACKAGE_NAME=THREAD_PACKAGE_POSIX",
];

/// Of each kind of window, epoch and access one or two; those that found a mistake here.
const SAMPLE: &[&str] = &[
    "transpose4",
    "lockcontention3",
    "fetchandadd_tree",
    "mixedsync",
    "nullpscw",
    "strided_getacc_indexed_shared",
    "window_attach",
    "win_shared_noncontig",
    "linked_list",
    "linked_list_bench_lock_excl",
    "fetch_and_op_long_double",
    "get_accumulate_int_derived",
    "reqops",
    "pscw_ordering",
    "mutex_bench_shm",
    "acc_ordering",
    "acc_pairtype",
    "atomic_rmw_gacc",
    "derived_acc_flush_local",
    "overlap_wins_cas",
    "rget_testall",
    "wincall",
];

/// How many runs the whole list has at least.
const ALL: usize = 180;

/// Programs that ask for something else than MPI 5.0, and why.
const LEFT_OUT: &[(&str, &str)] = &[(
    "win_shared_noncontig_put",
    "wants NULL for the memory of a process that has none, of which the standard says nothing",
)];

const LIMIT: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_entries_are_read() {
        let list = "winname 2\n@largetest@win_large_shm 4\n\n## no test 3\nrma_contig 2 arg=-iter=10 timeLimit=9\n";
        let test = |name: &str, ranks, arguments: &[&str]| Test {
            name: name.to_owned(),
            ranks,
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert_eq!(tests(list), [test("winname", 2, &[]), test("rma_contig", 2, &["-iter=10"])]);
        let makefile = "a_SOURCES = b.c c.c c.h\na_CPPFLAGS   = -DX -DY $(AM_CPPFLAGS)\naa_SOURCES = d.c\n";
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(entries(makefile, "a"), (words(&["b.c", "c.c"]), words(&["-DX", "-DY"])));
        assert_eq!(entries(makefile, "b"), (Vec::new(), Vec::new()));
    }
}
