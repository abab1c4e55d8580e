//! The test programs of the workspace: unit and integration tests, compiled by one `cargo test --no-run`.

use crate::shell;
use crate::tree::{Package, Tree, cargo};
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// One test program.
#[derive(Clone, Debug)]
pub struct Program {
    /// `opal-core`, or `ompi_info/cli` for an integration test.
    pub name: String,
    /// The executable.
    pub path: PathBuf,
    folder: PathBuf,
}

/// What `cargo test --no-run` left.
#[derive(Clone, Debug)]
pub struct UnitTests {
    /// Sorted by name.
    pub programs: Vec<Program>,
    /// Of what did not compile; or empty.
    pub errors: String,
}

impl UnitTests {
    /// Compiles them all by one call of cargo.
    pub fn compile(tree: &Tree) -> UnitTests {
        let mut command = cargo();
        command.args(["test", "--workspace", "--no-run", "--no-fail-fast", "--quiet"]);
        UnitTests::compiled_by(&mut command, tree)
    }

    /// Those of one call of `cargo test --no-run`, whose choice of packages and environment is the caller's.
    pub fn compiled_by(command: &mut Command, tree: &Tree) -> UnitTests {
        command.args(["--message-format", "json-render-diagnostics"]);
        command.arg("--manifest-path").arg(tree.root.join("Cargo.toml"));
        let outcome = match shell::outcome(command, COMPILE_LIMIT) {
            Ok(outcome) => outcome,
            Err(failure) => return UnitTests { programs: Vec::new(), errors: failure.text },
        };
        let messages = outcome.stdout.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
        let mut programs: Vec<Program> = messages.filter_map(|message| message.program(&tree.packages)).collect();
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        let errors = if outcome.status.success() { String::new() } else { format!("cargo failed\n{}", outcome.stderr) };
        UnitTests { programs, errors }
    }
}

impl Program {
    /// To be run where cargo would run it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// A line of cargo's JSON.
#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

impl Message {
    fn program(self, packages: &[Package]) -> Option<Program> {
        let (target, path) = (self.target?, self.executable?);
        if self.reason != "compiler-artifact" || !self.profile?.test {
            return None;
        }
        let folder = self.manifest_path?.parent()?.to_path_buf();
        let package = packages.iter().find(|package| package.folder == folder)?.name.clone();
        let name = match target.kind.first().map(String::as_str) {
            Some("lib" | "bin") => package,
            _ => format!("{package}/{}", target.name),
        };
        Some(Program { name, path, folder })
    }
}

const COMPILE_LIMIT: Duration = Duration::from_secs(1200);
