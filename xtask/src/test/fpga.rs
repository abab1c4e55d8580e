//! The barrier machine: its test benches, its Verilog against its Rust model, and programs whose barriers it does.

mod guests;
mod linux;
mod outcome;
mod runs;

use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use crate::fpga::{self, rig};
use crate::shell;
use outcome::{missing_or_failed, said};
use runs::{DEATHS, Death, RUNS, Run};
use std::process::Command;
use std::time::Duration;

/// `fpga/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("fpga/benches", |session| verdict(fpga::benches(&session.tree)));
    session.case("fpga/lockstep", |session| {
        // 13 has no factor in common with the number of states, so that all bits of the state vary.
        let (stride, ticks) = if session.options.all { (1, 2_000_000) } else { (13, 200_000) };
        verdict(fpga::verify(&session.tree, stride, ticks, 1))
    });
    for nodes in [2, 4] {
        session
            .case(&format!("fpga/guests_{nodes}"), |session| guests(session, nodes).unwrap_or_else(missing_or_failed));
    }
    guests::tier(session);
    if session.options.all {
        session.case("fpga/linux", linux::guests);
        session.case("fpga/synth", |session| verdict(fpga::synth(&session.tree)));
    }
    session.case("fpga/declines", |session| declines(session).unwrap_or_else(Verdict::from));
    for death in DEATHS {
        session.case(&format!("fpga/{}_{}", death.name, death.ranks), |session| {
            dies(session, death).unwrap_or_else(Verdict::from)
        });
    }
    for run in RUNS {
        let ranks: &[usize] = if session.options.all { &[2, 3, 4, 5, 6, 7, 8] } else { &[2, 3, 4, 8] };
        // Two ranks are to have two ports.
        for ranks in ranks.iter().copied().filter(|ranks| *ranks > run.per_port) {
            session.case(&format!("fpga/{}_{ranks}", run.name), |session| {
                barriers(session, run, ranks).unwrap_or_else(missing_or_failed)
            });
        }
    }
    Ok(())
}

fn barriers(session: &mut Session, run: &Run, ranks: usize) -> Result<Verdict> {
    let count = if session.options.all && run.barriers > 10_000 { 500_000 } else { run.barriers };
    let ended = launch(session, run, ranks, count)?;
    if !ended.ended_with(0) || !ended.out.contains(" barriers") {
        return Ok(Verdict::Failed(ended.story()));
    }
    let said = said(&ended);
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let by_wire = number(said.split(' ').next());
    let machines = number(said.rsplit(' ').nth(1));
    let wanted = (run.by_wire)(count);
    Ok(match () {
        () if by_wire < wanted => Verdict::Failed(format!("of {count} barriers {wanted} were to go by wire: {said}")),
        () if machines < run.machines => Verdict::Failed(format!("the machine was never restarted: {said}")),
        () if !ended.err.contains(run.says) => Verdict::Failed(format!("no rank says \"{}\": {said}", run.says)),
        () => Verdict::Passed(format!("{count} barriers of each rank; {said}")),
    })
}

/// A rank dies: the others' next barrier is an error that their handler gets, with what the wires say.
fn dies(session: &mut Session, death: &Death) -> Result<Verdict> {
    let run = Run { name: death.name, what: death.what, per_port: death.per_port, ..RUNS[0] };
    let ended = launch(session, &run, death.ranks, 1_000)?;
    let count =
        |words: [&str; 2]| ended.err.lines().filter(|line| words.iter().all(|word| line.contains(word))).count();
    let told = count(["coll/hwbarr: a process died", "emulated port: data"]);
    // mpirun ends a rank that has not come to its handler yet.
    let survivors = count(["handler, aborted", ""]);
    Ok(match ended.trouble.is_none() && ended.ended_with(128 + 9) && survivors > 0 && told > 0 {
        true => Verdict::Passed(format!("{survivors} of {} handlers heard of it", death.ranks - 1)),
        false => Verdict::Failed(ended.story()),
    })
}

/// Guests under QEMU: the processor's own port instructions, which QEMU's port carries to the machine's process, which is
/// the Verilog.
fn guests(session: &mut Session, nodes: usize) -> Result<Verdict> {
    fpga::need(&[("qemu-system-x86_64", "qemu-system-x86"), ("as", "binutils")])?;
    let (machine, shim) = (rig::machine(&session.tree)?, rig::shim(&session.tree)?);
    let folder = session.scratch().join("fpga");
    let disk = rig::guest(&session.tree, GUEST_BARRIERS, &folder.join(format!("guests_{nodes}")))?;
    let boot = |node| {
        format!("{} -drive format=raw,snapshot=on,file={} & all+=($!)\n", rig::qemu(&shim, node), disk.display())
    };
    let guests: String = (0..nodes).map(boot).collect();
    let script = format!("{guests} for one in \"${{all[@]}}\"; do wait $one; [ $? -eq 33 ] || exit 1; done");
    let core = fpga::core(&session.tree, nodes)?;
    let mut command = Command::new(machine);
    command.args(["--say", "--nodes", &nodes.to_string(), "--core"]).arg(core).args(["bash", "-c", &script]);
    let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("guests_{nodes}.log")))?;
    let said = said(&ended);
    // Every flip is a barrier of all of them, and there are no others.
    Ok(match ended.ended_with(0) && said.starts_with(&format!("{GUEST_BARRIERS} barriers")) {
        true => Verdict::Passed(said.to_owned()),
        false => Verdict::Failed(ended.story()),
    })
}

fn launch(session: &mut Session, run: &Run, ranks: usize, count: usize) -> Result<deadline::Ended> {
    let machine = rig::machine(&session.tree)?;
    let library = session.library().map_err(fail)?;
    let folder = session.scratch().join("fpga");
    let program = rig::program(&session.tree, &library.dist, &folder)?;
    let page = folder.join("page");
    let _ = std::fs::remove_file(&page);
    let mut command = Command::new(machine);
    let nodes = ranks.div_ceil(run.per_port);
    command.args(["--say", "--nodes", &nodes.to_string()]).args(run.machine);
    if run.verilog {
        command.arg("--core").arg(fpga::core(&session.tree, nodes)?);
    }
    command.arg(library.dist.join("bin/mpirun")).args(["-n", &ranks.to_string()]);
    command.args(["--mca", "coll_hwbarr_port", "emulated"]);
    command.args(["--mca", "coll_hwbarr_ranks_per_port", &run.per_port.to_string()]);
    run.component.chunks(2).for_each(|pair| _ = command.arg("--mca").args(pair));
    command.arg(&program).arg(&page).args([&count.to_string(), run.what]);
    let limit = if session.options.all { LONG } else { LIMIT };
    deadline::run(&mut command, limit, &folder.join(format!("{}_{ranks}.log", run.name)))
}

/// Without a port, without the right to use it, without a cable and without a machine: the component says so in words,
/// and barriers go on without it.
fn declines(session: &mut Session) -> Result<Verdict> {
    let library = session.library().map_err(fail)?;
    let folder = session.scratch().join("fpga");
    let program = rig::program(&session.tree, &library.dist, &folder)?;
    let cable = folder.join("cable_of_nobody");
    // A cable that a machine was plugged in at, once.
    let mut machine = Command::new(rig::machine(&session.tree)?);
    shell::output(machine.args(["--nodes", "2", "--cable"]).arg(&cable).arg("true"))?;
    let cable = cable.display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["ppdev", "coll_hwbarr_device", "/dev/no_such_port"], "the device cannot be opened: is there a port"),
        (&["mapped", "coll_hwbarr_device", "/dev/no_such_card"], "the file of the card's registers cannot be opened"),
        (&["emulated"], "coll_hwbarr_cable names no cable"),
        (&["emulated", "coll_hwbarr_cable", "/no/such/cable"], "there is no cable of this name"),
        (&["emulated", "coll_hwbarr_cable", &cable], "no machine answers at the other end of the cable"),
        (&["emulated", "coll_hwbarr_cable", &cable, "coll_hwbarr_ranks_per_port", "2"], "share one port"),
        (&["inout", "coll_hwbarr_base", "70000"], "coll_hwbarr_base is no address of a port"),
    ];
    for (index, (port, reason)) in cases.iter().enumerate() {
        let page = folder.join("page");
        let _ = std::fs::remove_file(&page);
        let mut command = Command::new(library.dist.join("bin/mpirun"));
        command.args(["-n", "2", "--mca", "coll_base_verbose", "20", "--mca", "coll_hwbarr_port", port[0]]);
        port[1..].chunks(2).for_each(|pair| _ = command.arg("--mca").args(pair));
        command.arg(&program).arg(&page).args(["100", "world"]);
        let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("declines_{index}.log")))?;
        if !ended.ended_with(0) || !ended.err.contains(reason) {
            return Ok(Verdict::Failed(format!("{port:?} does not say \"{reason}\"\n{}", ended.story())));
        }
    }
    Ok(Verdict::Passed(format!("{} reasons", cases.len())))
}

fn verdict(result: Result<Vec<String>>) -> Verdict {
    match result {
        Ok(lines) => Verdict::Passed(lines.last().cloned().unwrap_or_default()),
        Err(failure) => missing_or_failed(failure),
    }
}

/// Odd, so that the last level is not the first.
const GUEST_BARRIERS: u16 = 1_001;
const LIMIT: Duration = Duration::from_secs(120);
const LONG: Duration = Duration::from_secs(1800);
