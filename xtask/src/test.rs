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

use crate::failure::{Failure, Result, refuse};
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
    each_tier(&mut session, ci);
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

fn each_tier(session: &mut Session, ci: bool) {
    for tier in TIERS {
        if !enters(&session.options.filter, tier, ci) {
            continue;
        }
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
    each_tier(&mut again, false);
    let steady = again.report.failed();
    let unsteady = names.into_iter().filter(|name| !steady.contains(name) && again.report.has_passed(name)).collect();
    session.report.are_unsteady(unsteady);
    Ok(())
}

/// With more failures than these something is broken, and none of them is looked at again.
const MOST_UNSTEADY: usize = 4;

/// Whether any test of this tier can be wanted.
fn enters(filter: &[String], tier: &Tier, ci: bool) -> bool {
    let tier_of = |part: &str| {
        let first = part.split('/').next().unwrap_or(part).to_owned();
        TIERS.iter().any(|tier| tier.name == first).then_some(first)
    };
    match filter.is_empty() {
        true => ci || !tier.ci_only,
        false => filter.iter().any(|part| match tier_of(part) {
            Some(name) => name == tier.name,
            None => !tier.ci_only,
        }),
    }
}

/// In the order in which they run: what finds most per minute first.
const TIERS: &[Tier] = &[
    Tier { name: "tidy", budget_minutes: 0.5, run: steps::tidy, ci_only: true },
    Tier { name: "clippy", budget_minutes: 3.0, run: steps::clippy, ci_only: true },
    Tier { name: "api", budget_minutes: 0.2, run: steps::api, ci_only: false },
    Tier { name: "unit", budget_minutes: 5.0, run: cargo::tier, ci_only: false },
    Tier { name: "image", budget_minutes: 4.0, run: images::tier, ci_only: false },
    Tier { name: "new", budget_minutes: 4.0, run: new::tier, ci_only: false },
    Tier { name: "c", budget_minutes: 6.0, run: programs::tier, ci_only: false },
    Tier { name: "fortran", budget_minutes: 1.0, run: fortran::tier, ci_only: false },
    Tier { name: "rust", budget_minutes: 3.0, run: rust::tier, ci_only: false },
    Tier { name: "coll", budget_minutes: 5.5, run: coll::tier, ci_only: false },
    Tier { name: "mutants", budget_minutes: 0.1, run: mutants::tier, ci_only: false },
    Tier { name: "decisions", budget_minutes: 0.5, run: decisions::tier, ci_only: false },
    Tier { name: "sockets", budget_minutes: 0.5, run: sockets::tier, ci_only: false },
    Tier { name: "unexpected", budget_minutes: 1.5, run: unexpected::tier, ci_only: false },
    Tier { name: "dynamic", budget_minutes: 1.0, run: dynamic::tier, ci_only: false },
    Tier { name: "seeing", budget_minutes: 1.0, run: seeing::tier, ci_only: false },
    Tier { name: "copies", budget_minutes: 1.5, run: copies::tier, ci_only: false },
    Tier { name: "heap", budget_minutes: 5.5, run: heap::tier, ci_only: false },
    Tier { name: "integrity", budget_minutes: 5.0, run: integrity::tier, ci_only: false },
    Tier { name: "files", budget_minutes: 0.7, run: files::tier, ci_only: false },
    Tier { name: "bad_input", budget_minutes: 2.0, run: bad_input::tier, ci_only: false },
    Tier { name: "fuzz", budget_minutes: 1.5, run: bad_input::fuzz, ci_only: false },
    Tier { name: "wrappers", budget_minutes: 0.7, run: wrappers::tier, ci_only: false },
    Tier { name: "mpirun", budget_minutes: 0.5, run: mpirun::tier, ci_only: false },
    Tier { name: "probe", budget_minutes: 1.0, run: probe::tier, ci_only: false },
    Tier { name: "valgrind", budget_minutes: 2.0, run: memcheck::tier, ci_only: false },
    Tier { name: "loom", budget_minutes: 2.0, run: loom::tier, ci_only: false },
    Tier { name: "sanitizers", budget_minutes: 10.0, run: sanitizers::tier, ci_only: false },
    Tier { name: "walk", budget_minutes: 0.5, run: walk::tier, ci_only: false },
    Tier { name: "nodes", budget_minutes: 2.0, run: nodes::tier, ci_only: false },
    Tier { name: "cluster", budget_minutes: 3.5, run: cluster::tier, ci_only: false },
    Tier { name: "fabrics", budget_minutes: 1.3, run: fabrics::tier, ci_only: false },
    Tier { name: "instructions", budget_minutes: 0.5, run: instructions::tier, ci_only: false },
    Tier { name: "bench", budget_minutes: 0.5, run: benchmarks::tier, ci_only: false },
    Tier { name: "fpga", budget_minutes: 4.0, run: fpga::tier, ci_only: false },
    Tier { name: "boot", budget_minutes: 6.0, run: boot::tier, ci_only: false },
    Tier { name: "peers", budget_minutes: 2.0, run: peers::tier, ci_only: false },
    Tier { name: "mpi4py", budget_minutes: 6.0, run: mpi4py::tier, ci_only: false },
    Tier { name: "one_sided", budget_minutes: 1.0, run: one_sided::tier, ci_only: false },
    Tier { name: "pnetcdf", budget_minutes: 2.0, run: file_libraries::pnetcdf, ci_only: false },
    Tier { name: "netpipe", budget_minutes: 1.0, run: netpipe::tier, ci_only: false },
    // Nothing of it without --all.
    Tier { name: "fftw", budget_minutes: 0.0, run: fftw::tier, ci_only: false },
    Tier { name: "rsmpi", budget_minutes: 0.0, run: rsmpi::tier, ci_only: false },
    Tier { name: "hdf5", budget_minutes: 0.0, run: file_libraries::hdf5, ci_only: false },
    Tier { name: "netcdf", budget_minutes: 0.0, run: file_libraries::netcdf, ci_only: false },
    Tier { name: "p4est", budget_minutes: 0.0, run: file_libraries::p4est, ci_only: false },
    Tier { name: "packages", budget_minutes: 0.0, run: packages::tier, ci_only: false },
    Tier { name: "hpcc", budget_minutes: 0.0, run: hpcc::tier, ci_only: false },
];
