//! `cargo xtask`: builds, runs, tests and checks ompi-rs.
//!
//! One file per subcommand. `build` walks through tree → components → resolve → image → archive → dist → product.

extern crate alloc;

mod api;
mod archive;
mod bare;
mod bench;
mod boot;
mod build;
mod ci;
mod cluster;
mod compile;
mod components;
mod dist;
mod failure;
mod fpga;
mod groups;
mod image;
mod manual;
#[allow(dead_code)] // the library's own file, so that nearest names are the same everywhere
#[path = "../../opal-core/src/mca/name.rs"]
mod name;
mod names;
mod new;
mod product;
mod progress;
mod resolve;
mod run;
mod shell;
mod test;
mod tidy;
mod tools;
mod tree;

// The launcher's contract is orte-core's; no component runs here.
opal_core::image![];

use clap::{Parser, Subcommand};
use progress::Progress;
use std::process::ExitCode;

/// Builds, runs, tests and checks ompi-rs.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Show every command and its output
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build a library with exactly the components you name, its header, compiler wrappers and launcher
    Build(build::Options),
    /// Make a component's crate from the template of its framework
    New(new::Options),
    /// Build the default library, compile a program with it, launch it, and show what was chosen
    Run(run::Options),
    /// Run a program on machines without an operating system: guests of QEMU, one job
    Boot(boot::Options),
    /// What `boot` has mpirun start in a rank's place
    #[command(hide = true)]
    Guest(boot::guest::Options),
    /// Compare mpi.h and the C functions with the standard's data, and list which functions work
    Api(api::Options),
    /// Measure the library, alone or against others, launch by launch in turn
    Bench(Box<bench::Options>),
    /// Run everything that is tested; says what was skipped and what to install for it
    Test(test::Options),
    /// Check the rules of this source tree that no compiler checks
    Tidy(tidy::Options),
    /// Test benches, verification and synthesis of the hardware barrier's machine
    Fpga(fpga::Options),
    /// Test hosts on this machine, to try jobs over several hosts on: up, exec, status, down
    Cluster(cluster::Options),
    /// Everything that a change must pass: tidy, clippy, api, and all tests with nothing skipped
    Ci(ci::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let progress = Progress::new(arguments.verbose);
    let result = match &arguments.command {
        Command::Build(options) if options.target.is_some() => bare::build(options, &progress),
        Command::Build(options) => build::build(options, &progress).map(drop),
        Command::New(options) => new::run(options, &progress),
        Command::Run(options) => run::run(options, &progress),
        Command::Boot(options) => boot::run(options, &progress),
        Command::Guest(options) => boot::guest::run(options),
        Command::Api(options) => api::api(options, &progress),
        Command::Bench(options) => bench::run(options, &progress),
        Command::Test(options) => test::run(options, &progress),
        Command::Tidy(options) => tidy::run(options, &progress),
        Command::Fpga(options) => fpga::run(options, &progress),
        Command::Cluster(options) => cluster::run(options),
        Command::Ci(options) => ci::run(options, &progress),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // `test` has said everything by itself; its closing line must stay the last one.
            if !failure.text.is_empty() {
                eprintln!("{}", failure.text);
            }
            ExitCode::from(failure.status)
        }
    }
}
