//! HPC Challenge: a linear solver, transposes, random updates of a distributed table, Fourier transforms and rings, each of
//! which checks its own answer. Only in the full tier: it compiles for a while and wants a BLAS.

use super::debian::DebianSource;
use super::{Session, Verdict, deadline, programs};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `hpcc/…`.
pub(super) fn tier(session: &mut Session) -> Result<()> {
    if session.options.all {
        for ranks in [1, 2, 4] {
            session.case(&format!("hpcc/hpcc@{ranks}"), |session| match compiled(session) {
                Ok(program) => {
                    let dist = session.library().map(|library| library.dist).map_err(fail);
                    dist.and_then(|dist| run(session, &dist, &program, ranks)).unwrap_or_else(Verdict::from)
                }
                Err(verdict) => verdict,
            });
        }
    }
    Ok(())
}

/// On this library.
pub(super) fn run(session: &Session, dist: &Path, program: &Path, ranks: u32) -> Result<Verdict> {
    let name = program.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default();
    let folder = session.scratch().join(name).join(ranks.to_string());
    prepare(&folder, program, Problem { ranks, order: 400, block: 32 })?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.arg("-n").arg(ranks.to_string()).arg(program).current_dir(&folder).envs(ENVIRONMENT);
    programs::own_choice(&mut command);
    let ended = deadline::run(&mut command, RUN_LIMIT, &folder.join("log"))?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(ended.story()));
    }
    match report(&folder, ranks)? {
        Ok(_) => Ok(Verdict::Passed(String::new())),
        Err(why) => Ok(Verdict::Failed(why)),
    }
}

/// How much is to be computed, by how many.
pub struct Problem {
    /// On a square grid or in a row.
    pub ranks: u32,
    /// Of the matrices; lengths of other parts follow from it.
    pub order: u32,
    /// Of a block of a matrix.
    pub block: u32,
}

/// An empty folder to start the program in, with its own example for this problem.
pub fn prepare(folder: &Path, program: &Path, problem: Problem) -> Result<()> {
    // What an earlier call left must not stand for what this one makes; it adds to a file that is there.
    let _ = std::fs::remove_dir_all(folder);
    let source = program.parent().ok_or("it has no folder").at(format!("find {}", program.display()))?;
    let example = shell::read(&source.join("_hpccinf.txt"))?;
    let Problem { ranks, order, block } = problem;
    let (rows, columns) = if ranks == 4 { (2, 2) } else { (1, ranks) };
    let lines = example.lines().enumerate().map(|(index, line)| match index {
        5 => format!("{order} Ns\n"),
        7 => format!("{block} NBs\n"),
        10 => format!("{rows} Ps\n"),
        11 => format!("{columns} Qs\n"),
        _ => format!("{line}\n"),
    });
    shell::write(&folder.join("hpccinf.txt"), &lines.collect::<String>())
}

/// What it wrote in the folder where it was started, or what is wrong with it.
pub fn report(folder: &Path, ranks: u32) -> Result<std::result::Result<String, String>> {
    let results = shell::read(&folder.join("hpccoutf.txt"))?;
    let exact = if ranks > ONE_RECEIVE { &[] } else { EXACT };
    let wanted = GOOD.iter().chain(exact).copied();
    let missing: Vec<&str> = wanted.filter(|line| !results.lines().any(|have| have == *line)).collect();
    let bad: Vec<&str> = results.lines().filter(|line| line.contains("FAILED") || line.contains("ERROR")).collect();
    match missing.is_empty() && bad.is_empty() {
        true => Ok(Ok(results)),
        false => Ok(Err(format!("hpccoutf.txt lacks the lines {missing:?}; lines with failures: {}", bad.join("; ")))),
    }
}

/// The program, linked with the library under test.
pub(super) fn compiled(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    let mpicc = session.library().map_err(fail)?.dist.join("bin/mpicc");
    let place = session.tree.target.join("debian").join(SOURCE.package);
    made(&mpicc, &place, &session.tree.target)
}

/// Compiled in a folder of its own for each compiler; the archive is kept below `target`.
pub fn compiled_with(compiler: &Path, place: &Path, target: &Path) -> Result<PathBuf> {
    made(compiler, place, target).map_err(|verdict| fail(verdict.why()))
}

fn made(compiler: &Path, place: &Path, target: &Path) -> std::result::Result<PathBuf, Verdict> {
    let blas = shell::output(Command::new("gcc").arg("-print-file-name=libopenblas.so"))?;
    if !Path::new(blas.trim()).is_absolute() {
        return Err(Verdict::Skipped("there is no BLAS: apt-get install libopenblas-dev".to_owned()));
    }
    let source = SOURCE.unpacked_into(place, target)?;
    shell::write(&source.join("hpl/Make.ompi-rs"), &MAKE.replace("@MPICC@", &compiler.to_string_lossy()))?;
    let program = source.join("hpcc");
    // Linked with the library as it is now; its objects may stay.
    let _ = std::fs::remove_file(&program);
    let mut make = Command::new("make");
    make.arg("arch=ompi-rs").current_dir(&source);
    programs::own_choice(&mut make);
    let ended = deadline::run(&mut make, BUILD_LIMIT, &place.join("build.log"))?;
    match program.is_file() {
        true => Ok(program),
        false => Err(Verdict::Failed(ended.story())),
    }
}

/// Threads of the BLAS beside the ranks would share their cores.
pub const ENVIRONMENT: [(&str, &str); 1] = [("OPENBLAS_NUM_THREADS", "1")];
/// What its report says when all is well.
const GOOD: &[&str] = &[
    "Success=1",
    "PTRANS_residual=0",
    "              1 tests completed and passed residual checks,",
    "              0 tests completed and failed residual checks,",
    "End of HPC Challenge tests.",
];

/// And where each rank has one receive under way. With more ranks it has four, and stops when the last rank has said that it is done,
/// although updates may lie in the other three, which were sent before: it allows for one error in a hundred updates, and says
/// itself whether there were more, by `Success`.
const EXACT: &[&str] = &["MPIRandomAccess_LCG_Errors=0", "MPIRandomAccess_Errors=0"];
const ONE_RECEIVE: u32 = 4;

/// How it is built. HPL_NO_MPI_DATATYPE is its own way without functions that MPI 3.0 removed.
const MAKE: &str = "SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = rm -f
TOUCH = touch
ARCH = ompi-rs
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -lopenblas -lm
HPL_LIBS = $(HPLlib) $(LAlib)
HPL_DEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle -DHPL_NO_MPI_DATATYPE -I$(INCdir) -I$(INCdir)/$(ARCH)
CC = @MPICC@
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2 -w
LINKER = @MPICC@
LINKFLAGS =
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
";
const SOURCE: DebianSource = DebianSource {
    release: None,
    package: "hpcc",
    archive: "hpcc_1.5.0.orig.tar.gz",
    sha256: "0a6fef7ab9f3347e549fed65ebb98234feea9ee18aea0c8f59baefbe3cf7ffb8",
    folder: "hpcc-1.5.0",
};
const BUILD_LIMIT: Duration = Duration::from_secs(900);
const RUN_LIMIT: Duration = Duration::from_secs(300);
