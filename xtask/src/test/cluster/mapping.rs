//! Which rank runs on which test host, and what mpirun says where it cannot: sequences, rankfiles, counted hosts, objects of a host,
//! and what a host lacks.

use super::rig::{Rig, contains, expect, run};
use super::waiting::WaitingCase;
use crate::cluster::hosts::Cluster;
use crate::failure::{At, Result, fail};
use std::process::Command;

/// `cluster/map…`
pub fn waiting() -> Vec<WaitingCase> {
    vec![
        WaitingCase::on_hosts("map_seq", 3, seq),
        WaitingCase::on_hosts("map_rankfile", 3, rankfile),
        WaitingCase::on_hosts("map_counted", 3, counted),
        WaitingCase::on_hosts("map_explain", 3, explain),
        WaitingCase::on_hosts("map_lacks", 3, lacks),
        WaitingCase::on_hosts("map_preload", 3, preload),
    ]
}

/// A rank for each line, or each word.
fn seq(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let file = written(rig, "seq", "h2\nh1 # the second\n\nh2\nh3\n")?;
    let option = format!("seq:file={file}");
    hosts_are(rig, cluster, &["--map-by", &option], &["h2", "h1", "h2", "h3"])?;
    hosts_are(rig, cluster, &["--map-by", &option, "-n", "2"], &["h2", "h1"])?;
    hosts_are(rig, cluster, &["--map-by", "seq", "--hostfile", &file], &["h2", "h1", "h2", "h3"])?;
    hosts_are(rig, cluster, &["--map-by", "seq", "--host", "h3,h1:2,h3"], &["h3", "h1", "h1", "h3"])?;
    refused(rig, cluster, &["--map-by", "seq", "--host", "h3,h1", "-n", "3", "hostname"], "--map-by seq")
}

/// Hosts and cores of each rank; the daemon of a host finds the cores.
fn rankfile(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let text = "rank 0=h2 slot=1\nrank 2=h1 slot=p0\nrank 1=h2 slot=0\nrank 3=+n1 slot=0-1\n";
    let file = written(rig, "ranks", text)?;
    let script = "echo rank $OMPI_COMM_WORLD_RANK on $(hostname) may use $(taskset -cp $$ | sed 's/.*: //')";
    let ended = run(rig, &mut mpirun(rig, cluster, &["--rankfile", &file, "sh", "-c", script])?)?;
    expect(&ended, 0)?;
    for line in
        ["rank 0 on h2 may use 1", "rank 1 on h2 may use 0", "rank 2 on h1 may use 0", "rank 3 on h1 may use 0,1"]
    {
        contains(&ended.out, line)?;
    }
    refused(
        rig,
        cluster,
        &["--rankfile", &file, "--host", "h2,h3", "hostname"],
        "h1 is none of the job's hosts: h2, h3",
    )?;
    let file = written(rig, "ranks", "rank 0=h2 slot=9999\n")?;
    let words = "host h2: --rankfile: slot=9999: there is no core 9999 that may be used";
    refused(rig, cluster, &["--rankfile", &file, "hostname"], words)
}

/// Hosts by their place in a file; max_slots; objects of each host.
fn counted(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let file = written(rig, "hosts", "h1 slots=2\nh2 slots=1 max_slots=2\nh3 slots=2\n")?;
    let on = |words: &[&str], expected: &[&str]| {
        hosts_are(rig, cluster, &[&["--hostfile", &file][..], words].concat(), expected)
    };
    on(&["--host", "+n2,+n0:1"], &["h3", "h3", "h1"])?;
    on(&["--host", "+n1,+e:1"], &["h2", "h1", "h1"])?;
    on(&["--map-by", "node"], &["h1", "h2", "h3", "h1", "h3"])?;
    // Two programs, each on hosts of its own.
    let first = ["-n", "1", "--host", "h2:4", "sh", "-c", SAYS_HOST, ":"];
    hosts_are(rig, cluster, &[&first[..], &["-n", "2", "--host", "h3"]].concat(), &["h2", "h3", "h3"])?;
    // Each host says where its ranks may run.
    let mut command = mpirun(rig, cluster, &["--report-bindings", "--bind-to", "core", "--host", "h2,h1"])?;
    let ended = run(rig, command.arg(&rig.places))?;
    expect(&ended, 0)?;
    for (rank, host) in [(0, "h2"), (1, "h1")] {
        let is_of_rank = |line: &str| line.contains(&format!("rank {rank} is bound to core")) && line.ends_with(host);
        if !ended.err.lines().any(is_of_rank) {
            return Err(fail(ended.story()));
        }
    }
    on(&["-n", "8", "--map-by", "slot"], &["h1", "h1", "h1", "h2", "h2", "h3", "h3", "h3"])?;
    on(&["--map-by", "ppr:1:node"], &["h1", "h2", "h3"])?;
    // All test hosts are this machine.
    on(&["--map-by", "ppr:1:package", "-n", "3"], &["h1", "h2", "h3"])?;
    let file_too_small = written(rig, "small", "h1 max_slots=1\nh2 max_slots=1\n")?;
    refused(rig, cluster, &["--hostfile", &file_too_small, "-n", "3", "hostname"], "max_slots")?;
    refused(rig, cluster, &["--hostfile", &file, "--host", "+n3", "hostname"], "+n0 to +n2 are there")
}

/// What would be done, and nothing is.
fn explain(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let words = ["--host", "h2:2,h1:1", "--explain", "touch", "/tmp/was_started"];
    let ended = run(rig, &mut mpirun(rig, cluster, &words)?)?;
    expect(&ended, 0)?;
    for sentence in [
        "hosts and slots come from --host",
        "there are 3 ranks: one for each slot",
        "ranks are dealt one host after the other",
        "h2 has 2 slots",
        "rank 0 runs program 0 (touch) on h2",
        "rank 2 runs program 0 (touch) on h1",
        "a daemon on each of h2, h1 is started by plm/ssh: ssh h2 ",
    ] {
        contains(&ended.err, sentence)?;
    }
    let there = run(rig, &mut cluster.command("h2", &["ls", "/tmp/was_started"])?)?;
    if there.ended_with(0) { Err(fail("a rank was started")) } else { Ok(()) }
}

/// Sentences with the host's name.
fn lacks(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let only_h1 = "#!/bin/sh\nhostname\n";
    for script in
        ["mkdir /tmp/program /tmp/folder", &format!("printf '{only_h1}' >/tmp/program/own; chmod +x /tmp/program/own")]
    {
        expect(&run(rig, &mut cluster.command("h1", &["sh", "-c", script])?)?, 0)?;
    }
    let both = ["--host", "h1,h2"];
    let asked = |words: &[&str], sentence: &str| refused(rig, cluster, &[&both[..], words].concat(), sentence);
    asked(&["/tmp/program/own"], "host h2: program /tmp/program/own was not found")?;
    asked(&["--wdir", "/tmp/folder", "hostname"], "host h2: --wdir /tmp/folder: No such file or directory")?;
    asked(
        &["--prefix", "/tmp/program", "hostname"],
        "no daemon started there: ssh ended with status 127; is ompi-rs there as",
    )?;
    // Another build answers in the daemon's place.
    let other = "#!/bin/sh\necho 'the daemon on this host is ompi-rs 9' >&2; exit 125\n";
    let script =
        format!("mkdir -p /tmp/other/bin; printf \"{other}\" >/tmp/other/bin/mpirun; chmod +x /tmp/other/bin/mpirun");
    for host in ["h1", "h2"] {
        expect(&run(rig, &mut cluster.command(host, &["sh", "-c", &script])?)?, 0)?;
    }
    asked(&["--prefix", "/tmp/other", "hostname"], ": no daemon started there: ssh ended with status 125")
}

/// Programs and files that only the first host has are copied; nothing of them is left.
fn preload(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let script = format!("cd /tmp/only && cp {} program && echo here >data", rig.places.display());
    for host in ["head", "h1", "h2"] {
        expect(&run(rig, &mut cluster.command(host, &["mkdir", "/tmp/only"])?)?, 0)?;
    }
    let in_only = |words: &str| {
        let line = format!("cd /tmp/only && exec {} --host h1:1,h2:1 {words}", rig.dist.join("bin/mpirun").display());
        run(rig, &mut cluster.command("head", &["sh", "-c", &line])?)
    };
    expect(&run(rig, &mut cluster.command("head", &["sh", "-c", &script])?)?, 0)?;
    contains(&in_only("./program")?.err, "program ./program was not found")?;
    let ended = in_only("--preload-binary ./program")?;
    expect(&ended, 0)?;
    contains(&ended.out, "rank 1 of 2, program 0, with 1 on h2, sum 3")?;
    let ended = in_only("--preload-files data cat data")?;
    expect(&ended, 0)?;
    if ended.out != "here\nhere\n" {
        return Err(fail(ended.story()));
    }
    for host in ["h1", "h2"] {
        let left = run(rig, &mut cluster.command(host, &["ls", "-A", "/tmp/only"])?)?;
        if !left.ended_with(0) || !left.out.is_empty() {
            return Err(fail(format!("{host} keeps {}", left.out)));
        }
    }
    expect(&run(rig, &mut cluster.command("h2", &["sh", "-c", "echo other >/tmp/only/data"])?)?, 0)?;
    contains(
        &in_only("--preload-files data cat data")?.err,
        "host h2: --preload-files: data is there already, and is another one",
    )?;
    contains(&in_only("--preload-files none cat data")?.err, "--preload-files: none: No such file")
}

/// The job's ranks run on these hosts, in order.
fn hosts_are(rig: &Rig, cluster: &Cluster, words: &[&str], expected: &[&str]) -> Result<()> {
    let mut command = mpirun(rig, cluster, words)?;
    command.args(["sh", "-c", SAYS_HOST]);
    let ended = run(rig, &mut command)?;
    expect(&ended, 0)?;
    let mut found: Vec<&str> = ended.out.lines().collect();
    found.sort_unstable();
    let expected: Vec<String> = expected.iter().enumerate().map(|(rank, host)| format!("{rank} {host}")).collect();
    if found == expected { Ok(()) } else { Err(fail(format!("{words:?}: {found:?}, not {expected:?}"))) }
}

fn refused(rig: &Rig, cluster: &Cluster, words: &[&str], sentence: &str) -> Result<()> {
    let ended = run(rig, &mut mpirun(rig, cluster, words)?)?;
    if ended.ended_with(0) {
        return Err(fail(format!("{words:?}: {}", ended.story())));
    }
    contains(&ended.err, sentence)
}

fn written(rig: &Rig, name: &str, text: &str) -> Result<String> {
    // Other tests have folders there.
    let path = rig.log.with_file_name(format!("map.{name}"));
    std::fs::write(&path, text).at("write a file")?;
    Ok(path.display().to_string())
}

fn mpirun(rig: &Rig, cluster: &Cluster, words: &[&str]) -> Result<Command> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(words);
    Ok(command)
}

const SAYS_HOST: &str = "echo $OMPI_COMM_WORLD_RANK $(hostname)";
