//! The test hosts themselves: they are hosts to each other, and nothing of them outlives them.

use super::super::{Session, Verdict};
use crate::cluster::hosts::{self, Cluster, Life, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

type Case = fn(&Cluster) -> Result<()>;

/// `cluster/hosts…`
pub fn cases(session: &mut Session) {
    let cases: [(&str, Manager, Case); 6] = [
        ("cluster/hosts", Manager::None, each_is_a_host),
        ("cluster/hosts_down", Manager::None, down_leaves_nothing),
        ("cluster/hosts_killed", Manager::None, killed_leave_nothing),
        ("cluster/hosts_one_killed", Manager::None, one_killed_is_down),
        ("cluster/hosts_slurm_down", Manager::Slurm, down_leaves_nothing),
        ("cluster/hosts_slurm_killed", Manager::Slurm, killed_leave_nothing),
    ];
    for (name, manager, case) in cases {
        session.case(name, |session| {
            if let Some(why) = hosts::lacks(&session.tree).or_else(|| hosts::lacks_for(manager)) {
                return Verdict::Skipped(why);
            }
            match with_two(session, manager, case) {
                Ok(()) => Verdict::Passed(String::new()),
                Err(failure) => failure.into(),
            }
        });
    }
}

/// Runs a case on two hosts and takes them down, whatever came of it.
fn with_two(session: &Session, manager: Manager, case: Case) -> Result<()> {
    let folder = session.scratch().join("cluster/hosts");
    let cluster = Cluster::up(&session.tree, &folder, 2, manager, Life::OfThisThread)?;
    let result = case(&cluster);
    if let Ok(cluster) = Cluster::running(&folder) {
        cluster.down()?;
    }
    result
}

/// Own name, network, processes, memory; the others by name, from each of them.
fn each_is_a_host(cluster: &Cluster) -> Result<()> {
    equal("name", &said(cluster, "h1", "hostname")?, "h1")?;
    equal("by ssh", &said(cluster, "head", "ssh h1 hostname; ssh h2 hostname")?, "h1\nh2")?;
    equal("from host to host", &said(cluster, "h1", "ssh h2 ssh h1 hostname")?, "h1")?;
    said(cluster, "h1", "touch /tmp/of_h1 /dev/shm/of_h1 && test -e /tmp/of_h1")?;
    equal("files", &said(cluster, "h2", "ls /tmp /dev/shm | grep of_h1 || echo none")?, "none")?;
    equal("first process", &said(cluster, "h2", "cat /proc/1/comm")?, "sshd")?;
    let namespaces = "for n in net uts mnt pid ipc; do readlink /proc/self/ns/$n; done";
    let mut all = format!("{}\n", text(Command::new("sh").args(["-c", namespaces]))?);
    for host in ["head", "h1", "h2"] {
        all += &said(cluster, host, namespaces)?;
        all.push('\n');
    }
    let apart = all.split_whitespace().collect::<std::collections::BTreeSet<_>>().len();
    equal("namespaces", &apart.to_string(), "20")?;
    let status = "head  10.78.0.254   up\nh1    10.78.0.1     up\nh2    10.78.0.2     up";
    equal("status", cluster.status()?.trim_end(), status)?;
    let refused = cluster.command("h3", &["true"]).map(drop).err().map(|failure| failure.text);
    equal("a third host", &refused.unwrap_or_default(), "there is no host `h3`: there are head and h1 to h2")?;
    let outcome = shell::outcome(&mut cluster.command("h1", &["sh", "-c", "exit 3"])?, LIMIT)?;
    equal("exit status", &format!("{:?}", outcome.status.code()), "Some(3)")
}

fn down_leaves_nothing(cluster: &Cluster) -> Result<()> {
    with_busy_hosts(cluster, |cluster| cluster.down())
}

fn killed_leave_nothing(cluster: &Cluster) -> Result<()> {
    with_busy_hosts(cluster, |cluster| {
        text(Command::new("kill").args(["-KILL", &cluster.outer().to_string()])).map(drop)
    })
}

/// A host that loses its power: the other one goes on, and a rank that asks is told.
fn one_killed_is_down(cluster: &Cluster) -> Result<()> {
    // Process 1 of h1 as the head numbers it.
    said(cluster, "head", "kill -KILL $(cat /run/cluster/h1.pid)")?;
    let end = Instant::now() + LIMIT;
    while cluster.status()?.contains("h1    10.78.0.1     up") {
        before(end, "h1 is still up")?;
    }
    equal("the other one", &said(cluster, "head", "ssh h2 hostname")?, "h2")?;
    let outcome = shell::outcome(&mut cluster.command("h1", &["true"])?, LIMIT)?;
    equal("into it", outcome.stderr.trim(), "host h1 is down")
}

/// Ends the cluster while something runs in it that came in by each way, and watches all of it go.
fn with_busy_hosts(cluster: &Cluster, end_it: fn(&Cluster) -> Result<()>) -> Result<()> {
    let before_it = text(Command::new("ip").args(["-o", "link"]))?;
    said(cluster, "head", "ssh h1 'sleep 1000 >/dev/null 2>&1 </dev/null & exit 0'")?;
    let mut entered = cluster.command("h2", &["sleep", "1000"])?.spawn().at("run nsenter")?;
    let all = processes_in(cluster);
    if all.len() < 6 {
        return Err(fail(format!("only these processes were found in the cluster: {all:?}")));
    }
    end_it(cluster)?;
    let end = Instant::now() + LIMIT;
    while let Some(left) = all.iter().find(|(id, started)| start_of(**id).as_ref() == Some(started)) {
        before(end, &format!("process {} is left", left.0))?;
    }
    shell::wait(&mut entered, LIMIT).ok_or_else(|| fail("what was entered goes on"))?;
    equal("links of this machine", &text(Command::new("ip").args(["-o", "link"]))?, &before_it)
}

/// Everything in the cluster's namespaces, with its start: what has other mounts than this process and came after it.
fn processes_in(cluster: &Cluster) -> BTreeMap<u32, String> {
    let ids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).collect::<Vec<_>>();
    let mut found = BTreeMap::new();
    // Parents have lower numbers only by chance: again until nobody is added.
    loop {
        let count = found.len();
        for id in &ids {
            let is_in = parent_of(*id).is_some_and(|parent| parent == cluster.outer() || found.contains_key(&parent));
            if let Some(started) = start_of(*id).filter(|_| is_in) {
                found.insert(*id, started);
            }
        }
        if found.len() == count {
            return found;
        }
    }
}

fn field_of(id: u32, number: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(number).map(str::to_owned)
}

fn parent_of(id: u32) -> Option<u32> {
    field_of(id, 1)?.parse().ok()
}

fn start_of(id: u32) -> Option<String> {
    field_of(id, 19)
}

fn before(end: Instant, what: &str) -> Result<()> {
    if Instant::now() > end {
        return Err(fail(format!("{what} after {} s", LIMIT.as_secs())));
    }
    std::thread::sleep(Duration::from_millis(5));
    Ok(())
}

pub fn said(cluster: &Cluster, host: &str, script: &str) -> Result<String> {
    text(&mut cluster.command(host, &["sh", "-c", script])?)
}

/// What a command that succeeds writes, within the limit.
fn text(command: &mut Command) -> Result<String> {
    let outcome = shell::outcome(command, LIMIT)?;
    if !outcome.status.success() {
        return Err(fail(format!("`{}` failed ({}): {}", shell::line(command), outcome.status, outcome.stderr)));
    }
    Ok(outcome.stdout.trim_end().to_owned())
}

pub fn equal(what: &str, found: &str, expected: &str) -> Result<()> {
    if found == expected { Ok(()) } else { Err(fail(format!("{what}: `{found}`, not `{expected}`"))) }
}

const LIMIT: Duration = Duration::from_secs(30);
