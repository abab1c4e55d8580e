//! `cargo xtask bench startup`: how long jobs take that only begin and end, on this library and on others in turn.

use super::library::{Kind, Library};
use super::product::MeasuredBuild;
use super::{launch, peers};
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Options of `bench startup`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench startup --against openmpi,mpich
  cargo xtask bench startup --against openmpi-debian,mpich-debian --ranks 2 --rounds 50 --dist target/dist

Each figure is the time of a whole launch, from the start of the launcher until it has ended: of a program that calls MPI_Init and
MPI_Finalize, and below it of one without MPI, which is the launcher's part.")]
pub struct Options {
    /// Compare with other libraries: openmpi, mpich, openmpi-debian, mpich-debian
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    product: MeasuredBuild,
    /// Numbers of ranks
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,8,32")]
    ranks: Vec<u32>,
    /// How often each contestant takes its turn
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

/// Measures and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let libraries = peers::beside_ours(&options.against, &options.product, &tree, progress)?;
    let folder = tree.target.join("bench/startup");
    let sources = tree.root.join("benches/c");
    let programs: Vec<PathBuf> =
        libraries.iter().map(|library| library.compile(&sources, "started", &folder)).collect::<Result<_>>()?;
    let without = without_mpi(&folder)?;
    println!("{:>5} {:<16} {:>10} {:>10} {:>12} {:>8}", "ranks", "", "least ms", "median ms", "without MPI", "ratio");
    for ranks in &options.ranks {
        let mut with = vec![Vec::new(); libraries.len()];
        let mut bare = with.clone();
        progress.phase(&format!("{ranks} ranks"), || {
            for round in 0..options.rounds as usize {
                for turn in 0..libraries.len() {
                    // Each round begins with another one.
                    let index = (turn + round) % libraries.len();
                    with[index].push(launch_ms(&libraries[index], *ranks, &programs[index], &folder)?);
                    bare[index].push(launch_ms(&libraries[index], *ranks, &without, &folder)?);
                }
            }
            Ok(((), String::new()))
        })?;
        print(*ranks, &libraries, &mut with, &mut bare);
    }
    Ok(())
}

/// A program that does nothing at all.
fn without_mpi(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("nothing.c"), folder.join("nothing"));
    shell::write(&source, "int main(void)\n{\n    return 0;\n}\n")?;
    shell::output(Command::new("cc").arg("-O2").arg(&source).arg("-o").arg(&program))?;
    Ok(program)
}

/// One launch. With more ranks than cores, and as root, others start only where that is asked for.
fn launch_ms(library: &Library, ranks: u32, program: &Path, folder: &Path) -> Result<f64> {
    let mut command = Command::new(&library.launcher);
    match library.kind {
        Kind::OpenMpi => _ = command.args(["--allow-run-as-root", "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]),
        Kind::OpenMpi4 => _ = command.args(["--allow-run-as-root", "--bind-to", "none", "--oversubscribe"]),
        _ => {}
    }
    command.args(["-n", &ranks.to_string()]).arg(program);
    command.envs(library.environment.iter().map(|(name, value)| (name, value)));
    let begin = Instant::now();
    let ended = launch::run(&mut command, LIMIT, &folder.join(&library.name).join("launch.log"));
    let ms = begin.elapsed().as_secs_f64() * 1e3;
    ended?.map_err(fail)?;
    Ok(ms)
}

/// A line for each library; the ratio is that of ours to the best other one.
fn print(ranks: u32, libraries: &[Library], with: &mut [Vec<f64>], bare: &mut [Vec<f64>]) {
    with.iter_mut().chain(bare.iter_mut()).for_each(|times| times.sort_by(f64::total_cmp));
    let best_other = with[1..].iter().map(|times| times[0]).reduce(f64::min);
    for (index, library) in libraries.iter().enumerate() {
        let times = &with[index];
        let ratio = best_other.filter(|_| index == 0).map(|other| format!("{:.2}", times[0] / other));
        println!(
            "{ranks:>5} {:<16} {:>10.1} {:>10.1} {:>12.1} {:>8}",
            library.name,
            times[0],
            times[times.len() / 2],
            bare[index][0],
            ratio.unwrap_or_default()
        );
    }
}

const LIMIT: Duration = Duration::from_secs(120);
