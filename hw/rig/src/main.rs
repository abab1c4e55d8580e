//! `tuc-fpga`: the barrier machine at the end of a cable, for the time that a command runs, or for ever.

use hw_rig::cable::Cable;
use hw_rig::fpga::{Kind, Machine};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

struct Options {
    kind: Kind,
    nodes: usize,
    cable: Option<String>,
    restart_ms: Option<u64>,
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
        restart_ms: None,
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
            "--restart-ms" => options.restart_ms = Some(number(&argument, &value()?)?.max(1)),
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
    let own = std::env::temp_dir().join(format!("tuc-cable.{}", std::process::id()));
    let path = options.cable.clone().unwrap_or_else(|| own.display().to_string());
    let cable = Cable::create(&path).map_err(|why| format!("cannot make the cable {path}: {why}"))?;
    if options.command.is_empty() {
        serve(options, &cable, &AtomicBool::new(false));
        return Ok(0);
    }
    let over = AtomicBool::new(false);
    let status = std::thread::scope(|scope| {
        scope.spawn(|| serve(options, &cable, &over));
        let command = &options.command;
        let status = Command::new(&command[0]).args(&command[1..]).env("OMPI_MCA_coll_hwbarr_cable", &path).status();
        over.store(true, Ordering::Relaxed);
        status.map_err(|why| format!("cannot run {}: {why}", command[0]))
    });
    if options.say {
        let accesses: u64 = (0..options.nodes).map(|node| cable.accesses(node)).sum();
        eprintln!("tuc-fpga: {accesses} port accesses of {} nodes, {} machines", options.nodes, cable.powered());
    }
    if options.cable.is_none() {
        // Ours alone; what cannot be removed is not there.
        let _ = std::fs::remove_file(&own);
    }
    Ok(status?.code().unwrap_or(1) as u8)
}

/// Is the machine until `over`; now and then it loses power.
fn serve(options: &Options, cable: &Cable, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        cable.power_up();
        let mut machine = Machine::new(options.kind, options.nodes);
        let end = options.restart_ms.map(|time| Instant::now() + Duration::from_millis(time));
        while !over.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
            let written = machine.turn(cable, options.nodes);
            cable.sleep_until_written(written);
        }
    }
    cable.unplug();
}

const USAGE: &str = "\
usage: tuc-fpga [--classic | --channels] [--nodes N] [--cable FILE] [--restart-ms TIME] [--say] [COMMAND ARGUMENT…]

Is the barrier machine at the end of a cable while COMMAND runs (the cable's name is given to it as the parameter
coll_hwbarr_cable), or for ever. --restart-ms has it lose its power so often, with everything that it knows;
--say tells at the end how often the port was accessed.";
