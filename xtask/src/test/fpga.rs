//! The barrier machine: its test benches, its Verilog against its Rust model, and programs whose barriers it does.

use super::{Session, Verdict, deadline};
use crate::failure::{Failure, Result, fail};
use crate::fpga::{self, rig};
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
    for ranks in [2, 4] {
        session.case(&format!("fpga/death_{ranks}"), |session| death(session, ranks).unwrap_or_else(Verdict::from));
    }
    for run in RUNS {
        for ranks in [2, 3, 4, 8] {
            session.case(&format!("fpga/{}_{ranks}", run.name), |session| {
                barriers(session, run, ranks).unwrap_or_else(Verdict::from)
            });
        }
    }
    Ok(())
}

/// Barriers by wire, on emulated ports.
struct Run {
    name: &'static str,
    machine: &'static [&'static str],
    component: &'static [&'static str],
    what: &'static str,
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
        machine: &["--classic"],
        component: &["coll_hwbarr_mode", "classic"],
        what: "world",
        barriers: 18_000,
        // The first one finds out that there is a machine.
        by_wire: |barriers| barriers - 1,
        machines: 1,
        says: "",
    },
    Run {
        name: "channels",
        machine: &["--channels"],
        component: &["coll_hwbarr_mode", "channels"],
        what: "several",
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
        machine: &["--classic", "--restart-writes", "1009"],
        component: &["coll_hwbarr_timeout_ms", "500"],
        what: "world",
        barriers: 2_000,
        by_wire: |_| 50,
        machines: 2,
        says: "",
    },
    Run {
        name: "channels_restarts",
        machine: &["--channels", "--restart-writes", "5003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        barriers: 8_000,
        by_wire: |_| 50,
        machines: 2,
        says: "is later than 200 ms",
    },
    // A wire breaks: the barrier after that is late, and decided in software.
    Run {
        name: "late",
        machine: &["--classic", "--stick-after", "101"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        what: "world",
        barriers: 500,
        by_wire: |_| 101,
        machines: 1,
        says: "is later than 300 ms",
    },
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
fn death(session: &mut Session, ranks: usize) -> Result<Verdict> {
    let run = Run { name: "death", what: "death", ..RUNS[0] };
    let ended = launch(session, &run, ranks, 1_000)?;
    let count =
        |words: [&str; 2]| ended.err.lines().filter(|line| words.iter().all(|word| line.contains(word))).count();
    let told = count(["coll/hwbarr: a process died", "emulated port: data"]);
    // mpirun ends who has not come to its handler yet.
    let survivors = count(["handler, aborted", ""]);
    Ok(match ended.trouble.is_none() && ended.ended_with(128 + 9) && survivors > 0 && told > 0 {
        true => Verdict::Passed(format!("{survivors} of {} handlers heard of it", ranks - 1)),
        false => Verdict::Failed(ended.story()),
    })
}

/// Guests under QEMU: the processor's own port instructions, which QEMU's port carries to the machine's process.
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
    let mut command = Command::new(machine);
    command.args(["--say", "--nodes", &nodes.to_string(), "bash", "-c", &script]);
    let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("guests_{nodes}.log")))?;
    let said = ended.err.lines().find_map(|line| line.strip_prefix("tuc-fpga: ")).unwrap_or("");
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
    command.args(["--say", "--nodes", &ranks.to_string()]).args(run.machine);
    command.arg(library.dist.join("bin/mpirun")).args(["-n", &ranks.to_string()]);
    command.args(["--mca", "coll_hwbarr_port", "emulated"]);
    run.component.chunks(2).for_each(|pair| _ = command.arg("--mca").args(pair));
    command.arg(&program).arg(&page).args([&count.to_string(), run.what]);
    let limit = if session.options.all { LONG } else { LIMIT };
    deadline::run(&mut command, limit, &folder.join(format!("{}_{ranks}.log", run.name)))
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
