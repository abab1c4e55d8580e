//! mpi4py.futures: the tests that come with it, which start workers themselves or have the other ranks of their job as workers.

use super::super::{Session, Verdict, deadline, programs};
use super::home::{Home, surround};
use crate::failure::{Result, fail};
use std::process::Command;
use std::time::Duration;

/// A job: its ranks, whether they are workers of the first one, how many tests run, and how many ranks run them.
pub struct FuturesCase {
    /// Of the job.
    pub ranks: u32,
    /// Else rank 0 spawns its workers, or, where there are several ranks, tests of workers are left out.
    pub ranks_work: bool,
    tests: u32,
    /// Also without `--all`.
    pub is_sample: bool,
}

const fn case(ranks: u32, ranks_work: bool, tests: u32, is_sample: bool) -> FuturesCase {
    FuturesCase { ranks, ranks_work, tests, is_sample }
}

/// All of them.
pub const CASES: &[FuturesCase] = &[
    case(1, false, 121, true),
    case(2, false, 54, false),
    case(1, true, 113, false),
    case(2, true, 119, false),
    case(3, true, 117, true),
    case(4, true, 117, false),
    case(5, true, 117, false),
];

impl FuturesCase {
    /// `mpi4py/…`.
    pub fn name(&self) -> String {
        format!("mpi4py/futures{}@{}", if self.ranks_work { "_of_ranks" } else { "" }, self.ranks)
    }

    /// Runs it.
    pub fn run(&self, session: &mut Session, home: &Home) -> Result<Verdict> {
        let dist = session.library().map_err(fail)?.dist;
        let library = dist.join("lib/libmpi_abi.so.1");
        let folder = home.tests.with_file_name("demo").join("futures");
        let mut command = Command::new(dist.join("bin/mpirun"));
        command.arg("-n").arg(self.ranks.to_string()).arg(&home.python);
        if self.ranks_work {
            command.args(["-m", "mpi4py.futures"]);
        }
        command.arg(folder.join("test_futures.py")).arg("-q").current_dir(&folder);
        programs::own_choice(&mut command);
        command.env("LD_LIBRARY_PATH", dist.join("lib"));
        surround(&mut command, "ompi-rs", &library.canonicalize().unwrap_or(library));
        command.env("MPI4PY_TEST_SPAWN", "1");
        let log = session.scratch().join(format!("{}.log", self.name()));
        let ended = deadline::run(&mut command, LIMIT, &log)?;
        let times = if self.ranks_work { 1 } else { self.ranks as usize };
        let ran = ended.err.lines().filter(|line| line.starts_with(&format!("Ran {} tests in ", self.tests))).count();
        let well = ended.err.lines().filter(|line| *line == "OK").count();
        Ok(match ended.ended_with(0) && (ran, well) == (times, times) {
            true => Verdict::Passed(format!("{} tests", self.tests)),
            false => Verdict::Failed(format!("{} tests were expected, {times} times\n{}", self.tests, ended.story())),
        })
    }
}

/// Ten times what the longest takes.
const LIMIT: Duration = Duration::from_secs(300);
