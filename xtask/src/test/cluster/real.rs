//! Programs of others, and the heat solver, on 2 and 4 test hosts, whoever starts the ranks: right answers, and the bytes that cross each
//! wire.

use super::super::{Session, Verdict, deadline, foreign, hpcc, mpi4py, programs};
use super::direct;
use super::hosts::said;
use super::rig::{Rig, contains, expect, rig_with, run, up_and_down, verdict};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Who starts the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    /// mpirun, over ssh.
    Ssh,
    /// Slurm's srun, which speaks this with them.
    Srun(&'static str),
    /// mpirun in an allocation of Slurm.
    Salloc,
    /// MPICH's mpiexec.
    Hydra,
}

/// Programs of one-sided communication for four ranks.
const WINDOWS: [(&str, &[&str]); 7] = [
    ("rma_nodes", &[]),
    ("rma_fence", &[]),
    ("rma_groups", &[]),
    ("rma_passive", &[]),
    ("rma_differential", &["7", "60"]),
    ("rma_long_locks", &["am", "200000"]),
    ("rma_progress_bound", &["self,tcp"]),
];

const LAUNCHERS: [(Launcher, &str); 5] = [
    (Launcher::Ssh, ""),
    (Launcher::Srun("pmi2"), "_pmi2"),
    (Launcher::Srun("pmix"), "_pmix"),
    (Launcher::Salloc, "_salloc"),
    (Launcher::Hydra, "_hydra"),
];

/// `cluster/real…`
pub fn cases(session: &mut Session) {
    case(session, "cluster/real_windows", Launcher::Ssh, windows);
    for (launcher, suffix) in LAUNCHERS {
        // Who starts ranks on two hosts does it on four: beyond ssh, in the full tier.
        let is_full = session.options.all || launcher == Launcher::Ssh;
        for hosts in if is_full { &[2, 4][..] } else { &[2] } {
            let name = |program: &str| format!("cluster/real_{program}{suffix}{}", if *hosts == 4 { "_4" } else { "" });
            case(session, &name("heat"), launcher, |session, dist| heat(session, dist, launcher, *hosts));
            // The same programs and the same answers, however ranks are started, and wherever: in the full tier.
            if session.options.all || is_full && *hosts == 2 {
                case(session, &name("mpi4py"), launcher, |session, dist| python(session, dist, launcher, *hosts));
            }
            if session.options.all {
                case(session, &name("hpcc"), launcher, |session, dist| challenge(session, dist, launcher, *hosts));
            }
        }
    }
}

type Case<'a> = &'a dyn Fn(&mut Session, &Path) -> Verdict;

/// With the library that the launcher needs.
fn case(session: &mut Session, name: &str, launcher: Launcher, case: impl Fn(&mut Session, &Path) -> Verdict) {
    let case: Case<'_> = &case;
    session.case(name, |session| {
        if let Some(why) = launcher.lacks(session) {
            return Verdict::Skipped(why);
        }
        let dist = match launcher {
            Launcher::Srun("pmix") => foreign::library(session),
            _ => session.library().map(|library| library.dist).map_err(fail),
        };
        dist.map_or_else(Verdict::from, |dist| case(session, &dist))
    });
}

impl Launcher {
    fn manager(self) -> Manager {
        if matches!(self, Launcher::Srun(_) | Launcher::Salloc) { Manager::Slurm } else { Manager::None }
    }

    fn lacks(self, session: &Session) -> Option<String> {
        let own = match self {
            Launcher::Srun("pmix") => foreign::PMIX.lacks(),
            Launcher::Hydra => direct::lacks(),
            _ => None,
        };
        own.or_else(|| hosts::lacks(&session.tree)).or_else(|| hosts::lacks_for(self.manager()))
    }

    /// Begins a command that starts two ranks on each host, in blocks, in this folder if it is named.
    fn start(self, rig: &Rig, cluster: &Cluster, folder: Option<&Path>) -> Result<Command> {
        let (count, each) = (cluster.hosts(), EACH);
        let ranks = (count * each).to_string();
        let mpirun = rig.dist.join("bin/mpirun").display().to_string();
        let (nodes, tasks) = (format!("-N{count}"), format!("-n{ranks}"));
        let names = |suffix: &str| (1..=count).map(|host| format!("h{host}{suffix}")).collect::<Vec<_>>().join(",");
        let mut words: Vec<String> = match self {
            Launcher::Ssh => vec![mpirun, "--host".to_owned(), names(&format!(":{each}")), "-n".to_owned(), ranks],
            Launcher::Srun(mpi) => ["srun", &format!("--mpi={mpi}"), &nodes, &tasks].map(str::to_owned).to_vec(),
            Launcher::Salloc => ["salloc", "--quiet", &nodes, &tasks, &mpirun].map(str::to_owned).to_vec(),
            Launcher::Hydra => [direct::HYDRA, "-hosts", &names(""), "-ppn", &each.to_string(), "-n", &ranks]
                .map(str::to_owned)
                .to_vec(),
        };
        let option = match self {
            Launcher::Ssh | Launcher::Salloc => "--wdir",
            Launcher::Srun(_) => "--chdir",
            Launcher::Hydra => "-wdir",
        };
        words.extend(folder.into_iter().flat_map(|folder| [option.to_owned(), folder.display().to_string()]));
        cluster.command("head", &words)
    }
}

/// Runs a case on so many hosts of its own.
fn on(
    session: &Session,
    dist: &Path,
    (launcher, hosts): (Launcher, u32),
    case: impl Fn(&Rig, &Cluster) -> Result<()>,
) -> Verdict {
    let rig = rig_with(session, dist);
    verdict(rig.and_then(|rig| up_and_down(session, "real", hosts, launcher.manager(), |cluster| case(&rig, cluster))))
}

/// One-sided communication within two hosts and between them: by osc/han where MPI allocates the memory, else by osc/am.
fn windows(session: &mut Session, dist: &Path) -> Verdict {
    on(session, dist, (Launcher::Ssh, 2), |rig, cluster| {
        for (name, arguments) in WINDOWS {
            let source = session.tree.root.join(format!("tests/c/{name}.c"));
            let program = session.scratch().join("cluster").join(name);
            let mut compile = Command::new(dist.join("bin/mpicc"));
            shell::output(compile.arg("-O1").arg(&source).arg("-o").arg(&program).args(["-lm", "-lpthread"]))?;
            let mut command = Launcher::Ssh.start(rig, cluster, None)?;
            expect(&run(rig, command.arg(&program).args(arguments))?, 0)?;
        }
        Ok(())
    })
}

/// A grid of ranks in which each host has a row: each step its ranks send a line of cells to the host before and to the one behind, and
/// no more.
fn heat(session: &mut Session, dist: &Path, launcher: Launcher, hosts: u32) -> Verdict {
    let (cells, steps) = (512u64, 400u64);
    let source = session.tree.root.join("tests/c/heat.c");
    let program = session.scratch().join("cluster").join(format!("heat{hosts}"));
    on(session, dist, (launcher, hosts), |rig, cluster| {
        let mut compile = Command::new(dist.join("bin/mpicc"));
        shell::output(compile.arg("-O2").arg(&source).arg("-o").arg(&program).arg("-lm"))?;
        let before = sent(cluster)?;
        let mut command = launcher.start(rig, cluster, None)?;
        command.arg(&program).args(["--nx", &cells.to_string(), "--ny", &cells.to_string()]);
        command.args(["--iters", &steps.to_string(), "--quiet"]);
        expect(&run(rig, &mut command)?, 0)?;
        let after = sent(cluster)?;
        let line = steps * cells * 8;
        for (host, (before, after)) in before.iter().zip(&after).enumerate() {
            let crossed = after - before;
            let neighbors = if host == 0 || host + 1 == hosts as usize { 1 } else { 2 };
            let gathered = if host == 0 { 0 } else { cells * cells * 8 / u64::from(hosts) };
            let least = neighbors * line + gathered;
            let most = least * 5 / 4 + OTHER_BYTES;
            if crossed < least || crossed > most {
                return Err(fail(format!(
                    "{launcher:?}, {hosts} hosts: {crossed} bytes left h{}; at least {least} and at most {most} should",
                    host + 1
                )));
            }
        }
        Ok(())
    })
}

/// mpi4py's own tests of messages and collectives; without --all a sample.
fn python(session: &mut Session, dist: &Path, launcher: Launcher, hosts: u32) -> Verdict {
    let home = match mpi4py::opened(session) {
        Ok(home) => home,
        Err(verdict) => return verdict,
    };
    let suites = mpi4py::SUITES.iter().filter(|suite| ["p2p", "coll"].contains(&suite.name));
    let all = || suites.flat_map(|suite| suite.modules).copied().collect();
    let modules: Vec<mpi4py::Module> = if session.options.all { all() } else { SAMPLE.to_vec() };
    on(session, dist, (launcher, hosts), |rig, cluster| {
        let before = sent(cluster)?;
        let mut command = launcher.start(rig, cluster, None)?;
        command.arg(&home.python).args(mpi4py::arguments(&home, &modules, 1));
        programs::own_choice(&mut command);
        let library = rig.dist.join("lib/libmpi_abi.so.1");
        command.env("LD_LIBRARY_PATH", rig.dist.join("lib"));
        mpi4py::surround(&mut command, "ompi-rs", &library.canonicalize().unwrap_or(library));
        let ended = deadline::run(&mut command, LIMIT, &rig.log.with_extension("mpi4py"))?;
        expect(&ended, 0)?;
        let wrong = mpi4py::differences(&ended.out, &modules, hosts * EACH, 1);
        if !wrong.is_empty() {
            return Err(fail(wrong));
        }
        all_sent(cluster, &before, 1 << 19)
    })
}

/// HPC Challenge, which checks its answers.
fn challenge(session: &mut Session, dist: &Path, launcher: Launcher, hosts: u32) -> Verdict {
    let program = match hpcc::compiled(session) {
        Ok(program) => program,
        Err(verdict) => return verdict,
    };
    let folder = session.scratch().join(format!("cluster/hpcc-{hosts}"));
    on(session, dist, (launcher, hosts), |rig, cluster| {
        hpcc::prepare(&folder, &program, hpcc::Problem { ranks: hosts * EACH, order: 400, block: 32 })?;
        let before = sent(cluster)?;
        let mut command = launcher.start(rig, cluster, Some(&folder))?;
        command.arg(&program).envs(hpcc::ENVIRONMENT).env("LD_LIBRARY_PATH", rig.dist.join("lib"));
        programs::own_choice(&mut command);
        expect(&deadline::run(&mut command, LIMIT, &rig.log.with_extension("hpcc"))?, 0)?;
        let report = hpcc::report(&folder, hosts * EACH)?.map_err(fail)?;
        contains(&report, "Success=1")?;
        all_sent(cluster, &before, 1 << 20)
    })
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

/// Logins, launch, handshakes and what goes with each message.
const OTHER_BYTES: u64 = 600_000;
const LIMIT: Duration = Duration::from_secs(900);
/// Of mpi4py's tests: on all ranks. The other classes of these modules do the same on a duplicate, and on a communicator of one process, from
/// which nothing leaves a host.
pub const SAMPLE: &[mpi4py::Module] = &[
    ("test_p2p_buf.TestP2PBufWorld", 13, 0),
    ("test_cco_buf.TestCCOBufWorld", 13, 0),
    ("test_cco_buf.TestCCOBufInplaceWorld", 9, 0),
];
/// Ranks of a host.
const EACH: u32 = 2;
