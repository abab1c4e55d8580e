//! Ranks that another project's manager starts, without a daemon of ours: Hydra, the mpiexec of MPICH, on this machine and over
//! test hosts.

use super::super::{Session, Verdict, deadline};
use super::hosts::{equal, said};
use crate::cluster::hosts::{self, Cluster, Life, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a case needs to run.
pub struct Rig {
    /// `tests/cluster/places.c` and `two_pairs.c`, compiled.
    pub places: PathBuf,
    pub pairs: PathBuf,
    pub log: PathBuf,
}

type OnOne = fn(&Rig) -> Result<()>;
pub type OnTwo = fn(&Rig, &Cluster) -> Result<()>;

/// `cluster/hydra…`
pub fn cases(session: &mut Session) {
    let on_one: [(&str, OnOne); 5] =
        [("one_node", one_node), ("port", port), ("abort", abort), ("killed", killed), ("manager_gone", manager_gone)];
    for (name, case) in on_one {
        session.case(&format!("cluster/hydra_{name}"), |session| match shell::which(HYDRA) {
            None => Verdict::Skipped(LACKS_HYDRA.to_owned()),
            Some(_) => verdict(rig(session).and_then(|rig| case(&rig))),
        });
    }
    let on_two: [(&str, OnTwo); 2] = [("two_hosts", two_hosts), ("wire", wire)];
    for (name, case) in on_two {
        session.case(&format!("cluster/hydra_{name}"), |session| {
            let lacks = shell::which(HYDRA).is_none().then(|| LACKS_HYDRA.to_owned());
            match lacks.or_else(|| hosts::lacks(&session.tree)) {
                Some(why) => Verdict::Skipped(why),
                None => verdict(on_hosts(session, Manager::None, case)),
            }
        });
    }
}

pub fn verdict(result: Result<()>) -> Verdict {
    result.map_or_else(Verdict::from, |()| Verdict::Passed(String::new()))
}

pub fn rig(session: &mut Session) -> Result<Rig> {
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("cluster");
    shell::folder(&folder)?;
    let compile = |name: &str| -> Result<PathBuf> {
        let program = folder.join(name);
        let source = session.tree.root.join("tests/cluster").join(format!("{name}.c"));
        shell::output(Command::new(dist.join("bin/mpicc")).arg("-O2").arg(source).arg("-o").arg(&program))?;
        Ok(program)
    };
    Ok(Rig { places: compile("places")?, pairs: compile("two_pairs")?, log: folder.join("hydra.log") })
}

pub fn on_hosts(session: &mut Session, manager: Manager, case: OnTwo) -> Result<()> {
    let rig = rig(session)?;
    let folder = session.scratch().join("cluster/direct");
    let cluster = Cluster::up(&session.tree, &folder, 2, manager, Life::OfThisThread)?;
    let result = case(&rig, &cluster);
    cluster.down()?;
    result
}

/// All ranks are on this node, and reach each other through its memory.
fn one_node(rig: &Rig) -> Result<()> {
    for ranks in [1, 4] {
        let ended = run(rig, Command::new(HYDRA).args(["-n", &ranks.to_string()]).args(SAYS).arg(&rig.places))?;
        expect(&ended, 0)?;
        placed(&ended.out, ranks, |_| ranks)?;
        all_reached(&ended.err, ranks, |from, to| if from == to { "self" } else { "sm" })?;
    }
    // Two programs: MPI_APPNUM.
    let ended =
        run(rig, Command::new(HYDRA).args(["-n", "1"]).arg(&rig.places).args([":", "-n", "1"]).arg(&rig.places))?;
    expect(&ended, 0)?;
    contains(&ended.out, "rank 1 of 2, program 1, with 2")
}

/// A manager that leaves a port in place of a descriptor.
fn port(rig: &Rig) -> Result<()> {
    let ended = run(rig, Command::new(HYDRA).args(["-pmi-port", "-n", "3"]).arg(&rig.places))?;
    expect(&ended, 0)?;
    placed(&ended.out, 3, |_| 3)
}

/// The status arrives, and the rank's own words.
fn abort(rig: &Rig) -> Result<()> {
    let ended = run(rig, Command::new(HYDRA).args(["-n", "3"]).arg(&rig.places).arg("abort"))?;
    expect(&ended, 7)?;
    contains(&ended.err, "called MPI_Abort")
}

/// A rank that is killed ends the job, and nothing of it is left.
fn killed(rig: &Rig) -> Result<()> {
    let mut command = Command::new(HYDRA);
    command.args(["-n", "3"]).arg(&rig.places).arg("sleep");
    killed_ends(rig, &mut command, |process| {
        let mut kill = Command::new("kill");
        kill.args(["-KILL", process]);
        Ok(kill)
    })
}

/// Runs `places sleep`, kills rank 1 by a command that is given its number, and expects the end of all soon after.
pub fn killed_ends(rig: &Rig, command: &mut Command, kill: impl Fn(&str) -> Result<Command> + Sync) -> Result<()> {
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
    Ok(())
}

/// The variables of a manager whose descriptor nobody left: who, what and what to do.
fn manager_gone(rig: &Rig) -> Result<()> {
    let mut command = Command::new(&rig.places);
    command.envs([("PMI_FD", "77"), ("PMI_RANK", "0"), ("PMI_SIZE", "2")]);
    let ended = run(rig, &mut command)?;
    if ended.ended_with(0) || ended.status.is_none() {
        return Err(fail(ended.story()));
    }
    contains(&ended.err, "PMI_FD names descriptor 77, which is not open")?;
    contains(&ended.err, "start the program with mpiexec.hydra")
}

/// Two hosts by ssh, ranks in blocks and in turn: shared memory within a host, sockets between them.
fn two_hosts(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (each, node) in [("2", [0, 0, 1, 1]), ("1", [0, 1, 0, 1])] {
        let line = [HYDRA, "-hosts", "h1,h2", "-ppn", each, "-n", "4"].map(str::to_owned);
        let mut command = cluster.command("head", &line)?;
        let ended = run(rig, command.args(SAYS).arg(&rig.places))?;
        expect(&ended, 0)?;
        placed(&ended.out, 4, |_| 2)?;
        for (rank, node) in node.iter().enumerate() {
            contains(&ended.out, &format!("rank {rank} of 4, program 0, with 2 on h{}, sum 10", node + 1))?;
        }
        all_reached(&ended.err, 4, |from, to| match (from == to, node[from] == node[to]) {
            (true, _) => "self",
            (false, true) => "sm",
            (false, false) => "tcp",
        })?;
    }
    Ok(())
}

fn wire(rig: &Rig, cluster: &Cluster) -> Result<()> {
    crosses(rig, cluster, |hosts| {
        let names = if hosts == 2 { "h1,h2" } else { "h1" };
        let each = if hosts == 2 { "1" } else { "2" };
        [HYDRA, "-hosts", names, "-ppn", each, "-n", "2"].map(str::to_owned).to_vec()
    })
}

/// What is sent between hosts crosses the wire between them, and what is sent within one does not. `line` starts two ranks on so
/// many hosts, on h1 if on one.
pub fn crosses(rig: &Rig, cluster: &Cluster, line: impl Fn(u32) -> Vec<String>) -> Result<()> {
    let (bytes, times) = (1 << 20, 8);
    let sent = || -> Result<u64> {
        let text = said(cluster, "h1", "cat /sys/class/net/eth0/statistics/tx_bytes")?;
        text.parse().at("read a count of bytes")
    };
    for (hosts, least, most) in [(2, bytes * times, u64::MAX), (1, 0, 300_000)] {
        let before = sent()?;
        let mut command = cluster.command("head", &line(hosts))?;
        let ended = run(rig, command.arg(&rig.pairs).args([bytes.to_string(), times.to_string()]))?;
        expect(&ended, 0)?;
        let crossed = sent()? - before;
        if crossed < least || crossed > most {
            return Err(fail(format!("{hosts} hosts: {crossed} bytes left h1; at least {least} and at most {most} should")));
        }
    }
    Ok(())
}

pub fn run(rig: &Rig, command: &mut Command) -> Result<deadline::Ended> {
    deadline::run(command, LIMIT, &rig.log)
}

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

pub fn contains(text: &str, part: &str) -> Result<()> {
    if text.contains(part) { Ok(()) } else { Err(fail(format!("`{part}` is not in:\n{text}"))) }
}

const HYDRA: &str = "mpiexec.hydra";
const LACKS_HYDRA: &str = "there is no mpiexec.hydra: apt-get install --no-install-recommends mpich";
const SAYS: [&str; 3] = ["-env", "OMPI_MCA_btl_base_verbose", "40"];
const LIMIT: Duration = Duration::from_secs(60);
