//! What a launch takes: a job that only begins and ends, beside a bare login or a bare srun, and beside the same job of Open MPI and
//! MPICH's Hydra where these are installed. Each in turn, so that a busy moment hits all alike.

use super::jobs::{Jobs, succeeded};
use crate::bench::library::Kind;
use crate::cluster::hosts::{self, Manager};
use crate::failure::Result;
use crate::progress::Progress;
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A launcher of another project, with a program of its own library.
pub struct Other {
    kind: Kind,
    program: PathBuf,
}

/// Those that are installed, as Debian names them.
pub fn others(sources: &Path, folder: &Path) -> Result<Vec<Other>> {
    let mut others = Vec::new();
    for (kind, compiler, launcher) in [(Kind::OpenMpi4, "mpicc.openmpi", OPEN_MPI), (Kind::Mpich, "mpicc.mpich", HYDRA)]
    {
        if shell::which(compiler).is_none() || shell::which(launcher).is_none() {
            continue;
        }
        let program = folder.join(format!("started-{compiler}"));
        shell::folder(folder)?;
        let mut command = Command::new(compiler);
        shell::output(command.arg("-O2").arg(sources.join("started.c")).arg("-o").arg(&program))?;
        others.push(Other { kind, program });
    }
    Ok(others)
}

/// What starts jobs on the hosts, as far as it is installed.
pub fn manager() -> Manager {
    if hosts::lacks_for(Manager::Slurm).is_none() { Manager::Slurm } else { Manager::None }
}

/// An agent that enters a host without a login, for launchers that take ssh to be one; written in this folder.
pub fn agent(folder: &Path) -> Result<PathBuf> {
    let agent = folder.join("agent");
    shell::folder(folder)?;
    shell::write(&agent, AGENT)?;
    shell::output(Command::new("chmod").arg("+x").arg(&agent))?;
    Ok(agent)
}

/// All contestants, round by round.
pub fn measure(jobs: &Jobs<'_>, started: &Path, others: &[Other], agent: &Path, progress: &Progress) -> Result<()> {
    let mut took: Vec<(&str, Vec<f64>)> = Vec::new();
    progress.phase("launches", || {
        for round in 0..jobs.rounds {
            for (at, (name, mut command)) in contestants(jobs, started, others, agent)?.into_iter().enumerate() {
                let begin = Instant::now();
                succeeded(&mut command)?;
                let ms = begin.elapsed().as_secs_f64() * 1e3;
                if round == 0 {
                    took.push((name, Vec::new()));
                }
                took[at].1.push(ms);
            }
        }
        Ok(((), String::new()))
    })?;
    println!("Launch, ms: {} hosts, {} ranks each", jobs.hosts, jobs.per_host);
    println!("{:<32} {:>8} {:>8}", "", "least", "median");
    for (name, times) in &mut took {
        times.sort_by(f64::total_cmp);
        println!("{name:<32} {:>8.1} {:>8.1}", times[0], times[times.len() / 2]);
    }
    let of = |name: &str| took.iter().find(|(its, _)| *its == name).map(|(_, times)| times[0]);
    for (who, beside, times, more_ms) in AIMS {
        let (Some(job), Some(base)) = (of(who), of(beside)) else { continue };
        let word = if job <= base * times + more_ms { "met" } else { "missed" };
        let more = if more_ms > 0.0 { format!(" plus {more_ms:.0} ms") } else { String::new() };
        println!("{who}: {:.2} of {beside}; aim {times}{more}: {word}", job / base);
    }
    Ok(())
}

fn contestants(
    jobs: &Jobs<'_>,
    started: &Path,
    others: &[Other],
    agent: &Path,
) -> Result<Vec<(&'static str, Command)>> {
    let head = |words: &[&str]| jobs.cluster.command("head", words);
    let each_host = |line: &str| {
        let all: Vec<String> = (1..=jobs.hosts).map(|host| format!("{line} h{host} true &")).collect();
        format!("{} wait", all.join(" "))
    };
    let path = agent.display().to_string();
    let mut all = vec![
        (LOGIN, head(&["ssh", "h1", "true"])?),
        (LOGINS, head(&["sh", "-c", &each_host("ssh")])?),
        (JOB, job(jobs.mpirun(&[])?, started)),
    ];
    for other in others {
        all.push((if other.kind == Kind::Mpich { HYDRA_JOB } else { OPEN_MPI_JOB }, other_job(jobs, other, None)?));
    }
    all.push((ENTRIES, head(&["sh", "-c", &each_host(&path)])?));
    all.push((ENTERED_JOB, job(jobs.mpirun(&["--mca", "plm_ssh_agent", &path])?, started)));
    for other in others {
        let name = if other.kind == Kind::Mpich { HYDRA_ENTERED_JOB } else { OPEN_MPI_ENTERED_JOB };
        all.push((name, other_job(jobs, other, Some(&path))?));
    }
    if manager() == Manager::Slurm {
        let (hosts, ranks) = (format!("-N{}", jobs.hosts), format!("-n{}", jobs.ranks()));
        let mpirun = jobs.library.home.join("bin/mpirun").display().to_string();
        all.push((SRUN, head(&["srun", &hosts, &ranks, "/bin/true"])?));
        all.push((SRUN_PMI2, head(&["srun", "--mpi=pmi2", &hosts, &ranks, "/bin/true"])?));
        all.push((SRUN_JOB, job(head(&["srun", "--mpi=pmi2", &hosts, &ranks])?, started)));
        all.push((SALLOC, head(&["salloc", "--quiet", &hosts, &ranks, "srun", "/bin/true"])?));
        all.push((SALLOC_JOB, job(head(&["salloc", "--quiet", &hosts, &ranks, &mpirun])?, started)));
    }
    Ok(all)
}

/// The same job, started by another project, by ssh or by another agent.
fn other_job(jobs: &Jobs<'_>, other: &Other, agent: Option<&str>) -> Result<Command> {
    let (each, ranks) = (jobs.per_host, jobs.ranks().to_string());
    let names = |suffix: &str| (1..=jobs.hosts).map(|host| format!("h{host}{suffix}")).collect::<Vec<_>>().join(",");
    let each_word = each.to_string();
    let mut words: Vec<String> = match other.kind {
        Kind::Mpich => [HYDRA, "-hosts", &names(""), "-ppn", &each_word, "-n", &ranks].map(str::to_owned).to_vec(),
        _ => [OPEN_MPI, "--allow-run-as-root", "--host", &names(&format!(":{each}")), "-n", &ranks]
            .map(str::to_owned)
            .to_vec(),
    };
    let option: &[&str] = match other.kind {
        Kind::Mpich => &["-launcher", "ssh", "-launcher-exec"],
        _ => &["--mca", "plm_rsh_agent"],
    };
    if let Some(agent) = agent {
        words.extend(option.iter().chain(&[agent]).map(|word| (*word).to_owned()));
    }
    Ok(job(jobs.cluster.command("head", &words)?, &other.program))
}

fn job(mut command: Command, program: &Path) -> Command {
    command.arg(program);
    command
}

const OPEN_MPI: &str = "mpirun.openmpi";
const HYDRA: &str = "mpiexec.hydra";
const LOGIN: &str = "one login by ssh";
const LOGINS: &str = "logins to all hosts at once";
const JOB: &str = "mpirun";
const OPEN_MPI_JOB: &str = "Open MPI's mpirun";
const HYDRA_JOB: &str = "Hydra's mpiexec";
const ENTRIES: &str = "entering all hosts, no login";
const ENTERED_JOB: &str = "mpirun, no login";
const OPEN_MPI_ENTERED_JOB: &str = "Open MPI's mpirun, no login";
const HYDRA_ENTERED_JOB: &str = "Hydra's mpiexec, no login";
const SRUN: &str = "srun /bin/true";
const SRUN_PMI2: &str = "srun --mpi=pmi2 /bin/true";
const SRUN_JOB: &str = "srun --mpi=pmi2";
const SALLOC: &str = "salloc srun /bin/true";
const SALLOC_JOB: &str = "salloc mpirun";

/// At most so many times what stands beside it, plus so many ms.
const AIMS: [(&str, &str, f64, f64); 9] = [
    (JOB, LOGIN, 1.2, 10.0),
    (JOB, LOGINS, 1.2, 10.0),
    (JOB, OPEN_MPI_JOB, 0.5, 0.0),
    (JOB, HYDRA_JOB, 0.5, 0.0),
    (ENTERED_JOB, OPEN_MPI_ENTERED_JOB, 0.5, 0.0),
    (ENTERED_JOB, HYDRA_ENTERED_JOB, 0.5, 0.0),
    (SRUN_JOB, SRUN, 1.2, 10.0),
    (SRUN_JOB, SRUN_PMI2, 1.2, 10.0),
    (SALLOC_JOB, SALLOC, 1.2, 10.0),
];

/// Called as ssh is: options, a host, a line for its shell.
const AGENT: &str = r#"#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
pid=$(cat "/run/cluster/$1.pid") && shift &&
    exec nsenter "--target=$pid" "--pid=/proc/$pid/ns/pid_for_children" --mount --net --uts --ipc "--wdns=/" sh -c "$*"
"#;
