//! The common part of cases on test hosts, for each launcher.

use super::super::{Session, Verdict, deadline};
use super::hosts::{equal, said};
use crate::cluster::hosts::{Cluster, Life, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a case needs to run.
#[derive(Clone, Debug)]
pub struct Rig {
    /// The library under test, installed.
    pub dist: PathBuf,
    /// `tests/cluster/places.c`, compiled.
    pub places: PathBuf,
    /// `tests/cluster/two_pairs.c`, compiled.
    pub pairs: PathBuf,
    /// `tests/cluster/jobs.c`, compiled.
    pub jobs: PathBuf,
    /// Where a run says what it says.
    pub log: PathBuf,
}

/// A case on test hosts.
pub type OnHosts = fn(&Rig, &Cluster) -> Result<()>;
/// A case on two of them.
pub type OnTwo = fn(&Rig, &Cluster) -> Result<()>;

/// Of a case that says nothing more.
pub fn verdict(result: Result<()>) -> Verdict {
    result.map_or_else(Verdict::from, |()| Verdict::Passed(String::new()))
}

/// Compiles the programs.
pub fn rig(session: &mut Session) -> Result<Rig> {
    let dist = session.library().map_err(fail)?.dist;
    rig_with(session, &dist)
}

/// Compiles them with this library, which is not the one that all tests use.
pub fn rig_with(session: &Session, dist: &Path) -> Result<Rig> {
    let folder = session.scratch().join("cluster");
    shell::folder(&folder)?;
    let compile = |name: &str| -> Result<PathBuf> {
        let program = folder.join(name);
        let source = session.tree.root.join("tests/cluster").join(format!("{name}.c"));
        shell::output(Command::new(dist.join("bin/mpicc")).arg("-O2").arg(source).arg("-o").arg(&program))?;
        Ok(program)
    };
    Ok(Rig {
        places: compile("places")?,
        pairs: compile("two_pairs")?,
        jobs: compile("jobs")?,
        log: folder.join("job.log"),
        dist: dist.to_path_buf(),
    })
}

/// Runs a case on two hosts of its own, which are gone afterwards.
pub fn on_hosts(
    session: &mut Session,
    name: &str,
    manager: Manager,
    case: impl Fn(&Rig, &Cluster) -> Result<()>,
) -> Result<()> {
    on(session, name, 2, manager, case)
}

/// As `on_hosts`, with this library.
pub fn on_two_with(
    session: &Session,
    dist: &Path,
    name: &str,
    manager: Manager,
    case: impl Fn(&Rig, &Cluster) -> Result<()>,
) -> Result<()> {
    let rig = rig_with(session, dist)?;
    up_and_down(session, name, 2, manager, |cluster| case(&rig, cluster))
}

/// Runs a case on so many hosts of its own, which are gone afterwards.
pub fn on(
    session: &mut Session,
    name: &str,
    hosts: u32,
    manager: Manager,
    case: impl Fn(&Rig, &Cluster) -> Result<()>,
) -> Result<()> {
    let rig = rig(session)?;
    up_and_down(session, name, hosts, manager, |cluster| case(&rig, cluster))
}

/// Brings so many hosts up for a case.
pub fn up_and_down(
    session: &Session,
    name: &str,
    hosts: u32,
    manager: Manager,
    case: impl Fn(&Cluster) -> Result<()>,
) -> Result<()> {
    let folder = session.scratch().join("cluster").join(name);
    let cluster = Cluster::up(&session.tree, &folder, hosts, manager, Life::OfThisThread)?;
    let result = case(&cluster);
    cluster.down()?;
    result
}

/// Four ranks on two hosts: shared memory within a host, sockets between them. `command` starts the program that follows it; ranks
/// are told that this is number `app`.
pub fn reached_as_placed(rig: &Rig, command: &mut Command, nodes: [usize; 4], app: &str) -> Result<()> {
    reached_by(rig, command, nodes, app, "tcp")
}

/// As `reached_as_placed`, with this transport between hosts.
pub fn reached_by(rig: &Rig, command: &mut Command, nodes: [usize; 4], app: &str, between: &'static str) -> Result<()> {
    let ended = run(rig, command.arg(&rig.places))?;
    expect(&ended, 0)?;
    placed(&ended.out, 4, |_| 2)?;
    for (rank, node) in nodes.iter().enumerate() {
        contains(&ended.out, &format!("rank {rank} of 4, program {app}, with 2 on h{}, sum 10", node + 1))?;
    }
    all_reached(&ended.err, 4, |from, to| match (from == to, nodes[from] == nodes[to]) {
        (true, _) => "self",
        (false, true) => "sm",
        (false, false) => between,
    })
}

/// What is sent between hosts crosses the wire between them, and what is sent within one does not. `start` begins a command
/// that starts two ranks on these hosts.
pub fn crosses(rig: &Rig, cluster: &Cluster, start: impl Fn(&[&str]) -> Result<Command>) -> Result<()> {
    let (bytes, times) = (1 << 20, 8);
    let sent = || -> Result<u64> {
        let text = said(cluster, "h1", "cat /sys/class/net/eth0/statistics/tx_bytes")?;
        text.parse().at("read a count of bytes")
    };
    for (hosts, least, most) in [(&["h1", "h2"][..], bytes * times, u64::MAX), (&["h1"], 0, 300_000)] {
        let before = sent()?;
        let ended = run(rig, start(hosts)?.arg(&rig.pairs).args([bytes.to_string(), times.to_string()]))?;
        expect(&ended, 0)?;
        let crossed = sent()? - before;
        if crossed < least || crossed > most {
            return Err(fail(format!(
                "{hosts:?}: {crossed} bytes left h1; at least {least} and at most {most} should"
            )));
        }
    }
    Ok(())
}

/// Runs a command to its end.
pub fn run(rig: &Rig, command: &mut Command) -> Result<deadline::Ended> {
    deadline::run(command, LIMIT, &rig.log)
}

/// It ended with that status.
pub fn expect(ended: &deadline::Ended, status: i32) -> Result<()> {
    if ended.ended_with(status) { Ok(()) } else { Err(fail(format!("not status {status}:\n{}", ended.story()))) }
}

/// Each rank spoke, and shares its node with as many as expected.
pub fn placed(out: &str, ranks: usize, with: impl Fn(usize) -> usize) -> Result<()> {
    let sum = ranks * (ranks + 1) / 2;
    for rank in 0..ranks {
        let begin = format!("rank {rank} of {ranks}, program ");
        let line = out.lines().find(|line| line.starts_with(&begin)).unwrap_or_default();
        contains(line, &format!(", with {} on ", with(rank)))?;
        contains(line, &format!(", sum {sum}"))?;
    }
    equal("lines", &out.lines().count().to_string(), &ranks.to_string())
}

/// Each rank says by which transport it reaches each other one.
pub fn all_reached(err: &str, ranks: usize, by: impl Fn(usize, usize) -> &'static str) -> Result<()> {
    for from in 0..ranks {
        for to in 0..ranks {
            let (who, what) = (format!(" rank {from}]"), format!("process {to} is reached by {} (", by(from, to)));
            if !err.lines().any(|line| line.contains(&who) && line.contains(&what)) {
                return Err(fail(format!("rank {from} does not say `{what}`; it says:\n{}", mine(err, &who))));
            }
        }
    }
    Ok(())
}

fn mine(err: &str, who: &str) -> String {
    err.lines().filter(|line| line.contains(who)).collect::<Vec<_>>().join("\n")
}

/// A text holds another one.
pub fn contains(text: &str, part: &str) -> Result<()> {
    if text.contains(part) { Ok(()) } else { Err(fail(format!("`{part}` is not in:\n{text}"))) }
}

/// Runs `places sleep`, kills something by a command that is given the process of rank 1, and expects the end of all soon after.
/// What the job said.
pub fn killed_ends(rig: &Rig, command: &mut Command, kill: impl Fn(&str) -> Result<Command> + Sync) -> Result<String> {
    let log = rig.log.with_extension("killed");
    let mut at = None;
    let ended = deadline::run_while(command, LIMIT, &log, |_, out| {
        let err = out.with_extension("err");
        let end = Instant::now() + LIMIT;
        let process = loop {
            let text = std::fs::read_to_string(&err).unwrap_or_default();
            let said = text.lines().find_map(|line| line.strip_prefix("rank 1 is process "));
            match said.map(str::to_owned) {
                Some(process) => break process,
                None if Instant::now() > end => return,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        at = Some(Instant::now());
        // One that is gone already makes kill complain, and the case fails by its exit status.
        let _ = kill(&process).map(|mut kill| kill.status());
    })?;
    let took = at.ok_or_else(|| fail("rank 1 never came so far"))?.elapsed();
    if ended.status.is_none() || ended.ended_with(0) || ended.trouble.is_some() || took > Duration::from_secs(10) {
        return Err(fail(format!("{} s after the kill:\n{}", took.as_secs_f32(), ended.story())));
    }
    Ok(ended.err)
}

/// For one job.
pub const LIMIT: Duration = Duration::from_secs(60);
