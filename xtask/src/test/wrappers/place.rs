//! Where a test of the wrappers works: the library, and a folder of its own with a program in C and in C++.

use crate::failure::{At, Result, fail};
use crate::shell;
use crate::test::{Session, Verdict, deadline, programs};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The library, and a folder of this test's own with a C program in it.
#[derive(Debug)]
pub struct Place {
    /// The product.
    pub dist: PathBuf,
    /// Where the test works.
    pub folder: PathBuf,
}

impl Place {
    /// An empty folder but for the program; what an earlier call left must not stand for what this one makes.
    pub fn new(session: &mut Session, name: &str) -> Result<Place> {
        let dist = session.library().map_err(fail)?.dist;
        let folder = session.scratch().join("wrappers").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        shell::write(&folder.join("ring.c"), RING_C)?;
        shell::write(&folder.join("ring.cc"), RING_C)?;
        shell::write(&folder.join("ring.f90"), RING_FORTRAN)?;
        Ok(Place { dist, folder })
    }

    /// A program of the product, run in the folder.
    pub fn tool(&self, name: &str, arguments: &[&str]) -> Command {
        self.command(&self.dist.join("bin").join(name).to_string_lossy(), arguments)
    }

    /// Any program, run in the folder.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        programs::own_choice(&mut command);
        command
    }

    /// Runs a finished program on two ranks: it must send its ring with this library.
    pub fn runs(&self, program: &str) -> Result<Verdict> {
        let ended = self.mpirun(&["-n", "2", &format!("./{program}")])?;
        Ok(match ended.ended_with(0) && ended.out.lines().any(|line| line.starts_with("ring of 2: ompi-rs ")) {
            true => Verdict::Passed(String::new()),
            false => Verdict::Failed(ended.story()),
        })
    }

    /// A job.
    pub fn mpirun(&self, arguments: &[&str]) -> Result<deadline::Ended> {
        deadline::run(&mut self.tool("mpirun", arguments), RUN_LIMIT, &self.folder.join("log"))
    }

    /// Whether the folder has such a file.
    pub fn exists(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// Whether a file contains these bytes: a name that the dynamic linker is to look for.
    pub fn mentions(&self, name: &str, text: &str) -> Result<bool> {
        let data = std::fs::read(self.folder.join(name)).at(format!("read {name}"))?;
        Ok(data.windows(text.len()).any(|window| window == text.as_bytes()))
    }
}

/// For what takes a second on a quiet machine.
pub const RUN_LIMIT: Duration = Duration::from_secs(60);
const RING_C: &str = include_str!("ring.c");
const RING_FORTRAN: &str = include_str!("ring.f90");
