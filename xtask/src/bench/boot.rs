//! `cargo xtask bench boot`: programs on machines without an operating system: size of an image, time to
//! MPI_Init, times of messages and barriers among guests.

use super::launch;
use super::sample::{Cell, Output};
use crate::failure::{At, Result, fail};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use crate::{bare, boot, build};
use object::{Object, ObjectSegment};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Options of `bench boot`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// How often each program is started
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Samples of each start of a benchmark
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    samples: u32,
}

/// Prints three tables.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let mut programs = Vec::new();
    for source in ["benches/c/started.c", "benches/c/latency.c", "benches/c/rate.c", "benches/c/collective.c"] {
        programs.push(image(&tree, source, progress)?);
    }
    let ring = image(&tree, "examples/ring.rs", progress)?;
    let log = tree.target.join("bench/boot.log");
    shell::folder(&tree.target.join("bench"))?;
    let [started, latency, rate, collective] = &programs[..] else { return Err(fail("four programs")) };
    println!("Under QEMU without acceleration, which translates instructions: figures of an emulator. They tell the");
    println!("guests' programs from each other, and say nothing of a real machine.\n");
    println!("image             file KiB  stripped KiB  in memory KiB");
    for (name, path) in [("started.c", started), ("ring.rs", &ring)] {
        let size = size(path)?;
        println!("{name:16} {:9} {:13} {:14}", size.file >> 10, size.stripped >> 10, size.loaded >> 10);
    }
    println!("\nfrom start to MPI_Init's end       ms: best     median   in the image, us: to main  MPI_Init");
    for ranks in [1, 2, 4, 8] {
        let mut starts: Vec<Start> = Vec::new();
        for _ in 0..options.rounds {
            starts.push(start(&mut command(&tree, started, ranks, Vec::new(), progress)?)?);
        }
        starts.sort_by(|a, b| a.ms.total_cmp(&b.ms));
        let (best, median) = (&starts[0], &starts[starts.len() / 2]);
        let what = format!("machines: {ranks}");
        println!("{what:34} {:8.1} {:10.1} {:26} {:9}", best.ms, median.ms, best.main_us, best.init_us);
    }
    println!("\nmessages and barriers                 best     median");
    let rows: &[(&str, &PathBuf, u32, &[&str])] = &[
        ("latency 8 bytes, us", latency, 2, &["-s", "8"]),
        ("latency 4 KiB, us", latency, 2, &["-s", "4k"]),
        ("latency 1 MiB, us", latency, 2, &["-s", "1m"]),
        ("rate 8 bytes, M/s", rate, 2, &["-s", "8"]),
        ("barrier, 2 machines, us", collective, 2, &["--barrier", "-s", "8"]),
        ("barrier, 4 machines, us", collective, 4, &["--barrier", "-s", "8"]),
        ("barrier, 8 machines, us", collective, 8, &["--barrier", "-s", "8"]),
    ];
    for (what, program, ranks, arguments) in rows {
        let mut cell = Cell::default();
        for _ in 0..options.rounds {
            let samples = options.samples.to_string();
            let arguments = [arguments, &["--json", "-c", CHUNK_US, "-r", &samples][..]].concat();
            let arguments = arguments.into_iter().map(str::to_owned).collect();
            let mut command = command(&tree, program, *ranks, arguments, progress)?;
            let text = launch::run(&mut command, LIMIT, &log)?.map_err(fail)?;
            // A guest is not told when its host takes the core away: every sample counts.
            Output::read(&untagged(&text)).map_err(fail)?.sizes.iter().for_each(|size| cell.add(size, true));
        }
        let (Some(best), Some(median)) = (cell.best(), cell.median()) else {
            return Err(fail(format!("{what}: the program printed no figures")));
        };
        println!("{what:32} {best:9.2} {median:10.2}");
    }
    Ok(())
}

fn image(tree: &Tree, source: &str, progress: &Progress) -> Result<PathBuf> {
    // The toolchain that is everywhere, so that figures can be compared.
    let options = build::Options { bare_fallback: true, ..build::Options::default() };
    bare::make(tree, &tree.root.join(source), &[], &options, progress)
}

fn command(tree: &Tree, image: &Path, ranks: u32, arguments: Vec<String>, progress: &Progress) -> Result<Command> {
    let options = boot::Options::new(image, ranks, LIMIT.as_secs() as u32, arguments);
    boot::command(tree, &options, image, None, progress)
}

/// Bytes of an image.
struct Size {
    file: u64,
    /// Without symbols.
    stripped: u64,
    /// What a loader puts into memory and what it clears there.
    loaded: u64,
}

fn size(image: &Path) -> Result<Size> {
    let length = |path: &Path| Ok(std::fs::metadata(path).at(format!("read {}", path.display()))?.len());
    let copy = image.with_extension("stripped");
    shell::output(Command::new("strip").arg("-o").arg(&copy).arg(image))?;
    let bytes = std::fs::read(image).at(format!("read {}", image.display()))?;
    let file = object::File::parse(&*bytes).at(format!("read {} as ELF", image.display()))?;
    let ends = file.segments().map(|segment| (segment.address(), segment.address() + segment.size()));
    let (start, end) = ends.fold((u64::MAX, 0), |all, one| (all.0.min(one.0), all.1.max(one.1)));
    Ok(Size { file: length(image)?, stripped: length(&copy)?, loaded: end.saturating_sub(start) })
}

/// One start of a job.
struct Start {
    /// From the start of its launcher to the line that rank 0 prints after MPI_Init.
    ms: f64,
    main_us: u64,
    init_us: u64,
}

fn start(command: &mut Command) -> Result<Start> {
    let begin = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().at(format!("run `{}`", shell::line(command)))?;
    let mut said = None;
    if let Some(console) = child.stdout.take() {
        for line in BufReader::new(console).lines().map_while(std::result::Result::ok) {
            if said.is_none() && line.contains("initialized: ") {
                said = Some((begin.elapsed(), line));
            }
        }
    }
    let status = child.wait().at("wait for mpirun")?;
    let figure = |line: &str, before: &str| line.split(before).nth(1)?.split(' ').next()?.parse().ok();
    let start = said.filter(|_| status.success()).and_then(|(time, line)| {
        let (main_us, init_us) = (figure(&line, "main at ")?, figure(&line, "MPI_Init took ")?);
        Some(Start { ms: time.as_secs_f64() * 1e3, main_us, init_us })
    });
    start.ok_or_else(|| fail(format!("`{}` ended with {status} and no figures", shell::line(command))))
}

/// What the ranks printed, without the words that mpirun puts before each line.
fn untagged(text: &str) -> String {
    let begins = |line: &str| line.find('{').map_or(line.to_owned(), |at| line[at..].to_owned());
    text.lines().map(|line| begins(line) + "\n").collect()
}

const CHUNK_US: &str = "4000";
const LIMIT: Duration = Duration::from_secs(120);

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench boot                          all of it
  cargo xtask bench boot --rounds 1 --samples 2   a quick look";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_start() {
        let mut echo = Command::new("sh");
        echo.args(["-c", "echo '[1,0]<stdout>: initialized: main at 12 us, MPI_Init took 345 us'"]);
        let start = start(&mut echo).unwrap();
        assert_eq!((start.main_us, start.init_us), (12, 345));
        assert!(super::start(Command::new("sh").args(["-c", "echo 'initialized: x'"])).is_err());
        assert!(super::start(Command::new("false").arg("x")).is_err());
    }

    #[test]
    fn tags_go() {
        assert_eq!(untagged("[1,0]<stdout>: {\"size\":8}\nplain\n"), "{\"size\":8}\nplain\n");
    }
}
