//! `tuc-fpga`: the barrier machine at the end of a cable, for the time that a command runs, or for ever.

mod verilog;

use hw_rig::cable::{Cable, NoCable};
use hw_rig::fpga::{Kind, Machine, Stuck};
use rustix::fd::AsRawFd;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use verilog::Verilog;

struct Options {
    kind: Kind,
    nodes: usize,
    cable: Option<String>,
    /// `None`: the Rust model.
    core: Option<String>,
    restart_writes: Option<u32>,
    stick_after: Option<u64>,
    deafen_after: Option<u64>,
    die_after: Option<u64>,
    /// This process is the machine of another tuc-fpga.
    is_part: bool,
    say: bool,
    command: Vec<String>,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            eprintln!("tuc-fpga: {why}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        kind: Kind::Classic,
        nodes: hw_fpga::NODES,
        cable: None,
        core: None,
        restart_writes: None,
        stick_after: None,
        deafen_after: None,
        die_after: None,
        is_part: false,
        say: false,
        command: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--channels" => options.kind = Kind::Channels,
            "--classic" => options.kind = Kind::Classic,
            "--nodes" => options.nodes = number(&argument, &value()?)? as usize,
            "--restart-writes" => options.restart_writes = Some(number(&argument, &value()?)?.max(1) as u32),
            "--stick-after" => options.stick_after = Some(number(&argument, &value()?)?),
            "--deafen-after" => options.deafen_after = Some(number(&argument, &value()?)?),
            "--die-after" => options.die_after = Some(number(&argument, &value()?)?),
            "--is-part" => options.is_part = true,
            "--core" => options.core = Some(value()?).filter(|core| core != "model"),
            "--cable" => options.cable = Some(value()?),
            "--say" => options.say = true,
            "--help" => return Err(USAGE.to_owned()),
            word if word.starts_with("--") => return Err(format!("{word} is unknown\n{USAGE}")),
            word => {
                options.command = std::iter::once(word.to_owned()).chain(arguments).collect();
                break;
            }
        }
    }
    if !(1..=hw_fpga::NODES).contains(&options.nodes) {
        return Err(format!("--nodes {}: the machine serves 1 to {} nodes", options.nodes, hw_fpga::NODES));
    }
    if options.cable.is_none() && options.command.is_empty() {
        return Err(format!("neither a cable nor a command\n{USAGE}"));
    }
    Ok(options)
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{name} {text}: a whole number is wanted"))
}

fn run(options: &Options) -> Result<u8, String> {
    let wrong = |path: &str, why: NoCable| format!("cannot make or open the cable {path}: {why}");
    // The descriptor stays open as long as the cable is to be found.
    let (cable, path, _file) = match &options.cable {
        Some(path) if options.is_part => (Cable::open(path).map_err(|why| wrong(path, why))?, path.clone(), None),
        Some(path) => (Cable::create(path).map_err(|why| wrong(path, why))?, path.clone(), None),
        None => {
            let (cable, file) = Cable::unnamed().map_err(|why| wrong("in memory", why))?;
            (cable, format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()), Some(file))
        }
    };
    if options.command.is_empty() {
        if options.is_part {
            // The process that started this one holds the other end of its standard input. At its end this one ends, too.
            std::thread::spawn(|| {
                let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                std::process::exit(0);
            });
        }
        serve(&cable, options.nodes, machine(options)?);
    }
    let ended = beside(options, &path, &cable);
    if options.say {
        let accesses: u64 = (0..options.nodes).map(|node| cable.accesses(node)).sum();
        let (flips, machines) = (cable.flips(), cable.powered());
        eprintln!(
            "tuc-fpga: {flips} barriers, {accesses} port accesses of {} nodes, {machines} machines",
            options.nodes
        );
    }
    ended
}

/// Runs the command and, beside it, the machine as a process of its own, which is killed and begun anew as often as the
/// options say.
fn beside(options: &Options, path: &str, cable: &Cable) -> Result<u8, String> {
    let powered = cable.powered();
    let mut machine = begin(options, path)?;
    while cable.powered() == powered {
        if let Ok(Some(status)) = machine.try_wait() {
            return Err(format!("the machine did not come up: {status}"));
        }
        std::thread::sleep(LOOK);
    }
    let words = &options.command;
    let mut command = Command::new(&words[0]);
    // For ranks with emulated ports, and for guests under QEMU (hw/rig/shim).
    command.args(&words[1..]).env("OMPI_MCA_coll_hwbarr_cable", path).env("TUC_CABLE", path);
    let mut command = command.spawn().map_err(|why| format!("cannot run {}: {why}", words[0]))?;
    let (mut begun_at, mut is_there) = (cable.written(), true);
    let ended = loop {
        match command.try_wait().map_err(|why| format!("cannot wait for {}: {why}", words[0]))? {
            Some(status) => break status,
            None => std::thread::sleep(LOOK),
        }
        if options.die_after.is_some_and(|flips| cable.flips() >= flips) && is_there {
            end(&mut machine);
        }
        if let (Ok(Some(status)), true) = (machine.try_wait(), is_there) {
            // As when its power is cut: nothing drives the lines any more.
            cable.unplug();
            is_there = false;
            eprintln!("tuc-fpga: the machine's process is dead ({status}); its lines are pulled up");
        }
        if options.restart_writes.is_some_and(|writes| cable.written().wrapping_sub(begun_at) >= writes) {
            end(&mut machine);
            cable.unplug();
            begun_at = cable.written();
            machine = begin(options, path)?;
        }
    };
    end(&mut machine);
    cable.unplug();
    Ok(ended.code().unwrap_or(1) as u8)
}

fn begin(options: &Options, path: &str) -> Result<Child, String> {
    let own = std::env::current_exe().map_err(|why| format!("cannot find this program's file: {why}"))?;
    let mut part = Command::new(own);
    part.args(["--is-part", "--cable", path, "--nodes", &options.nodes.to_string()]);
    part.arg(if options.kind == Kind::Channels { "--channels" } else { "--classic" });
    options.core.iter().for_each(|core| _ = part.args(["--core", core]));
    options.stick_after.iter().for_each(|flips| _ = part.args(["--stick-after", &flips.to_string()]));
    options.deafen_after.iter().for_each(|flips| _ = part.args(["--deafen-after", &flips.to_string()]));
    part.stdin(Stdio::piped()).spawn().map_err(|why| format!("cannot start the machine: {why}"))
}

/// Whatever the machine was about.
fn end(machine: &mut Child) {
    // It may have ended by itself.
    let _ = machine.kill();
    let _ = machine.wait();
}

fn machine(options: &Options) -> Result<Machine, String> {
    let stuck = options.stick_after.map_or(Stuck::No, Stuck::After);
    let machine = match &options.core {
        None => Machine::new(options.kind, options.nodes, stuck),
        Some(path) => Machine::with_core(Box::new(Verilog::load(path, options.kind)?), options.kind, stuck),
    };
    Ok(machine.deafen_after(options.deafen_after.unwrap_or(u64::MAX)))
}

/// Is the machine, for ever.
fn serve(cable: &Cable, nodes: usize, mut machine: Machine) -> ! {
    cable.power_up();
    loop {
        let written = machine.turn(cable, nodes);
        cable.sleep_until_written(written);
    }
}

const LOOK: Duration = Duration::from_micros(500);
const USAGE: &str = "\
usage: tuc-fpga [--classic | --channels] [--nodes N] [--cable FILE] [--core FILE | model] [--say]
                [--restart-writes N] [--stick-after N] [--deafen-after N] [--die-after N] [COMMAND ARGUMENT…]

Is the barrier machine at the end of a cable while COMMAND runs (the cable's name is given to it as the parameter
coll_hwbarr_cable), or for ever. --core FILE: the Verilog itself is the machine, as `cargo xtask fpga core` compiled it for
as many nodes; otherwise its Rust model is. --say tells at the end how many barriers the machine did, and how often the ports were
accessed. What may go wrong: --restart-writes kills the machine's process after so many writes to ports, again and again,
and starts it anew without anything that it knew; --stick-after breaks the output wires of node 0 after so many barriers, --deafen-after its inputs;
--die-after kills the machine's process after so many barriers, and nobody starts another one.";
