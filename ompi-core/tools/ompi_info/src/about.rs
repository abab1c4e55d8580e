//! What kind of library this is, one fact a line, under the labels and keys that scripts know from Open MPI.

use crate::command_line::Arguments;
use crate::escaped::escaped;
use crate::facts::{ABI, STANDARD, VERSION};
use crate::failure::Failure;
use serde_json::Value as Json;
use std::io::Write;

/// One fact.
pub struct Fact {
    /// For people.
    label: &'static str,
    /// For programs.
    key: String,
    /// Both.
    value: String,
}

/// All of them; `config` is what [`crate::config::read`] gave, without which nothing is known about the build.
pub fn all(config: Option<&Json>) -> Vec<Fact> {
    let build = |key: &str| match config.map(|config| &config["build"][key]) {
        Some(Json::String(text)) => text.clone(),
        _ => UNKNOWN.to_owned(),
    };
    let mut facts = vec![
        fact("Package", "package", VERSION),
        fact("", "ompi:version:full", env!("CARGO_PKG_VERSION")),
        fact("MPI API", "mpi-api:version:full", STANDARD),
        fact("MPI ABI", "mpi-abi:version:full", ABI),
    ];
    for (name, path) in crate::path::folders().unwrap_or_default() {
        // People see the one below which the others lie.
        facts.push(fact(if name == "prefix" { "Prefix" } else { "" }, &format!("path:{name}"), path.display()));
    }
    for (label, key, name) in BUILD {
        facts.push(fact(label, key, build(name)));
    }
    facts.extend(STEADY.iter().map(|(label, key, value)| fact(label, key, value)));
    facts
}

/// Writes them; a fact without a key of its own is for people only, one without a label for programs.
pub fn show(facts: &[Fact], parsable: bool, out: &mut dyn Write) -> Result<(), Failure> {
    for Fact { label, key, value } in facts {
        match parsable {
            false if label.is_empty() => {}
            false => writeln!(out, "{label:>24}: {value}")?,
            true if key.is_empty() => {}
            true => writeln!(out, "{key}:{}", escaped(value))?,
        }
    }
    Ok(())
}

/// `--arch` and `--hostname`.
pub fn built(arguments: &Arguments, config: &Json, out: &mut dyn Write) -> Result<(), Failure> {
    let wanted = |key: &str| (arguments.arch && key == "config:arch") || (arguments.hostname && key == "config:host");
    let facts: Vec<Fact> = all(Some(config)).into_iter().filter(|fact| wanted(&fact.key)).collect();
    if arguments.json {
        let object: serde_json::Map<_, _> = facts
            .into_iter()
            .map(|fact| (fact.key.trim_start_matches("config:").to_owned(), fact.value.into()))
            .collect();
        writeln!(out, "{:#}", Json::Object(object))?;
        return Ok(());
    }
    show(&facts, arguments.parsable, out)
}

/// What Open MPI says of accelerators, in the shape of constant parameters; nobody can set them.
pub fn built_with(out: &mut dyn Write) -> Result<(), Failure> {
    for (what, name) in [("cuda", "CUDA"), ("rocm", "ROCm")] {
        let of = format!("mca:mpi:base:param:mpi_built_with_{what}_support");
        writeln!(out, "{of}:value:false\n{of}:source:default\n{of}:status:read-only\n{of}:level:4")?;
        writeln!(out, "{of}:help:Whether buffers in the memory of a {name} device can be used\n{of}:type:bool")?;
    }
    Ok(())
}

fn fact(label: &'static str, key: &str, value: impl ToString) -> Fact {
    Fact { label, key: key.to_owned(), value: value.to_string() }
}

/// Label, key, and the name that `cargo xtask build` stores the fact under.
const BUILD: &[(&str, &str, &str)] = &[
    ("Configured architecture", "config:arch", "architecture"),
    ("Configure host", "config:host", "host"),
    ("Built on", "build:timestamp", "date"),
    ("Rust compiler", "compiler:rust:version", "rust"),
    ("C compiler", "compiler:c:command", "c"),
    ("C compiler version", "compiler:c:version", "c_version"),
    ("C++ compiler", "compiler:cxx:command", "cxx"),
];

/// The same in every library of this version.
const STEADY: &[(&str, &str, &str)] = &[
    ("C bindings", "bindings:c", "yes"),
    ("C++ bindings", "bindings:cxx", "no"),
    ("Rust bindings", "bindings:rust", "yes"),
    ("Fort mpif.h", "bindings:mpif.h", "no"),
    ("Fort use mpi", "bindings:use_mpi", "no"),
    ("Fort use mpi_f08", "bindings:use_mpi_f08", "no"),
    ("Java bindings", "bindings:java", "no"),
    ("C profiling", "option:profiling:c", "yes"),
    (
        "Thread support",
        "option:threads",
        "posix (MPI_THREAD_MULTIPLE: yes, OPAL support: yes, OMPI progress: no, Event lib: no)",
    ),
    ("Internal debug support", "option:debug", "no"),
    ("MPI parameter check", "option:mpi-param-check", "always"),
    ("dl support", "option:dlopen", "no"),
    ("Heterogeneous support", "options:heterogeneous", "no"),
    ("MPI_WTIME support", "options:mpi-wtime", "native"),
    ("IPv6 support", "options:ipv6", "yes"),
    ("MPI extensions", "options:mpi_ext", "none"),
    ("FT support", "options:ft_support", "no"),
    ("CUDA support", "", "no"),
    ("ROCm support", "", "no"),
    ("MPI_MAX_PROCESSOR_NAME", "options:mpi-max-processor-name", "256"),
    ("MPI_MAX_ERROR_STRING", "options:mpi-max-error-string", "512"),
    ("MPI_MAX_OBJECT_NAME", "options:mpi-max-object-name", "128"),
    ("MPI_MAX_INFO_KEY", "options:mpi-max-info-key", "256"),
    ("MPI_MAX_INFO_VAL", "options:mpi-max-info-val", "1024"),
    ("MPI_MAX_PORT_NAME", "options:mpi-max-port-name", "1024"),
    ("MPI_MAX_DATAREP_STRING", "options:mpi-max-datarep-string", "128"),
];

const UNKNOWN: &str = "unknown: this program lies in no product of `cargo xtask build`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_header() {
        let header = include_str!("../../../include/mpi.h");
        for (label, _, value) in STEADY.iter().filter(|(label, ..)| label.starts_with("MPI_MAX_")) {
            let line = header.lines().find(|line| line.split_whitespace().nth(1) == Some(label));
            let line = line.or_else(|| header.lines().find(|line| line.contains(&format!("{label} "))));
            let digits: String = line
                .unwrap_or_default()
                .rsplit(|c: char| !c.is_ascii_digit())
                .find(|part| !part.is_empty())
                .unwrap_or_default()
                .into();
            assert_eq!(&digits, value, "{label} in mpi.h: {line:?}");
        }
    }

    #[test]
    fn facts_of_the_build_are_shown_under_both_names() {
        let config = serde_json::json!({ "build": { "architecture": "x86_64-unknown-linux-gnu", "date": "2026-01-02T03:04:05Z" }});
        let said = |parsable| {
            let mut out = Vec::new();
            assert!(show(&all(Some(&config)), parsable, &mut out).is_ok());
            String::from_utf8(out).unwrap_or_default()
        };
        assert!(said(false).contains(" Built on: 2026-01-02T03:04:05Z\n"));
        assert!(said(true).contains("\nbuild:timestamp:\"2026-01-02T03:04:05Z\"\n"));
        assert!(said(true).contains("\nconfig:arch:x86_64-unknown-linux-gnu\n"));
        assert!(said(true).contains("\ncompiler:c:command:\"unknown: "));
        assert!(!said(true).contains("\n:no"));
        for name in ["prefix", "bindir", "libdir", "incdir", "mandir"] {
            assert!(said(true).contains(&format!("\npath:{name}:/")), "{name}");
        }
        assert!(said(false).contains(" Prefix: /") && !said(false).contains("\n                        : "));
    }
}
