//! Which compiler.

use std::path::PathBuf;

/// What is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// mpicc.
    C,
    /// mpicxx, mpic++, mpiCC.
    Cplusplus,
    /// mpifort, mpif90, mpif77.
    Fortran,
}

impl Language {
    /// By the name the program was called by.
    pub fn of(name: &str) -> Language {
        match name {
            name if name.starts_with("mpif") => Language::Fortran,
            name if ["++", "cxx", "CC"].iter().any(|end| name.contains(end)) => Language::Cplusplus,
            _ => Language::C,
        }
    }

    /// What users of Open MPI and of MPICH set to take another compiler; the first one wins.
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Language::C => &["OMPI_CC", "MPICC_CC", "MPICH_CC"],
            Language::Cplusplus => &["OMPI_CXX", "MPICXX_CXX", "MPICH_CXX"],
            Language::Fortran => &["OMPI_FC", "MPIFORT_FC", "MPICH_FC", "OMPI_F77", "MPICH_F90", "MPICH_F77"],
        }
    }

    /// What users of Open MPI set to have flags added: for compiling.
    pub fn flag_variables(self) -> [&'static str; 2] {
        let own = match self {
            Language::C => "OMPI_CFLAGS",
            Language::Cplusplus => "OMPI_CXXFLAGS",
            Language::Fortran => "OMPI_FCFLAGS",
        };
        ["OMPI_CPPFLAGS", own]
    }

    /// The compiler and flags that belong to it: from the command line, the environment, the one that made the modules of Fortran,
    /// or GNU's.
    pub fn compiler(self, named: Option<&str>, of_modules: Option<String>) -> Result<Vec<String>, String> {
        let variables = self.variables().iter();
        let set =
            variables.filter_map(|name| Some((*name, std::env::var(name).ok()?))).find(|(_, value)| !value.is_empty());
        let (source, text) = match (named, set) {
            (Some(named), _) => ("-cc=", named.to_owned()),
            (None, Some(set)) => set,
            (None, None) => ("default", self.default_compiler(of_modules)),
        };
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match words.is_empty() {
            true if self == Language::Fortran => {
                Err(format!("{source} names no compiler; write for example {source}gfortran"))
            }
            true => Err(format!("{source} names no compiler; write for example {source}clang")),
            false => Ok(words),
        }
    }

    fn default_compiler(self, of_modules: Option<String>) -> String {
        match self {
            Language::C => "gcc".to_owned(),
            Language::Cplusplus => "g++".to_owned(),
            Language::Fortran => of_modules.unwrap_or_else(|| "gfortran".to_owned()),
        }
    }
}

/// The words of variables that may be set.
pub fn words(variables: &[&str]) -> Vec<String> {
    let set = variables.iter().filter_map(|name| std::env::var(name).ok());
    set.flat_map(|value| value.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// A wrapper that calls itself would do so for ever.
pub fn refuse_myself(compiler: &str) -> Result<(), String> {
    let path = match compiler.contains('/') {
        true => Some(PathBuf::from(compiler)),
        false => std::env::var_os("PATH").and_then(|all| {
            std::env::split_paths(&all).map(|folder| folder.join(compiler)).find(|path| path.is_file())
        }),
    };
    let me = std::env::current_exe().ok();
    match path.and_then(|path| path.canonicalize().ok()) {
        Some(path) if Some(&path) == me.as_ref() => {
            Err(format!("`{compiler}` is this wrapper itself; name the compiler behind it, such as OMPI_CC=gcc"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name() {
        for name in ["mpicxx", "mpic++", "mpiCC"] {
            assert_eq!(Language::of(name), Language::Cplusplus);
        }
        for name in ["mpifort", "mpif90", "mpif77"] {
            assert_eq!(Language::of(name), Language::Fortran);
        }
        assert_eq!(Language::of("mpicc"), Language::C);
    }
}
