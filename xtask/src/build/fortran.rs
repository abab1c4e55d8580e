//! Fortran's part of the product: libmpi_abi_fortran, mpif.h, and the modules, which only the user's compiler can make.

use crate::build::archive::{FORTRAN, Link};
use crate::build::compile::{Call, Flags};
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler, and what it compiles.
#[derive(Debug)]
pub struct Fortran<'a> {
    tree: &'a Tree,
    /// As the command line names it.
    pub compiler: String,
    folder: PathBuf,
}

impl<'a> Fortran<'a> {
    /// The compiler that was named, or gfortran where it is installed; nothing where neither is there.
    pub fn find(tree: &'a Tree, named: Option<&str>) -> Result<Option<Fortran<'a>>> {
        let compiler = named.unwrap_or("gfortran");
        if compiler == "none" || tree.package(PACKAGE).is_none() {
            return Ok(None);
        }
        if shell::which(compiler).is_none() {
            return match named {
                Some(_) => {
                    Err(fail(format!("--fortran {compiler}: there is no such program in PATH; install gfortran")))
                }
                None => Ok(None),
            };
        }
        let folder = tree.folder(PACKAGE)?.to_path_buf();
        Ok(Some(Fortran { tree, compiler: compiler.to_owned(), folder }))
    }

    /// Compiles the procedures to one static archive with Rust's own symbols still in it.
    pub fn archive(&self, progress: &Progress) -> Result<PathBuf> {
        let manifest = self.tree.root.join("Cargo.toml");
        let call = Call { tree: self.tree, manifest: &manifest, profile: "release", flags: Flags::none() };
        call.archive(PACKAGE, "runtime", progress)
    }

    /// Puts libraries, mpif.h and modules into `stage`, whose `lib` has the library of C; `folder` is for files on the way.
    pub fn install(&self, raw: &Path, folder: &Path, stage: &Path, (debug, verbose): (bool, bool)) -> Result<()> {
        let names = shell::read(&self.folder.join("exports.txt"))?.lines().map(str::to_owned).collect();
        let folder = folder.join("fortran");
        shell::folder(&folder)?;
        shell::write(&stage.join("include/mpif.h"), &shell::read(&self.folder.join("include/mpif.h"))?)?;
        let modules = stage.join("lib/fortran");
        shell::folder(&modules)?;
        let mut objects = Vec::new();
        for name in MODULES {
            let object = folder.join(name).with_extension("o");
            let mut compiler = Command::new(&self.compiler);
            compiler.args(["-O1", "-fPIC", "-c"]).arg(self.folder.join("modules").join(name)).arg("-o").arg(&object);
            compiler.arg("-I").arg(&modules).arg(if self.is_gnu() { "-J" } else { "-module-dir" }).arg(&modules);
            shell::run(&mut compiler, verbose)?;
            objects.push(object);
        }
        let link = Link { files: &FORTRAN, objects: &objects, folder: &folder, names: &names, debug, verbose };
        link.libraries(raw, &stage.join("lib"))?;
        shell::write(&stage.join("share/ompi-rs/fortran"), &format!("{}\n", self.compiler))
    }

    /// What the product is made of beside the archive.
    pub fn sources(&self) -> Vec<PathBuf> {
        let modules = MODULES.iter().map(|name| self.folder.join("modules").join(name));
        modules.chain(["include/mpif.h", "exports.txt"].map(|name| self.folder.join(name))).collect()
    }

    fn is_gnu(&self) -> bool {
        Path::new(&self.compiler).file_name().is_some_and(|name| name.to_string_lossy().contains("gfortran"))
    }
}

const PACKAGE: &str = "ompi-fortran";

/// In the order in which they use each other.
pub const MODULES: [&str; 4] = ["ompi_types.f90", "ompi_callbacks.f90", "mpi.f90", "mpi_f08.f90"];
