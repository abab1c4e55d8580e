//! The cases of `tests/cluster/two_networks.sh`, which has two network namespaces and virtual wires between them; those with links that
//! fail also with the heat solver, mpi4py's own tests and HPC Challenge.

use super::super::programs::{compiled, own_choice};
use super::super::{Session, Verdict, deadline, hpcc, mpi4py};
use super::real::SAMPLE;
use super::waiting::WaitingCase;
use crate::failure::{Result, fail};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A case each; `cluster/flapping_…` and `cluster/lossy_…` in the full tier.
pub fn cases(session: &mut Session) -> Result<()> {
    for case in CASES.iter().copied() {
        session.case(&format!("cluster/{case}"), |session| alone(session, case).unwrap_or_else(Verdict::from));
    }
    if !session.options.all {
        return Ok(());
    }
    // A step takes as long as a message there and back.
    for (link, steps) in [("flapping", "60000"), ("lossy", "300")] {
        let name = format!("cluster/{link}_heat");
        session.case(&name, |session| heat(session, link, steps).unwrap_or_else(Verdict::from));
        session.case(&format!("cluster/{link}_mpi4py"), |session| python(session, link));
        session.case(&format!("cluster/{link}_hpcc"), |session| challenge(session, link).unwrap_or_else(Verdict::from));
    }
    Ok(())
}

fn alone(session: &mut Session, case: &str) -> Result<Verdict> {
    let dist = session.library().map_err(fail)?.dist;
    two_networks(&session.tree.root, &session.scratch(), &dist, case)
}

/// Those that wait for deadlines and repairs of theirs, each in namespaces of its own.
pub fn waiting() -> Vec<WaitingCase> {
    let of = |case: &&'static str| {
        let case: &'static str = case;
        WaitingCase::new(format!("cluster/{case}"), move |place| {
            two_networks(&place.tree.root, &place.scratch, &place.rig.dist, case).unwrap_or_else(Verdict::from)
        })
    };
    WAITING.iter().map(of).collect()
}

fn two_networks(root: &Path, scratch: &Path, dist: &Path, case: &str) -> Result<Verdict> {
    let mut command = case_of(root, dist, case);
    let ended = deadline::run(&mut command, LIMIT, &scratch.join(format!("cluster/{case}.log")))?;
    Ok(judged(&ended))
}

fn case_of(root: &Path, dist: &Path, case: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg(root.join("tests/cluster/two_networks.sh")).arg(dist).arg(case);
    command
}

/// Of a run of `tests/cluster/two_networks.sh`, whose own sentence says what is missing and what to do.
fn judged(ended: &deadline::Ended) -> Verdict {
    match () {
        () if ended.ended_with(0) => Verdict::Passed(String::new()),
        () if ended.ended_with(LACKS_SOMETHING) => Verdict::Skipped(ended.story()),
        () => Verdict::Failed(ended.story()),
    }
}

/// It repeats its run alone and compares bits.
fn heat(session: &mut Session, link: &str, steps: &str) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/c/heat.c"), &["-lm"])?;
    let words = format!("{} --nx 200 --ny 200 --iters {steps} --check-every 100 --quiet", program.display());
    let mut command = script(session, link, &words)?;
    let ended = deadline::run(&mut command, LONG, &session.scratch().join(format!("cluster/{link}_heat.log")))?;
    Ok(judged(&ended))
}

/// Its tests of messages and collectives; where each message comes 10 to 20 ms late, and 300 ms where it lost one, a sample of them: they are
/// thousands of messages, one after the other.
fn python(session: &mut Session, link: &str) -> Verdict {
    let home = match mpi4py::opened(session) {
        Ok(home) => home,
        Err(verdict) => return verdict,
    };
    let suites = mpi4py::SUITES.iter().filter(|suite| ["p2p", "coll"].contains(&suite.name));
    let all = || suites.flat_map(|suite| suite.modules).copied().collect();
    let modules: Vec<mpi4py::Module> = if link == "lossy" { SAMPLE.to_vec() } else { all() };
    let run = |session: &mut Session| -> Result<Verdict> {
        let words = mpi4py::arguments(&home, &modules, 1);
        let mut command = script(session, link, &format!("{} {}", home.python.display(), words.join(" ")))?;
        own_choice(&mut command);
        let dist = session.library().map_err(fail)?.dist;
        let library = dist.join("lib/libmpi_abi.so.1");
        command.env("LD_LIBRARY_PATH", dist.join("lib"));
        mpi4py::surround(&mut command, "ompi-rs", &library.canonicalize().unwrap_or(library));
        let ended = deadline::run(&mut command, LONG, &session.scratch().join(format!("cluster/{link}_mpi4py.log")))?;
        let wrong = mpi4py::differences(&ended.out, &modules, 4, 1);
        Ok(if ended.ended_with(0) && !wrong.is_empty() { Verdict::Failed(wrong) } else { judged(&ended) })
    };
    run(session).unwrap_or_else(Verdict::from)
}

/// It checks its answers. Small: each message of a lossy link takes 10 ms at least, and its updates of a table are many.
fn challenge(session: &mut Session, link: &str) -> Result<Verdict> {
    let program = match hpcc::compiled(session) {
        Ok(program) => program,
        Err(verdict) => return Ok(verdict),
    };
    let folder = session.scratch().join(format!("cluster/{link}_hpcc"));
    hpcc::prepare(&folder, &program, hpcc::Problem { ranks: 4, order: 64, block: 16 })?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = script(session, link, &program.display().to_string())?;
    command.current_dir(&folder).envs(hpcc::ENVIRONMENT).env("LD_LIBRARY_PATH", dist.join("lib"));
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LONG, &session.scratch().join(format!("cluster/{link}_hpcc.log")))?;
    match judged(&ended) {
        Verdict::Passed(_) => {
            Ok(hpcc::report(&folder, 4)?.map_or_else(Verdict::Failed, |_| Verdict::Passed(String::new())))
        }
        other => Ok(other),
    }
}

/// A case in which the ranks run these words.
fn script(session: &mut Session, link: &str, words: &str) -> Result<Command> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = case_of(&session.tree.root, &dist, link);
    command.env("PROGRAM", words);
    Ok(command)
}

/// Of programs of others.
const LONG: Duration = Duration::from_secs(900);
/// Of [`waiting`], the longest first.
const WAITING: &[&str] = &[
    "falls_silent",
    "goes_down",
    "rejects",
    "rejects_mpirun",
    "prohibits",
    "flapping",
    "lossy",
    "pulled_link",
    "routes",
    "detour",
    "gateway",
    "dies",
    "no_answer",
    "frames_end",
    "frames_lossy",
    "no_route",
    "other_family",
];
/// Bytes and shares are counted, in a given time; alone.
const CASES: &[&str] = &[
    "one_wire",
    "unnamed",
    "weights",
    "exclude_network",
    "exclude_name",
    "include_unknown",
    "ipv6",
    "many_addresses",
    "striping",
    "unequal",
    "slows_down",
    "slow_checksums",
    "frames",
    "frames_refused",
    "two_families",
    "two_transports",
];
const LACKS_SOMETHING: i32 = 77;
const LIMIT: Duration = Duration::from_secs(300);
