//! Machines that share nothing but a wire: their cards' drivers, jobs over them, and wires on which frames are lost, come twice or
//! late, and stand beside what nobody sent.

use super::job::{image, judged, missing, started};
use crate::boot::wire::{Faults, KINDS, Wire};
use crate::boot::{self, Net};
use crate::failure::{At, Result};
use crate::test::{Session, Verdict, deadline};
use deadline::Ended;
use std::process::Command;
use std::time::Duration;

/// All of it.
pub fn cases(session: &mut Session) {
    for (card, net) in CARDS {
        session.case(&format!("boot/net_frames@2 {card}"), |session| frames(session, net));
        session.case(&format!("boot/net_ring.rs@2 {card}"), |session| {
            let seen = [&format!("netif/{card}: chosen")[..], "ess/eth: chosen", "btl/eth: chosen", "came back"];
            right(session, "examples/ring.rs", 2, net, Faults::default(), &seen)
        });
        session.case(&format!("boot/net_heat@2 {card} faults"), |session| {
            right(session, &format!("tests/c/heat.c {SMALL}"), 2, net, FAULTS, &[SAME])
        });
    }
    session.case("boot/net_heat@4", |session| {
        right(session, "tests/c/heat.c", 4, Net::E1000e, Faults::default(), &[SAME])
    });
    for (program, ranks) in [("pt2pt_blocking", 2), ("coll_blocking_1", 4)] {
        session.case(&format!("boot/net_{program}@{ranks} faults"), |session| {
            right(session, &format!("tests/c/{program}.c"), ranks, Net::Virtio, FEW_FAULTS, &[])
        });
    }
    for line in LINES {
        session
            .case(&format!("boot/net_{}", line.name), |session| refused(session, line).unwrap_or_else(Verdict::from));
    }
}

const CARDS: [(&str, Net); 2] = [("virtio", Net::Virtio), ("e1000e", Net::E1000e)];
const ALL_FAULTS: Faults = Faults { changed: 10, ..FAULTS };
const FAULTS: Faults = Faults { seed: 1, lost: 5, twice: 5, late: 5, junk: 25, changed: 0 };
/// A loss that nothing follows is repaired after 10 ms: fewer steps than without faults.
const SMALL: &str = "--nx 40 --ny 30 --iters 100";
const SAME: &str = "field identical to the serial run";
const FEW_FAULTS: Faults = Faults { seed: 2, lost: 1, twice: 1, late: 1, junk: 10, changed: 0 };

/// Frames of every length there and back, among garbage, runts and giants, none of which a driver takes for a frame.
fn frames(session: &mut Session, net: Net) -> Verdict {
    let mut counts = [0; KINDS];
    let run = || {
        let arguments = vec!["1500".to_owned()];
        joined(session, "tests/baremetal/frames.rs", 2, net, ALL_FAULTS, arguments, &mut counts)
    };
    let verdict = judged(run, |ended| {
        let right = ended.ended_with(0) && ended.out.contains("all 1500 frames came back");
        // Changed frames arrive, and the program sees that they were.
        let untouched = ended.out.contains(" 0 changed");
        (!right || untouched).then(String::new)
    });
    happened(verdict, ALL_FAULTS, counts)
}

/// A program, with its arguments behind it, whose answer is right on such a wire.
fn right(session: &mut Session, program: &str, ranks: u32, net: Net, faults: Faults, says: &[&str]) -> Verdict {
    let mut counts = [0; KINDS];
    let mut words = program.split(' ').map(str::to_owned);
    let source = words.next().unwrap_or_default();
    let run = || joined(session, &source, ranks, net, faults, words.collect(), &mut counts);
    let verdict = judged(run, |ended| {
        let lacks =
            says.iter().find(|words| !ended.out.contains(**words)).map(|words| format!("it does not say {words}\n"));
        lacks.or_else(|| (!ended.ended_with(0)).then(String::new))
    });
    happened(verdict, faults, counts)
}

/// A wire that was to have faults must have had them.
fn happened(verdict: Verdict, faults: Faults, counts: [u64; KINDS]) -> Verdict {
    let wanted = [faults.lost, faults.twice, faults.late, faults.junk, faults.changed];
    let spared = wanted.iter().zip(counts).any(|(wanted, count)| *wanted > 0 && count == 0);
    match verdict {
        Verdict::Passed(_) if spared => {
            Verdict::Failed(format!("of the faults {faults:?} some never happened: {counts:?}"))
        }
        Verdict::Passed(_) if faults.junk > 0 => {
            let [lost, twice, late, junk, changed] = counts;
            Verdict::Passed(format!(
                "{lost} frames lost, {twice} twice, {late} late, {junk} made up, {changed} changed"
            ))
        }
        other => other,
    }
}

fn joined(
    session: &Session,
    source: &str,
    ranks: u32,
    net: Net,
    faults: Faults,
    arguments: Vec<String>,
    counts: &mut [u64; KINDS],
) -> Result<Ended> {
    let image = image(session, source, &[])?;
    let wire = Wire::open(faults)?;
    let stem = image.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ended = started(session, &image, ranks, &format!("net {stem}@{ranks} {net:?}"), None, |options| {
        (options.net, options.wire, options.arguments) = (Some(net), Some(wire.name().to_owned()), arguments);
        // Machines start late on a busy host.
        let parameters = ["mpi_show_components", "1", "ess_eth_lookup_timeout_s", "200"];
        options.mca = parameters.map(str::to_owned).to_vec();
    });
    *counts = wire.counts();
    ended
}

/// A boot line of a machine with a card, of which there are so many, and what one of them must say.
struct Line {
    name: &'static str,
    line: &'static str,
    machines: usize,
    says: &'static str,
}

const LINES: &[Line] = &[
    Line {
        name: "alone",
        line: "rank=0 size=2 job=fe secret=SECRET --mca ess_eth_lookup_timeout_s 3",
        machines: 1,
        says: "rank 1 did not answer within 3 s",
    },
    Line {
        name: "twice",
        line: "rank=0 size=2 job=fe secret=SECRET --mca ess_eth_lookup_timeout_s 20",
        machines: 2,
        says: "two machines say that they are rank 0 of this job, 52:54:00:6f:00:0",
    },
    Line { name: "no_secret", line: "rank=0 size=2 job=fe", machines: 1, says: "the boot line says no secret=" },
    Line {
        name: "short_secret",
        line: "rank=0 size=2 job=fe secret=12ab",
        machines: 1,
        says: "secret= and 4 letters; write 64 hexadecimal digits",
    },
    Line {
        name: "two_ranks",
        line: "rank=0 size=2 smp=2 job=fe secret=SECRET",
        machines: 1,
        says: "this machine has several ranks, and a card is one rank's",
    },
];

/// Machines that cannot become a job end, and one of them says why.
fn refused(session: &mut Session, line: &Line) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "examples/ring.rs", &[])?;
    let wire = Wire::open(Faults::default())?;
    let text = format!("tsc_khz=2000000 {}", line.line.replace("SECRET", &"5e".repeat(32)));
    let mut machines = Vec::new();
    for number in 0..line.machines {
        let cores = if line.line.contains("smp=2") { 2 } else { 1 };
        let mut qemu: Command = boot::machine(&image, 128, cores, &text);
        boot::wire::plug(&mut qemu, Net::E1000e, wire.name(), number as u32);
        let log = session.scratch().join(format!("boot/net_{}_{number}.log", line.name));
        machines.push(std::thread::spawn(move || deadline::run(&mut qemu, LIMIT, &log)));
    }
    let mut told = Verdict::Failed(format!("nobody says \"{}\"\n", line.says));
    for machine in machines {
        let ended =
            machine.join().unwrap_or_else(|_| Err(std::io::Error::other("it panicked")).at("watch a machine"))?;
        // As isa-debug-exit passes it on: success is 3.
        if ended.trouble.is_some() || ended.ended_with(3) {
            return Ok(Verdict::Failed(format!("it should end, and not with success\n{}", ended.story())));
        }
        match (ended.out.contains(line.says), told) {
            (true, _) | (_, Verdict::Passed(_)) => told = Verdict::Passed(String::new()),
            (false, Verdict::Failed(why)) => told = Verdict::Failed(why + &ended.story()),
            (false, other) => told = other,
        }
    }
    Ok(told)
}

const LIMIT: Duration = Duration::from_secs(120);
