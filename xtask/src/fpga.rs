//! `cargo xtask fpga`: the barrier machine of hw/fpga: its constants, test benches, the comparison with the Rust model,
//! and its size on a real chip.

mod lockstep;
mod missing;
pub mod picture;
pub mod rig;
mod sim;
mod synth;
pub mod wires;

pub use lockstep::{core, verify};
pub use missing::{MISSING, need};
pub use sim::benches;
pub use synth::synth;

use crate::failure::Result;
use crate::progress::Progress;
use crate::tree::Tree;

/// Options of `fpga`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
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

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask fpga sim                  the test benches
  cargo xtask fpga verify --stride 13   Verilog against the Rust model, a sample of the states
  cargo xtask fpga wires                constants and pictures, after a change to hw/fpga/wires.txt";
