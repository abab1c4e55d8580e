//! Programs of others, and the heat solver, on 2 and 4 test hosts: right answers, and the bytes that cross each wire.

use super::super::{Session, Verdict, deadline, hpcc, mpi4py, programs};
use super::hosts::said;
use super::rig::{Rig, contains, expect, on, run, verdict};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{At, Result, fail};
use std::process::Command;
use std::time::Duration;

/// `cluster/real…`
pub fn cases(session: &mut Session) {
    let lacks = |session: &Session| hosts::lacks(&session.tree).map(Verdict::Skipped);
    session.case("cluster/real_heat", |session| lacks(session).unwrap_or_else(|| verdict(heat(session))));
    for (hosts, name) in [(2, "cluster/real_mpi4py"), (4, "cluster/real_mpi4py_4")] {
        session.case(name, |session| lacks(session).unwrap_or_else(|| python(session, hosts)));
    }
    if session.options.all {
        for (hosts, name) in [(2, "cluster/real_hpcc"), (4, "cluster/real_hpcc_4")] {
            session.case(name, |session| lacks(session).unwrap_or_else(|| challenge(session, hosts)));
        }
    }
}

/// Four ranks in a square grid: each step the ranks of one host send one line of cells to those of the other, and no more.
fn heat(session: &mut Session) -> Result<()> {
    let source = session.tree.root.join("tests/c/heat.c");
    let program = programs::compiled(session, &source, &[])?;
    let (cells, steps) = (512u64, 400u64);
    for hosts in [2, 4] {
        on(session, "real", hosts, Manager::None, |rig, cluster| {
            let before = sent(cluster)?;
            let mut command = mpirun(rig, cluster, 4)?;
            command.arg(&program).args(["--nx", &cells.to_string(), "--ny", &cells.to_string()]);
            command.args(["--iters", &steps.to_string(), "--quiet"]);
            expect(&run(rig, &mut command)?, 0)?;
            let after = sent(cluster)?;
            // A line of the cut between two hosts, or half of two; of a host of four two halves. Its ends and what is gathered come on top.
            let least = steps * cells * 8;
            for (host, (before, after)) in before.iter().zip(&after).enumerate() {
                let crossed = after - before;
                let gathered = if host == 0 { 0 } else { cells * cells * 8 / u64::from(hosts) };
                let most = (least + gathered) * 5 / 4 + OTHER_BYTES;
                if crossed < least + gathered || crossed > most {
                    return Err(fail(format!(
                        "{hosts} hosts: {crossed} bytes left h{}; at least {} and at most {most} should",
                        host + 1,
                        least + gathered
                    )));
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// mpi4py's own tests of messages and collectives.
fn python(session: &mut Session, hosts: u32) -> Verdict {
    let home = match mpi4py::opened(session) {
        Ok(home) => home,
        Err(verdict) => return verdict,
    };
    let suites = mpi4py::SUITES.iter().filter(|suite| ["p2p", "coll"].contains(&suite.name));
    let modules: Vec<mpi4py::Module> = suites.flat_map(|suite| suite.modules).copied().collect();
    verdict(on(session, "real", hosts, Manager::None, |rig, cluster| {
        let before = sent(cluster)?;
        let mut command = mpirun(rig, cluster, 4)?;
        command.arg(&home.python).args(mpi4py::arguments(&home, &modules, 1));
        programs::own_choice(&mut command);
        let library = rig.dist.join("lib/libmpi_abi.so.1");
        command.env("LD_LIBRARY_PATH", rig.dist.join("lib"));
        mpi4py::surround(&mut command, "ompi-rs", &library.canonicalize().unwrap_or(library));
        let ended = deadline::run(&mut command, LIMIT, &rig.log.with_extension("mpi4py"))?;
        expect(&ended, 0)?;
        let wrong = mpi4py::differences(&ended.out, &modules, 4, 1);
        if !wrong.is_empty() {
            return Err(fail(wrong));
        }
        all_sent(cluster, &before, 1 << 20)
    }))
}

/// HPC Challenge, which checks its answers.
fn challenge(session: &mut Session, hosts: u32) -> Verdict {
    let program = match hpcc::compiled(session) {
        Ok(program) => program,
        Err(verdict) => return verdict,
    };
    let folder = session.scratch().join(format!("cluster/hpcc-{hosts}"));
    verdict(on(session, "real", hosts, Manager::None, |rig, cluster| {
        hpcc::prepare(&folder, &program, hpcc::Problem { ranks: 4, order: 400, block: 32 })?;
        let before = sent(cluster)?;
        let mut command = mpirun(rig, cluster, 4)?;
        command.arg("--wdir").arg(&folder).arg(&program).envs(hpcc::ENVIRONMENT);
        programs::own_choice(&mut command);
        expect(&deadline::run(&mut command, LIMIT, &rig.log.with_extension("hpcc"))?, 0)?;
        let report = hpcc::report(&folder)?.map_err(fail)?;
        contains(&report, "Success=1")?;
        all_sent(cluster, &before, 1 << 20)
    }))
}

/// Bytes that left each host so far.
fn sent(cluster: &Cluster) -> Result<Vec<u64>> {
    let of = |host: u32| -> Result<u64> {
        let text = said(cluster, &format!("h{host}"), "cat /sys/class/net/eth0/statistics/tx_bytes")?;
        text.parse().at("read a count of bytes")
    };
    (1..=cluster.hosts()).map(of).collect()
}

fn all_sent(cluster: &Cluster, before: &[u64], least: u64) -> Result<()> {
    let after = sent(cluster)?;
    let crossed: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    match crossed.iter().all(|bytes| *bytes >= least) {
        true => Ok(()),
        false => Err(fail(format!("{crossed:?} bytes left the hosts; at least {least} should have left each"))),
    }
}

/// So many ranks in blocks over all hosts.
fn mpirun(rig: &Rig, cluster: &Cluster, ranks: u32) -> Result<Command> {
    let each = ranks / cluster.hosts();
    let hosts: Vec<String> = (1..=cluster.hosts()).map(|host| format!("h{host}:{each}")).collect();
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(["--host", &hosts.join(","), "-n", &ranks.to_string()]);
    Ok(command)
}

/// Logins, launch, handshakes and what goes with each message.
const OTHER_BYTES: u64 = 600_000;
const LIMIT: Duration = Duration::from_secs(900);
