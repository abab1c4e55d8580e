//! Daemons that log in to further hosts (`plm_tree_radix`): who logs in to whom, who speaks with whom, and what mpirun says of a login
//! that another host tried.

use super::hosts::said;
use super::rig::{Rig, contains, expect, killed_ends, placed, run};
use super::waiting::WaitingCase;
use crate::cluster::hosts::Cluster;
use crate::failure::{At, Result, fail};
use crate::shell;
use std::process::Command;
use std::sync::Mutex;

/// `cluster/tree…`
pub fn waiting() -> Vec<WaitingCase> {
    vec![
        WaitingCase::on_hosts("tree_logins", 4, logins),
        WaitingCase::on_hosts("tree_connections", 4, connections),
        WaitingCase::on_hosts("tree_refused", 4, refused),
        WaitingCase::on_hosts("tree_killed", 4, killed),
    ]
}

/// Each host is logged in to by its parent in the tree.
fn logins(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (radix, expected) in [
        ("2", ["h1 h3", "h1 h4", "head h1", "head h2"]),
        ("1", ["h1 h2", "h2 h3", "h3 h4", "head h1"]),
        ("0", ["head h1", "head h2", "head h3", "head h4"]),
        ("64", ["head h1", "head h2", "head h3", "head h4"]),
    ] {
        let log = rig.log.with_extension("logins");
        let _ = std::fs::remove_file(&log);
        let ended = run(rig, mpirun(rig, cluster, radix, "")?.arg(&rig.places))?;
        expect(&ended, 0)?;
        placed(&ended.out, 8, |_| 2)?;
        let text = shell::read(&log)?;
        let mut found: Vec<&str> = text.lines().collect();
        found.sort_unstable();
        if found != expected {
            return Err(fail(format!("radix {radix}: {found:?}, not {expected:?}")));
        }
        nothing_left(cluster)?;
    }
    Ok(())
}

/// mpirun holds connections to its children in the tree alone, and each daemon one to its parent and one to each child.
fn connections(rig: &Rig, cluster: &Cluster) -> Result<()> {
    for (radix, expected) in [("2", [2, 3, 1, 1, 1]), ("1", [1, 2, 2, 2, 1]), ("0", [4, 1, 1, 1, 1])] {
        let held = Mutex::new(Vec::new());
        killed_ends(rig, mpirun(rig, cluster, radix, "")?.arg(&rig.places).arg("sleep"), |rank| {
            *held.lock().expect("nobody panics with it") = connections_on_all(cluster)?;
            cluster.command("h1", &["kill", "-KILL", rank])
        })?;
        let found = held.into_inner().expect("nobody panics with it");
        if found != expected {
            return Err(fail(format!("radix {radix}: {found:?} connections on head, h1 … h4, not {expected:?}")));
        }
        nothing_left(cluster)?;
    }
    Ok(())
}

/// What a login from another host says, and from which one it was tried; the hosts that are up are told to end.
fn refused(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let script = r#"[ "$1" != h4 ] || exit 255"#;
    let ended = run(rig, mpirun(rig, cluster, "1", script)?.arg(&rig.places))?;
    contains(&ended.err, "host h4: no daemon started there: agent on h3 ended with status 255")?;
    // A host between that is not reached has none below it.
    let script = r#"[ "$1" != h2 ] || exit 255"#;
    let ended = run(rig, mpirun(rig, cluster, "1", script)?.arg(&rig.places))?;
    contains(&ended.err, "host h2: no daemon started there: agent on h1 ended with status 255")?;
    nothing_left(cluster)
}

/// A daemon that others were started by dies while the job runs.
fn killed(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let err = killed_ends(rig, mpirun(rig, cluster, "1", "")?.arg(&rig.places).arg("sleep"), |_| {
        cluster.command("h2", &["sh", "-c", "kill -KILL $(pgrep -o -x mpirun)"])
    })?;
    contains(&err, "host h2")?;
    nothing_left(cluster)
}

/// TCP connections of mpirun on the head and of the daemons on four hosts.
pub fn connections_on_all(cluster: &Cluster) -> Result<Vec<usize>> {
    ["head", "h1", "h2", "h3", "h4"].iter().map(|host| held_by_mpirun(cluster, host)).collect()
}

fn held_by_mpirun(cluster: &Cluster, host: &str) -> Result<usize> {
    let text = said(cluster, host, "ss -tnpH state established | grep -c '\"mpirun\"'; true")?;
    text.trim().parse().at("read a count of connections")
}

/// mpirun on all four hosts; `script` is run by each agent before it logs in.
fn mpirun(rig: &Rig, cluster: &Cluster, radix: &str, script: &str) -> Result<Command> {
    let agent = rig.log.with_file_name("agent");
    let log = rig.log.with_extension("logins");
    let text = format!("#!/bin/sh\n{script}\necho \"$(hostname) $1\" >>{}\nexec ssh \"$@\"\n", log.display());
    std::fs::write(&agent, text).at("write a script")?;
    shell::output(Command::new("chmod").arg("+x").arg(&agent))?;
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(["--host", "h1:2,h2:2,h3:2,h4:2", "--mca", "plm_tree_radix", radix, "--mca", "plm_ssh_agent"]);
    command.arg(&agent);
    Ok(command)
}

fn nothing_left(cluster: &Cluster) -> Result<()> {
    super::failure::all_gone(cluster, &["head", "h1", "h2", "h3", "h4"], super::rig::LIMIT)
}
