//! `cargo xtask bench spawn`: jobs that start others, and jobs that meet, on this library and on others in turn.

use super::library::{Kind, Library};
use super::product::MeasuredBuild;
use super::{launch, peers};
use crate::failure::Result;
use crate::progress::Progress;
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Options of `bench spawn`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench spawn --against openmpi,mpich
  cargo xtask bench spawn --against openmpi-debian,mpich-debian --rounds 3 --dist target/dist")]
pub struct Options {
    /// Compare with other libraries: openmpi, mpich, openmpi-debian, mpich-debian
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    product: MeasuredBuild,
    /// How often each contestant takes its turn
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Samples of a turn
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    samples: u32,
}

/// A figure: its title, how many children (0: jobs that meet), and the word that its lines begin with.
const PARTS: [(&str, u32, &str); 3] = [
    ("spawn of 1 process until its first message", 1, "spawn"),
    ("spawn of 4 processes until the first message", 4, "spawn"),
    ("accept and connect until the first message", 0, "connect"),
];

/// Measures and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let libraries = peers::beside_ours(&options.against, &options.product, &tree, progress)?;
    let folder = tree.target.join("bench/spawn");
    let sources = tree.root.join("benches/c");
    let programs: Vec<PathBuf> =
        libraries.iter().map(|library| library.compile(&sources, "spawn", &folder)).collect::<Result<_>>()?;
    // By part and contestant.
    let mut figures = vec![vec![Vec::new(); libraries.len()]; PARTS.len()];
    let mut failures = BTreeMap::new();
    for round in 0..options.rounds as usize {
        for turn in 0..libraries.len() {
            // Each round begins with another one.
            let index = (turn + round) % libraries.len();
            for children in [1, 4, 0] {
                match turn_of(&libraries[index], &programs[index], (children, options.samples), &folder)? {
                    Ok(text) => keep(&text, children, |part, value| figures[part][index].push(value)),
                    // Once: no two runs fail with the same addresses in their words.
                    Err(why) => _ = failures.entry((index, children)).or_insert(why),
                }
            }
        }
    }
    failures.iter().for_each(|((index, _), why)| println!("{}: {why}", libraries[*index].name));
    print(&libraries, &mut figures);
    Ok(())
}

/// One launch: what it printed, or why there is nothing.
fn turn_of(
    library: &Library,
    program: &Path,
    (children, samples): (u32, u32),
    folder: &Path,
) -> Result<std::result::Result<String, String>> {
    let mut command = Command::new(&library.launcher);
    // With all transports: Open MPI's shared memory does not reach other jobs. More processes than cores, and root, are refused
    // unless it is asked for.
    match library.kind {
        Kind::OpenMpi => _ = command.args(["--allow-run-as-root", "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]),
        Kind::OpenMpi4 => _ = command.args(["--allow-run-as-root", "--bind-to", "none", "--oversubscribe"]),
        _ => {}
    }
    command.args(["-n", "1"]).arg(program).args([children.to_string(), samples.to_string()]);
    command.envs(library.environment.iter().map(|(name, value)| (name, value)));
    launch::run(&mut command, LIMIT, &folder.join(&library.name).join("launch.log"))
}

fn keep(text: &str, children: u32, mut value: impl FnMut(usize, f64)) {
    for (word, number) in text.lines().filter_map(|line| line.split_once(' ')) {
        let part = PARTS.iter().position(|(_, of, known)| *of == children && *known == word);
        if let (Some(part), Ok(number)) = (part, number.trim().parse()) {
            value(part, number);
        }
    }
}

fn print(libraries: &[Library], figures: &mut [Vec<Vec<f64>>]) {
    println!("{:<46} {:<16} {:>10} {:>10} {:>8}", "", "", "least ms", "median ms", "samples");
    for ((title, ..), figures) in PARTS.iter().zip(figures) {
        for (library, values) in libraries.iter().zip(figures) {
            values.sort_by(f64::total_cmp);
            match values.first() {
                Some(least) => {
                    let median = values[values.len() / 2];
                    println!("{title:<46} {:<16} {least:>10.2} {median:>10.2} {:>8}", library.name, values.len());
                }
                None => println!("{title:<46} {:<16} {:>10}", library.name, "none"),
            }
        }
    }
}

const LIMIT: Duration = Duration::from_secs(180);
