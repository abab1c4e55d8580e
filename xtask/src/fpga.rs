//! `cargo xtask fpga`: the barrier machine of hw/fpga: its constants, test benches, the comparison with the Rust model,
//! and its size on a real chip.

mod lockstep;
pub mod picture;
pub mod rig;
mod sim;
mod synth;
pub mod wires;

pub use lockstep::{core, verify};
pub use sim::benches;
pub use synth::synth;

use crate::failure::{Failure, Result, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;

/// Options of `fpga`.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    #[command(subcommand)]
    step: Step,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum Step {
    /// Write the Verilog and Rust constants that come from hw/fpga/wires.txt, and the pictures of the documentation
    Wires,
    /// Run the test benches with Icarus Verilog
    Sim,
    /// Step the Verilog (through Verilator) and the Rust model together, over all states and inputs of the parts and
    /// at random with 60 nodes
    Verify {
        /// Of the part with most states only every so many-th
        #[arg(long, default_value_t = 1)]
        stride: usize,
        /// Ticks of the random runs
        #[arg(long, default_value_t = 200_000)]
        ticks: u64,
        /// Where the random runs begin
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Compile the Verilog machines (through Verilator) into a library that tuc-fpga takes as its --core; prints its path
    Core {
        /// Of the machine
        #[arg(long, default_value_t = hw_fpga::NODES)]
        nodes: usize,
    },
    /// Run tuc-fpga: the machine beside a command whose ports are emulated; without arguments it says how
    Rig {
        /// Its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Synthesize for an iCE40 HX8K with yosys and nextpnr, and show cells and timing
    Synth,
}

/// `cargo xtask fpga`.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    match &options.step {
        Step::Wires => wires::write(&tree),
        Step::Sim => say(progress, &benches(&tree)?),
        Step::Verify { stride, ticks, seed } => say(progress, &verify(&tree, (*stride).max(1), *ticks, *seed)?),
        Step::Core { nodes } => {
            println!("{}", core(&tree, (*nodes).clamp(1, hw_fpga::NODES))?.display());
            Ok(())
        }
        Step::Rig { arguments } => rig::run(&tree, arguments),
        Step::Synth => say(progress, &synth(&tree)?),
    }
}

fn say(progress: &Progress, lines: &[String]) -> Result<()> {
    lines.iter().for_each(|line| progress.note(line));
    Ok(())
}

/// Refuses with the line that installs what is missing.
pub fn need(programs: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<_> = programs.iter().filter(|(program, _)| shell::which(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    Err(Failure {
        status: MISSING,
        ..refuse(format!("{} not installed: apt-get install {}", names.join(" and "), packages.join(" ")))
    })
}

/// The status of what cannot run because a program is missing.
pub const MISSING: u8 = 3;
