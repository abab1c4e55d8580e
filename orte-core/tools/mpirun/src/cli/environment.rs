//! Environment variables: those that the ranks of a program get (`-x` and its relatives), and those that replace options.

use super::options::Options;
use crate::refusal::Refusal;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// How the environment of a program's ranks differs from mpirun's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// They begin with none of mpirun's variables.
    pub is_empty: bool,
    /// Set, or with `None` taken away, in this order.
    pub changes: Vec<(OsString, Option<OsString>)>,
}

impl Environment {
    /// The last value that a variable gets here; `None` if nothing is said of it.
    pub fn value(&self, name: &str) -> Option<&OsStr> {
        self.changes.iter().rev().find(|(set, _)| set == name)?.1.as_deref()
    }

    /// Reads the options of one program; `whole` are those of all programs together.
    pub fn new(whole: &Options, own: &Options, notes: &mut Vec<String>) -> Result<Environment, Refusal> {
        let list = own.envlist.as_deref().or(whole.genvlist.as_deref().filter(|_| !own.envall));
        let none = own.envnone || (whole.genvnone && !own.envall);
        let mut environment = Environment { is_empty: none || list.is_some(), changes: Vec::new() };
        for name in list.into_iter().flat_map(|list| list.split(',')).filter(|name| !name.is_empty()) {
            environment.pass(name.as_ref(), "--envlist", notes)?;
        }
        for pair in whole.genv.chunks_exact(2) {
            environment.set("--genv", &pair[0], &pair[1])?;
        }
        for pair in own.env.chunks_exact(2) {
            environment.set("--env", &pair[0], &pair[1])?;
        }
        for word in &own.x {
            environment.pass(word, "-x", notes)?;
        }
        for name in &own.unset_env {
            let names = matching(name.as_ref());
            environment.changes.extend(names.into_iter().map(|(name, _)| (name, None)));
        }
        for (pairs, in_front) in [(&own.prepend_env, true), (&own.append_env, false)] {
            for pair in pairs.chunks_exact(2) {
                environment.join(&pair[0], &pair[1], in_front)?;
            }
        }
        Ok(environment)
    }

    fn set(&mut self, option: &str, name: &OsStr, value: &OsStr) -> Result<(), Refusal> {
        check(option, name, name)?;
        self.changes.push((name.to_owned(), Some(value.to_owned())));
        Ok(())
    }

    /// `NAME=value`, `NAME` or `NAME*`. One that is not set is noted, and no failure.
    fn pass(&mut self, word: &OsStr, option: &str, notes: &mut Vec<String>) -> Result<(), Refusal> {
        let bytes = word.as_bytes();
        if let Some(at) = bytes.iter().position(|byte| *byte == b'=') {
            let (name, value) = (OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]));
            check(option, name, word)?;
            return self.set(option, name, value);
        }
        check(option, word, word)?;
        let found = matching(word);
        if found.is_empty() {
            let note = format!("{option} {}: the variable is not set here, so the ranks do not get it", word.display());
            notes.extend((!notes.contains(&note)).then_some(note));
        }
        self.changes.extend(found.into_iter().map(|(name, value)| (name, Some(value))));
        Ok(())
    }

    /// `--prepend-env` and `--append-env`.
    fn join(&mut self, typed: &OsStr, value: &OsStr, in_front: bool) -> Result<(), Refusal> {
        let text = typed.to_string_lossy();
        let (name, separator) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((name, separator)) => (name, separator),
            None => (text.as_ref(), ":"),
        };
        let option = if in_front { "--prepend-env" } else { "--append-env" };
        check(option, name.as_ref(), typed)?;
        let before = self.value(name).map(OsStr::to_owned).or_else(|| std::env::var_os(name)).unwrap_or_default();
        let parts = if in_front { [value, &before] } else { [&before, value] };
        let separator = if before.is_empty() { "" } else { separator };
        let mut joined = parts[0].to_owned();
        joined.push(separator);
        joined.push(parts[1]);
        self.changes.push((name.into(), Some(joined)));
        Ok(())
    }
}

/// The variables of mpirun's own that a name, or the beginning of one before `*`, stands for.
fn matching(word: &OsStr) -> Vec<(OsString, OsString)> {
    match word.as_bytes().strip_suffix(b"*") {
        Some(beginning) => std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(beginning)).collect(),
        None => std::env::var_os(word).map(|value| (word.to_owned(), value)).into_iter().collect(),
    }
}

fn check(option: &str, name: &OsStr, typed: &OsStr) -> Result<(), Refusal> {
    if !name.is_empty() && !name.as_bytes().contains(&b'=') {
        return Ok(());
    }
    let typed = typed.to_string_lossy();
    Err(Refusal::usage(format!("{option} {typed}: a variable's name is wanted, as in -x OMP_NUM_THREADS=4")))
}

/// What variables say that stand for options where these are missing.
#[derive(Debug, Default)]
pub struct Defaults {
    /// `--timeout`.
    pub timeout: Option<String>,
    /// `--usize`.
    pub usize: Option<String>,
    /// `--prepend-pattern` for standard output and error, where `%d` is the rank.
    pub prefixes: [Option<String>; 2],
}

/// Reads them.
pub fn defaults() -> Defaults {
    let read = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let rank = |prefix: String| prefix.replace("%d", "%r").replace("%w", "0");
    let both = read("MPIEXEC_PREFIX_DEFAULT").map(|value| if is_yes(&value) { "%r: ".to_owned() } else { value });
    Defaults {
        timeout: read("MPIEXEC_TIMEOUT"),
        usize: read("MPIEXEC_UNIVERSE_SIZE"),
        prefixes: ["MPIEXEC_PREFIX_STDOUT", "MPIEXEC_PREFIX_STDERR"].map(|name| read(name).or(both.clone()).map(rank)),
    }
}

/// `--default-hostfile` as operators of Kubernetes and scripts for Open MPI set it.
pub fn default_hostfile() -> Option<PathBuf> {
    let names = ["PRTE_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE"];
    names.into_iter().find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty())).map(PathBuf::from)
}

fn is_yes(value: &str) -> bool {
    ["1", "yes", "true", "y"].contains(&value.to_ascii_lowercase().as_str())
}
