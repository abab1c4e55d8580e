//! `cargo xtask run`: from the sources to a running program in one step.
//!
//! Without a file: the heat solver of tests/c, which compares its answer with a serial run of its own; then the same
//! program with a mistake seeded into its halo exchange, which must fail, or the first answer shows nothing.

mod launch;
pub mod program;

use crate::build::{self, Built};
use crate::failure::{Failure, Result, fail, refuse};
use crate::progress::Progress;
use crate::tree::Tree;
use launch::JobEnd;
use std::path::{Path, PathBuf};

/// Options of `run`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Number of ranks
    #[arg(short, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Run with these components instead of the default ones; leaves dist alone
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    components: Vec<String>,
    /// Components to leave out of what --components names
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    exclude: Vec<String>,
    /// Components to call directly instead of through their framework's table
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    direct: Vec<String>,
    /// Thin link-time optimization: compiles faster, runs a little slower
    #[arg(long)]
    thin: bool,
    /// Install the library unchecked
    #[arg(long)]
    no_check: bool,
    /// A program: one .c, .cc or .rs file [default: tests/c/heat.c]
    file: Option<PathBuf>,
    /// Arguments of the program
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Builds what is needed, compiles the program and launches it.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let heat = options.file.is_none();
    if let Some(file) = options.file.as_deref().filter(|file| !file.is_file()) {
        return Err(refuse(format!("there is no file {}; name a .c, .cc or .rs file", file.display())));
    }
    let built = built(options, progress)?;
    let file = options.file.clone().unwrap_or_else(|| built.tree.root.join("tests/c/heat.c"));
    let program = progress.phase(&format!("compile {}", file.display()), || {
        Ok((program::compile(&built, &file, &[], progress)?, String::new()))
    })?;
    if !heat {
        return ended(&file, launch::launch(&built, &program, options.n, &options.arguments, launch::Show::All)?);
    }
    let start = std::time::Instant::now();
    let right = launch::launch(&built, &program, options.n, &options.arguments, launch::Show::AllButComponents)?;
    let seconds = start.elapsed().as_secs_f64();
    let components = right.components.clone();
    ended(&file, right)?;
    progress
        .note(&format!("heat solver on {} ranks in {seconds:.1} s: right, compared with its serial run", options.n));
    seeded(&built, &file, options, progress)?;
    eprintln!("components of this run (rank 0):");
    for line in components {
        eprintln!("  {line}");
    }
    Ok(())
}

fn built(options: &Options, progress: &Progress) -> Result<Built> {
    let image = build::Options {
        components: options.components.clone(),
        exclude: options.exclude.clone(),
        direct: options.direct.clone(),
        thin: options.thin,
        no_check: options.no_check,
        ..build::Options::default()
    };
    // dist is what users link with: another choice of components for one run must not replace it.
    let is_default = options.components.is_empty() && options.exclude.is_empty() && options.direct.is_empty();
    let place: fn(&Tree) -> PathBuf = match is_default && !options.thin {
        true => |tree| tree.root.join("dist"),
        false => |tree| tree.target.join("run/dist"),
    };
    build::build_into(&image, place, progress)
}

/// The same program with a mistake must be found out; one rank exchanges nothing.
fn seeded(built: &Built, file: &Path, options: &Options, progress: &Progress) -> Result<()> {
    if options.n < 2 {
        progress.note("one rank has no halo: the run with a seeded mistake is left out");
        return Ok(());
    }
    progress.phase("the same with a mistake seeded into its halo exchange", || {
        let program = program::compile(built, file, &["-DSEED_HALO_MISTAKE"], progress)?;
        let ended = launch::launch(built, &program, options.n, &options.arguments, launch::Show::Nothing)?;
        match ended.status {
            0 => Err(fail("the run with the seeded mistake succeeded: the heat solver's own check is broken")),
            status if ended.output.contains(FOUND) => Ok(((), format!("found out, as it must be (status {status})"))),
            status => Err(fail(format!(
                "the run with the seeded mistake ended with status {status}, but not because the mistake was found:\n{}",
                ended.output
            ))),
        }
    })
}

fn ended(file: &Path, ended: JobEnd) -> Result<()> {
    match ended.status {
        0 => Ok(()),
        status => {
            let text = format!("{} ended with status {status}", file.display());
            Err(Failure { status: u8::try_from(status).unwrap_or(1), text })
        }
    }
}

/// What the heat solver says when its field differs from the serial one.
const FOUND: &str = "heat: FAILED";

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask run                                         the heat solver on 4 ranks
  cargo xtask run -n 8 my.c -- --size 100                 your program, with arguments of its own
  cargo xtask run --components minimal examples/ring.rs   another library for one run; dist stays";
