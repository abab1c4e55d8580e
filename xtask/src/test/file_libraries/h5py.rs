//! h5py over HDF5 over MPI-IO: compiled from its source distribution for a shared parallel HDF5, with mpi4py beside it. `tests/files/h5.py`
//! writes and reads a file with it.

use super::{BUILD_LIMIT, Ended, HDF5, RUN_LIMIT, dist, make, run};
use crate::shell;
use crate::test::mpi4py::{self, Home};
use crate::test::{Session, Verdict};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program on so many ranks.
pub fn program(session: &mut Session, ranks: u32) -> Ended {
    let mpi4py = mpi4py::opened(session)?;
    let (home, hdf5) = (session.tree.target.join("h5py"), hdf5_library(session)?);
    let python = environment(session, &home, &hdf5, &mpi4py)?;
    let files = session.scratch().join("file-libraries/h5py-files");
    shell::folder(&files)?;
    let mut job = Command::new(dist(session)?.join("bin/mpirun"));
    job.arg("-n").arg(ranks.to_string()).arg(python).arg(session.tree.root.join("tests/files/h5.py")).arg(files);
    job.env_remove("PYTHONPATH").env("LD_LIBRARY_PATH", libraries(session, &hdf5)?);
    run(session, &mut job, &format!("h5py@{ranks}"), RUN_LIMIT, true)
}

/// HDF5 as Python loads it: shared, and with its high-level library.
fn hdf5_library(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    let target = session.tree.target.clone();
    let (home, mpicc) = (target.join("debian/hdf5-for-h5py"), dist(session)?.join("bin/mpicc"));
    let (source, installed) = (HDF5.unpacked_into(&home, &target)?, home.join("installed"));
    if !installed.join("lib/libhdf5_hl.so").is_file() {
        let mut configure = Command::new("./configure");
        configure.args(["--quiet", "--enable-parallel", "--enable-build-mode=production", "--disable-static"]);
        configure.args(["--disable-tests", "--disable-tools", "CFLAGS=-O1 -w"]).env("CC", &mpicc);
        configure.arg(format!("--prefix={}", installed.display())).env("OMPI_RS_LINK", "shared");
        run(session, configure.current_dir(&source), "h5py-hdf5-configure", BUILD_LIMIT, true)?;
        // One goal after the other: at the same time both of them would make the library.
        for (folder, goal) in [("src", "all"), ("src", "install"), ("hl/src", "all"), ("hl/src", "install")] {
            let log = format!("h5py-hdf5-{}-{goal}", folder.replace('/', "-"));
            make(session, &source.join(folder), &[goal, "OMPI_RS_LINK=shared"], &log)?;
        }
    }
    Ok(installed)
}

/// Where the loader finds HDF5 and this library.
fn libraries(session: &mut Session, hdf5: &Path) -> std::result::Result<String, Verdict> {
    Ok(format!("{}:{}", hdf5.join("lib").display(), dist(session)?.join("lib").display()))
}

/// The interpreter of an environment with h5py in it.
fn environment(
    session: &mut Session,
    home: &Path,
    hdf5: &Path,
    mpi4py: &Home,
) -> std::result::Result<PathBuf, Verdict> {
    let (python, complete) = (home.join("venv/bin/python"), home.join("complete"));
    if complete.is_file() {
        return Ok(python);
    }
    // What an earlier call did not finish is no use.
    let _ = std::fs::remove_dir_all(home);
    shell::folder(home)?;
    shell::write(&home.join("requirements.txt"), REQUIREMENTS)?;
    let mut make = Command::new("python3");
    run(session, make.args(["-m", "venv", "venv"]).current_dir(home), "h5py-venv", BUILD_LIMIT, true)?;
    // mpi4py as it was compiled for its own tests.
    let site = |python: &Path| shell::output(Command::new(python).args(["-c", SITE]));
    shell::write(&Path::new(site(&python)?.trim()).join("mpi4py.pth"), site(&mpi4py.python)?.trim())?;
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(home.join("venv/bin/pip"));
        pip.args(["--quiet", "--disable-pip-version-check"]).args(arguments).current_dir(home);
        pip
    };
    let not_there = |verdict| match verdict {
        Verdict::Failed(story) => Verdict::Skipped(format!("pip cannot download h5py and what builds it\n{story}")),
        other => other,
    };
    let mut tools = pip(&["install"]);
    run(session, tools.args(TOOLS), "h5py-tools", BUILD_LIMIT, true).map_err(not_there)?;
    let mut download = pip(&["download", "--no-deps", "--no-build-isolation", "--no-binary", "h5py"]);
    run(session, download.args(["--require-hashes", "-r", "requirements.txt"]), "h5py-download", BUILD_LIMIT, true)
        .map_err(not_there)?;
    let mut install = pip(&["install", "--no-deps", "--no-build-isolation", ARCHIVE]);
    install.env("CC", dist(session)?.join("bin/mpicc")).env("OMPI_RS_LINK", "shared").env("CFLAGS", "-O0 -g0 -w");
    install.env("HDF5_MPI", "ON").env("HDF5_DIR", hdf5).env("LD_LIBRARY_PATH", libraries(session, hdf5)?);
    run(session, &mut install, "h5py-install", BUILD_LIMIT, true)?;
    shell::write(&complete, "")?;
    Ok(python)
}

const SITE: &str = "import sysconfig; print(sysconfig.get_path('platlib'))";
const ARCHIVE: &str = "h5py-3.13.0.tar.gz";
const REQUIREMENTS: &str =
    "h5py==3.13.0 --hash=sha256:1870e46518720023da85d0895a1960ff2ce398c5671eac3b1a41ec696b7105c3\n";
const TOOLS: &[&str] = &["numpy==2.2.6", "cython==3.0.12", "pkgconfig==1.6.0", "setuptools==65.5.0", "wheel==0.48.0"];
