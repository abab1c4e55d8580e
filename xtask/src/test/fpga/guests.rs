//! Jobs on machines without an operating system whose barriers go by wire: `cargo xtask boot --fpga`.

use super::outcome::{missing_or_failed, said};
use crate::boot::{self, BarrierMachine};
use crate::failure::Result;
use crate::fpga;
use crate::test::boot::{image, missing};
use crate::test::{Session, Verdict, deadline, programs};
use std::time::Duration;

/// `fpga/boot_…`.
pub fn tier(session: &mut Session) {
    for job in JOBS.iter().filter(|job| !job.long || session.options.all) {
        session.case(&format!("fpga/boot_{}", job.name), |session| match missing() {
            Some(skipped) => skipped,
            None => run(session, job).unwrap_or_else(missing_or_failed),
        });
    }
}

struct Job {
    name: &'static str,
    source: &'static str,
    /// Of the C compiler.
    flags: &'static [&'static str],
    arguments: &'static [&'static str],
    ranks: u32,
    smp: u32,
    hosted: u32,
    machine: BarrierMachine,
    component: &'static [&'static str],
    faults: &'static [&'static str],
    status: i32,
    /// What the ranks or the machine must say.
    says: &'static [&'static str],
    /// How many barriers the machine must have done, at least and at most.
    by_wire: (u64, u64),
    /// Only with `--all`.
    long: bool,
}

const PLAIN: Job = Job {
    name: "",
    source: "tests/baremetal/barriers.c",
    flags: &[],
    arguments: &["100", "several"],
    ranks: 2,
    smp: 1,
    hosted: 0,
    machine: BarrierMachine::Model,
    component: &[],
    faults: &[],
    status: 0,
    says: &[" times all barriers"],
    by_wire: (1, u64::MAX),
    long: false,
};
const CHANNELS: &[&str] = &["coll_hwbarr_mode", "channels"];
const HEAT: Job = Job {
    source: "tests/c/heat.c",
    // Of 400 barriers the first finds out that there is a machine; MPI_Finalize has one more.
    arguments: &["--barriers"],
    by_wire: (400, 400),
    says: &["field identical to the serial run"],
    ..PLAIN
};

const JOBS: &[Job] = &[
    Job { name: "heat_2", ..HEAT },
    Job { name: "heat_4", ranks: 4, machine: BarrierMachine::Verilator, ..HEAT },
    Job { name: "heat_8", ranks: 8, long: true, ..HEAT },
    // Two communicators of both, but for the first barrier of each: one for ever, the other four times.
    Job { name: "several_2", component: CHANNELS, by_wire: (196, 196), ..PLAIN },
    // Of seven communicators four get a channel.
    Job {
        name: "several_4",
        ranks: 4,
        machine: BarrierMachine::Verilator,
        component: CHANNELS,
        by_wire: (300, 400),
        ..PLAIN
    },
    Job {
        name: "several_8",
        arguments: &["1000", "several"],
        ranks: 8,
        machine: BarrierMachine::Verilator,
        component: CHANNELS,
        by_wire: (3_000, 4_000),
        long: true,
        ..PLAIN
    },
    // One rank of each guest drives its port for the other.
    Job { name: "smp", ranks: 4, smp: 2, component: CHANNELS, by_wire: (200, 400), ..PLAIN },
    // Guests have ports that QEMU carries to the cable, processes have ports that are trapped.
    Job { name: "hosted", ranks: 2, hosted: 2, component: CHANNELS, by_wire: (300, 400), ..PLAIN },
    // No wires: what guests share is enough for barriers, as often as one likes.
    Job {
        name: "off",
        arguments: &["2000", "several"],
        ranks: 4,
        machine: BarrierMachine::Off,
        by_wire: (0, 0),
        long: true,
        ..PLAIN
    },
    // Its power fails for good: the barrier after that is late, is decided among the guests, and software goes on.
    Job {
        name: "machine_dies",
        arguments: &["500", "world"],
        component: &["coll_hwbarr_timeout_ms", "500"],
        faults: &["--die-after", "100"],
        says: &["the machine's process is dead", "took more than 500 ms", "its communicator goes on in software"],
        by_wire: (100, 499),
        ..PLAIN
    },
    Job {
        name: "barriers_SEED_BARRIER_MISTAKE",
        flags: &["-DSEED_BARRIER_MISTAKE"],
        arguments: &["100", "world"],
        status: 1,
        says: &["left a barrier before a member had come"],
        ..PLAIN
    },
];

fn run(session: &mut Session, job: &Job) -> Result<Verdict> {
    if job.machine == BarrierMachine::Verilator {
        fpga::need(&[("verilator", "verilator")])?;
    }
    let image = image(session, job.source, job.flags)?;
    let arguments = job.arguments.iter().map(|word| (*word).to_owned()).collect();
    let options = boot::Options {
        smp: job.smp,
        hosted: job.hosted,
        fpga: job.machine,
        mca: job.component.iter().map(|word| (*word).to_owned()).collect(),
        faults: job.faults.iter().map(|word| (*word).to_owned()).collect(),
        ..boot::Options::new(&image, job.ranks, LIMIT.as_secs() as u32, arguments)
    };
    let source = session.tree.root.join(job.source);
    let hosted = (job.hosted > 0).then(|| programs::compiled(session, &source, job.flags)).transpose()?;
    let mut command = boot::command(&session.tree, &options, &image, hosted.as_deref(), session.progress)?;
    let log = session.scratch().join("fpga").join(format!("boot_{}.log", job.name));
    let ended = deadline::run(&mut command, LIMIT + GRACE, &log)?;
    let flips = said(&ended).split(' ').next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    let silent = job.says.iter().find(|words| !ended.out.contains(**words) && !ended.err.contains(**words));
    Ok(match (ended.ended_with(job.status), silent) {
        (true, None) if (job.by_wire.0..=job.by_wire.1).contains(&flips) => Verdict::Passed(said(&ended).to_owned()),
        (true, None) => Verdict::Failed(format!(
            "{flips} barriers went by wire, expected were {:?}\n{}",
            job.by_wire,
            ended.story()
        )),
        (_, Some(words)) => Verdict::Failed(format!("no guest says \"{words}\"\n{}", ended.story())),
        _ => Verdict::Failed(ended.story()),
    })
}

const LIMIT: Duration = Duration::from_secs(90);
const GRACE: Duration = Duration::from_secs(20);
