//! `cargo xtask test`: everything that is tested, tier by tier, each with a budget of minutes.
//!
//! Every program that a test starts has a deadline; processes that it leaves behind are found and ended. A test for which this
//! machine lacks something is listed as skipped, with the package that helps. The last line is `N passed, N failed, N skipped`.

mod bad_input;
mod benchmarks;
mod boot;
mod cargo;
mod cluster;
mod coll;
mod copies;
mod debian;
mod decisions;
mod dynamic;
mod fabrics;
mod fftw;
mod file_libraries;
mod files;
mod foreign;
mod fortran;
mod fpga;
mod header;
mod heap;
pub mod hpcc;
mod images;
mod instructions;
mod integrity;
mod jobs;
mod loom;
mod memcheck;
pub mod mpi4py;
mod mpirun;
mod mutants;
mod netpipe;
mod new;
mod nodes;
mod one_sided;
pub mod packages;
mod peers;
mod probe;
mod programs;
mod rsmpi;
mod rust;
mod sanitizers;
mod seeing;
pub mod session;
mod sockets;
mod steps;
mod unexpected;
mod walk;
mod wrappers;

use crate::failure::{Failure, Result, fail, refuse};
use crate::progress::Progress;
pub use session::Options;
use session::{Session, Verdict, deadline};
use std::time::Duration;

/// A part of the tests.
struct Tier {
    name: &'static str,
    /// On 2 cores, nothing compiled yet.
    budget_minutes: f64,
    run: fn(&mut Session) -> Result<()>,
    /// Only `ci` runs it unless a filter names it.
    ci_only: bool,
    /// Compilers and searches, whose answer no load changes: `ci` runs them beside the other tiers.
    only_computes: bool,
}

impl Tier {
    const fn new(name: &'static str, budget_minutes: f64, run: fn(&mut Session) -> Result<()>) -> Tier {
        Tier { name, budget_minutes, run, ci_only: false, only_computes: false }
    }

    const fn only_ci(self) -> Tier {
        Tier { ci_only: true, ..self }
    }

    const fn only_computes(self) -> Tier {
        Tier { only_computes: true, ..self }
    }
}

/// `cargo xtask test`.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    tiers(options, progress, false)
}

/// `cargo xtask ci`: the same with the checks that need no program, and nothing may be skipped.
pub fn run_for_ci(progress: &Progress) -> Result<()> {
    tiers(&Options { require_all: true, ..Options::default() }, progress, true)
}

fn tiers(options: &Options, progress: &Progress, ci: bool) -> Result<()> {
    let mut session = Session::new(options, progress)?;
    match ci {
        true => two_lanes(&mut session)?,
        false => each_tier(&mut session, &|tier| enters(&options.filter, tier)),
    }
    if options.list {
        return Ok(());
    }
    if session.report.is_empty() {
        return Err(refuse(format!(
            "no test has a name with {}; `cargo xtask test --list` names them all",
            options.filter.join(" or ")
        )));
    }
    if ci {
        run_again(&mut session)?;
    }
    // The closing line is the last of all: no sentence may follow it.
    match session.report.close() {
        true => Ok(()),
        false => Err(Failure { status: 1, text: String::new() }),
    }
}

/// Many tests wait most of the time. What only computes runs beside them, with what they leave of the processors, and what ranks that
/// yield to one another give away; its lines come behind theirs.
fn two_lanes(session: &mut Session) -> Result<()> {
    let (options, progress) = (session.options, session.progress);
    let mut beside = Session::new(options, progress)?;
    beside.report.holds_lines();
    std::thread::scope(|scope| {
        let lane = scope.spawn(|| {
            // On Linux a thread has a niceness of its own, and the processes that it starts inherit it. Without it the tests are right, too.
            let _ = rustix::process::nice(LEAST);
            each_tier(&mut beside, &|tier| tier.only_computes);
        });
        each_tier(session, &|tier| !tier.only_computes);
        lane.join().map_err(|_| fail("the tests that only compute ended with a panic, which stands above"))
    })?;
    session.report.absorb(beside.report);
    Ok(())
}

/// The niceness that leaves most to others.
const LEAST: i32 = 19;

fn each_tier(session: &mut Session, wants: &dyn Fn(&Tier) -> bool) {
    for tier in TIERS.iter().filter(|tier| wants(tier)) {
        session.report.tier(tier.name, tier.budget_minutes);
        if let Err(failure) = (tier.run)(session) {
            session.report.result(tier.name, Duration::ZERO, Verdict::Failed(failure.text));
        }
        session.report.tier_ends();
    }
}

/// Runs the few tests that failed once more, alone, and tells those apart that then pass. The machine of a CI run is shared with
/// strangers: a test that their load disturbed must not hide what the others found. Each stands in the report until it is mended.
fn run_again(session: &mut Session) -> Result<()> {
    let names = session.report.failed().to_vec();
    if names.is_empty() || names.len() > MOST_UNSTEADY {
        return Ok(());
    }
    println!("\nAgain, what failed:");
    let options = Options { filter: names.clone(), ..session.options.clone() };
    let mut again = Session::new(&options, session.progress)?;
    each_tier(&mut again, &|tier| enters(&options.filter, tier));
    let steady = again.report.failed();
    let unsteady = names.into_iter().filter(|name| !steady.contains(name) && again.report.has_passed(name)).collect();
    session.report.are_unsteady(unsteady);
    Ok(())
}

/// With more failures than these something is broken, and none of them is looked at again.
const MOST_UNSTEADY: usize = 4;

/// Whether any test of this tier can be wanted.
fn enters(filter: &[String], tier: &Tier) -> bool {
    let tier_of = |part: &str| {
        let first = part.split('/').next().unwrap_or(part).to_owned();
        TIERS.iter().any(|tier| tier.name == first).then_some(first)
    };
    match filter.is_empty() {
        true => !tier.ci_only,
        false => filter.iter().any(|part| match tier_of(part) {
            Some(name) => name == tier.name,
            None => !tier.ci_only,
        }),
    }
}

/// In the order in which they run. Those that mostly wait come first, while others compute beside them: ranks that yield to one another would
/// leave a core to what computes, whatever its niceness.
const TIERS: &[Tier] = &[
    Tier::new("tidy", 0.5, steps::tidy).only_ci(),
    Tier::new("clippy", 3.0, steps::clippy).only_ci().only_computes(),
    Tier::new("api", 0.2, steps::api),
    Tier::new("unit", 5.0, cargo::tier),
    Tier::new("image", 4.0, images::tier),
    Tier::new("new", 4.0, new::tier).only_computes(),
    Tier::new("decisions", 0.5, decisions::tier),
    Tier::new("sockets", 0.5, sockets::tier),
    Tier::new("dynamic", 1.0, dynamic::tier),
    Tier::new("seeing", 1.0, seeing::tier),
    Tier::new("integrity", 5.0, integrity::tier),
    Tier::new("files", 0.7, files::tier),
    Tier::new("bad_input", 2.0, bad_input::tier),
    Tier::new("fuzz", 1.5, bad_input::fuzz),
    Tier::new("wrappers", 0.7, wrappers::tier),
    Tier::new("mpirun", 0.5, mpirun::tier),
    Tier::new("probe", 1.0, probe::tier),
    Tier::new("valgrind", 2.0, memcheck::tier),
    Tier::new("loom", 2.0, loom::tier).only_computes(),
    Tier::new("sanitizers", 10.0, sanitizers::tier),
    Tier::new("walk", 0.5, walk::tier),
    Tier::new("nodes", 2.0, nodes::tier),
    Tier::new("cluster", 3.5, cluster::tier),
    Tier::new("fabrics", 1.3, fabrics::tier),
    Tier::new("c", 6.0, programs::tier),
    Tier::new("fortran", 1.0, fortran::tier),
    Tier::new("rust", 3.0, rust::tier),
    Tier::new("coll", 5.5, coll::tier),
    Tier::new("mutants", 0.1, mutants::tier),
    Tier::new("unexpected", 1.5, unexpected::tier),
    Tier::new("copies", 1.5, copies::tier),
    Tier::new("heap", 5.5, heap::tier),
    Tier::new("instructions", 0.5, instructions::tier),
    Tier::new("bench", 0.5, benchmarks::tier),
    Tier::new("fpga", 4.0, fpga::tier),
    Tier::new("boot", 3.0, boot::images).only_computes(),
    // Behind the others: no other library is compiled meanwhile, which would wait for this one.
    Tier::new("image", 2.0, images::compiled).only_computes(),
    Tier::new("boot", 6.0, boot::tier),
    Tier::new("peers", 2.0, peers::tier),
    Tier::new("mpi4py", 6.0, mpi4py::tier),
    Tier::new("one_sided", 1.0, one_sided::tier),
    Tier::new("pnetcdf", 2.0, file_libraries::pnetcdf),
    Tier::new("netpipe", 1.0, netpipe::tier),
    // Nothing of it without --all.
    Tier::new("fftw", 0.0, fftw::tier),
    Tier::new("rsmpi", 0.0, rsmpi::tier),
    Tier::new("hdf5", 0.0, file_libraries::hdf5),
    Tier::new("netcdf", 0.0, file_libraries::netcdf),
    Tier::new("p4est", 0.0, file_libraries::p4est),
    Tier::new("packages", 0.0, packages::tier),
    Tier::new("hpcc", 0.0, hpcc::tier),
];
