//! The functions that work: such a function has a row with a body, and a program of tests/c that names and calls it.
//!
//! The text does not show calls behind macros or in headers. Then the compiler shows them: the undefined symbols of a program's
//! object, from which unused functions have vanished.

use super::data::Data;
use super::rows::FunctionRow;
use crate::failure::{At, Result};
use crate::shell;
use object::{Object, ObjectSymbol};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How far a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It has a body, and a test calls it.
    Done,
    /// It has a body; no test calls it.
    Untested,
    /// It raises MPI_ERR_UNSUPPORTED_OPERATION.
    Missing,
}

impl State {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Untested => "has a body, but no program of tests/c covers it",
            State::Missing => "not there",
        }
    }
}

/// A function and its state.
#[derive(Debug, Serialize)]
pub struct Coverage {
    /// With `MPI_`.
    pub name: String,
    /// Its part of the standard.
    pub category: String,
    /// How far it is.
    pub state: State,
    /// The programs of tests/c that cover it.
    pub tests: Vec<String>,
}

/// Everything that was found out.
#[derive(Debug, Serialize)]
pub struct ApiReport {
    /// All functions, in the order of the data.
    pub functions: Vec<Coverage>,
    /// What does not agree.
    pub mismatches: Vec<String>,
}

/// The programs that cover a function, by its name.
pub type Calls = BTreeMap<String, Vec<String>>;

impl ApiReport {
    /// Puts it together.
    pub fn new(data: &Data, rows: &[FunctionRow], calls: &Calls, mut mismatches: Vec<String>) -> ApiReport {
        let known: BTreeSet<&str> = data.functions.iter().map(|function| function.name.as_str()).collect();
        let unknown = calls.iter().filter(|(name, _)| !known.contains(name.as_str()));
        mismatches.extend(
            unknown.map(|(name, tests)| format!("tests/c/{} covers {name}, which MPI does not have", tests[0])),
        );
        let bodies: BTreeSet<&str> = rows.iter().filter(|row| row.body).map(|row| row.name.as_str()).collect();
        let functions = data.functions.iter().map(|function| {
            let tests = calls.get(&function.name).cloned().unwrap_or_default();
            let state = match (bodies.contains(function.name.as_str()), tests.is_empty()) {
                (true, false) => State::Done,
                (true, true) => State::Untested,
                (false, _) => State::Missing,
            };
            Coverage { name: function.name.clone(), category: function.category.clone(), state, tests }
        });
        ApiReport { functions: functions.collect(), mismatches }
    }

    /// For other programs.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
    }

    /// A line per category, and the sum.
    pub fn table(&self) -> String {
        let mut lines: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        let mut all = [0; 3];
        for function in &self.functions {
            let line = lines.entry(&function.category).or_default();
            line[function.state as usize] += 1;
            all[function.state as usize] += 1;
        }
        let mut text = format!("{:<26} {:>6} {:>8} {:>9} {:>6}\n", "category", "done", "untested", "not there", "all");
        for (name, [done, untested, missing]) in lines.into_iter().chain([("all", all)]) {
            let sum = done + untested + missing;
            let _ = writeln!(text, "{name:<26} {done:>6} {untested:>8} {missing:>9} {sum:>6}");
        }
        text
    }
}

/// What the programs of tests/c cover. A `// covers:` line counts for the functions that the program really calls. Objects
/// go to `scratch`.
pub fn tests(folder: &Path, include: &Path, scratch: &Path) -> Result<Calls> {
    let mut calls = Calls::new();
    if !folder.is_dir() {
        return Ok(calls);
    }
    let entries = std::fs::read_dir(folder).at(format!("read {}", folder.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        if file.is_dir() {
            for (name, tests) in tests(&file, include, scratch)? {
                calls.entry(name).or_default().extend(tests);
            }
        } else if file.extension().is_some_and(|extension| extension == "c") {
            let program = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (mut names, hidden) = covered(&shell::read(&file)?);
            if !hidden.is_empty() {
                let symbols = undefined(&file, include, &scratch.join(&program).with_extension("o"))?;
                names.extend(hidden.into_iter().filter(|name| symbols.contains(name)));
            }
            for name in names {
                calls.entry(name).or_default().push(program.clone());
            }
        }
    }
    Ok(calls)
}

/// The names of `// covers:` lines: those that the text calls, and the others.
fn covered(program: &str) -> (Vec<String>, Vec<String>) {
    let lists = program.lines().filter_map(|line| line.trim().strip_prefix("// covers:"));
    let names: BTreeSet<&str> = lists.flat_map(|list| list.split([' ', ',']).filter(|name| !name.is_empty())).collect();
    let code = without_comments(program);
    let called = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let whole = !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            whole && code[at + name.len()..].trim_start().starts_with('(')
        })
    };
    names.into_iter().map(str::to_owned).partition(|name| called(name))
}

/// What the object of a program wants from a library.
fn undefined(program: &Path, include: &Path, object: &Path) -> Result<BTreeSet<String>> {
    let mut command = Command::new("cc");
    // Optimised, so that functions of headers that nobody calls are gone.
    command.args(["-std=gnu11", "-O1", "-w", "-c", "-I"]).arg(include).arg(program).arg("-o").arg(object);
    shell::run(&mut command, false)?;
    let bytes = std::fs::read(object).at(format!("read {}", object.display()))?;
    let parsed = object::File::parse(&*bytes).at(format!("read {}", object.display()))?;
    Ok(parsed
        .symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| Some(symbol.name().ok()?.to_owned()))
        .collect())
}

fn without_comments(program: &str) -> String {
    let mut code = String::with_capacity(program.len());
    let mut rest = program;
    while let Some(at) = rest.find('/') {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = match rest.as_bytes().get(1) {
            Some(b'/') => rest.find('\n').unwrap_or(rest.len()),
            Some(b'*') => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => {
                code.push('/');
                1
            }
        };
        rest = &rest[end..];
    }
    code + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_called_is_covered() {
        let program = "// covers: MPI_Send, MPI_Recv MPI_Wait\n/* MPI_Wait(x) */ int main() { MPI_Send(1 / 2); PMPI_Recv (a); } // MPI_Recv(\n";
        let (called, hidden) = covered(program);
        assert_eq!((called, hidden), (vec!["MPI_Send".to_owned()], vec!["MPI_Recv".to_owned(), "MPI_Wait".to_owned()]));
    }

    #[test]
    fn the_object_says_what_macros_hide() {
        let folder = std::env::temp_dir().join(format!("ompi-api-{}", std::process::id()));
        let (program, object) = (folder.join("p.c"), folder.join("p.o"));
        let text = "int MPI_A(void), MPI_B(void);\nstatic inline int unused(void) { return MPI_B(); }\n\
                    static inline int used(void) { return MPI_A(); }\n#define CALL used()\nint main(void) { return CALL; }\n";
        shell::write(&program, text).unwrap();
        let symbols = undefined(&program, &folder, &object).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(symbols.contains("MPI_A") && !symbols.contains("MPI_B"));
    }
}
