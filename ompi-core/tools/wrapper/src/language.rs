//! Which compiler.

use std::path::PathBuf;

/// What is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// mpicc.
    C,
    /// mpicxx, mpic++, mpiCC.
    Cplusplus,
}

impl Language {
    /// By the name the program was called by.
    pub fn of(name: &str) -> Language {
        match name.contains("++") || name.contains("cxx") || name.contains("CC") {
            true => Language::Cplusplus,
            false => Language::C,
        }
    }

    /// What users of Open MPI and of MPICH set to take another compiler; the first one wins.
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Language::C => &["OMPI_CC", "MPICC_CC", "MPICH_CC"],
            Language::Cplusplus => &["OMPI_CXX", "MPICXX_CXX", "MPICH_CXX"],
        }
    }

    /// The compiler and flags that belong to it: from the command line, the environment, or GNU's.
    pub fn compiler(self, named: Option<&str>) -> Result<Vec<String>, String> {
        let variables = self.variables().iter();
        let set =
            variables.filter_map(|name| Some((*name, std::env::var(name).ok()?))).find(|(_, value)| !value.is_empty());
        let (source, text) = match (named, set) {
            (Some(named), _) => ("-cc=", named.to_owned()),
            (None, Some(set)) => set,
            (None, None) => ("default", if self == Language::C { "gcc".to_owned() } else { "g++".to_owned() }),
        };
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match words.is_empty() {
            true => Err(format!("{source} names no compiler; write for example {source}clang")),
            false => Ok(words),
        }
    }
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
        assert_eq!(Language::of("mpicc"), Language::C);
    }
}
