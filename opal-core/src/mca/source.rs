//! Where parameter values come from, weakest first: files, environment, command line (bare metal: the boot line).

use super::framework::{Framework, Info, each_param};
use super::name::{self, Selection};
use super::open_mpi;
use super::param::{Param, Source, full_name};
use crate::sys::Distrust;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One `name = value` that somebody said.
#[derive(Clone, Copy, Debug)]
pub struct Assignment {
    /// Full name of the parameter.
    pub name: &'static str,
    /// Its text.
    pub value: &'static str,
    /// Where it came from.
    pub source: Source,
}

/// What prefixes a parameter in the environment, as in Open MPI.
pub const PREFIX: &str = "OMPI_MCA_";
// How the values arrive that the user typed to start the job.
const FROM_COMMAND_LINE: Source = if cfg!(ompi_bare) { Source::BootLine } else { Source::CommandLine };

/// The variable in which mpirun names, separated by commas, those that came from its command line.
pub const COMMAND_LINE: &str = "OMPI_RS_MCA_COMMAND_LINE";
/// The system's file.
pub const SYSTEM_FILE: &str = "/etc/ompi-rs/mca-params.conf";
/// The user's file, below `$HOME`.
pub const USER_FILE: &str = ".ompi-rs/mca-params.conf";
/// A longer file of parameters is none.
const LONGEST_FILE: usize = 1 << 20;

/// Everything that was said outside the program, weakest first.
pub fn collect() -> Vec<Assignment> {
    let mut all = Vec::new();
    let mut home = None;
    let mut command_line = "";
    let mut environment = Vec::new();
    for (name, value) in crate::sys::environment() {
        match name {
            "HOME" => home = Some(value),
            COMMAND_LINE => command_line = value,
            _ => {
                if let Some(param) = name.strip_prefix(PREFIX).filter(|param| !param.is_empty()) {
                    environment.push((param, value));
                }
            }
        }
    }
    if environment.iter().any(|(name, _)| *name == open_mpi::LAUNCHER_MARK) {
        environment.retain(|(name, value)| !open_mpi::is_of_launcher(name, value));
    }
    read_file(SYSTEM_FILE, &mut all);
    if let Some(home) = home {
        read_file(&format!("{home}/{USER_FILE}"), &mut all);
    }
    let said_by = |name: &str| match !name.is_empty() && command_line.split(',').any(|listed| listed == name) {
        true => FROM_COMMAND_LINE,
        false => Source::Environment,
    };
    // The environment first, so that the command line stands last and wins whatever the order of variables.
    for (name, value) in &environment {
        all.push(Assignment { name: leak(name), value: leak(value), source: said_by(name) });
    }
    crate::sort::by_key(&mut all, |assignment| match assignment.source {
        Source::Default | Source::File(..) => 0,
        Source::Environment => 1,
        Source::CommandLine | Source::BootLine | Source::Program => 2,
    });
    all
}

fn read_file(path: &str, all: &mut Vec<Assignment>) {
    match crate::sys::read_trusted(path, LONGEST_FILE) {
        Ok(bytes) => parse_file(leak(path), &String::from_utf8_lossy(&bytes), all),
        Err(Distrust::Missing) => {}
        Err(why) => crate::message!("{path} was not read, so its parameters have no effect: {why}"),
    }
}

/// Reads `name = value` lines; `#` begins a comment.
pub fn parse_file(path: &'static str, text: &str, all: &mut Vec<Assignment>) {
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let number = index as u32 + 1;
        match line.split_once('=') {
            Some((name, value)) => all.push(Assignment {
                name: leak(name.trim()),
                value: leak(value.trim()),
                source: Source::File(path, number),
            }),
            None => crate::message!("{path}:{number}: `{line}` is ignored; a line is written `name = value`"),
        }
    }
}

/// Parameters live as long as the process; so do the texts they were given.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// What is wrong with an assignment, as a sentence.
#[derive(Debug)]
pub struct Problem {
    /// The sentence.
    pub text: String,
    /// Whether the program must not start: only for what was typed on the command line or is a bad value.
    pub fatal: bool,
}

/// Gives every parameter its value from `said` (weakest first) and returns what was wrong.
pub fn apply(frameworks: &[&'static Framework], components: &[&'static Info], said: &[Assignment]) -> Vec<Problem> {
    let mut known: Vec<(String, &'static Param)> = Vec::new();
    each_param(frameworks, components, &mut |framework, component, param| {
        known.push((full_name(framework, component, param.name), param));
    });
    let mut problems = Vec::new();
    let mut ignored: Vec<String> = Vec::new();
    for assignment in said {
        match known.iter().find(|(name, _)| *name == alias(assignment.name)) {
            Some((name, param)) => {
                if let Err(wanted) = param.set(assignment.value, assignment.source) {
                    let text = format!(
                        "parameter {name} from {}: `{}` is not valid: {wanted}",
                        assignment.source, assignment.value
                    );
                    problems.push(Problem { text, fatal: true });
                }
                ignored.extend(ignored_components(frameworks, components, name, assignment.value));
            }
            None if open_mpi::is_parameter(assignment.name) => ignored.push(assignment.name.to_owned()),
            None if matches!(assignment.source, Source::CommandLine | Source::BootLine) => {
                let near = name::nearest(assignment.name, known.iter().map(|(name, _)| name.as_str()));
                let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                let text = format!("there is no parameter {} ({}){hint}", assignment.name, assignment.source);
                problems.push(Problem { text, fatal: true });
            }
            None => ignored.push(assignment.name.to_owned()),
        }
    }
    if !ignored.is_empty() {
        crate::sort::ascending(&mut ignored);
        ignored.dedup();
        let text = format!("parameters of another MPI are ignored: {}", ignored.join(", "));
        problems.push(Problem { text, fatal: false });
    }
    problems
}

/// `pml=ucx` where a list of components names one of Open MPI's that is not here.
fn ignored_components(
    frameworks: &[&'static Framework],
    components: &[&'static Info],
    name: &str,
    value: &str,
) -> Option<String> {
    let framework = frameworks.iter().find(|framework| framework.name == name)?;
    let own = components.iter().filter(|info| core::ptr::eq(info.framework, *framework));
    let have: Vec<&str> = own.map(|info| info.name).collect();
    let Selection::Only(names) = Selection::parse(value) else { return None };
    let strange: Vec<&str> = names.into_iter().filter(|typed| open_mpi::is_ignored(name, typed, &have)).collect();
    (!strange.is_empty()).then(|| format!("{name}={}", strange.join(",")))
}

/// `btl_vader_eager_limit` means `btl_sm_eager_limit`.
fn alias(typed: &str) -> String {
    match typed.strip_prefix("btl_vader_") {
        Some(rest) => format!("btl_sm_{rest}"),
        None => typed.to_owned(),
    }
}
