//! Users of the same hosts and of a host beside them, who have no part in a job: what they find and say there does it no harm.

use super::super::{Session, Verdict, deadline};
use super::rig::{LIMIT, Rig, contains, expect, on, verdict};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// `cluster/strangers…`
pub fn cases(session: &mut Session) {
    session.case("cluster/strangers_scan", |session| match hosts::lacks(&session.tree) {
        Some(why) => Verdict::Skipped(why),
        None => verdict(compiled(session).and_then(|stranger| {
            on(session, "strangers", 3, Manager::None, |rig, cluster| scan(rig, cluster, &stranger))
        })),
    });
}

fn compiled(session: &Session) -> Result<PathBuf> {
    let folder = session.scratch().join("cluster");
    shell::folder(&folder)?;
    let (source, program) = (session.tree.root.join("tests/cluster/stranger.c"), folder.join("stranger"));
    shell::output(Command::new("gcc").args(["-O2", "-Wall", "-Werror"]).arg(source).arg("-o").arg(&program))?;
    Ok(program)
}

/// Another user scans the ports of all hosts of a job, from outside and from one of them, and says garbage to whoever answers. The job
/// checks each byte, and says that somebody was there.
fn scan(rig: &Rig, cluster: &Cluster, stranger: &Path) -> Result<()> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(["--host", "h1:1,h2:1"]).arg(&rig.pairs).args(["65536", ROUNDS]);
    let mut scans: Vec<Result<String>> = Vec::new();
    let mut ended_at = None;
    let log = rig.log.with_extension("strangers");
    let ended = deadline::run_while(&mut command, LIMIT * 2, &log, |_, _| {
        let begin = Instant::now();
        while !runs(cluster) && begin.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(10));
        }
        scans.extend(["h3", "h1"].map(|host| {
            let mut command =
                cluster.command(host, &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])?;
            shell::output(command.arg(stranger).args(PORTS).args(["10.78.0.254", "10.78.0.1", "10.78.0.2"]))
        }));
        // Still there: what was said was said to a job.
        ended_at = runs(cluster).then(Instant::now);
    })?;
    expect(&ended, 0)?;
    contains(&ended.out, "ok two_pairs")?;
    ended_at.ok_or_else(|| fail("the job was over before the strangers had done"))?;
    for said in scans {
        let said = said?;
        let answered: u32 = said.split(' ').next().unwrap_or_default().parse().at("read how many ports answered")?;
        if answered < 2 {
            return Err(fail(format!("the strangers found less than the ranks' doors: {said}")));
        }
    }
    contains(&ended.err, "connected from 10.78.0.3, this process speaks")
}

fn runs(cluster: &Cluster) -> bool {
    let tried =
        cluster.command("h2", &["pgrep", "-x", "two_pairs"]).map(|mut command| shell::outcome(&mut command, LIMIT));
    matches!(tried, Ok(Ok(outcome)) if outcome.status.success())
}

/// Those that the system gives to programs that ask for none.
const PORTS: [&str; 2] = ["32768", "60999"];
/// The job lasts longer than both scans.
const ROUNDS: &str = "40000";
