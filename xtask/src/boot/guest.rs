//! `xtask guest`: the program that mpirun starts in a rank's place. Boots one machine and ends as the rank on it ends.

use super::log::Shown;
use super::machine::{QEMU, device, ended, machine};
use super::options::Net;
use super::{fpga, share, wire};
use crate::failure::{At, Result, fail};
use orte_core::environment::Contract;
use orte_core::segment::Layout;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Options of `guest`, which only `boot` says.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// The image
    #[arg(long)]
    image: PathBuf,
    /// MiB of memory of a rank
    #[arg(long)]
    memory: u32,
    /// Ranks of a machine
    #[arg(long)]
    smp: u32,
    /// Ranks on machines, the first ones of the job
    #[arg(long)]
    ranks: u32,
    /// How fast the time-stamp counter runs
    #[arg(long)]
    tsc_khz: u64,
    /// The card of a machine that shares no memory with others
    #[arg(long, value_enum, requires = "wire")]
    net: Option<Net>,
    /// The switch that the card is joined to
    #[arg(long, requires = "secret")]
    wire: Option<String>,
    /// By which such machines know each other
    #[arg(long)]
    secret: Option<String>,
    /// Show the machine's log
    #[arg(long)]
    log: bool,
    /// What turns the log into lines, if it is no text
    #[arg(long)]
    decoder: Option<PathBuf>,
    /// Arguments of the program
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Boots and waits.
pub fn run(options: &Options) -> Result<()> {
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variable = |name: &str| variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
    let contract = Contract::decode(variable).map_err(fail)?;
    let contract =
        contract.ok_or_else(|| fail("mpirun starts `xtask guest` for `xtask boot`; write `cargo xtask boot`"))?;
    let first = contract.rank - contract.rank % options.smp;
    let cores = options.smp.min(options.ranks - first);
    if contract.rank != first {
        return share::follow(&contract, first);
    }
    let line = boot_line(options, &contract, cores, &variables);
    let mut qemu = machine(&options.image, options.memory.saturating_mul(cores), cores, &line);
    fpga::plug(&mut qemu, contract.rank / options.smp);
    match (options.net, &options.wire) {
        (Some(net), Some(wire)) => wire::plug(&mut qemu, net, wire, contract.rank),
        _ => {
            let layout = Layout::new(contract.job, contract.local_size);
            let layout = layout.ok_or_else(|| fail("the job has too many ranks"))?;
            // The job's shared memory, which this process inherited.
            qemu.args(device(&format!("/proc/self/fd/{}", contract.segment), layout.file_bytes()));
        }
    }
    qemu.stdin(Stdio::null());
    let decoder = options.decoder.as_ref().map(|program| {
        let mut decoder = Command::new(program);
        decoder.arg(&options.image);
        decoder
    });
    let log = options.log.then(|| Shown::of(&mut qemu, decoder)).transpose()?;
    let result = match cores {
        1 => qemu.status().at(format!("run {QEMU}")).and_then(|status| ended(contract.rank, status)),
        _ => share::lead(&contract, cores, &mut qemu),
    };
    // How the rank ended comes first.
    let shown = log.map_or(Ok(()), Shown::close);
    result.and(shown)
}

fn boot_line(options: &Options, contract: &Contract, cores: u32, variables: &[(String, String)]) -> String {
    let Contract { job, rank, size, local_rank, local_size, universe, app, .. } = contract;
    let (local_rank, local_size) = if options.net.is_some() { (&0, &1) } else { (local_rank, local_size) };
    let mut line = format!(
        "rank={rank} size={size} local_rank={local_rank} local_size={local_size} job={job:x} universe={universe} app={app} \
         smp={cores} tsc_khz={} cores={:x} hostname=guest{}",
        options.tsc_khz,
        host_cores(),
        rank / options.smp
    );
    options.secret.iter().for_each(|secret| _ = write!(line, " secret={secret}"));
    let listed = variables.iter().find(|(name, _)| name == COMMAND_LINE).map_or("", |(_, value)| value);
    for name in listed.split(',').filter(|name| !name.is_empty()) {
        let value = variables.iter().find(|(other, _)| other.strip_prefix(PREFIX) == Some(name));
        _ = write!(line, " --mca {name} {}", quoted(value.map_or("", |(_, value)| value)));
    }
    line.push_str(&fpga::parameters(options.smp, listed));
    if !options.arguments.is_empty() {
        line.push_str(" --");
        options.arguments.iter().for_each(|argument| _ = write!(line, " {}", quoted(argument)));
    }
    line
}

/// As the boot line keeps words together.
fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// The host's cores that its guests share.
fn host_cores() -> u64 {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        64.. => u64::MAX,
        cores => (1 << cores) - 1,
    }
}

/// As in opal-core: what begins parameters in the environment, and which of them the user typed.
const PREFIX: &str = opal_core::mca::source::PREFIX;
const COMMAND_LINE: &str = opal_core::mca::source::COMMAND_LINE;
