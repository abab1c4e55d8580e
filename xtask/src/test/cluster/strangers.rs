//! Users of the same hosts and of a host beside them, who have no part in a job: what they find and say there does it no harm.

use super::super::deadline;
use super::rig::{LIMIT, Rig, contains, expect};
use super::waiting::{WaitingCase, Workplace};
use crate::cluster::hosts::Cluster;
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// `cluster/strangers…`
pub fn waiting() -> Vec<WaitingCase> {
    vec![WaitingCase::with_hosts("strangers_scan".to_owned(), |place, name| {
        let stranger = compiled(place)?;
        place.on_hosts(name, 3, |rig, cluster| scan(rig, cluster, &stranger)).map(|()| String::new())
    })]
}

fn compiled(place: &Workplace) -> Result<PathBuf> {
    let (source, program) =
        (place.tree.root.join("tests/cluster/stranger.c"), place.rig.log.with_file_name("stranger"));
    shell::output(Command::new("gcc").args(["-O2", "-Wall", "-Werror"]).arg(source).arg("-o").arg(&program))?;
    Ok(program)
}

/// Another user scans the ports of all hosts of a job, from outside and from one of them, and says garbage to whoever answers. The job
/// checks each byte, and says that somebody was there.
fn scan(rig: &Rig, cluster: &Cluster, stranger: &Path) -> Result<()> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    let over = rig.log.with_file_name("over");
    let _ = std::fs::remove_file(&over);
    command.args(["--host", "h1:1,h2:1"]).arg(&rig.pairs).args(["65536", ROUNDS]).arg(&over);
    let mut scans: Vec<Result<String>> = Vec::new();
    let mut is_there = false;
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
        is_there = runs(cluster);
        // If there is none, the job goes on until its limit, and fails.
        let _ = std::fs::write(&over, "");
    })?;
    expect(&ended, 0)?;
    contains(&ended.out, "ok two_pairs")?;
    if !is_there {
        return Err(fail("the job was over before the strangers had done"));
    }
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
/// More than there is time for: the job ends when both scans have.
const ROUNDS: &str = "100000000";
