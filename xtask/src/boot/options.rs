//! The command line of `cargo xtask boot`.

use crate::bare;
use std::path::{Path, PathBuf};

/// Options of `boot`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Number of ranks on machines
    #[arg(short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub n: u32,
    /// Number of ranks on each machine, one per core
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub smp: u32,
    /// Number of ordinary processes that join the job, as its last ranks
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub hosted: u32,
    /// MiB of memory of each rank
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_MIB, value_parser = clap::value_parser!(u32).range(32..=3000))]
    pub memory: u32,
    /// The hardware barrier that guests reach by their parallel ports
    #[arg(long, value_enum, default_value_t)]
    pub fpga: BarrierMachine,
    /// Machines share no memory, only Ethernet: the card that each has. Takes --smp 1 and no --hosted
    #[arg(long, value_enum, value_name = "CARD")]
    pub net: Option<Net>,
    /// The switch that joins the cards; made for the job if none is named
    #[arg(skip)]
    pub wire: Option<String>,
    /// For tests: what is to go wrong with that machine, in tuc-fpga's words
    #[arg(skip)]
    pub faults: Vec<String>,
    /// Set a parameter on the boot line
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = clap::ArgAction::Append)]
    pub mca: Vec<String>,
    /// End the job after this many seconds and show what each rank was doing
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub timeout: u32,
    /// Show the log of the machines: loader, memory, cores, devices
    #[arg(long, value_enum, value_name = "HOW")]
    pub log: Option<bare::log::Log>,
    /// Compile with the host's target even where x86_64-unknown-none is installed
    #[arg(long)]
    pub bare_fallback: bool,
    /// A program, .rs or .c, or an image made by `build --app`
    pub app: PathBuf,
    /// Arguments of the program
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

impl Options {
    /// For tests: an image with arguments, everything else as it is by default.
    pub fn new(app: &Path, n: u32, timeout: u32, arguments: Vec<String>) -> Options {
        let app = app.to_path_buf();
        Options {
            n,
            smp: 1,
            hosted: 0,
            memory: MEMORY_MIB,
            fpga: BarrierMachine::Off,
            net: None,
            wire: None,
            faults: Vec::new(),
            mca: Vec::new(),
            timeout,
            log: None,
            bare_fallback: true,
            app,
            arguments,
        }
    }
}

/// The hardware that does the barriers of a job.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarrierMachine {
    /// Nothing: guests have no port, barriers go through shared memory
    #[default]
    Off,
    /// The Rust model of the machine
    Model,
    /// The Verilog itself, as Verilator compiled it
    Verilator,
}

/// A network card of a machine.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Net {
    /// virtio-net, as machine monitors have it
    Virtio,
    /// Intel's 82574L
    E1000e,
}

const MEMORY_MIB: u32 = 128;

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask boot -n 4 examples/ring.rs              four machines, one rank on each
  cargo xtask boot -n 4 --smp 2 tests/c/heat.c        two machines with two ranks each
  cargo xtask boot -n 2 --hosted 2 tests/c/heat.c     two machines and two ordinary processes
  cargo xtask boot -n 4 --net e1000e tests/c/heat.c   four machines that only Ethernet joins
  cargo xtask boot -n 2 --log text examples/ring.rs   shows what the machines log";
