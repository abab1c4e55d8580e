//! `cargo xtask boot`: an image on several guests of QEMU, one job.
//!
//! mpirun runs the job as any other: the process that it starts for a rank is not the program but [`guest`], this same
//! xtask, which boots a machine with the rank's place in the job on the boot line and the job's shared memory in a
//! device. So output, exit status, deadlines and cleaning up are mpirun's.

pub mod fpga;
pub mod guest;
mod log;
mod machine;
mod options;
mod share;
pub mod wire;

pub use machine::{QEMU, device, machine};
pub use options::{BarrierMachine, Net, Options};

use crate::bare;
use crate::build;
use crate::build::tools;
use crate::failure::{At, Failure, Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use clap::ValueEnum;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Makes the image if need be and runs the job.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let image = image(&tree, options, progress)?;
    let hosted = (options.hosted > 0).then(|| hosted(&tree, options, progress)).transpose()?;
    let mut options = options.clone();
    // It is there as long as the job.
    let wire = options.net.map(|_| wire::Wire::open(wire::Faults::default())).transpose()?;
    options.wire = wire.as_ref().map(|wire| wire.name().to_owned());
    let mut command = command(&tree, &options, &image, hosted.as_deref(), progress)?;
    let status = command.status().at(format!("run `{}`", shell::line(&command)))?;
    match status.code() {
        Some(0) => Ok(()),
        code => {
            let text = format!("{} on {} ranks ended with {status}", image.display(), options.n);
            Err(Failure { status: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1), text })
        }
    }
}

/// The same program for an operating system.
fn hosted(tree: &Tree, options: &Options, progress: &Progress) -> Result<PathBuf> {
    if options.app.extension().is_some_and(|extension| extension == "elf") {
        return Err(refuse(
            "--hosted: ordinary processes need the program's source; name a .rs or .c file, not an image",
        ));
    }
    let build = build::Options { thin: true, no_check: true, ..build::Options::default() };
    let built = build::build_into(&build, |tree| tree.target.join("run/dist"), progress)?;
    progress.note(&format!("{} ordinary processes use {}", options.hosted, tree.target.join("run/dist").display()));
    crate::run::program::compile(&built, &options.app, &[], progress)
}

/// The command that runs the job; `hosted` is the program of the ordinary processes.
pub fn command(
    tree: &Tree,
    options: &Options,
    image: &Path,
    hosted: Option<&Path>,
    progress: &Progress,
) -> Result<Command> {
    if shell::which(QEMU).is_none() {
        return Err(refuse(format!(
            "{} is not there; install it: apt-get install --no-install-recommends qemu-system-x86",
            QEMU
        )));
    }
    let tools = tools::build(tree, progress)?;
    let mpirun = tools.iter().find(|(tool, _)| tool.name == "mpirun").map(|(_, path)| path);
    let mpirun = mpirun.ok_or_else(|| fail("this source tree has no package mpirun"))?;
    let mut command = fpga::launcher(tree, options, mpirun)?;
    command.args(["--tag-output", "--timeout", &options.timeout.to_string()]);
    for pair in options.mca.chunks(2) {
        command.arg("--mca").args(pair);
    }
    command.args(["-n", &options.n.to_string()]);
    let own = std::env::current_exe().at("find this program")?;
    command.arg(own).arg("guest").arg("--image").arg(image);
    command.args(["--memory", &options.memory.to_string(), "--tsc-khz", &tsc_khz().to_string()]);
    command.args(["--smp", &options.smp.to_string(), "--ranks", &options.n.to_string()]);
    if let (Some(net), Some(wire)) = (options.net, &options.wire) {
        joined_by_wire(options)?;
        let card = net.to_possible_value().map_or(String::new(), |card| card.get_name().to_owned());
        command.args(["--net", &card, "--wire", wire, "--secret", &secret()?]);
    }
    if let Some(log) = options.log {
        bare::log::check(image, log)?;
        command.arg("--log");
        if log == bare::log::Log::Defmt {
            command.arg("--decoder").arg(bare::log::decoder(tree, progress)?);
        }
    }
    command.arg("--");
    command.args(&options.arguments);
    if let Some(program) = hosted {
        command.args([":", "-n", &options.hosted.to_string()]).arg(program).args(&options.arguments);
    }
    Ok(command)
}

/// Refuses what needs memory that machines share.
fn joined_by_wire(options: &Options) -> Result<()> {
    match (options.smp, options.hosted) {
        (1, 0) => Ok(()),
        (1, _) => Err(refuse("--net --hosted: ordinary processes have no such network; leave one of both out")),
        _ => Err(refuse("--net --smp: a card is one rank's; leave one of both out")),
    }
}

/// 64 hexadecimal digits that nobody guesses.
fn secret() -> Result<String> {
    let mut bytes = [0; 32];
    let mut source = std::fs::File::open("/dev/urandom").at("open /dev/urandom")?;
    source.read_exact(&mut bytes).at("read /dev/urandom")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The image that was named, or that is made of the program that was named.
fn image(tree: &Tree, options: &Options, progress: &Progress) -> Result<PathBuf> {
    if options.app.extension().is_some_and(|extension| extension == "elf") {
        return options.app.canonicalize().at(format!("find {}", options.app.display()));
    }
    let log = options.log.unwrap_or_default();
    let build = build::Options { bare_fallback: options.bare_fallback, log, ..build::Options::default() };
    bare::say_toolchain(&options.app, options.bare_fallback, progress)?;
    bare::make(tree, &options.app, &[], &build, progress)
}

/// How fast the time-stamp counter runs, which guests of QEMU's TCG see as it is.
fn tsc_khz() -> u64 {
    let (begin, first) = (Instant::now(), hw_x86_64::tsc::ticks());
    std::thread::sleep(MEASURE);
    let (ticks, time) = (hw_x86_64::tsc::ticks() - first, begin.elapsed());
    (u128::from(ticks) * 1_000_000 / time.as_nanos().max(1)) as u64
}

const MEASURE: Duration = Duration::from_millis(50);
