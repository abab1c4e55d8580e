//! The proof that the library needs neither std nor libc: all layers and all components that claim bare metal are
//! linked whole into a freestanding program, which then runs.

use super::{Session, Verdict, deadline};
use crate::build::components::{Catalogue, Component, Policy};
use crate::build::image::{Image, Lto};
use crate::build::resolve::Choice;
use crate::build::{compile, groups};
use crate::failure::{Result, fail};
use crate::{shell, tree};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `probe/…`: one image with the usual static components, and one more for each of the others.
pub fn tier(session: &mut Session) -> Result<()> {
    let catalogue = Catalogue::read(&session.tree)?;
    for choice in choices(&catalogue) {
        let name = format!("probe/{}", choice.1);
        session.case(&name, |session| match linked(session, &choice.0, &choice.1) {
            Ok(note) => Verdict::Passed(note),
            Err(failure) => failure.into(),
        });
    }
    if installed(BARE) {
        session.case(&format!("probe/{BARE}"), |session| {
            match build(session, &choices(&catalogue)[0].0, "none", BARE) {
                Ok(_) => Verdict::Passed(String::new()),
                Err(failure) => failure.into(),
            }
        });
    }
    Ok(())
}

/// Components of an image, and its name.
fn choices(catalogue: &Catalogue) -> Vec<(Choice, String)> {
    let is_static = |component: &Component| {
        catalogue.framework(&component.framework).is_some_and(|framework| framework.policy == Policy::Static)
    };
    let usual = |component: &Component| groups::STATIC_CHOICE.contains(&component.name.as_str());
    let bare: Vec<&Component> = catalogue.components.iter().filter(|component| component.package.facts.bare).collect();
    let choice = |wanted: &dyn Fn(&Component) -> bool| Choice {
        components: bare.iter().filter(|component| wanted(component)).map(|component| (*component).clone()).collect(),
        direct: Vec::new(),
        notes: Vec::new(),
    };
    let mut all = vec![(choice(&|one| !is_static(one) || usual(one)), "freestanding".to_owned())];
    for other in bare.iter().filter(|one| is_static(one) && !usual(one) && !one.is_atomics()) {
        let replaces =
            |one: &Component| if one.framework == other.framework { one.name == other.name } else { usual(one) };
        all.push((choice(&|one| !is_static(one) || replaces(one)), format!("with_{}", other.package.name)));
    }
    all
}

/// Links the whole archive without libraries, and runs the program.
fn linked(session: &Session, choice: &Choice, name: &str) -> Result<String> {
    let target = compile::host()?;
    let archive = build(session, choice, name, &target)?;
    let program = folder(session, name).join("probe");
    let mut linker = Command::new("gcc");
    linker.args(["-nostdlib", "-nostartfiles", "-static", "-no-pie", "-Wl,--whole-archive"]).arg(&archive);
    linker.args(["-Wl,--no-whole-archive", "-Wl,-e,_start", "-Wl,-z,noexecstack", "-o"]).arg(&program);
    let outcome = shell::outcome(&mut linker, LINK_LIMIT)?;
    if !outcome.status.success() {
        let undefined: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("undefined reference")).collect();
        let what = if undefined.is_empty() { outcome.stderr.clone() } else { undefined.join("\n") };
        return Err(fail(format!("something in the library asks for what bare metal does not have:\n{what}")));
    }
    let ended = deadline::run(&mut Command::new(&program), RUN_LIMIT, &folder(session, name).join("run.log"))?;
    match ended.ended_with(0) && ended.out.contains(&format!("probe: {} components", choice.components.len())) {
        true => Ok(format!("{} components", choice.components.len())),
        false => Err(fail(format!("the probe was linked but does not run\n{}", ended.story()))),
    }
}

/// Compiles the generated crate into a static archive.
fn build(session: &Session, choice: &Choice, name: &str, target: &str) -> Result<PathBuf> {
    let folder = folder(session, name);
    let tree = &session.tree;
    let image = Image::new(tree, choice, Lto::Thin);
    let source = shell::read(&tree.root.join("tests/probe/probe.rs"))?;
    shell::write(&folder.join("lib.rs"), &format!("{source}\n{}", image.line()))?;
    shell::write(&folder.join("Cargo.toml"), &manifest(session, choice)?)?;
    shell::write(&folder.join("Cargo.lock"), &shell::read(&tree.root.join("Cargo.lock"))?)?;
    let output = session.scratch().join("probe/output");
    let mut cargo = tree::cargo();
    cargo.args(["build", "--release", "--quiet", "--target", target]).arg("--target-dir").arg(&output);
    cargo.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    // The library's cfg and the code model of an image; through the environment so that the tree's own builds keep theirs.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", ["--cfg", "ompi_bare", "-Crelocation-model=static"].join("\u{1f}"));
    shell::output(&mut cargo)?;
    Ok(output.join(target).join("release/libprobe.a"))
}

fn manifest(session: &Session, choice: &Choice) -> Result<String> {
    let mut dependencies = String::new();
    for name in ["opal-core", "orte-core", "ompi-core"] {
        _ = writeln!(dependencies, "{name} = {{ path = {:?} }}", session.tree.folder(name)?);
    }
    for component in choice.components.iter().filter(|component| !component.is_atomics()) {
        _ = writeln!(dependencies, "{} = {{ path = {:?} }}", component.package.name, component.package.folder);
    }
    Ok(format!(
        "# Generated by `cargo xtask test probe`.\n[package]\nname = \"probe\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         publish = false\n\n[lib]\npath = \"lib.rs\"\ncrate-type = [\"staticlib\"]\n\n[workspace]\n\n\
         [profile.release]\npanic = \"abort\"\nopt-level = 1\n\n[dependencies]\n{dependencies}"
    ))
}

fn folder(session: &Session, name: &str) -> PathBuf {
    session.scratch().join("probe").join(name)
}

/// Whether the installed toolchain has this target's core.
fn installed(target: &str) -> bool {
    let sysroot = shell::output(compile::rustc().args(["--print", "sysroot"])).unwrap_or_default();
    Path::new(sysroot.trim()).join("lib/rustlib").join(target).is_dir()
}

const BARE: &str = "x86_64-unknown-none";
const LINK_LIMIT: Duration = Duration::from_secs(120);
const RUN_LIMIT: Duration = Duration::from_secs(20);
