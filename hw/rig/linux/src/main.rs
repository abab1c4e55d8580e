//! `tuc-init`, process 1 of a Linux guest with one parallel port: loads the kernel's drivers, then does barriers with one
//! other guest, first as root through ioperm, then as an ordinary user of the device's group through ppdev; and checks that a
//! user without the right is refused. Its status goes through QEMU's isa-debug-exit: 16, or 17 after an error.
//!
//! The two guests know of each other only through the channels of the machine. The first joins a channel. The second waits
//! until that channel has a member, joins it, and then joins another channel, for which the first one waits.

use hw_fpga::node::{Entry, Node, Reading};
use hw_fpga::{frame, wire};
use hw_pport::inout::InOut;
use hw_pport::ppdev::Ppdev;
use hw_pport::{Lines, Port};
use rustix::fs::{Mode, OFlags};
use std::ffi::CStr;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    // The kernel makes what it does not know of its command line variables of process 1.
    let first = std::env::var("TUC").is_ok_and(|which| which == "first");
    let outcome = match arguments.get(1).map(String::as_str) {
        Some("root") => InOut::open(BASE).map_err(|why| why.0.to_owned()).and_then(|port| barriers(port, 0, first)),
        Some("user") => Ppdev::open(DEVICE).map_err(|why| why.0.to_owned()).and_then(|port| barriers(port, 2, first)),
        Some("stranger") => refused(),
        _ => everything(),
    };
    if let Err(why) = &outcome {
        println!("tuc-init: {why}");
    }
    if std::process::id() == 1 {
        leave(outcome.is_ok());
    }
    if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What process 1 does: each way to the port is a process of its own, with the rights that it is to have.
fn everything() -> Result<(), String> {
    for (module, parameters) in [("parport", c""), ("parport_pc", c"io=0x378 irq=none"), ("ppdev", c"")] {
        load(module, parameters)?;
    }
    run("root", 0, 0)?;
    run("user", NOBODY, LP)?;
    run("stranger", NOBODY, NOBODY)
}

fn load(module: &str, parameters: &CStr) -> Result<(), String> {
    let file = rustix::fs::open(format!("/{module}.ko").as_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let file = file.map_err(|why| format!("{module}.ko: {why}"))?;
    rustix::system::finit_module(&file, parameters, 0).map_err(|why| format!("load {module}: {why}"))
}

fn run(what: &str, user: u32, group: u32) -> Result<(), String> {
    let status = Command::new("/init").arg(what).uid(user).gid(group).status();
    match status.map_err(|why| format!("run {what}: {why}"))? {
        status if status.success() => {
            println!("tuc-init: {what}: well");
            Ok(())
        }
        status => Err(format!("{what}: {status}")),
    }
}

/// A user that is neither root nor in the group.
fn refused() -> Result<(), String> {
    match (InOut::open(BASE), Ppdev::open(DEVICE)) {
        (Err(root), Err(group)) => {
            println!("tuc-init: refused, as it should be: {}; {}", root.0, group.0);
            Ok(())
        }
        _ => Err("a user without rights got the port".to_owned()),
    }
}

/// Joins the channel, meets the other guest, and does all barriers.
fn barriers(port: impl Port + 'static, channel: usize, first: bool) -> Result<(), String> {
    let lines = Lines::new(Box::new(port), 0, wire::control_register(0));
    let (own, other) = (1u8 << channel, 2u8 << channel);
    let end = Instant::now() + PATIENCE;
    if !first {
        until_busy(&lines, own, end)?;
    }
    let (levels, _) = wire::status(lines.status());
    let level = levels & own != 0;
    let out = wire::OUT[channel].mask();
    lines.change_data(out, if level { out } else { 0 });
    join(&lines, own)?;
    if first {
        until_busy(&lines, other, end)?
    } else {
        join(&lines, other)?
    }
    let mut node = Node::joined(level, READINGS);
    while node.done() < BARRIERS {
        let Entry::Write(level) = node.enter(false) else { return Err("no barrier can begin".to_owned()) };
        lines.change_data(out, if level { out } else { 0 });
        loop {
            let (levels, present) = wire::status(lines.status());
            if node.look(Reading { level: levels & own != 0, present }) {
                break;
            }
            if Instant::now() > end {
                return Err(format!("barrier {} does not end", node.done() + 1));
            }
        }
    }
    println!("tuc-init: {BARRIERS} barriers, {}", lines.name());
    Ok(())
}

fn join(lines: &Lines, mask: u8) -> Result<(), String> {
    match lines.command(frame::join(mask)) {
        Some((members, _)) if members & mask != 0 => Ok(()),
        _ => Err("no machine with channels confirms".to_owned()),
    }
}

/// Until one of these channels has a member.
fn until_busy(lines: &Lines, mask: u8, end: Instant) -> Result<(), String> {
    while Instant::now() < end {
        if lines.read_back().is_some_and(|(_, busy)| busy & mask != 0) {
            return Ok(());
        }
    }
    Err("the other guest does not come".to_owned())
}

/// Ends the guest.
fn leave(well: bool) -> ! {
    match InOut::open(DEBUG_EXIT) {
        Ok(port) => port.put_data(if well { 16 } else { 17 }),
        Err(why) => println!("tuc-init: {}", why.0),
    }
    loop {
        std::thread::sleep(PATIENCE);
    }
}

const BASE: u16 = 0x378;
const DEBUG_EXIT: u16 = 0xf4;
const DEVICE: &str = "/dev/parport0";
const NOBODY: u32 = 65_534;
/// As Debian numbers the group.
const LP: u32 = 7;
const READINGS: u8 = 2;
const BARRIERS: u64 = 501;
const PATIENCE: Duration = Duration::from_secs(120);
