//! Libraries that keep their data in files by MPI: HDF5's parallel tests and h5py, those of NetCDF over HDF5, PnetCDF's own and
//! what p4est saves and loads. Their answers decide. A sample is small; the
//! full tier compiles for minutes.

use super::debian::DebianSource;
use super::mpi4py::{self, Home};
use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `pnetcdf/…`.
pub fn pnetcdf(session: &mut Session) -> Result<()> {
    for (program, ranks) in PNETCDF_SAMPLE {
        session
            .case(&format!("pnetcdf/{program}@{ranks}"), |session| verdict(pnetcdf_sample(session, program, *ranks)));
    }
    if session.options.all {
        session.case("pnetcdf/check", |session| verdict(pnetcdf_all(session, "check")));
        session.case("pnetcdf/ptests", |session| verdict(pnetcdf_all(session, "ptests")));
    }
    Ok(())
}

/// `hdf5/…`.
pub fn hdf5(session: &mut Session) -> Result<()> {
    if session.options.all {
        for ranks in [1, 2, 4] {
            // Both compute for minutes; with two ranks t_cache frees a datatype that it has not made.
            let cache = match ranks {
                2 => Some("t_cache_image"),
                4 => Some("t_cache"),
                _ => None,
            };
            for program in HDF5_PROGRAMS.iter().copied().chain(cache) {
                session.case(&format!("hdf5/{program}@{ranks}"), |session| {
                    verdict(hdf5_program(session, program, ranks, true))
                });
            }
            // The first one flushes its files and ends without MPI_Finalize: what the second one finds decides.
            session.case(&format!("hdf5/flushed@{ranks}"), |session| {
                hdf5_program(session, "t_pflush1", ranks, false)
                    .and_then(|_| hdf5_program(session, "t_pflush2", ranks, true))
                    .map_or_else(|verdict| verdict, |_| Verdict::Passed(String::new()))
            });
            session.case(&format!("hdf5/h5py@{ranks}"), |session| verdict(h5py_program(session, ranks)));
        }
    }
    Ok(())
}

/// `netcdf/…`.
pub fn netcdf(session: &mut Session) -> Result<()> {
    if session.options.all {
        for (program, ranks) in NETCDF_PROGRAMS {
            session.case(&format!("netcdf/{program}@{ranks}"), |session| {
                verdict(netcdf_program(session, program, *ranks))
            });
        }
    }
    Ok(())
}

/// `p4est/…`.
pub fn p4est(session: &mut Session) -> Result<()> {
    if session.options.all {
        for ranks in [1, 2, 3, 5] {
            for program in ["p4est_test_loadsave", "p8est_test_loadsave"] {
                session.case(&format!("p4est/{program}@{ranks}"), |session| {
                    verdict(p4est_program(session, program, ranks))
                });
            }
        }
    }
    Ok(())
}

type Ended = std::result::Result<deadline::Ended, Verdict>;

fn verdict(ended: Ended) -> Verdict {
    ended.map_or_else(|verdict| verdict, |_| Verdict::Passed(String::new()))
}

/// Runs a command; what does not end with success is the verdict, unless that does not matter.
fn run(session: &Session, command: &mut Command, log: &str, limit: Duration, must: bool) -> Ended {
    programs::own_choice(command);
    let ended = deadline::run(command, limit, &session.scratch().join("file-libraries").join(log))?;
    match !must || ended.ended_with(0) {
        true => Ok(ended),
        false => Err(Verdict::Failed(ended.story())),
    }
}

fn dist(session: &mut Session) -> Result<PathBuf> {
    Ok(session.library().map_err(fail)?.dist)
}

/// The source, configured for this library and its own library made. The compiler takes the time of these tests, not the programs.
fn pnetcdf_library(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    // Beside the one that tests of Fortran configure.
    let target = &session.tree.target;
    let source = PNETCDF.unpacked_into(&target.join("debian/pnetcdf-c"), target)?;
    let dist = dist(session)?;
    if !source.join("Makefile").is_file() {
        let mut reconfigure = Command::new("autoreconf");
        run(session, reconfigure.arg("-i").current_dir(&source), "pnetcdf-autoreconf", BUILD_LIMIT, true)?;
        let mut configure = Command::new("./configure");
        configure.args(["--quiet", "--disable-fortran", "--disable-cxx", "CFLAGS=-O1 -w"]);
        configure.arg(format!("MPICC={}", dist.join("bin/mpicc").display()));
        run(session, configure.current_dir(&source), "pnetcdf-configure", BUILD_LIMIT, true)?;
    }
    for (folder, goal) in [("src", "all"), ("test/common", "tests")] {
        make(session, &source.join(folder), &[goal], &format!("pnetcdf-{}", folder.replace('/', "-")))?;
    }
    Ok(source)
}

fn make(session: &mut Session, folder: &Path, arguments: &[&str], log: &str) -> Ended {
    let mut make = Command::new("make");
    make.args(["-s", "-j2"]).args(arguments).current_dir(folder);
    // Goals of the makefiles look for mpicc in PATH.
    let path = std::env::var("PATH").unwrap_or_default();
    make.env("PATH", format!("{}:{path}", dist(session)?.join("bin").display()));
    run(session, &mut make, log, BUILD_LIMIT, true)
}

fn pnetcdf_sample(session: &mut Session, program: &str, ranks: u32) -> Ended {
    let folder = pnetcdf_library(session)?.join("test/testcases");
    make(session, &folder, &[program], &format!("pnetcdf-{program}"))?;
    let out = session.scratch().join("file-libraries");
    let mut job = Command::new(dist(session)?.join("bin/mpirun"));
    job.arg("-n").arg(ranks.to_string()).arg(format!("./{program}")).arg(out.join(format!("{program}.nc")));
    run(session, job.current_dir(&folder), &format!("pnetcdf-{program}@{ranks}"), RUN_LIMIT, true)
}

fn pnetcdf_all(session: &mut Session, goal: &str) -> Ended {
    let source = pnetcdf_library(session)?;
    let out = session.scratch().join("file-libraries/pnetcdf-files");
    shell::folder(&out)?;
    let mpirun = dist(session)?.join("bin/mpirun");
    let (out, mpirun) = (format!("TESTOUTDIR={}", out.display()), format!("TESTMPIRUN={} -n NP", mpirun.display()));
    make(session, &source, &["-j1", goal, &out, &mpirun], &format!("pnetcdf-{goal}"))
}

fn hdf5_program(session: &mut Session, program: &str, ranks: u32, must: bool) -> Ended {
    let folder = hdf5_library(session)?.join("testpar");
    make(session, &folder, &[program], &format!("hdf5-{program}"))?;
    let files = session.scratch().join("file-libraries/hdf5-files");
    shell::folder(&files)?;
    let mut job = Command::new(dist(session)?.join("bin/mpirun"));
    job.arg("-n").arg(ranks.to_string()).arg(format!("./{program}"));
    // The quickest of its own four kinds of tests.
    job.env("HDF5_PARAPREFIX", files).env("HDF5TestExpress", "3");
    run(session, job.current_dir(&folder), &format!("hdf5-{program}@{ranks}"), RUN_LIMIT, must)
}

fn hdf5_library(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    let source = HDF5.unpacked(&session.tree.target)?;
    let mpicc = dist(session)?.join("bin/mpicc");
    if !source.join("src/Makefile").is_file() {
        let mut configure = Command::new("./configure");
        configure.args(["--quiet", "--enable-parallel", "--enable-build-mode=production", "--disable-shared"]);
        configure.args(["--disable-hl", "CFLAGS=-O1 -w"]).env("CC", mpicc);
        run(session, configure.current_dir(&source), "hdf5-configure", BUILD_LIMIT, true)?;
    }
    make(session, &source.join("src"), &[], "hdf5-src")?;
    make(session, &source.join("test"), &["libh5test.la"], "hdf5-test")?;
    Ok(source)
}

/// h5py over HDF5: compiled from its source distribution for a shared parallel HDF5, with mpi4py beside it.
fn h5py_program(session: &mut Session, ranks: u32) -> Ended {
    let mpi4py = mpi4py::opened(session)?;
    let (home, hdf5) = (session.tree.target.join("h5py"), h5py_hdf5(session)?);
    let python = h5py_environment(session, &home, &hdf5, &mpi4py)?;
    let files = session.scratch().join("file-libraries/h5py-files");
    shell::folder(&files)?;
    let mut job = Command::new(dist(session)?.join("bin/mpirun"));
    job.arg("-n").arg(ranks.to_string()).arg(python).arg(session.tree.root.join("tests/files/h5.py")).arg(files);
    job.env_remove("PYTHONPATH").env("LD_LIBRARY_PATH", h5py_libraries(session, &hdf5)?);
    run(session, &mut job, &format!("h5py@{ranks}"), RUN_LIMIT, true)
}

/// HDF5 as Python loads it: shared, and with its high-level library.
fn h5py_hdf5(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
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
fn h5py_libraries(session: &mut Session, hdf5: &Path) -> std::result::Result<String, Verdict> {
    Ok(format!("{}:{}", hdf5.join("lib").display(), dist(session)?.join("lib").display()))
}

/// The interpreter of an environment with h5py in it.
fn h5py_environment(
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
    shell::write(&home.join("requirements.txt"), H5PY_REQUIREMENTS)?;
    let mut venv = Command::new("python3");
    run(session, venv.args(["-m", "venv", "venv"]).current_dir(home), "h5py-venv", BUILD_LIMIT, true)?;
    // mpi4py as it was compiled for its own tests.
    let site = |python: &Path| shell::output(Command::new(python).args(["-c", H5PY_SITE]));
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
    run(session, tools.args(H5PY_TOOLS), "h5py-tools", BUILD_LIMIT, true).map_err(not_there)?;
    let mut download = pip(&["download", "--no-deps", "--no-build-isolation", "--no-binary", "h5py"]);
    run(session, download.args(["--require-hashes", "-r", "requirements.txt"]), "h5py-download", BUILD_LIMIT, true)
        .map_err(not_there)?;
    let mut install = pip(&["install", "--no-deps", "--no-build-isolation", H5PY_ARCHIVE]);
    install.env("CC", dist(session)?.join("bin/mpicc")).env("OMPI_RS_LINK", "shared").env("CFLAGS", "-O0 -g0 -w");
    install.env("HDF5_MPI", "ON").env("HDF5_DIR", hdf5).env("LD_LIBRARY_PATH", h5py_libraries(session, hdf5)?);
    run(session, &mut install, "h5py-install", BUILD_LIMIT, true)?;
    shell::write(&complete, "")?;
    Ok(python)
}

/// NetCDF-4 over HDF5, of which it needs the high-level library, too: a copy of its own.
fn netcdf_library(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    let target = session.tree.target.clone();
    let (home, mpicc) = (target.join("debian/hdf5-for-netcdf"), dist(session)?.join("bin/mpicc"));
    let (hdf5, installed) = (HDF5.unpacked_into(&home, &target)?, home.join("installed"));
    if !installed.join("lib/libhdf5_hl.a").is_file() {
        let mut configure = Command::new("./configure");
        configure.args(["--quiet", "--enable-parallel", "--enable-build-mode=production", "--disable-shared"]);
        configure.args(["--disable-tests", "--disable-tools", "CFLAGS=-O1 -w"]).env("CC", &mpicc);
        configure.arg(format!("--prefix={}", installed.display()));
        run(session, configure.current_dir(&hdf5), "netcdf-hdf5-configure", BUILD_LIMIT, true)?;
        // One goal after the other: at the same time both of them would make the library.
        for (folder, goal) in [("src", "all"), ("src", "install"), ("hl/src", "all"), ("hl/src", "install")] {
            make(session, &hdf5.join(folder), &[goal], &format!("netcdf-hdf5-{}-{goal}", folder.replace('/', "-")))?;
        }
    }
    let source = NETCDF.unpacked(&target)?;
    if !source.join("Makefile").is_file() {
        let mut configure = Command::new("./configure");
        configure.args([
            "--quiet",
            "--disable-dap",
            "--disable-shared",
            "--enable-parallel-tests",
            "--disable-libxml2",
        ]);
        configure.args(["--disable-byterange", "--disable-nczarr", "CFLAGS=-O1 -w", "LIBS=-ldl -lz -lm"]);
        configure.arg(format!("CPPFLAGS=-I{}", installed.join("include").display())).env("CC", &mpicc);
        configure.arg(format!("LDFLAGS=-L{}", installed.join("lib").display()));
        run(session, configure.current_dir(&source), "netcdf-configure", BUILD_LIMIT, true)?;
    }
    make(session, &source, &[], "netcdf")?;
    Ok(source)
}

fn netcdf_program(session: &mut Session, program: &str, ranks: u32) -> Ended {
    let folder = netcdf_library(session)?.join("nc_test4");
    make(session, &folder, &[program], &format!("netcdf-{program}"))?;
    let mut job = Command::new(dist(session)?.join("bin/mpirun"));
    job.arg("-n").arg(ranks.to_string()).arg(format!("./{program}"));
    run(session, job.current_dir(&folder), &format!("netcdf-{program}@{ranks}"), RUN_LIMIT, true)
}

/// Forests of octrees that are saved by MPI-IO and loaded by other numbers of ranks.
fn p4est_program(session: &mut Session, program: &str, ranks: u32) -> Ended {
    let source = P4EST.unpacked(&session.tree.target)?;
    if !source.join("Makefile").is_file() {
        let mut bootstrap = Command::new("./bootstrap");
        run(session, bootstrap.current_dir(&source), "p4est-bootstrap", BUILD_LIMIT, true)?;
        let mut configure = Command::new("./configure");
        configure.args(["--quiet", "--enable-mpi", "--without-blas", "--disable-shared", "CFLAGS=-O1 -w"]);
        configure.arg(format!("CC={}", dist(session)?.join("bin/mpicc").display()));
        run(session, configure.current_dir(&source), "p4est-configure", BUILD_LIMIT, true)?;
    }
    make(session, &source.join("sc"), &["src/libsc.la"], "p4est-sc")?;
    make(session, &source, &["src/libp4est.la", &format!("test/{program}")], &format!("p4est-{program}"))?;
    let files = session.scratch().join(format!("file-libraries/p4est-{program}-{ranks}"));
    shell::folder(&files)?;
    let mut job = Command::new(dist(session)?.join("bin/mpirun"));
    job.arg("-n").arg(ranks.to_string()).arg(source.join("test").join(program));
    run(session, job.current_dir(&files), &format!("{program}@{ranks}"), RUN_LIMIT, true)
}

/// Small programs: several variables and requests at once, an argument that is wrong on one rank, parts of records.
const PNETCDF_SAMPLE: &[(&str, u32)] =
    &[("collective_error", 4), ("nonblocking", 4), ("flexible_varm", 2), ("varn_int", 4), ("record", 1)];
const HDF5_PROGRAMS: &[&str] = &[
    "t_mpi",
    "testphdf5",
    "t_shapesame",
    "t_pread",
    "t_pshutdown",
    "t_prestart",
    "t_init_term",
    "t_filters_parallel",
    "t_bigio",
];
const PNETCDF: DebianSource = DebianSource {
    release: None,
    package: "pnetcdf",
    archive: "pnetcdf_1.12.3.orig.tar.xz",
    sha256: "8f54023ffbbd3c8137e5422b44e32324113d5690f1da0cb7ecd5842c2de850a9",
    folder: "pnetcdf-1.12.3",
};
const HDF5: DebianSource = DebianSource {
    release: None,
    package: "hdf5",
    archive: "hdf5_1.10.8+repack1.orig.tar.gz",
    sha256: "7b38e58ff83b13fd8959a90b13bf896bc318ba096c940ab0847abf3ad41a0b31",
    folder: "hdf5-1.10.8+repack1",
};
/// Those of its run_par_test.sh, but for what wants 16 ranks.
const NETCDF_PROGRAMS: &[(&str, u32)] = &[
    ("tst_mode", 1),
    ("tst_mpi_parallel", 4),
    ("tst_parallel", 4),
    ("tst_parallel3", 4),
    ("tst_parallel4", 1),
    ("tst_parallel4", 2),
    ("tst_parallel4", 4),
    ("tst_parallel5", 4),
    ("tst_nc4perf", 4),
    ("tst_simplerw_coll_r", 2),
    ("tst_parallel_zlib", 4),
    ("tst_parallel_compress", 4),
    ("tst_quantize_par", 4),
];
const NETCDF: DebianSource = DebianSource {
    release: None,
    package: "netcdf",
    archive: "netcdf_4.9.0.orig.tar.gz",
    sha256: "9f4cb864f3ab54adb75409984c6202323d2fc66c003e5308f3cdf224ed41c0a6",
    folder: "netcdf-c-4.9.0",
};
const P4EST: DebianSource = DebianSource {
    release: None,
    package: "p4est",
    archive: "p4est_2.2.orig.tar.xz",
    sha256: "f09a799d99e541c8f06a9ad3f1e7dc74362ad96a7938a69c7fbd4103516f86c9",
    folder: "p4est-2.2",
};
const BUILD_LIMIT: Duration = Duration::from_secs(1800);
const RUN_LIMIT: Duration = Duration::from_secs(900);
const H5PY_SITE: &str = "import sysconfig; print(sysconfig.get_path('platlib'))";
const H5PY_ARCHIVE: &str = "h5py-3.13.0.tar.gz";
const H5PY_REQUIREMENTS: &str =
    "h5py==3.13.0 --hash=sha256:1870e46518720023da85d0895a1960ff2ce398c5671eac3b1a41ec696b7105c3\n";
const H5PY_TOOLS: &[&str] =
    &["numpy==2.2.6", "cython==3.0.12", "pkgconfig==1.6.0", "setuptools==65.5.0", "wheel==0.48.0"];
