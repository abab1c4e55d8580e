//! `cargo xtask bench barrier`: times of a barrier by wire, modelled for real ports and 2 to 60 nodes, and measured on the rig
//! for processes and guests.

use super::sample::Output;
use crate::boot::{self, BarrierMachine};
use crate::failure::{Result, fail};
use crate::fpga::{picture, rig};
use crate::progress::Progress;
use crate::tree::Tree;
use crate::{bare, build, shell};
use hw_fpga::machine::Classic;
use hw_fpga::node::{Entry, Node, Reading};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Options of `bench barrier`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// What a message of a software barrier takes from one node to another; an assumption, like the times of ports
    #[arg(long, value_name = "US", default_value_t = 5.0)]
    message_us: f64,
    /// Measure the rig with this product instead of building one
    #[arg(long, value_name = "DIST")]
    dist: Option<PathBuf>,
    /// Only the model
    #[arg(long)]
    model_only: bool,
    /// Draw the modelled times as an SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Prints the tables.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    println!(
        "Modelled, not measured: nodes that come at the same time, a machine with a clock of 100 MHz, a port access"
    );
    println!(
        "of 1 us (ISA, LPT; PCIe cards alike) or 0.5 us (memory-mapped card), a message of {} us.\n",
        options.message_us
    );
    println!("nodes  accesses  wires, port us  wires, mapped us  software us");
    let mut curves =
        [("port, 1 us", "a", Vec::new()), ("mapped, 0.5 us", "b", Vec::new()), ("software", "c", Vec::new())];
    for nodes in NODES {
        let (slow, fast) = (modelled(nodes, 1000)?, modelled(nodes, 500)?);
        let software = f64::from(usize::BITS - (nodes - 1).leading_zeros()) * options.message_us;
        println!("{nodes:5}  {:8.2}  {:14.2}  {:16.2}  {software:11.2}", slow.accesses, slow.us, fast.us);
        curves.iter_mut().zip([slow.us, fast.us, software]).for_each(|(curve, us)| curve.2.push((nodes, us)));
    }
    if let Some(file) = &options.plot {
        let title = format!("A barrier, modelled: us; software: {} us a message", options.message_us);
        shell::write(file, &picture::times(&curves, &title))?;
    }
    if options.model_only {
        return Ok(());
    }
    let tree = Tree::open()?;
    let dist = rig::library(&tree, options.dist.as_deref(), progress)?;
    let (machine, program) = (rig::machine(&tree)?, rig::program(&tree, &dist, &tree.target.join("bench"))?);
    println!(
        "\nMeasured on the rig: trapped instructions, and a machine that is a process and must be scheduled. It proves"
    );
    println!("the protocol, and says nothing of the latency of wires.\n");
    println!("ranks  accesses  by wire us  software us");
    for ranks in [2, 4, 8] {
        let wires = measured(&machine, &program, &dist, ranks, true)?;
        let software = measured(&machine, &program, &dist, ranks, false)?;
        println!("{ranks:5}  {:8.2}  {:10.2}  {:11.2}", wires.accesses, wires.us, software.us);
    }
    guests(&tree, progress)
}

/// The same on machines without an operating system, by the benchmark that measures other barriers, too.
fn guests(tree: &Tree, progress: &Progress) -> Result<()> {
    if shell::which(boot::QEMU).is_none() {
        println!("\nGuests were left out: install qemu-system-x86 and musl-dev.");
        return Ok(());
    }
    let build = build::Options { bare_fallback: true, ..build::Options::default() };
    let image = bare::make(tree, &tree.root.join("benches/c/collective.c"), &[], &build, progress)?;
    println!(
        "\nGuests of QEMU, which share memory: real port instructions, each of which leaves the translated code and"
    );
    println!(
        "takes locks of QEMU's, against coll/sm. Minima of {GUEST_LAUNCHES} launches in turn, {GUEST_SAMPLES} samples each.\n"
    );
    println!("ranks  by wire us  software us");
    for ranks in [2, 4, 8] {
        let (mut wires, mut software) = (f64::MAX, f64::MAX);
        for _ in 0..GUEST_LAUNCHES {
            wires = wires.min(on_guests(tree, &image, ranks, BarrierMachine::Model, progress)?);
            software = software.min(on_guests(tree, &image, ranks, BarrierMachine::Off, progress)?);
        }
        println!("{ranks:5}  {wires:10.2}  {software:11.2}");
    }
    Ok(())
}

/// The best sample.
fn on_guests(tree: &Tree, image: &Path, ranks: u32, machine: BarrierMachine, progress: &Progress) -> Result<f64> {
    let arguments = ["--barrier", "--json", "-s", "8", "-r", GUEST_SAMPLES].map(str::to_owned).to_vec();
    let options =
        boot::Options { fpga: machine, ..boot::Options::new(image, ranks, LIMIT.as_secs() as u32, arguments) };
    let mut command = boot::command(tree, &options, image, None, progress)?;
    let outcome = shell::outcome(&mut command, LIMIT * 2)?;
    let story = || fail(format!("{}:\n{}{}", shell::line(&command), outcome.stdout, outcome.stderr));
    let text: Vec<&str> =
        outcome.stdout.lines().filter_map(|line| line.split_once("<stdout>: ")).map(|it| it.1).collect();
    let output = Output::read(&text.join("\n")).map_err(fail)?;
    let size = output.sizes.first().filter(|_| outcome.status.success()).ok_or_else(story)?;
    let flips = outcome.stderr.split("tuc-fpga: ").nth(1).and_then(|said| said.split(' ').next()?.parse::<u64>().ok());
    let wanted = size.iterations * size.seconds.len() as u64;
    if machine != BarrierMachine::Off && flips.is_none_or(|flips| flips < wanted) {
        return Err(story());
    }
    Ok(size.seconds.iter().copied().fold(f64::MAX, f64::min) * 1e6)
}

/// Per barrier, and accesses per node.
struct Figure {
    accesses: f64,
    us: f64,
}

/// The protocol of `hw_fpga::node` and the machine's model, tick by tick; every node's port is at another point of its
/// cycle.
fn modelled(nodes: usize, access_ns: u64) -> Result<Figure> {
    let mut machine = Classic::new(nodes, 2, 1);
    let mut members = vec![Node::joined(false, READINGS); nodes];
    let mut out = 0u64;
    (0..WARM_UP).for_each(|_| machine.tick(out));
    let cycle = access_ns / TICK_NS;
    let (mut accesses, mut now) = (0u64, 0u64);
    for barrier in 0..BARRIERS {
        let begin = now;
        let mut written = vec![false; nodes];
        while members.iter().any(|member| member.done() <= barrier) {
            machine.tick(out);
            now += 1;
            for node in 0..nodes {
                // A port does one thing in a cycle; phases are spread over it.
                let phase = (node as u64 * 7919 + barrier * 104_729) % cycle;
                if now % cycle != phase || members[node].done() > barrier {
                    continue;
                }
                accesses += 1;
                if written[node] {
                    let reading = Reading { level: machine.channel.level, present: machine.channel.known };
                    members[node].look(reading);
                } else if let Entry::Write(level) = members[node].enter(false) {
                    out = out & !(1 << node) | u64::from(level) << node;
                    written[node] = true;
                }
            }
            if now - begin > 1_000 * cycle {
                return Err(fail(format!("the model of {nodes} nodes hangs in barrier {barrier}")));
            }
        }
    }
    let barriers = BARRIERS as f64;
    Ok(Figure { accesses: accesses as f64 / barriers / nodes as f64, us: (now * TICK_NS) as f64 / barriers / 1000.0 })
}

/// Of the program that the tests run, in which every rank also looks at every other's count.
fn measured(machine: &Path, program: &Path, dist: &Path, ranks: usize, wires: bool) -> Result<Figure> {
    let page = program.with_file_name("page");
    let _ = std::fs::remove_file(&page);
    let mut command = Command::new(machine);
    command.args(["--say", "--nodes", &ranks.to_string()]).arg(dist.join("bin/mpirun"));
    command.args(["-n", &ranks.to_string(), "--mca", "coll_hwbarr_port", if wires { "emulated" } else { "none" }]);
    command.arg(program).arg(&page).args([&RIG_BARRIERS.to_string(), "world"]);
    let outcome = shell::outcome(&mut command, LIMIT)?;
    let story = || fail(format!("{}:\n{}{}", shell::line(&command), outcome.stdout, outcome.stderr));
    if !outcome.status.success() {
        return Err(story());
    }
    let figure = |text: &str, before: &str, after: &str| -> Option<f64> {
        text.split(before).nth(1)?.split(after).next()?.trim().parse().ok()
    };
    let seconds = figure(&outcome.stdout, "barriers in ", " s").ok_or_else(story)?;
    let accesses = figure(&outcome.stderr, "barriers, ", " port").ok_or_else(story)?;
    let flips = figure(&outcome.stderr, "tuc-fpga: ", " barriers").ok_or_else(story)?;
    if wires && flips < RIG_BARRIERS as f64 - 1.0 {
        return Err(story());
    }
    let barriers = RIG_BARRIERS as f64;
    Ok(Figure { accesses: accesses / barriers / ranks as f64, us: seconds * 1e6 / barriers })
}

const NODES: [usize; 8] = [2, 4, 8, 16, 24, 32, 48, 60];
const READINGS: u8 = 2;
const TICK_NS: u64 = 10;
const WARM_UP: usize = 16;
const BARRIERS: u64 = 1_000;
const RIG_BARRIERS: usize = 20_000;
const GUEST_LAUNCHES: usize = 3;
const GUEST_SAMPLES: &str = "40";
const LIMIT: Duration = Duration::from_secs(120);

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench barrier                                   the model, the rig and guests
  cargo xtask bench barrier --model-only --plot barrier.svg   the model alone, as a picture";
