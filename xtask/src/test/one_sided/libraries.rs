//! Libraries that communicate one-sidedly, with tests of their own, whose answers decide: ARMCI-MPI, a sample and with `--all` all
//! its programs, and Global Arrays with `--all`.

use crate::failure::{Result, fail};
use crate::test::debian::DebianSource;
use crate::test::{Session, Verdict, deadline, programs};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `one_sided/armci/…`, `one_sided/ga/…`.
pub fn tier(session: &mut Session) {
    let all = session.options.all;
    for library in [&ARMCI, &GLOBAL_ARRAYS] {
        for program in if all { library.programs } else { library.sample } {
            for ranks in if all { library.ranks } else { &library.ranks[..1] } {
                // Over shared memory, and by messages.
                for components in [None, Some("am")] {
                    let how = components.map_or(String::new(), |components| format!(" {components}"));
                    let name = format!("one_sided/{}/{program}@{ranks}{how}", library.name);
                    session.case(&name, |session| match library.run(session, program, *ranks, components) {
                        Ok(()) => Verdict::Passed(String::new()),
                        Err(verdict) => verdict,
                    });
                }
            }
        }
    }
}

struct Library {
    name: &'static str,
    source: DebianSource,
    configure: &'static [&'static str],
    // What all programs are linked with.
    goals: &'static [&'static str],
    programs: &'static [&'static str],
    sample: &'static [&'static str],
    ranks: &'static [u32],
    // Where the programs are, and how their names end.
    folder: &'static str,
    ending: &'static str,
}

type Ended = std::result::Result<(), Verdict>;

impl Library {
    fn run(&self, session: &mut Session, program: &str, ranks: u32, components: Option<&str>) -> Ended {
        let source = self.made(session)?;
        let program = format!("{}{program}{}", self.folder, self.ending);
        self.make(session, &source, &[&program])?;
        let mut job = Command::new(dist(session)?.join("bin/mpirun"));
        job.args(["-n", &ranks.to_string()]);
        if let Some(components) = components {
            job.args(["--mca", "osc", components]);
        }
        job.arg(format!("./{program}")).current_dir(&source);
        let log = format!("{}@{ranks}-{}", program.replace('/', "-"), components.unwrap_or("all"));
        self.ended(session, &mut job, &log, RUN_LIMIT)
    }

    /// The source, configured for this library and its own library made.
    fn made(&self, session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
        let source = self.source.unpacked(&session.tree.target)?;
        if !source.join("Makefile").is_file() {
            let mut reconfigure = Command::new("autoreconf");
            self.ended(session, reconfigure.arg("-i").current_dir(&source), "autoreconf", BUILD_LIMIT)?;
            let mut configure = Command::new("./configure");
            configure.args(["--quiet", "CC=mpicc", "CFLAGS=-O1 -w"]).args(self.configure).current_dir(&source);
            find_compiler(session, &mut configure)?;
            self.ended(session, &mut configure, "configure", BUILD_LIMIT)?;
        }
        self.make(session, &source, self.goals)?;
        Ok(source)
    }

    fn make(&self, session: &mut Session, source: &Path, goals: &[&str]) -> Ended {
        let mut make = Command::new("make");
        make.args(["-s", "-j2"]).args(goals).current_dir(source);
        find_compiler(session, &mut make)?;
        self.ended(session, &mut make, "make", BUILD_LIMIT)
    }

    /// Runs a command; what does not end with success is the verdict.
    fn ended(&self, session: &Session, command: &mut Command, log: &str, limit: Duration) -> Ended {
        programs::own_choice(command);
        let log = session.scratch().join("one_sided").join(self.name).join(format!("{log}.log"));
        let ended = deadline::run(command, limit, &log)?;
        if ended.ended_with(0) { Ok(()) } else { Err(Verdict::Failed(ended.story())) }
    }
}

/// They look for mpicc in PATH.
fn find_compiler(session: &mut Session, command: &mut Command) -> Result<()> {
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", dist(session)?.join("bin").display()));
    Ok(())
}

fn dist(session: &mut Session) -> Result<PathBuf> {
    Ok(session.library().map_err(fail)?.dist)
}

/// Debian's release whose versions these are.
const RELEASE: &str = "trixie";
const BUILD_LIMIT: Duration = Duration::from_secs(900);
const RUN_LIMIT: Duration = Duration::from_secs(120);

const ARMCI: Library = Library {
    name: "armci",
    source: DebianSource {
        release: Some(RELEASE),
        package: "armci-mpi",
        archive: "armci-mpi_0.4.orig.tar.gz",
        sha256: "bcc3bb189b23bf653dcc69bc469eb86eae5ebc5ad94ab5f83e52ddbdbbebf1b1",
        folder: "armci-mpi-0.4",
    },
    configure: &[],
    goals: &["libarmci.la"],
    // Its list, without benchmarks and without what computes for a minute (armci-test, armci-perf, test_mpi_dim).
    programs: &[
        "test_onesided",
        "test_onesided_shared",
        "test_onesided_shared_dla",
        "test_mutex",
        "test_mutex_rmw",
        "test_mutex_trylock",
        "test_malloc_irreg",
        "test_groups",
        "test_group_split",
        "test_malloc_group",
        "test_accs",
        "test_accs_dla",
        "test_puts",
        "test_puts_gets",
        "test_puts_gets_dla",
        "test_putv",
        "test_igop",
        "test_rmw_fadd",
        "test_parmci",
        "ctree/ctree_test",
        "ctree/ctree_test_rand",
        "ctree/ctree_test_rand_interval",
        "mpi/test_mpi_accs",
        "mpi/test_mpi_indexed_accs",
        "mpi/test_mpi_indexed_gets",
        "mpi/test_mpi_indexed_puts_gets",
        "mpi/test_mpi_subarray_accs",
        "mpi/test_win_create",
        "mpi/test_win_model",
        "contrib/transp1D/transp1D-c",
        "contrib/non-blocking/simple",
        "contrib/lu/lu-block",
        "contrib/lu/lu-b-bc",
    ],
    sample: &["test_onesided", "test_mutex_rmw", "mpi/test_mpi_indexed_accs"],
    ranks: &[2, 3],
    folder: "tests/",
    ending: "",
};

const GLOBAL_ARRAYS: Library = Library {
    name: "ga",
    source: DebianSource {
        release: Some(RELEASE),
        package: "ga",
        archive: "ga_5.9.2.orig.tar.gz",
        sha256: "6ccae41744e0a293be2ccd56b698c3919098c001c52fda489716d2cff0b44c02",
        folder: "ga-5.9.2",
    },
    // The port of its runtime that communicates by windows.
    configure: &["--with-mpi3", "--disable-f77", "--without-blas", "--without-lapack", "--without-scalapack"],
    goals: &["all"],
    // Those that take seconds.
    programs: &[
        "comm_init",
        "ga-mpi",
        "gatscat",
        "gemmtest",
        "getmem",
        "lock",
        "matrixc",
        "mtest",
        "mulmatpatchc",
        "nbtestc",
        "normc",
        "ntestc",
        "ntestfc",
        "print",
        "rand",
        "read_only",
        "simple_groups_commc",
        "testabstract_ops",
        "testc",
        "testmultrect",
        "threadsafec",
        "tiled_irreg_test",
    ],
    sample: &[],
    ranks: &[3],
    folder: "global/testing/",
    ending: ".x",
};
