//! From rustc's archive to the two forms of the library that users link.
//!
//! rustc's archive holds the Rust runtime's symbols, which would meet a second copy in any Rust program. So: one
//! relocatable object of what the C names reach, every other symbol made local, and that object alone in the archive.

use crate::failure::{At, Result, fail};
use crate::shell;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where and what to link.
#[derive(Debug)]
pub struct Link<'a> {
    /// What the libraries are called.
    pub files: &'a Files,
    /// Objects of other compilers that go in as they are.
    pub objects: &'a [PathBuf],
    /// For files on the way.
    pub folder: &'a Path,
    /// The C names to keep.
    pub names: &'a BTreeSet<String>,
    /// Keep line tables.
    pub debug: bool,
    /// Show commands.
    pub verbose: bool,
}

/// The names of a library.
#[derive(Debug)]
pub struct Files {
    /// The archive.
    pub archive: &'static str,
    /// The shared library, and its soname.
    pub shared: &'static str,
    /// What `-l` finds.
    pub link: &'static str,
    /// Whether it uses libmpi_abi, which lies beside it.
    pub over_mpi: bool,
}

/// C's library.
pub const MPI: Files = Files { archive: STATIC, shared: SHARED, link: "libmpi_abi.so", over_mpi: false };
/// Fortran's, over it.
pub const FORTRAN: Files = Files {
    archive: "libmpi_abi_fortran.a",
    shared: "libmpi_abi_fortran.so.1",
    link: "libmpi_abi_fortran.so",
    over_mpi: true,
};

/// The file name of the shared library, and its soname: the standard ABI's first version.
pub const SHARED: &str = "libmpi_abi.so.1";
/// The file name of the archive.
pub const STATIC: &str = "libmpi_abi.a";

impl Link<'_> {
    /// Makes archive and shared library in `into` from rustc's archive.
    pub fn libraries(&self, from: &Path, into: &Path) -> Result<()> {
        shell::folder(into)?;
        let object = self.one_object(from)?;
        self.localize(&object)?;
        self.archive(&object, &into.join(self.files.archive))?;
        self.shared(&object, &into.join(self.files.shared))
    }

    /// Links what the names reach into one relocatable object.
    fn one_object(&self, from: &Path) -> Result<PathBuf> {
        let object = self.folder.join(self.files.archive).with_extension("o");
        // A name that the archive lacks must not become an undefined symbol of every user's program.
        let have = defined_in_archive(from)?;
        let arguments = self.folder.join("names.ld");
        let wanted = self.names.intersection(&have).map(|name| format!("-u {name}\n")).collect::<String>();
        shell::write(&arguments, &wanted)?;
        let mut ld = Command::new(linker());
        ld.args(["-r", "--force-group-allocation", "--gc-sections", "-z", "noexecstack"]);
        ld.arg(format!("@{}", arguments.display())).arg("--whole-archive").arg(from).arg("-o").arg(&object);
        shell::run(&mut ld, self.verbose)?;
        Ok(object)
    }

    /// Makes every symbol but the C names local and drops the compiler's intermediate code.
    fn localize(&self, object: &Path) -> Result<()> {
        let keep = self.folder.join("names.keep");
        shell::write(&keep, &self.names.iter().map(|name| format!("{name}\n")).collect::<String>())?;
        let mut objcopy = Command::new("objcopy");
        objcopy.args(["-R", ".llvmbc", "-R", ".llvmcmd"]);
        if !self.debug {
            objcopy.arg("--strip-debug");
        }
        objcopy.arg(format!("--keep-global-symbols={}", keep.display())).arg(object);
        shell::run(&mut objcopy, self.verbose)
    }

    fn archive(&self, object: &Path, into: &Path) -> Result<()> {
        // `ar` adds to an archive that is there.
        if into.exists() {
            std::fs::remove_file(into).at(format!("remove {}", into.display()))?;
        }
        shell::run(Command::new("ar").arg("crsD").arg(into).arg(object).args(self.objects), self.verbose)
    }

    fn shared(&self, object: &Path, into: &Path) -> Result<()> {
        let map = self.folder.join("names.map");
        let names = self.names.iter().map(|name| format!("{name};")).collect::<String>();
        // What gfortran and flang make of constants of derived types in modules.
        let modules = if self.objects.is_empty() { "" } else { "__*_MOD_*; _QM*;" };
        shell::write(&map, &format!("{{ global: {names}{modules} local: *; }};\n"))?;
        let mut gcc = Command::new("gcc");
        gcc.arg("-shared")
            .arg("-pthread")
            .arg(format!("-Wl,-soname,{}", self.files.shared))
            .arg("-o")
            .arg(into)
            .arg(object)
            .args(self.objects);
        gcc.arg(format!("-Wl,--version-script={}", map.display()));
        gcc.args([
            // Relocations of the library's own addresses as bitmaps: a hundredth of their bytes. Linkers that do not know of it say so and go on.
            "-Wl,-z,defs,-z,relro,-z,now,-z,noexecstack,-z,pack-relative-relocs",
            "-Wl,--gc-sections,-O1,--hash-style=gnu,--build-id=sha1",
        ]);
        if self.files.over_mpi {
            let lib = into.parent().unwrap_or(into);
            gcc.arg("-L").arg(lib).arg("-lmpi_abi").arg("-Wl,-rpath,$ORIGIN");
        }
        shell::run(&mut gcc, self.verbose)?;
        let link = into.with_file_name(self.files.link);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(self.files.shared, &link).at(format!("create {}", link.display()))
    }
}

/// The global symbols that the members of an archive define.
pub fn defined_in_archive(path: &Path) -> Result<BTreeSet<String>> {
    let data = std::fs::read(path).at(format!("read {}", path.display()))?;
    let archive = ArchiveFile::parse(&*data).at(format!("read {}", path.display()))?;
    let mut names = BTreeSet::new();
    for member in archive.members() {
        let bytes = member.and_then(|member| member.data(&*data)).at(format!("read {}", path.display()))?;
        // rustc also puts its metadata into the archive, which is no object.
        if let Ok(object) = object::File::parse(bytes) {
            let global = object.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
            names.extend(global.filter_map(|symbol| symbol.name().ok().map(str::to_owned)));
        }
    }
    Ok(names)
}

/// The symbols that a shared library defines for others.
pub fn defined_in_shared(path: &Path) -> Result<BTreeSet<String>> {
    let data = std::fs::read(path).at(format!("read {}", path.display()))?;
    let object = object::File::parse(&*data).at(format!("read {}", path.display()))?;
    let defined = object.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    Ok(defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect())
}

/// Asks for the programs that the pipeline needs before anything is compiled.
pub fn check_tools() -> Result<()> {
    for tool in ["gcc", "objcopy", "ar"] {
        if shell::which(tool).is_none() {
            return Err(fail(format!("`{tool}` is not in PATH; install gcc and binutils")));
        }
    }
    Ok(())
}

/// GNU ld under its own name where the system's `ld` may be another: only it knows `--force-group-allocation`.
fn linker() -> &'static str {
    if shell::which("ld.bfd").is_some() { "ld.bfd" } else { "ld" }
}
