//! FFTW's distributed Fourier transforms, which check themselves: each is compared with what the definition asks of any
//! Fourier transform (linear, shifts, impulses) on random data. Only in the full tier: it compiles for a while.

use super::debian::DebianSource;
use super::{Session, Verdict, deadline, programs};
use crate::failure::Result;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `fftw/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    if session.options.all {
        for ranks in 1..=4 {
            session.case(&format!("fftw/verify@{ranks}"), |session| match session.library() {
                Ok(library) => verified(session, &library.dist, "fftw", ranks).unwrap_or_else(Verdict::from),
                Err(why) => Verdict::Failed(why),
            });
        }
    }
    Ok(())
}

/// Its transforms on this library, compiled in a folder of the tier's.
pub fn verified(session: &Session, dist: &Path, tier: &str, ranks: u32) -> Result<Verdict> {
    let logs = session.scratch().join(tier);
    let place =
        session.tree.target.join("debian").join(if tier == "fftw" { "fftw3".into() } else { format!("fftw3-{tier}") });
    let program = match compiled(&dist.join("bin/mpicc"), &place, &session.tree.target, &logs.join("build.log")) {
        Ok(program) => program,
        Err(verdict) => return Ok(verdict),
    };
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.arg("-n").arg(ranks.to_string()).arg(&program).args([
        "--verbose=1",
        "--verify-rounds=3",
        "--verify-tolerance=1e-10",
    ]);
    PROBLEMS.iter().for_each(|problem| {
        command.args(["--verify", problem]);
    });
    programs::own_choice(&mut command);
    let ended = deadline::run(&mut command, RUN_LIMIT, &logs.join(format!("verify@{ranks}.log")))?;
    // The first process writes a line of three errors for each problem.
    let verified = |problem: &&&str| ended.out.lines().any(|line| line.starts_with(&format!("{problem} ")));
    let silent: Vec<&&str> = PROBLEMS.iter().filter(|problem| !verified(problem)).collect();
    match ended.ended_with(0) && silent.is_empty() {
        true => Ok(Verdict::Passed(format!("{} transforms", PROBLEMS.len()))),
        false => {
            Ok(Verdict::Failed(format!("the benchmark printed no verified result for {silent:?}\n{}", ended.story())))
        }
    }
}

fn compiled(mpicc: &Path, place: &Path, target: &Path, log: &Path) -> std::result::Result<PathBuf, Verdict> {
    let source = SOURCE.unpacked_into(place, target)?;
    let program = source.join("mpi/mpi-bench");
    // Linked with the library as it is now; its objects may stay.
    let _ = std::fs::remove_file(&program);
    // The compiler takes the time of this test, not the program.
    let mut configure = Command::new("./configure");
    configure.args(["--quiet", "--enable-mpi", "--disable-fortran", "--disable-doc", "CFLAGS=-O0 -w"]);
    configure.arg(format!("MPICC={}", mpicc.display()));
    let mut make = Command::new("make");
    make.args(["-s", "-j2"]);
    let mut steps = if source.join("mpi/Makefile").is_file() { vec![make] } else { vec![configure, make] };
    for step in &mut steps {
        programs::own_choice(step.current_dir(&source));
        let ended = deadline::run(step, BUILD_LIMIT, log)?;
        if !ended.ended_with(0) {
            return Err(Verdict::Failed(ended.story()));
        }
    }
    match program.is_file() {
        true => Ok(program),
        false => Err(Verdict::Failed(format!(
            "make succeeded, but {} is not there; see {}",
            program.display(),
            log.display()
        ))),
    }
}

/// In its own words: out of place or in place, forward or backward, complex or real or cosines, the lengths.
const PROBLEMS: &[&str] = &[
    "ofc64x48",
    "ibc64x48",
    "ofc27x10x6",
    "ibc5x13x12",
    "ofc4096",
    "ibc3600",
    "ofr64x48",
    "ibr32x20",
    "obr27x10x6",
    "ifr5x13x12",
    "ok10e00x12o11",
    "ik8e10x9o00",
];
const SOURCE: DebianSource = DebianSource {
    release: None,
    package: "fftw3",
    archive: "fftw3_3.3.10.orig.tar.gz",
    sha256: "56c932549852cddcfafdab3820b0200c7742675be92179e59e6215b340e26467",
    folder: "fftw-3.3.10",
};
const BUILD_LIMIT: Duration = Duration::from_secs(1800);
const RUN_LIMIT: Duration = Duration::from_secs(300);
