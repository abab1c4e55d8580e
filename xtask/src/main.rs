//! `cargo xtask`: builds, runs, tests and checks ompi-rs.
//!
//! One file per subcommand, its parts in the folder of that name. `failure`, `progress`, `shell` and `tree` stand below all of them.

extern crate alloc;

mod api;
mod bare;
mod bench;
mod boot;
mod build;
mod ci;
mod cluster;
mod failure;
mod fpga;
#[allow(dead_code)] // the library's own file, so that nearest names are the same everywhere
#[path = "../../opal-core/src/mca/name.rs"]
mod name;
mod new;
mod progress;
mod run;
mod shell;
#[allow(dead_code)] // as `name`, which sorts by it
#[path = "../../opal-core/src/sort.rs"]
mod sort;
mod test;
mod tidy;
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
    /// The process that mpirun starts for a rank of `boot`
    #[command(hide = true)]
    Guest(boot::guest::Options),
    /// Compare mpi.h and the C functions with the standard's data, and list which functions work
    Api(api::Options),
    /// Measure the library, alone or against others, launch by launch in turn
    Bench(Box<bench::Options>),
    /// Run the tests; name those that were skipped and the packages that they need
    Test(test::Options),
    /// Check the rules of this source tree that no compiler checks
    Tidy(tidy::Options),
    /// Simulate, verify and synthesize the machine of the hardware barrier
    Fpga(fpga::Options),
    /// Test hosts on this machine, to try jobs over several hosts on: up, exec, status, down
    Cluster(cluster::Options),
    /// Run everything that a change must pass: tidy, clippy, api, and all tests with nothing skipped
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Every subcommand that --help lists, with its own ones, and what stands at the end of its help.
    fn helps(command: &clap::Command, all: &mut Vec<(String, String)>) {
        let listed = command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
        for one in listed {
            let end = one.get_after_long_help().or(one.get_after_help());
            all.push((one.get_name().to_owned(), end.map(ToString::to_string).unwrap_or_default()));
            // The steps of fpga are words without options, but for one.
            if one.get_name() != "fpga" {
                helps(one, all);
            }
        }
    }

    #[test]
    fn every_subcommand_has_examples_that_parse() {
        let mut all = Vec::new();
        helps(&Arguments::command(), &mut all);
        assert!(all.len() > 15, "{all:?}");
        for (name, help) in all {
            let lines: Vec<&str> = help.lines().filter(|line| line.starts_with("  cargo xtask ")).collect();
            assert!(!lines.is_empty(), "{name} has no example");
            for line in lines {
                // What the example does stands three spaces or more behind it.
                let command = line.trim_start().split("   ").next().unwrap_or_default();
                let words = command.split_whitespace().skip(1);
                if let Err(error) = Arguments::try_parse_from(words) {
                    panic!("{name}: `{command}`: {error}");
                }
            }
        }
    }
}
