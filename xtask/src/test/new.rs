//! `cargo xtask new`: one component of each framework, made outside of the tree and in a copy of it. Each compiles, fails its
//! framework's suite by declining, is listed by `ompi_info`, and leaves programs alone or ends them with its sentence.

use super::programs::own_choice;
use super::{Session, Verdict, deadline};
use crate::build::components::{Catalogue, Policy};
use crate::failure::{At, Result, fail};
use crate::{build, tree};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `new/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let catalogue = Catalogue::read(&session.tree)?;
    let made = catalogue.frameworks.iter().filter(|framework| framework.name != "atomics");
    let of = |wanted: &dyn Fn(Policy) -> bool| -> Vec<String> {
        made.clone().filter(|framework| wanted(framework.policy)).map(|framework| framework.name.clone()).collect()
    };
    let (statics, others) = (of(&|policy| policy == Policy::Static), of(&|policy| policy != Policy::Static));
    for (name, arguments, words) in REFUSED {
        session.case(&format!("new/refuses_{name}"), |session| refused(session, arguments, words));
    }
    session.case("new/overwrites_nothing", |session| verdict(overwrites_nothing(session)));
    for framework in others.iter().chain(&statics) {
        session.case(&format!("new/suite_of_{framework}"), |session| verdict(suite(session, framework)));
    }
    session.case("new/inside", |session| verdict(inside(session, &catalogue)));
    session.case("new/library", |session| verdict(beside(session, &others, "beside")));
    session.case("new/static", |session| verdict(instead(session, &statics, "instead")));
    if session.options.all {
        for framework in others {
            let name = format!("new/library_{framework}");
            session.case(&name, |session| verdict(beside(session, std::slice::from_ref(&framework), &framework)));
        }
        for framework in statics {
            let name = format!("new/static_{framework}");
            session.case(&name, |session| verdict(instead(session, std::slice::from_ref(&framework), &framework)));
        }
    }
    Ok(())
}

fn refused(session: &Session, arguments: &[&str], words: &[&str]) -> Verdict {
    match xtask(session, &session.tree.root, &[&["new"], arguments].concat()) {
        Ok(ended) if ended.ended_with(2) => match words.iter().find(|word| !ended.err.contains(**word)) {
            None => Verdict::Passed(String::new()),
            Some(word) => Verdict::Failed(format!("standard error lacks `{word}`\n{}", ended.story())),
        },
        Ok(ended) => Verdict::Failed(format!("status 2 was expected\n{}", ended.story())),
        Err(failure) => failure.into(),
    }
}

fn overwrites_nothing(session: &Session) -> Result<String> {
    let place = outside(session, "btl")?;
    let file = place.join("src/send.rs");
    std::fs::write(&file, "// written by hand\n").at(format!("write {}", file.display()))?;
    let folder = place.parent().unwrap_or(&place).display().to_string();
    let ended = xtask(session, &session.tree.root, &["new", "btl/mine", "--in", &folder])?;
    let kept = std::fs::read_to_string(&file).is_ok_and(|text| text == "// written by hand\n");
    let _ = std::fs::remove_dir_all(&place);
    match kept && ended.ended_with(2) && ended.err.contains("exists already") {
        true => Ok(String::new()),
        false => Err(fail(format!(
            "an existing file should be kept and named; it was {}kept\n{}",
            if kept { "" } else { "not " },
            ended.story()
        ))),
    }
}

/// Compiles, and fails for the one reason that it has.
fn suite(session: &Session, framework: &str) -> Result<String> {
    let manifest = outside(session, framework)?.join("Cargo.toml");
    let ended = cargo(session, framework, &["test", "--manifest-path", &manifest.display().to_string()])?;
    let said = format!("{}{}", ended.out, ended.err);
    match !ended.ended_with(0) && ended.trouble.is_none() && said.contains(SENTENCE) {
        true => Ok("it declines".to_owned()),
        false => Err(fail(format!("the suite should fail because the new component declines\n{}", ended.story()))),
    }
}

/// One of each in a copy of the tree: as tidy wants them, and atomics do what their suite wants.
fn inside(session: &Session, catalogue: &Catalogue) -> Result<String> {
    let copy = session.scratch().join("new/tree");
    copy_tree(&session.tree.root, &copy)?;
    let mut packages = Vec::new();
    for framework in &catalogue.frameworks {
        succeeded(xtask(session, &copy, &["new", &format!("{}/mine", framework.name)])?)?;
        packages.extend(["--package".to_owned(), format!("{}-mine", framework.name)]);
    }
    // The one difference to the committed tree that is meant: more tests.
    succeeded(xtask(session, &copy, &["tidy", "--bless"])?)?;
    let manifest = copy.join("Cargo.toml").display().to_string();
    succeeded(cargo(session, "atomics", &["test", "--manifest-path", &manifest, "--package", "atomics-mine"])?)?;
    if session.options.all {
        let all: Vec<&str> = packages.iter().map(String::as_str).collect();
        let clippy = [&["clippy", "--all-targets", "--manifest-path", &manifest], &all[..], &["--", "-D", "warnings"]];
        succeeded(cargo(session, "clippy", &clippy.concat())?)?;
    }
    std::fs::remove_dir_all(&copy).at(format!("remove {}", copy.display()))?;
    Ok(format!("{} components", catalogue.frameworks.len()))
}

/// Beside the default components: listed, and a program runs as always.
fn beside(session: &Session, frameworks: &[String], name: &str) -> Result<String> {
    let dist = library(session, frameworks, name, false)?;
    let program = heat(session, &dist, name)?;
    let verbose = frameworks
        .iter()
        .flat_map(|framework| ["--mca".to_owned(), format!("{framework}_base_verbose"), "10".to_owned()]);
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "2"]).args(verbose).arg(&program);
    let ended = started(session, &mut command, name)?;
    // Ways between machines, placements of ranks, partitioned requests, windows and files are not asked for by this program.
    let unasked = ["reachable", "topo", "part", "osc", "io", "fs", "fbtl", "fcoll", "sharedfp"];
    let asked = frameworks.iter().filter(|framework| !unasked.contains(&framework.as_str()));
    let declines = |framework: &&String| ended.err.contains(&format!("{framework}: mine declines: {SENTENCE}"));
    let silent: Vec<&String> = asked.filter(|framework| !declines(framework)).collect();
    match ended.ended_with(0) && silent.is_empty() {
        true => Ok(format!("{} components decline, and the program runs", frameworks.len())),
        false => Err(fail(format!(
            "the output does not say that the new components of {silent:?} decline\n{}",
            ended.story()
        ))),
    }
}

/// In place of the default ones: listed, and a program ends in MPI_Init.
fn instead(session: &Session, frameworks: &[String], name: &str) -> Result<String> {
    let dist = library(session, frameworks, name, true)?;
    let program = heat(session, &dist, name)?;
    let ended = started(session, Command::new(dist.join("bin/mpirun")).args(["-n", "2"]).arg(&program), name)?;
    match !ended.ended_with(0) && ended.trouble.is_none() && ended.err.contains(SENTENCE) {
        true => Ok("a program ends with the sentence".to_owned()),
        false => Err(fail(format!("MPI_Init should end with the sentence\n{}", ended.story()))),
    }
}

/// A program that checks its answer, under this library's mpicc.
fn heat(session: &Session, dist: &Path, name: &str) -> Result<PathBuf> {
    let source = session.tree.root.join("tests/c/heat.c");
    let program = session.scratch().join("new").join(format!("heat_{name}"));
    let mut mpicc = Command::new(dist.join("bin/mpicc"));
    succeeded(started(session, mpicc.arg(&source).arg("-o").arg(&program).arg("-lm"), name)?)?;
    Ok(program)
}

/// A library with a new component of each of these frameworks, which `ompi_info` lists.
fn library(session: &Session, frameworks: &[String], name: &str, no_check: bool) -> Result<PathBuf> {
    let mut components = vec!["default".to_owned()];
    for framework in frameworks {
        components.push(outside(session, framework)?.display().to_string());
    }
    let out = session.scratch().join("new/dist").join(name);
    let options = build::Options { components, variant: true, out: Some(out.clone()), no_check, ..Default::default() };
    build::build(&options, session.progress)?;
    let info = succeeded(started(session, &mut Command::new(out.join("bin/ompi_info")), name)?)?;
    let listed = info.out.lines().filter(|line| line.contains(" mine ") && line.contains("not written yet")).count();
    match listed == frameworks.len() {
        true => Ok(out),
        false => Err(fail(format!("ompi_info lists {listed} of {frameworks:?}\n{}", info.out))),
    }
}

/// A new crate outside of the tree.
fn outside(session: &Session, framework: &str) -> Result<PathBuf> {
    let folder = session.scratch().join("new/outside");
    let place = folder.join(format!("{framework}-mine"));
    if place.exists() {
        std::fs::remove_dir_all(&place).at(format!("remove {}", place.display()))?;
    }
    let arguments = ["new", &format!("{framework}/mine"), "--in", &folder.display().to_string()];
    let ended = succeeded(xtask(session, &session.tree.root, &arguments)?)?;
    match ended.out.contains("cargo xtask build --components default,") {
        true => Ok(place),
        false => Err(fail(format!("the output does not say which command to type next\n{}", ended.story()))),
    }
}

/// Everything that people wrote, without what was built.
fn copy_tree(root: &Path, copy: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(copy);
    std::fs::create_dir_all(copy).at(format!("create {}", copy.display()))?;
    for entry in std::fs::read_dir(root).at("list the tree")? {
        let path = entry.at("list the tree")?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_output = ["target", "dist"].contains(&name.as_str()) || path.join("CACHEDIR.TAG").exists();
        if is_output || path.is_symlink() || (name.starts_with('.') && name != ".cargo") {
            continue;
        }
        let status = Command::new("cp").arg("-a").arg(&path).arg(copy).status().at("run cp")?;
        if !status.success() {
            return Err(fail(format!("cp could not copy {}", path.display())));
        }
    }
    Ok(())
}

/// This very program, for the tree at `root`.
fn xtask(session: &Session, root: &Path, arguments: &[&str]) -> Result<deadline::Ended> {
    let program = std::env::current_exe().at("find my own program")?;
    let mut command = Command::new(program);
    command.args(arguments).env("CARGO_MANIFEST_DIR", root.join("xtask")).current_dir(root);
    started(session, &mut command, "xtask")
}

/// cargo with an output folder for all of these tests, and without a registry.
fn cargo(session: &Session, name: &str, arguments: &[&str]) -> Result<deadline::Ended> {
    let mut command = tree::cargo();
    let target = session.scratch().join("new/target");
    command.arg(arguments[0]).args(["--offline", "--quiet"]).args(&arguments[1..]).env("CARGO_TARGET_DIR", target);
    started(session, &mut command, name)
}

fn started(session: &Session, command: &mut Command, name: &str) -> Result<deadline::Ended> {
    own_choice(command);
    deadline::run(command, PATIENCE, &session.scratch().join(format!("new/logs/{name}.log")))
}

fn succeeded(ended: deadline::Ended) -> Result<deadline::Ended> {
    if ended.ended_with(0) { Ok(ended) } else { Err(fail(ended.story())) }
}

fn verdict(outcome: Result<String>) -> Verdict {
    match outcome {
        Ok(note) => Verdict::Passed(note),
        Err(failure) => failure.into(),
    }
}

/// What cannot be made, and words of the sentence that says so.
const REFUSED: &[(&str, &[&str], &[&str])] = &[
    ("an_unknown_framework", &["btll/mine"], &["no framework `btll`", "write btl/mine"]),
    ("a_name_that_is_taken", &["btl/sm"], &["btl/sm is there already"]),
    ("a_name_that_is_none", &["btl/my-net"], &["`my-net` cannot be the name of a component", "lower-case letters"]),
    ("atomics_outside", &["atomics/mine", "--in", "/tmp"], &["cannot come from outside", "leave --in out"]),
];

const SENTENCE: &str = "it is not written yet";
/// For compilers that get what other tests leave.
const PATIENCE: Duration = Duration::from_secs(3000);
