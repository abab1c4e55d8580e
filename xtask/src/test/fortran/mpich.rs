//! MPICH's own tests of its Fortran interfaces, compiled by our mpifort: mpif.h in fixed source form, and mpi_f08. Only in the full tier.
//!
//! They are made without MPICH's configure, which would compile a test of C for each: the kinds of integers that it writes into a few
//! headers are known here.

use super::wrapper::{ABSENT, wrapper};
use crate::failure::{At, Result, fail};
use crate::shell;
use crate::test::debian::MPICH;
use crate::test::programs::{launch, own_choice};
use crate::test::{Session, Verdict};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `fortran/mpich-…`: a case for each interface.
pub fn cases(session: &mut Session) {
    if !session.options.all {
        return;
    }
    for (interface, util) in [("f77", "mtest_f77.f"), ("f08", "mtest_f08.f90")] {
        session.case(&format!("fortran/mpich-{interface}"), |session| {
            if shell::which("gfortran").is_none() {
                return Verdict::Skipped(ABSENT.to_owned());
            }
            match MPICH.unpacked(&session.tree.target) {
                Ok(source) => {
                    Suite { tests: source.join("test/mpi"), interface }.run(session, util).unwrap_or_else(Verdict::from)
                }
                Err(verdict) => verdict,
            }
        });
    }
}

struct Suite {
    tests: PathBuf,
    interface: &'static str,
}

impl Suite {
    fn run(&self, session: &mut Session, util: &str) -> Result<Verdict> {
        let scratch = session.scratch().join("fortran/mpich").join(self.interface);
        shell::folder(&scratch)?;
        shell::write(&self.tests.join("include/mpitestconf.h"), "")?;
        self.headers()?;
        let harness = scratch.join("mtest.o");
        let mut command = wrapper(session)?;
        command
            .current_dir(&scratch)
            .args(["-w", "-c"])
            .arg(self.tests.join("util").join(util))
            .arg("-o")
            .arg(&harness);
        shell::run(&mut command, false)?;
        let (mut passed, mut failed) = (0, Vec::new());
        for (folder, name, ranks) in self.list()? {
            let test = format!("{}/{name}", folder.file_name().unwrap_or_default().to_string_lossy());
            if LEFT_OUT.iter().any(|(left, _)| *left == name) {
                continue;
            }
            match self.one(session, (&folder, &name, ranks), &scratch, &harness) {
                Ok(None) => passed += 1,
                Ok(Some(why)) => failed.push(format!("{test}: {why}")),
                Err(failure) => failed.push(format!("{test}: {}", failure.text)),
            }
        }
        match failed.is_empty() && passed > 60 {
            true => Ok(Verdict::Passed(format!("{passed} programs; {} left out", LEFT_OUT.len()))),
            false => Ok(Verdict::Failed(format!("{passed} programs passed\n{}", failed.join("\n")))),
        }
    }

    /// The folder, name and ranks of each program whose source is there.
    fn list(&self) -> Result<Vec<(PathBuf, String, u32)>> {
        let mut all = Vec::new();
        let root = self.tests.join(self.interface);
        for entry in std::fs::read_dir(&root).at(format!("list {}", root.display()))?.flatten() {
            // They spawn programs that are not built here.
            if entry.file_name() == "spawn" {
                continue;
            }
            let lists = ["testlist", "testlist.in"].map(|name| std::fs::read_to_string(entry.path().join(name)));
            for line in lists.into_iter().flatten().flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            {
                let mut words = line.split_whitespace();
                let (Some(name), Some(ranks)) = (words.next(), words.next()) else { continue };
                if let (Ok(ranks), true) = (ranks.parse(), source(&entry.path(), name).is_some()) {
                    all.push((entry.path(), name.to_owned(), ranks));
                }
            }
        }
        all.sort();
        Ok(all)
    }

    /// What went wrong, if anything did.
    fn one(
        &self,
        session: &mut Session,
        (folder, name, ranks): (&Path, &str, u32),
        scratch: &Path,
        harness: &Path,
    ) -> Result<Option<String>> {
        let source = source(folder, name).ok_or_else(|| fail("its source is gone"))?;
        let program = scratch.join(name);
        let mut command = wrapper(session)?;
        command.current_dir(scratch).args(["-w", "-fallow-argument-mismatch", "-I"]).arg(folder);
        command.arg("-I").arg(self.tests.join(self.interface).join("attr")).arg(&source);
        for other in self.others(folder, name)? {
            match other.extension().is_some_and(|extension| extension == "c") {
                true => command.arg(self.in_c(session, &other, scratch)?),
                false => command.arg(other),
            };
        }
        let outcome = shell::outcome(command.arg(harness).arg("-o").arg(&program), LIMIT)?;
        if !outcome.status.success() {
            return Ok(Some(format!("does not compile: {}", outcome.stderr)));
        }
        let ended = launch(session, &program, ranks, &[], LIMIT)?;
        let right = ended.ended_with(0) && ended.out.contains("No Errors");
        Ok((!right).then(|| ended.story()))
    }

    /// The other sources of a program, from the Makefile.
    fn others(&self, folder: &Path, name: &str) -> Result<Vec<PathBuf>> {
        let makefile = shell::read(&folder.join("Makefile.am"))?;
        let entries = makefile.lines().filter_map(|line| line.split_once('='));
        let mut entries = entries.filter(|(entry, _)| entry.trim().strip_suffix("_SOURCES") == Some(name));
        let line = entries.next().map_or("", |(_, files)| files);
        let files = line.split_whitespace().filter(|file| Path::new(file).file_stem().is_some_and(|stem| stem != name));
        Ok(files.map(|file| folder.join(file)).collect())
    }

    fn in_c(&self, session: &mut Session, source: &Path, scratch: &Path) -> Result<PathBuf> {
        let object = scratch.join(source.file_name().unwrap_or_default()).with_extension("c.o");
        let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpicc"));
        own_choice(&mut command);
        command
            .args(["-w", "-DF77_NAME_LOWER_USCORE", "-DHAVE_STDLIB_H", "-DHAVE_STRING_H", "-I"])
            .arg(self.tests.join("include"));
        shell::run(command.arg("-c").arg(source).arg("-o").arg(&object), false)?;
        Ok(object)
    }

    /// Headers that configure would complete.
    fn headers(&self) -> Result<()> {
        for folder in ["attr", "datatype", "ext", "io", "pt2pt", "rma"] {
            let folder = self.tests.join(self.interface).join(folder);
            for entry in std::fs::read_dir(&folder).at(format!("list {}", folder.display()))?.flatten() {
                let path = entry.path();
                if path.to_string_lossy().ends_with(".h.in") {
                    let text = shell::read(&path)?;
                    let text = text.replace("@F77_MPI_ADDRESS@", "integer*8").replace("@F77_MPI_OFFSET@", "integer*8");
                    shell::write(&path.with_extension(""), &text)?;
                }
            }
        }
        Ok(())
    }
}

fn source(folder: &Path, name: &str) -> Option<PathBuf> {
    ["f", "f90"].iter().map(|end| folder.join(format!("{name}.{end}"))).find(|path| path.is_file())
}

/// Programs that ask for something else than MPI 5.0, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("typecntsf", "combiners that MPI 3.0 removed"),
    ("allctypesf", "asks for the names of MPI_UB and MPI_LB, which MPI 3.0 removed"),
    ("allctypesf08", "MPI_UB and MPI_LB, which MPI 3.0 removed and mpi_f08 never had"),
    ("baseenvf", "knows versions of MPI up to 4"),
    ("baseenvf90", "the same"),
    ("aintf", "declares MPI_AINT_ADD, which mpif.h declares"),
    ("c2f2cf90", "configure makes one of its sources"),
    ("ctypesinf90", "the same"),
    ("c2f2ciof90", "the same"),
];

const LIMIT: Duration = Duration::from_secs(120);
