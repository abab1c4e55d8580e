//! The barrier machine: its test benches, its Verilog against its Rust model, and programs whose barriers it does.

mod linux;

use super::{Session, Verdict, deadline};
use crate::failure::{Failure, Result, fail};
use crate::fpga::{self, rig};
use crate::shell;
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
    if session.options.all {
        session.case("fpga/linux", linux::guests);
    }
    session.case("fpga/declines", |session| declines(session).unwrap_or_else(Verdict::from));
    for death in DEATHS {
        session.case(&format!("fpga/{}_{}", death.name, death.ranks), |session| {
            dies(session, death).unwrap_or_else(Verdict::from)
        });
    }
    for run in RUNS {
        // Two ranks are to have two ports.
        for ranks in [2, 3, 4, 8].into_iter().filter(|ranks| *ranks > run.per_port) {
            session.case(&format!("fpga/{}_{ranks}", run.name), |session| {
                barriers(session, run, ranks).unwrap_or_else(missing_or_failed)
            });
        }
    }
    Ok(())
}

/// Barriers by wire, on emulated ports.
struct Run {
    name: &'static str,
    /// The Verilog is the machine, not its model.
    verilog: bool,
    machine: &'static [&'static str],
    component: &'static [&'static str],
    what: &'static str,
    /// How many ranks share a port.
    per_port: usize,
    barriers: usize,
    /// How many barriers the machine must have done at least, of so many of each rank.
    by_wire: fn(barriers: usize) -> usize,
    /// How many machines at least, one after the other.
    machines: usize,
    /// A word that the ranks must say.
    says: &'static str,
}

// 100,000 barriers in all, of those without a fault alone; a million of each with --all.
const RUNS: &[Run] = &[
    Run {
        name: "classic",
        verilog: false,
        machine: &["--classic"],
        component: &["coll_hwbarr_mode", "classic"],
        what: "world",
        per_port: 1,
        barriers: 18_000,
        // The first one finds out that there is a machine.
        by_wire: |barriers| barriers - 1,
        machines: 1,
        says: "",
    },
    Run {
        name: "channels",
        verilog: false,
        machine: &["--channels"],
        component: &["coll_hwbarr_mode", "channels"],
        what: "several",
        per_port: 1,
        barriers: 14_000,
        // Of seven communicators up to four get a channel; each rank is a member of at most five.
        by_wire: |barriers| barriers / 2,
        machines: 1,
        says: "",
    },
    // The machine's process is killed and comes up knowing nothing, again and again. As published it goes on only if all
    // outputs agree when it comes up; otherwise, and always with channels, the agreement decides and software goes on.
    // Prime, so that it dies at any point of a barrier.
    Run {
        name: "classic_restarts",
        verilog: false,
        machine: &["--classic", "--restart-writes", "1009"],
        component: &["coll_hwbarr_timeout_ms", "500"],
        what: "world",
        per_port: 1,
        barriers: 2_000,
        by_wire: |_| 50,
        machines: 2,
        says: "",
    },
    Run {
        name: "channels_restarts",
        verilog: false,
        machine: &["--channels", "--restart-writes", "5003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        per_port: 1,
        barriers: 8_000,
        by_wire: |_| 50,
        machines: 2,
        says: "is later than 200 ms",
    },
    // A wire breaks: the barrier after that is late, and decided in software.
    Run {
        name: "late",
        verilog: false,
        machine: &["--classic", "--stick-after", "101"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        what: "world",
        per_port: 1,
        barriers: 500,
        by_wire: |_| 101,
        machines: 1,
        says: "is later than 300 ms",
    },
    // One rank does not see that the last barrier, that of MPI_Finalize, is over, and asks the others: who is through must
    // not have gone.
    Run {
        name: "deaf_at_the_end",
        verilog: false,
        machine: &["--classic", "--deafen-after", "499"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        what: "world",
        per_port: 1,
        barriers: 500,
        by_wire: |barriers| barriers,
        machines: 1,
        says: "is later than 300 ms",
    },
    Run {
        name: "verilog",
        verilog: true,
        machine: &["--classic"],
        component: &[],
        what: "world",
        per_port: 1,
        barriers: 6_000,
        by_wire: |barriers| barriers - 1,
        machines: 1,
        says: "",
    },
    Run {
        name: "verilog_restarts",
        verilog: true,
        machine: &["--channels", "--restart-writes", "5003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        per_port: 1,
        barriers: 4_000,
        by_wire: |_| 50,
        machines: 2,
        says: "is later than 200 ms",
    },
    // Two ranks of a port: one of them drives it.
    Run {
        name: "shared",
        verilog: false,
        machine: &["--classic"],
        component: &[],
        what: "world",
        per_port: 2,
        barriers: 4_000,
        by_wire: |barriers| barriers - 1,
        machines: 1,
        says: "",
    },
    Run {
        name: "shared_channels",
        verilog: false,
        machine: &["--channels"],
        component: &["coll_hwbarr_mode", "channels"],
        what: "several",
        per_port: 2,
        barriers: 4_000,
        // Two of at most five communicators of a rank; those without all drivers of their ports go without.
        by_wire: |barriers| barriers / 3,
        machines: 1,
        says: "",
    },
    Run {
        name: "shared_restarts",
        verilog: false,
        machine: &["--channels", "--restart-writes", "2003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        per_port: 2,
        barriers: 2_000,
        by_wire: |_| 50,
        machines: 2,
        says: "is later than 200 ms",
    },
    // A rank that drives nothing comes late: its driver has not arrived for it, and answers the stop of the others.
    Run {
        name: "shared_nap",
        verilog: false,
        machine: &["--classic"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        what: "nap",
        per_port: 2,
        barriers: 500,
        by_wire: |barriers| barriers / 2 - 1,
        machines: 1,
        says: "is later than 300 ms",
    },
];

/// A rank that dies before a barrier.
struct Death {
    name: &'static str,
    ranks: usize,
    per_port: usize,
    what: &'static str,
}

const DEATHS: &[Death] = &[
    Death { name: "death", ranks: 2, per_port: 1, what: "death1" },
    Death { name: "death", ranks: 4, per_port: 1, what: "death1" },
    Death { name: "death_of_follower", ranks: 4, per_port: 2, what: "death1" },
    Death { name: "death_of_driver", ranks: 4, per_port: 2, what: "death2" },
];

fn barriers(session: &mut Session, run: &Run, ranks: usize) -> Result<Verdict> {
    let count = if session.options.all && run.barriers > 10_000 { 1_000_000 } else { run.barriers };
    let ended = launch(session, run, ranks, count)?;
    if !ended.ended_with(0) || !ended.out.contains(" barriers") {
        return Ok(Verdict::Failed(ended.story()));
    }
    let said = ended.err.lines().find_map(|line| line.strip_prefix("tuc-fpga: "));
    let said = said.ok_or_else(|| fail("the machine does not say how many barriers it did"))?;
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let by_wire = number(said.split(' ').next());
    let machines = number(said.rsplit(' ').nth(1));
    let wanted = (run.by_wire)(count);
    Ok(match () {
        () if by_wire < wanted => Verdict::Failed(format!("of {count} barriers {wanted} were to go by wire: {said}")),
        () if machines < run.machines => Verdict::Failed(format!("the machine was never restarted: {said}")),
        () if !ended.err.contains(run.says) => Verdict::Failed(format!("nobody says \"{}\": {said}", run.says)),
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
    // mpirun ends who has not come to its handler yet.
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

/// What the machine says of its life.
fn said(ended: &deadline::Ended) -> &str {
    ended.err.lines().find_map(|line| line.strip_prefix("tuc-fpga: ")).unwrap_or("")
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

fn missing_or_failed(failure: Failure) -> Verdict {
    match failure.status {
        fpga::MISSING => Verdict::Skipped(failure.text),
        _ => failure.into(),
    }
}

/// Odd, so that the last level is not the first.
const GUEST_BARRIERS: u16 = 1_001;
const LIMIT: Duration = Duration::from_secs(120);
const LONG: Duration = Duration::from_secs(1800);
