//! Where this library is installed, and the flags that lead a compiler there.

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
    pub fn compile_flags(&self) -> Vec<String> {
        vec![format!("-I{}", self.include())]
    }

    /// The library by its path: `-lmpi_abi` would find the shared one beside the archive. CMake knows it by `.a` or `.so`.
    pub fn link_flags(&self, library: Library) -> Vec<String> {
        match library {
            Library::Static => vec![format!("{}/libmpi_abi.a", self.lib()), "-pthread".to_owned()],
            Library::Shared => {
                vec![
                    format!("{}/libmpi_abi.so", self.lib()),
                    format!("-Wl,-rpath,{}", self.lib()),
                    "-pthread".to_owned(),
                ]
            }
        }
    }
}

/// Which form of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `libmpi_abi.a`, the default.
    Static,
    /// `libmpi_abi.so.1`.
    Shared,
}
