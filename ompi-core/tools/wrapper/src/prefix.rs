//! Where this library is installed, and the flags that lead a compiler there.

use crate::language::{Language, words};
use std::path::{Path, PathBuf};

/// Where this library is installed.
#[derive(Debug)]
pub struct Prefix(pub PathBuf);

impl Prefix {
    /// Two folders above this program, whatever link it was called by.
    pub fn find() -> Result<Prefix, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find my own path: {error}"))?;
        let prefix = program.parent().and_then(Path::parent).ok_or("my own path has no folder above bin")?;
        Ok(Prefix(prefix.to_path_buf()))
    }

    /// The folder of `mpi.h`.
    pub fn include(&self) -> String {
        format!("{}/include", self.0.display())
    }

    /// The folder of the archive and the shared library.
    pub fn lib(&self) -> String {
        format!("{}/lib", self.0.display())
    }

    /// What compiling needs.
    pub fn compile_flags(&self, language: Language) -> Vec<String> {
        let modules = (language == Language::Fortran).then(|| format!("-I{}/fortran", self.lib()));
        let own = [format!("-I{}", self.include())].into_iter().chain(modules);
        own.chain(words(&language.flag_variables())).collect()
    }

    /// The compiler that made the modules; nothing where the library was built without Fortran.
    pub fn fortran_compiler(&self) -> Option<String> {
        let name = std::fs::read_to_string(self.share("fortran")).ok()?;
        Some(name.trim().to_owned())
    }

    /// What linking needs. Build systems understand it: Meson keeps `-L`, `-l` and `-Wl` alone. The archive stands there by its
    /// path, because `-lmpi_abi` finds the shared library beside it; its program shows its MPI functions to its plug-ins.
    pub fn link_flags(&self, language: Language, library: Library, is_static: bool) -> Vec<String> {
        let own = self.link_own(language, library, is_static);
        [words(&["OMPI_LDFLAGS"]), own, words(&["OMPI_LIBS"])].concat()
    }

    fn link_own(&self, language: Language, library: Library, is_static: bool) -> Vec<String> {
        let mut flags = self.link_c(library, is_static);
        if language == Language::Fortran {
            let own = match library {
                Library::Shared => "-lmpi_abi_fortran".to_owned(),
                Library::Static => format!("{}/libmpi_abi_fortran.a", self.lib()),
                Library::OfTheProgram => return flags,
            };
            // Before the library of C, which it uses.
            let at = if library == Library::Shared { flags.len() - 1 } else { 0 };
            flags.insert(at, own);
            if is_static {
                flags.insert(0, format!("-Wl,{}", WEAK_IN_GFORTRAN.map(|name| format!("-u,{name}")).join(",")));
            }
        }
        flags
    }

    fn link_c(&self, library: Library, is_static: bool) -> Vec<String> {
        let lib = self.lib();
        match library {
            Library::Shared => vec![format!("-L{lib}"), format!("-Wl,-rpath,{lib}"), "-lmpi_abi".to_owned()],
            Library::Static if is_static => vec![format!("{lib}/libmpi_abi.a"), "-pthread".to_owned()],
            Library::Static => {
                let list = format!("-Wl,--dynamic-list={}", self.share("mpi.list"));
                vec![format!("{lib}/libmpi_abi.a"), list, "-pthread".to_owned()]
            }
            Library::OfTheProgram => Vec::new(),
        }
    }

    /// The form to link where the command line does not name one: OMPI_RS_LINK, else the word that `cargo xtask build --link`
    /// left.
    pub fn library(&self) -> Result<Library, String> {
        match std::env::var("OMPI_RS_LINK") {
            Ok(word) if !word.is_empty() => Library::named(&word, "OMPI_RS_LINK"),
            _ => {
                let file = self.share("link");
                let word = std::fs::read_to_string(&file).map_err(|error| {
                    format!("{file} cannot be read ({error}); the installation is not complete: build it again")
                })?;
                Library::named(word.trim(), &file)
            }
        }
    }

    fn share(&self, file: &str) -> String {
        format!("{}/share/ompi-rs/{file}", self.0.display())
    }
}

/// What libgfortran.a refers to weakly. It takes threads for real when it finds one of them, and calls the others: in a static program
/// all must be there, and a weak reference takes nothing out of an archive.
const WEAK_IN_GFORTRAN: [&str; 16] = [
    "pthread_cond_broadcast",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_getspecific",
    "pthread_join",
    "pthread_key_create",
    "pthread_key_delete",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_self",
    "pthread_setspecific",
];

/// Which form of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `libmpi_abi.a`.
    Static,
    /// `libmpi_abi.so.1`, the default.
    Shared,
    /// None: a plug-in for programs that hold the archive takes the functions of its program.
    OfTheProgram,
}

impl Library {
    /// By the word that OMPI_RS_LINK or the file of `cargo xtask build --link` holds; `source` names which of them.
    pub fn named(word: &str, source: &str) -> Result<Library, String> {
        match word {
            "static" => Ok(Library::Static),
            "shared" => Ok(Library::Shared),
            other => Err(format!("{source} says `{other}`, which is neither `static` nor `shared`")),
        }
    }
}
