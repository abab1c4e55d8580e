//! Jobs on several hosts that meet: further ones that ranks ask for, ports and names, and how they end.

use super::super::{Session, Verdict};
use super::direct;
use super::hosts::said;
use super::rig::{Rig, contains, expect, on, run, verdict};
use super::waiting::WaitingCase;
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use crate::test::deadline::Ended;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// `cluster/jobs…`
pub fn waiting() -> Vec<WaitingCase> {
    vec![
        WaitingCase::on_hosts("jobs_spawn", 3, spawn),
        WaitingCase::on_hosts("jobs_ports", 3, ports),
        WaitingCase::on_hosts("jobs_dies", 3, dies),
        WaitingCase::on_hosts("jobs_parts", 3, parts),
        WaitingCase::on_hosts("jobs_stopped", 3, stopped),
        WaitingCase::on_hosts("jobs_strangers", 3, strangers),
    ]
}

/// `cluster/jobs_hydra` and `cluster/jobs_slurm`
pub fn cases(session: &mut Session) {
    session.case("cluster/jobs_hydra", |session| match direct::lacks().or_else(|| hosts::lacks(&session.tree)) {
        Some(why) => Verdict::Skipped(why),
        None => verdict(on(session, "meeting", 2, Manager::None, of_hydra)),
    });
    session.case("cluster/jobs_slurm", |session| {
        match hosts::lacks(&session.tree).or_else(|| hosts::lacks_for(Manager::Slurm)) {
            Some(why) => Verdict::Skipped(why),
            None => verdict(on(session, "meeting", 2, Manager::Slurm, of_slurm)),
        }
    });
}

/// The process that asks is on another host than mpirun, which is on the head. Children run where keys say, else where there is
/// room, and talk with their parents by memory on one host and by sockets between hosts.
fn spawn(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let file = rig.log.with_file_name("spawned.hosts");
    shell::write(&file, "h3 slots=1\nh1 slots=1\n")?;
    let file = file.display().to_string();
    let jobs: [(&str, &[&str], [&str; 2]); 5] = [
        ("h1:1,h2:1", &["host", "h2:2"], ["h2", "h2"]),
        ("h1:1,h2:1", &["add-host", "h3,h1"], ["h3", "h1"]),
        ("h1:1,h2:1", &["hostfile", &file], ["h3", "h1"]),
        ("h1:2,h2:2", &["map_by", "node"], ["h1", "h2"]),
        ("h1:1,h2:3", &[], ["h2", "h2"]),
    ];
    for (parents, keys, children) in jobs {
        let mpirun = ["--host", parents, "-n", "2", "--map-by", "node", "--mca", "btl_base_verbose", "40"];
        let ended = job(rig, cluster, "head", &mpirun, &[&["spawn", "2"], keys].concat())?;
        expect(&ended, 0)?;
        for (rank, host) in children.iter().enumerate() {
            let line = format!("child {rank} of 2 on {host}\n");
            let times = ended.out.matches(&line).count();
            if times != 2 {
                return Err(fail(format!("{times} times, not twice, `{}`:\n{}", line.trim(), ended.story())));
            }
        }
        for (rank, host) in ["h1", "h2"].iter().enumerate() {
            contains(&ended.out, &format!("parent {rank} of 2 on {host}"))?;
        }
        contains(&ended.err, "is reached by tcp (")?;
        if children.contains(&"h2") || children.contains(&"h1") {
            contains(&ended.err, "is reached by xsm (")?;
        }
        nothing_left(cluster)?;
    }
    Ok(())
}

/// A server on one host, and clients on another: by its name from a job of the same mpirun's host, and by the port from one whose
/// mpirun is elsewhere.
fn ports(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let port = rig.log.with_file_name("port");
    remove(&port)?;
    let (mpirun, program) = (rig.dist.join("bin/mpirun"), rig.jobs.clone());
    let (mpirun, program, port) = (mpirun.display(), program.display(), port.display());
    let script = format!(
        "{mpirun} --host h1:1,h3:1 -n 2 {program} serve 'of jobs' {port} & until test -e {port}; do sleep 0.05; done
         {mpirun} --host h2:2 -n 2 {program} call 'of jobs' || exit 1
         ssh h2 \"{mpirun} -n 2 {program} call 'of jobs' {port}\" || exit 1
         wait $!"
    );
    let ended = run(rig, &mut cluster.command("head", &["sh", "-c", &script])?)?;
    expect(&ended, 0)?;
    if ended.out.matches("called from h2").count() != 4 {
        return Err(fail(ended.story()));
    }
    nothing_left(cluster)
}

/// Parents wait for a child on another host that is killed: the message says what died where, and all ends.
fn dies(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let began = Instant::now();
    let ended = job(rig, cluster, "head", &["--host", "h1:2", "-n", "2"], &["dies", "host", "h2"])?;
    expect(&ended, 137)?;
    contains(&ended.err, "on h2")?;
    contains(&ended.err, "job 2, which ranks spawned, ended with status 137")?;
    if began.elapsed() > Duration::from_secs(20) {
        return Err(fail(format!("it took {} s:\n{}", began.elapsed().as_secs(), ended.story())));
    }
    nothing_left(cluster)
}

/// After both have parted the failure of a child is none of its parents' business; mpirun's status tells of it.
fn parts(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let ended = job(rig, cluster, "head", &["--host", "h1:1,h2:1", "-n", "2"], &["parts", "host", "h3"])?;
    expect(&ended, 3)?;
    for rank in 0..2 {
        contains(&ended.out, &format!("parent {rank} of 2 did not mind"))?;
    }
    nothing_left(cluster)
}

/// The mpirun that knows the names of all jobs of the head is stopped: others do not wait for it.
fn stopped(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let (mpirun, program) = (rig.dist.join("bin/mpirun"), rig.jobs.display());
    let out = rig.log.with_file_name("stopped.err");
    let script = format!(
        "{mpirun} --host h1:1 -n 1 {program} serve stopped 2> {out} & first=$!
         until grep -q published {out}; do sleep 0.05; done
         kill -STOP $first
         began=$(date +%s%N)
         {mpirun} --host localhost:1 -n 1 {program} call stopped; status=$?
         echo \"status $status after $((($(date +%s%N) - began) / 1000000)) ms\"
         kill -KILL $first; kill -CONT $first; wait $first",
        mpirun = mpirun.display(),
        out = out.display()
    );
    let ended = run(rig, &mut cluster.command("head", &["sh", "-c", &script])?)?;
    contains(&ended.err.split_whitespace().collect::<Vec<_>>().join(" "), "has said nothing for 5 s: was it stopped?")?;
    let line = ended.out.lines().find(|line| line.starts_with("status ")).unwrap_or_default();
    let took = line.split(' ').nth(3).and_then(|word| word.parse::<u64>().ok()).unwrap_or(u64::MAX);
    if line.starts_with("status 0") || took > 20_000 {
        return Err(fail(ended.story()));
    }
    nothing_left(cluster)
}

/// Who calls a port from another host without its secret, or says something else, gets nothing, and nobody else minds.
fn strangers(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let port = rig.log.with_file_name("port");
    remove(&port)?;
    let (mpirun, program) = (rig.dist.join("bin/mpirun"), rig.jobs.display());
    let (mpirun, port) = (mpirun.display(), port.display());
    // The address stands behind the last colon but one.
    let script = format!(
        "{mpirun} --host h1:1 -n 1 {program} serve strangers {port} & until test -e {port}; do sleep 0.05; done
         at=$(cut -d: -f5-6 {port} | cut -d, -f1)
         for word in GET ompi-oob; do
             (printf \"$word / HTTP/1.0\\r\\n\\r\\n\"; sleep 1) | timeout 3 bash -c \"exec 3<>/dev/tcp/${{at%:*}}/${{at#*:}}; cat >&3\"
         done
         p='^\\(ompi-rs:[^:]*:[^:]*:\\)'
         sed \"s/$p[1-9a-f]/\\1x/; s/${{p}}0/\\11/; s/${{p}}x/\\10/\" {port} > {port}.wrong
         {mpirun} --host h2:1 -n 1 {program} call strangers {port}.wrong && exit 1
         {mpirun} --host h2:1 -n 1 {program} call strangers {port} || exit 2
         {mpirun} --host h1:1 -n 1 {program} call strangers {port} || exit 3
         wait $!"
    );
    let ended = run(rig, &mut cluster.command("head", &["sh", "-c", &script])?)?;
    expect(&ended, 0)?;
    contains(&ended.err, "nobody listens there any more, or no network leads there")?;
    nothing_left(cluster)
}

/// Hydra starts further jobs itself: where it likes, or where a key says; children have children. What it would ignore is refused, and
/// so are processes that never come.
fn of_hydra(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let hydra = ["mpiexec.hydra", "-hosts", "h1,h2", "-n", "2"];
    let command = |words: &[&str]| {
        let mut command = cluster.command("head", &hydra)?;
        command.args(["-env", "OMPI_MCA_mpi_connect_timeout_s", "2"]).arg(&rig.jobs).args(words);
        Ok(command)
    };
    for (keys, hosts) in [(&[][..], None), (&["host", "h2"], Some("h2"))] {
        let ended = run(rig, &mut command(&[&["spawn", "2"], keys].concat())?)?;
        expect(&ended, 0)?;
        for rank in 0..2 {
            contains(&ended.out, &format!("parent {rank} of 2 on h{}", rank + 1))?;
            let child = format!("child {rank} of 2 on {}", hosts.unwrap_or("h"));
            if ended.out.matches(&child).count() != 2 {
                return Err(fail(format!("not twice `{child}`:\n{}", ended.story())));
            }
        }
        nothing_left(cluster)?;
    }
    refused(rig, &mut command(&["own", "map_by", "node"])?)?;
    let ended = run(rig, &mut command(&["spawn", "1", "map_by", "node"])?)?;
    contains(&ended.err, "nothing that means --map-by")?;
    refused(rig, &mut command(&["never"])?)?;
    nothing_left(cluster)
}

/// Ranks that srun started have nobody whom they could ask: a sentence says what to type.
fn of_slurm(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let srun = ["srun", "--mpi=pmi2", "-N2", "-n2"];
    refused(rig, cluster.command("head", &srun)?.arg(&rig.jobs).arg("own"))?;
    let ended = run(rig, cluster.command("head", &srun)?.arg(&rig.jobs).args(["spawn", "1"]))?;
    contains(&ended.err, "no mpirun of this library started this process: start the program with that")?;
    if ended.ended_with(0) { Err(fail(ended.story())) } else { Ok(()) }
}

fn refused(rig: &Rig, own: &mut Command) -> Result<()> {
    let ended = run(rig, own)?;
    expect(&ended, 0)?;
    contains(&ended.out, "spawned with MPI_ERR_SPAWN")
}

fn job(rig: &Rig, cluster: &Cluster, host: &str, mpirun: &[&str], words: &[&str]) -> Result<Ended> {
    let mut command = cluster.command(host, &[rig.dist.join("bin/mpirun").display().to_string()])?;
    run(rig, command.args(mpirun).arg(&rig.jobs).args(words))
}

/// What an earlier run may have left.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).at("remove a file of the test"),
        _ => Ok(()),
    }
}

/// No process of a job is on any host.
fn nothing_left(cluster: &Cluster) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let left = said(cluster, "head", "pgrep -fa '[/]mpirun|[c]luster/jobs( |$)' || true")?;
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(fail(format!("these processes are left:\n{left}")));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
