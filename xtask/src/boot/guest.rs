//! `xtask guest`: the program that mpirun starts in a rank's place. Boots one machine and ends as the rank on it ends.

use super::log::Shown;
use super::{fpga, share};
use crate::failure::{At, Failure, Result, fail};
use orte_core::environment::Contract;
use orte_core::segment::Layout;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

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
        contract.ok_or_else(|| fail("`xtask guest` is what `xtask boot` starts; write `cargo xtask boot`"))?;
    let first = contract.rank - contract.rank % options.smp;
    let cores = options.smp.min(options.ranks - first);
    if contract.rank != first {
        return share::follow(&contract, first);
    }
    let line = boot_line(options, &contract, cores, &variables);
    let mut qemu = machine(&options.image, options.memory.saturating_mul(cores), cores, &line);
    fpga::plug(&mut qemu, contract.rank / options.smp);
    let layout = Layout::new(contract.job, contract.local_size).ok_or_else(|| fail("the job has too many ranks"))?;
    // The job's shared memory, which this process inherited.
    qemu.args(device(&format!("/proc/self/fd/{}", contract.segment), layout.file_bytes()));
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

/// A machine with so many MiB and cores that boots an image.
pub fn machine(image: &Path, memory: u32, cores: u32, line: &str) -> Command {
    let mut qemu = Command::new(QEMU);
    qemu.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", "tcg", "-cpu", "max"]);
    qemu.args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
    // QEMU's translator makes a locked instruction atomic only where another core could come; the other guests, whose memory
    // this one's partly is, it does not know.
    qemu.args(["-m", &memory.to_string(), "-smp", &format!("{cores},maxcpus={}", cores.max(2))]);
    qemu.arg("-kernel").arg(image).args(["-append", line]);
    qemu
}

/// A device that shows a file to the machine as memory.
pub fn device(path: &str, bytes: u64) -> [String; 4] {
    let memory = format!("memory-backend-file,id=job,share=on,mem-path={path},size={bytes}");
    ["-object".to_owned(), memory, "-device".to_owned(), "ivshmem-plain,memdev=job".to_owned()]
}

fn boot_line(options: &Options, contract: &Contract, cores: u32, variables: &[(String, String)]) -> String {
    let Contract { job, rank, size, local_rank, local_size, universe, app, .. } = contract;
    let mut line = format!(
        "rank={rank} size={size} local_rank={local_rank} local_size={local_size} job={job:x} universe={universe} app={app} \
         smp={cores} tsc_khz={} cores={:x} hostname=guest{}",
        options.tsc_khz,
        host_cores(),
        rank / options.smp
    );
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

/// A guest that ends by itself says how through isa-debug-exit; QEMU's own ends are 0 (reset, power off) and 1.
pub fn ended(rank: u32, status: ExitStatus) -> Result<()> {
    match (status.code(), status.signal()) {
        (Some(code), _) if code & 1 == 1 && code > 1 => match (code >> 1) - 1 {
            0 => Ok(()),
            status => Err(Failure { status: status as u8, text: String::new() }),
        },
        (Some(0), _) => {
            Err(fail(format!("the machine of rank {rank} was reset or switched off while its program ran")))
        }
        (Some(_), _) => Err(fail(format!("{QEMU} could not run the machine of rank {rank} ({status})"))),
        (None, signal) => Err(Failure {
            status: 128u8.saturating_add(signal.unwrap_or(0) as u8),
            text: format!("{QEMU} with rank {rank} was ended ({status})"),
        }),
    }
}

/// The program that plays a machine.
pub const QEMU: &str = "qemu-system-x86_64";
/// As in opal-core: what begins parameters in the environment, and which of them the user typed.
const PREFIX: &str = opal_core::mca::source::PREFIX;
const COMMAND_LINE: &str = opal_core::mca::source::COMMAND_LINE;
