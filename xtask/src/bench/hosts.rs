//! `cargo xtask bench hosts`: jobs on test hosts of this machine. What a launch takes beside one login by ssh, and beside launches of Open
//! MPI and MPICH's Hydra where these are installed; and collectives in two levels (coll/han) beside those without.

use super::library::{Kind, Library};
use super::sample::{Cell, Output};
use crate::cluster::hosts::{self, Cluster, Life, Manager};
use crate::failure::{Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Options of `bench hosts`; needs root.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench hosts                        2 hosts with 2 ranks each
  cargo xtask bench hosts --hosts 4 --rounds 20")]
pub struct Options {
    /// How many hosts
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=i64::from(hosts::MOST)))]
    hosts: u32,
    /// Ranks on each
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    per_host: u32,
    /// How often each contestant takes its turn
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// The library, as `cargo xtask build --out` installed it [default: dist in the source tree]
    #[arg(long, value_name = "DIR")]
    dist: Option<PathBuf>,
}

/// Measures and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    if let Some(why) = hosts::lacks(&tree) {
        return Err(refuse(why));
    }
    let library = Library::ours("hosts", options.dist.clone().unwrap_or_else(|| tree.root.join("dist")))?;
    let folder = tree.target.join("bench/hosts");
    let sources = tree.root.join("benches/c");
    let programs = ["collective", "started"].map(|name| library.compile(&sources, name, &folder));
    let [collective, started] = programs;
    let (collective, started) = (collective?, started?);
    let others = others(&sources, &folder)?;
    let cluster = Cluster::up(&tree, &folder.join("up"), options.hosts, Manager::None, Life::OfThisThread)?;
    let bench = Bench { options, library: &library, cluster: &cluster };
    let result = bench.launches(&started, &others, progress).and_then(|()| bench.collectives(&collective, progress));
    cluster.down()?;
    result
}

struct Bench<'a> {
    options: &'a Options,
    library: &'a Library,
    cluster: &'a Cluster,
}

impl Bench<'_> {
    /// One login, all logins at once, and a job that only begins and ends.
    fn launches(&self, started: &Path, others: &[Other], progress: &Progress) -> Result<()> {
        let mut took: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let all: Vec<String> = (1..=self.options.hosts).map(|host| format!("ssh h{host} true &")).collect();
        let all = format!("{} wait", all.join(" "));
        progress.phase("launches", || {
            for _ in 0..self.options.rounds {
                let mut job = self.mpirun(&[])?;
                job.arg(started);
                let one = self.cluster.command("head", &["ssh", "h1", "true"])?;
                let all = self.cluster.command("head", &["sh", "-c", &all])?;
                let mut contestants = vec![("one login", one), ("all logins", all), ("a job", job)];
                for other in others {
                    contestants.push((other.name, self.other(other)?));
                }
                for (name, mut command) in contestants {
                    let begin = Instant::now();
                    succeeded(&mut command)?;
                    took.entry(name).or_default().push(begin.elapsed().as_secs_f64() * 1e3);
                }
            }
            Ok(((), String::new()))
        })?;
        println!("Launch, ms: {} hosts, {} ranks each", self.options.hosts, self.options.per_host);
        println!("{:<16} {:>8} {:>8}", "", "least", "median");
        for (name, mut times) in took {
            times.sort_by(f64::total_cmp);
            println!("{name:<16} {:>8.1} {:>8.1}", times[0], times[times.len() / 2]);
        }
        Ok(())
    }

    /// Each in turn with coll/han and without.
    fn collectives(&self, program: &Path, progress: &Progress) -> Result<()> {
        let ways: [(&str, &[&str]); 2] = [("han", &[]), ("flat", &["--mca", "coll", "^han"])];
        let mut cells: BTreeMap<(&str, u64, &str), Cell> = BTreeMap::new();
        progress.phase("collectives", || {
            for _ in 0..self.options.rounds {
                for (flag, sizes) in OPERATIONS {
                    for (way, words) in ways {
                        let mut command = self.mpirun(words)?;
                        command.arg(program).args([
                            &format!("--{flag}"),
                            "-s",
                            sizes,
                            "-r",
                            "10",
                            "-i",
                            "20",
                            "--json",
                        ]);
                        let text = succeeded(&mut command)?;
                        let output = Output::read(&text).map_err(fail)?;
                        let ranks = self.options.hosts * self.options.per_host;
                        self.library.verify(&output, ranks).map_err(fail)?;
                        for size in &output.sizes {
                            cells.entry((flag, size.size, way)).or_default().add(size, true);
                        }
                    }
                }
            }
            Ok(((), String::new()))
        })?;
        println!("Collectives, us of the slowest rank");
        println!(
            "{:<10} {:>8} {:>12} {:>12} {:>12} {:>12} {:>6}",
            "", "bytes", "han, least", "flat, least", "han, median", "flat, median", "ratio"
        );
        for ((flag, size, _), han) in cells.iter().filter(|((_, _, way), _)| *way == "han") {
            let Some(flat) = cells.get(&(*flag, *size, "flat")) else { continue };
            let figure = |value: Option<f64>| value.ok_or_else(|| fail(format!("{flag} has no sample")));
            let (least, flat_least) = (figure(han.best())?, figure(flat.best())?);
            println!(
                "{flag:<10} {size:>8} {least:>12.1} {flat_least:>12.1} {:>12.1} {:>12.1} {:>6.2}",
                figure(han.median())?,
                figure(flat.median())?,
                least / flat_least
            );
        }
        Ok(())
    }

    /// The same job, started by another project.
    fn other(&self, other: &Other) -> Result<Command> {
        let (each, ranks) = (self.options.per_host, self.options.hosts * self.options.per_host);
        let names = |suffix: &str| {
            (1..=self.options.hosts).map(|host| format!("h{host}{suffix}")).collect::<Vec<_>>().join(",")
        };
        let (each_word, ranks) = (each.to_string(), ranks.to_string());
        let words: Vec<String> = match other.kind {
            Kind::Mpich => [HYDRA, "-hosts", &names(""), "-ppn", &each_word, "-n", &ranks].map(str::to_owned).to_vec(),
            _ => [OPEN_MPI, "--allow-run-as-root", "--host", &names(&format!(":{each}")), "-n", &ranks]
                .map(str::to_owned)
                .to_vec(),
        };
        let mut command = self.cluster.command("head", &words)?;
        command.arg(&other.program);
        Ok(command)
    }

    /// On all hosts, from the head.
    fn mpirun(&self, words: &[&str]) -> Result<Command> {
        let slots: Vec<String> =
            (1..=self.options.hosts).map(|host| format!("h{host}:{}", self.options.per_host)).collect();
        let mpirun = self.library.home.join("bin/mpirun").display().to_string();
        let mut command = self.cluster.command("head", &[mpirun])?;
        command.args(["--host", &slots.join(",")]).args(words);
        Ok(command)
    }
}

/// A launcher of another project, with a program of its own library.
struct Other {
    name: &'static str,
    kind: Kind,
    program: PathBuf,
}

/// Those that are installed, as Debian names them.
fn others(sources: &Path, folder: &Path) -> Result<Vec<Other>> {
    let mut others = Vec::new();
    for (name, kind, compiler, launcher) in [
        ("Open MPI's job", Kind::OpenMpi4, "mpicc.openmpi", OPEN_MPI),
        ("Hydra's job", Kind::Mpich, "mpicc.mpich", HYDRA),
    ] {
        if shell::which(compiler).is_none() || shell::which(launcher).is_none() {
            continue;
        }
        let program = folder.join(format!("started-{compiler}"));
        shell::folder(folder)?;
        let mut command = Command::new(compiler);
        shell::output(command.arg("-O2").arg(sources.join("started.c")).arg("-o").arg(&program))?;
        others.push(Other { name, kind, program });
    }
    Ok(others)
}

fn succeeded(command: &mut Command) -> Result<String> {
    let outcome = shell::outcome(command, LIMIT)?;
    match outcome.status.success() {
        true => Ok(outcome.stdout),
        false => Err(fail(format!("`{}` ended with {}\n{}", shell::line(command), outcome.status, outcome.stderr))),
    }
}

/// With sizes for all; a barrier has none.
const OPERATIONS: [(&str, &str); 3] = [
    ("barrier", "8"),
    ("bcast", "8,1024,16384,65536,262144,1048576"),
    ("allreduce", "8,1024,16384,65536,262144,1048576"),
];
const LIMIT: Duration = Duration::from_secs(120);
const OPEN_MPI: &str = "mpirun.openmpi";
const HYDRA: &str = "mpiexec.hydra";
