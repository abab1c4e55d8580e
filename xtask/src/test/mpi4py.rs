//! mpi4py, the MPI of Python: compiled from its source distribution by our mpicc for the standard ABI, then its
//! benchmarks and its own tests on this library.
//!
//! The build is kept below target as long as mpi.h, mpi4py and Python stay the same: the library itself is found when
//! a program starts, so that a new one needs no new build.

mod bench;
mod futures;
mod home;

use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use deadline::Ended;
pub use home::{Home, surround};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Modules of mpi4py's tests that belong together, in one job.
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// With `--all`.
    pub ranks: &'static [u32],
    /// Otherwise.
    sample: &'static [u32],
    /// In their order.
    pub modules: &'static [Module],
}

/// A module or a class of one, its tests, and how many of them it leaves out because something is not there. What
/// mpi4py leaves out of its own because it knows an MPI to be wrong runs here. After `!` stands what is left out by name:
/// tests of dynamic processes amid others.
pub type Module = (&'static str, u32, u32);

/// `mpi4py/…`.
pub(super) fn tier(session: &mut Session) -> Result<()> {
    let mut home = None;
    session.case("mpi4py/build", |session| match at_home(session, &mut home) {
        Ok(home) => Verdict::Passed(home.note.clone()),
        Err(verdict) => verdict,
    });
    for (bench, check) in [("helloworld", hello as Check), ("ringtest", ring)] {
        session.case(&format!("mpi4py/{bench}"), |session| match at_home(session, &mut home) {
            Ok(home) => job(session, home, bench, check).unwrap_or_else(Verdict::from),
            Err(verdict) => verdict,
        });
    }
    session.case("mpi4py/bench", |session| match at_home(session, &mut home) {
        Ok(_) => bench::measured(session).unwrap_or_else(Verdict::from),
        Err(verdict) => verdict,
    });
    for suite in SUITES {
        for &ranks in if session.options.all { suite.ranks } else { suite.sample } {
            session.case(&format!("mpi4py/{}@{ranks}", suite.name), |session| match at_home(session, &mut home) {
                Ok(home) => run(session, home, suite.name, suite.modules, ranks, 1).unwrap_or_else(Verdict::from),
                Err(verdict) => verdict,
            });
        }
    }
    for case in futures::CASES.iter().filter(|case| case.is_sample || session.options.all).collect::<Vec<_>>() {
        session.case(&case.name(), |session| match at_home(session, &mut home) {
            Ok(home) => case.run(session, home).unwrap_or_else(Verdict::from),
            Err(verdict) => verdict,
        });
    }
    session.case("mpi4py/again@4", |session| match at_home(session, &mut home) {
        Ok(home) => again(session, home).unwrap_or_else(Verdict::from),
        Err(verdict) => verdict,
    });
    Ok(())
}

type Check = fn(&str, u32) -> bool;

/// Builds mpi4py at the first call; why it could not be is said by each.
fn at_home<'a>(
    session: &mut Session,
    home: &'a mut Option<std::result::Result<Home, home::Missing>>,
) -> std::result::Result<&'a Home, Verdict> {
    if home.is_none() {
        *home = Some(open(session));
    }
    match home {
        Some(Ok(home)) => Ok(home),
        Some(Err(missing)) => Err(missing.verdict()),
        None => Err(Verdict::Failed("mpi4py was not built; another case of this tier says why".to_owned())),
    }
}

/// The build, for tests elsewhere.
pub(super) fn opened(session: &mut Session) -> std::result::Result<Home, Verdict> {
    open(session).map_err(|missing| missing.verdict())
}

fn open(session: &mut Session) -> std::result::Result<Home, home::Missing> {
    let dist = session.library().map_err(fail)?.dist;
    Home::of(&session.tree.target, &dist.join("bin/mpicc"), &dist.join("include/mpi.h"), true)
}

/// One of `python -m mpi4py.bench` on 1 to 8 ranks.
fn job(session: &mut Session, home: &Home, name: &str, right: Check) -> Result<Verdict> {
    for ranks in 1..=8 {
        let arguments = ["-m", "mpi4py.bench", name].map(str::to_owned);
        let ended = launch(session, home, name, ranks, &arguments, BENCH_LIMIT)?;
        if !ended.ended_with(0) || !right(&ended.out, ranks) {
            return Ok(Verdict::Failed(format!("on {ranks} ranks:\n{}", ended.story())));
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// Every rank says hello once.
fn hello(out: &str, ranks: u32) -> bool {
    let said = |rank| format!("Hello, World! I am process {rank} of {ranks} on ");
    out.lines().count() == ranks as usize
        && (0..ranks).all(|rank| out.lines().filter(|line| line.starts_with(&said(rank))).count() == 1)
}

/// It compares what went around itself; it says how long that took.
fn ring(out: &str, ranks: u32) -> bool {
    out.lines().any(|line| line.starts_with("time for 1 loops") && line.contains(&format!("({ranks} processes,")))
}

/// What hangs does so now and then: the heart of the suites many times, over several jobs since jobs can hang as they begin.
fn again(session: &mut Session, home: &Home) -> Result<Verdict> {
    let modules = SUITES.iter().filter(|suite| AGAIN.contains(&suite.name)).flat_map(|suite| suite.modules);
    let modules: Vec<Module> = modules.copied().collect();
    let (jobs, times) = if session.options.all { (4, 5) } else { (2, 2) };
    for job in 0..jobs {
        if let Verdict::Failed(why) = run(session, home, &format!("again-{job}"), &modules, 4, times)? {
            return Ok(Verdict::Failed(format!("in job {job} of {jobs}:\n{why}")));
        }
    }
    Ok(Verdict::Passed(format!("{} times", jobs * times)))
}

/// Runs modules, each `times` times, and compares what every rank says with the table.
fn run(session: &mut Session, home: &Home, name: &str, modules: &[Module], ranks: u32, times: u32) -> Result<Verdict> {
    let ended = launch(session, home, name, ranks, &arguments(home, modules, times), SUITE_LIMIT)?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(ended.story()));
    }
    let wrong = differences(&ended.out, modules, ranks, times);
    let tests: u32 = modules.iter().map(|(_, tests, skipped)| tests - skipped).sum();
    match wrong.is_empty() {
        true => Ok(Verdict::Passed(format!("{tests} tests"))),
        false => Ok(Verdict::Failed(wrong)),
    }
}

/// What the interpreter is given.
pub(super) fn arguments(home: &Home, modules: &[Module], times: u32) -> Vec<String> {
    let mut arguments = vec![path(&home.suite), path(&home.tests), PATIENCE_SECONDS.to_string(), times.to_string()];
    arguments.extend(modules.iter().map(|(module, ..)| (*module).to_owned()));
    arguments
}

/// Every rank says of each module, each time, what the table says.
pub(super) fn differences(out: &str, modules: &[Module], ranks: u32, times: u32) -> String {
    let mut said = BTreeMap::<&str, u32>::new();
    out.lines().filter(|line| line.starts_with("suite: ")).for_each(|line| *said.entry(line).or_default() += 1);
    let mut wrong = String::new();
    for (module, tests, skipped) in modules {
        for rank in 0..ranks {
            let line = format!("suite: {module} ran {tests} failed 0 skipped {skipped} rank {rank}");
            match said.remove(line.as_str()) {
                Some(count) if count == times => {}
                count => wrong += &format!("{} times instead of {times}: {line}\n", count.unwrap_or(0)),
            }
        }
    }
    wrong.extend(said.keys().map(|line| format!("not expected: {line}\n")));
    wrong
}

/// Python on our library, which another MPI that is installed must not replace.
fn launch(
    session: &mut Session,
    home: &Home,
    name: &str,
    ranks: u32,
    arguments: &[String],
    limit: Duration,
) -> Result<Ended> {
    let dist = session.library().map_err(fail)?.dist;
    let library = dist.join("lib/libmpi_abi.so.1");
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.arg("-n").arg(ranks.to_string()).arg(&home.python).args(arguments);
    programs::own_choice(&mut command);
    command.env("LD_LIBRARY_PATH", dist.join("lib"));
    surround(&mut command, "ompi-rs", &library.canonicalize().unwrap_or(library));
    if [SPAWNING, SPAWNING_POOL].contains(&name) {
        // Spawned interpreters import the tests' modules by name.
        command.env("MPI4PY_TEST_SPAWN", "1").env("PYTHONPATH", &home.tests);
    }
    deadline::run(&mut command, limit, &session.scratch().join("mpi4py").join(format!("{name}@{ranks}.log")))
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// How long a module may take before every rank writes which test and which call it is in. Ten times what the longest takes
/// where nothing else runs.
const PATIENCE_SECONDS: u32 = 300;
/// For an interpreter that no longer answers.
const SUITE_LIMIT: Duration = Duration::from_secs(1800);
const BENCH_LIMIT: Duration = Duration::from_secs(60);

const ALL: &[u32] = &[1, 2, 3, 4, 5];
/// One rank makes no intercommunicator.
const SEVERAL: &[u32] = &[2, 3, 4, 5];

/// The suites whose tests may start processes; in others those that would are left out.
const SPAWNING: &str = "spawn";
const SPAWNING_POOL: &str = "spawn_pool";

/// All of mpi4py's tests.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "p2p",
        ranks: ALL,
        sample: &[1, 5],
        modules: &[
            ("test_p2p_obj", 92, 0),
            ("test_p2p_buf", 52, 0),
            ("test_p2p_obj_matched", 10, 0),
            ("test_p2p_buf_matched", 11, 0),
            ("test_msgzero", 8, 0),
            ("test_p2p_buf_part", 12, 0),
        ],
    },
    Suite {
        name: "coll",
        ranks: ALL,
        sample: &[1, 2, 5],
        modules: &[("test_cco_obj", 40, 0), ("test_cco_buf", 72, 0), ("test_cco_vec", 62, 0)],
    },
    Suite {
        name: "coll-inter",
        ranks: SEVERAL,
        sample: &[2, 5],
        modules: &[("test_cco_obj_inter", 24, 0), ("test_cco_buf_inter", 16, 0), ("test_cco_vec_inter", 12, 0)],
    },
    Suite {
        name: "coll-nonblocking",
        ranks: ALL,
        sample: &[2, 5],
        modules: &[("test_cco_nb_buf", 70, 0), ("test_cco_nb_vec", 62, 0)],
    },
    Suite {
        name: "coll-persistent",
        ranks: ALL,
        sample: &[1, 2],
        modules: &[("test_cco_pr_buf", 70, 0), ("test_cco_pr_vec", 62, 0)],
    },
    Suite {
        name: "topology",
        ranks: ALL,
        sample: &[1, 5],
        modules: &[
            ("test_comm_topo", 32, 0),
            ("test_cco_ngh_buf", 16, 0),
            ("test_cco_ngh_obj", 8, 0),
            ("test_cco_pr_ngh_buf", 12, 0),
        ],
    },
    Suite { name: "comm", ranks: ALL, sample: &[1, 5], modules: &[("test_comm", 101, 0), ("test_session", 9, 0)] },
    Suite { name: "comm-inter", ranks: SEVERAL, sample: &[2, 5], modules: &[("test_comm_inter", 29, 0)] },
    Suite {
        name: "request",
        ranks: ALL,
        sample: &[1, 5],
        modules: &[("test_request", 12, 0), ("test_status", 11, 0), ("test_grequest", 7, 0)],
    },
    Suite {
        name: "one-sided",
        ranks: ALL,
        sample: &[1, 2, 5],
        modules: &[("test_rma", 36, 0), ("test_rma_nb", 14, 0), ("test_win", 100, 0), ("test_util_sync", 78, 0)],
    },
    Suite {
        name: "errhandler",
        ranks: ALL,
        sample: &[2],
        modules: &[
            ("test_errhandler.TestErrhandler", 2, 0),
            ("test_errhandler.TestErrhandlerComm", 6, 0),
            ("test_errhandler.TestErrhandlerSession", 6, 0),
            ("test_errhandler.TestErrhandlerWin", 6, 0),
            ("test_errorcode", 6, 0),
            ("test_exceptions", 55, 0),
        ],
    },
    Suite {
        name: "objects",
        ranks: ALL,
        sample: &[2],
        modules: &[
            ("test_address", 6, 1),
            ("test_attributes", 60, 0),
            ("test_buffer", 16, 0),
            ("test_environ", 14, 0),
            ("test_group", 52, 0),
            ("test_handle", 37, 0),
            ("test_info", 17, 0),
            ("test_mpimem", 2, 0),
            ("test_objmodel", 17, 0),
            ("test_op", 11, 0),
            ("test_pack", 6, 0),
        ],
    },
    Suite {
        name: "files",
        ranks: ALL,
        sample: &[1, 3],
        modules: &[("test_file", 34, 0), ("test_io", 55, 0), ("test_errhandler.TestErrhandlerFile", 6, 0)],
    },
    // What is left out wants NumPy, CuPy, Numba or dill.
    Suite {
        name: "messages",
        ranks: SEVERAL,
        sample: &[2],
        modules: &[("test_msgspec", 178, 60), ("test_util_pkl5", 126, 16), ("test_ulfm", 24, 3)],
    },
    // And what wants a second process.
    Suite {
        name: "messages-alone",
        ranks: &[1],
        sample: &[1],
        modules: &[("test_msgspec", 178, 61), ("test_util_pkl5", 126, 26), ("test_ulfm", 24, 10)],
    },
    // Much of it, all of one process: more ranks only do the same.
    Suite {
        name: "datatype",
        ranks: ALL,
        sample: &[1],
        modules: &[("test_datatype", 50, 0), ("test_util_dtlib", 24, 3)],
    },
    Suite {
        name: "python",
        ranks: ALL,
        sample: &[2],
        modules: &[
            ("test_cffi", 2, 0),
            ("test_ctypes", 2, 0),
            ("test_doc", 1, 0),
            ("test_mpiabi", 3, 0),
            ("test_mpiapi", 2, 0),
            ("test_package", 18, 0),
            ("test_pickle", 6, 2),
            ("test_subclass", 39, 0),
            ("test_threads", 3, 0),
            ("test_toplevel", 7, 0),
        ],
    },
    Suite { name: SPAWNING, ranks: SEVERAL, sample: &[2], modules: &[("test_spawn", 44, 0), ("test_dynproc", 4, 0)] },
    // Half of it wants executors that one process spawns.
    Suite { name: SPAWNING_POOL, ranks: &[1], sample: &[1], modules: &[("test_util_pool", 40, 0)] },
    // Without them.
    Suite { name: "pool", ranks: ALL, sample: &[2, 5], modules: &[("test_util_pool", 40, 20)] },
];

/// Suites that run many times.
const AGAIN: &[&str] = &["p2p", "coll", "request"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_must_say_every_module() {
        let modules = [("a", 3, 1)];
        let line = |rank: u32| format!("suite: a ran 3 failed 0 skipped 1 rank {rank}\n");
        let both = line(0) + &line(1);
        assert_eq!(differences(&both, &modules, 2, 1), "");
        assert!(differences(&line(0), &modules, 2, 1).contains("rank 1"));
        assert!(differences(&both, &modules, 2, 2).contains("1 times instead of 2"));
        assert!(differences(&both.replace("skipped 1", "skipped 2"), &modules, 2, 1).contains("not expected"));
        assert!(hello("Hello, World! I am process 0 of 1 on there.\n", 1));
        assert!(!hello("Hello, World! I am process 0 of 2 on there.\n", 2));
        assert!(!ring("", 1));
    }
}
