//! The product: it builds, wrong choices are refused, and its programs print what they should.

use super::programs::own_choice;
use super::{Session, Verdict, deadline};
use crate::failure::{At, Result};
use crate::{build, shell};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// `image/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("image/default", |session| match session.library() {
        Ok(built) => Verdict::Passed(format!("{} components, product checked", built.choice.components.len())),
        Err(why) => Verdict::Failed(why),
    });
    session.case("image/ompi_info", info);
    session.case("image/ompi_info_build", built);
    session.case("image/library_is_one_file", moved);
    for (name, arguments, words) in REFUSED {
        session.case(&format!("image/refuses_{name}"), |session| refused(session, arguments, words));
    }
    if session.options.all {
        session.case("image/minimal", |session| other(session, "minimal", &["minimal"], false));
        session.case("image/fat", |session| other(session, "fat", &[], true));
    }
    Ok(())
}

/// A library that is only compiled and checked.
pub fn compiled(session: &mut Session) -> Result<()> {
    session.case("image/direct_and_outside", direct_and_outside);
    Ok(())
}

/// Lists exactly the components that were chosen, and mpirun's table holds their parameters.
fn info(session: &mut Session) -> Verdict {
    let built = match session.library() {
        Ok(built) => built,
        Err(why) => return Verdict::Failed(why),
    };
    let said = match start(session, &built.dist.join("bin/ompi_info"), &["--json", "--all"]) {
        Ok(said) => said,
        Err(why) => return Verdict::Failed(why),
    };
    let whole: serde_json::Value = match serde_json::from_str(&said) {
        Ok(whole) => whole,
        Err(error) => return Verdict::Failed(format!("ompi_info --json --all is no JSON: {error}\n{said}")),
    };
    let empty = Vec::new();
    let list = |value: &serde_json::Value, key: &str| value[key].as_array().unwrap_or(&empty).clone();
    let name = |value: &serde_json::Value| value["name"].as_str().unwrap_or("?").to_owned();
    let frameworks = list(&whole, "frameworks");
    let mut have: Vec<String> = frameworks
        .iter()
        .flat_map(|framework| {
            list(framework, "components").into_iter().map(|one| format!("{}/{}", name(framework), name(&one)))
        })
        .collect();
    have.sort();
    let wanted: Vec<String> = built.choice.components.iter().map(|component| component.name.clone()).collect();
    if have != wanted {
        return Verdict::Failed(format!("ompi_info lists {have:?}; built were {wanted:?}"));
    }
    let stored = std::fs::read_to_string(built.dist.join("share/ompi-rs/params.json")).unwrap_or_default();
    let stored: Vec<serde_json::Value> = serde_json::from_str(&stored).unwrap_or_default();
    let shown = list(&whole, "parameters");
    match stored.iter().map(name).eq(shown.iter().map(name)) && !stored.is_empty() {
        true => Verdict::Passed(format!("{} components, {} parameters", have.len(), stored.len())),
        false => Verdict::Failed("share/ompi-rs/params.json and ompi_info --all name different parameters".to_owned()),
    }
}

/// Shows what the build left, and leaves out what a selection list leaves out.
fn built(session: &mut Session) -> Verdict {
    let info = match session.library() {
        Ok(built) => built.dist.join("bin/ompi_info"),
        Err(why) => return Verdict::Failed(why),
    };
    let lines: &[(&[&str], &str, bool)] = &[
        (&["--arch", "--parsable"], "config:arch:x86_64-", true),
        (&["--hostname", "--parsable"], "config:host:", true),
        (&["--parsable"], "\nbuild:timestamp:\"", true),
        (&["--parsable"], "\ncompiler:rust:version:rustc ", true),
        (&["--parsable"], "\ncompiler:c:version:", true),
        (&["--config"], "Thread support: posix (MPI_THREAD_MULTIPLE: yes", true),
        (&["--parsable"], ":unknown", false),
        (&["--parsable", "--mca", "btl", "^tcp"], "mca:btl:tcp:", true),
        (&["--parsable", "--mca", "btl", "^tcp", "--selected-only"], "mca:btl:tcp:", false),
        (&["--param", "btl", "-s", "--mca", "btl", "^tcp", "--parsable"], "btl_tcp_if_include", false),
        (&["--param", "btl", "--mca", "btl", "^tcp", "--parsable"], "btl_tcp_if_include", true),
    ];
    for (arguments, text, wanted) in lines {
        match start(session, &info, arguments) {
            Err(why) => return Verdict::Failed(why),
            Ok(said) if said.contains(text) != *wanted => {
                let has = if *wanted { "lacks" } else { "has" };
                return Verdict::Failed(format!("ompi_info {}: {has} `{}`\n{said}", arguments.join(" "), text.trim()));
            }
            Ok(_) => {}
        }
    }
    Verdict::Passed(String::new())
}

/// The product works from another folder.
fn moved(session: &mut Session) -> Verdict {
    let built = match session.library() {
        Ok(built) => built,
        Err(why) => return Verdict::Failed(why),
    };
    let folder = session.scratch().join("moved");
    let _ = std::fs::remove_dir_all(&folder);
    let copied = Command::new("cp").arg("-a").arg(&built.dist).arg(&folder).status();
    if !copied.is_ok_and(|status| status.success()) {
        return Verdict::Failed(format!("cannot copy {} to {}", built.dist.display(), folder.display()));
    }
    let verdict = match start(session, &folder.join("bin/ompi_info"), &["--path", "libdir"]) {
        Ok(said) if said.trim() == folder.join("lib").display().to_string() => Verdict::Passed(String::new()),
        Ok(said) => {
            Verdict::Failed(format!("a product moved to {} names `{}` as its libdir", folder.display(), said.trim()))
        }
        Err(why) => Verdict::Failed(why),
    };
    let _ = std::fs::remove_dir_all(&folder);
    verdict
}

fn refused(session: &mut Session, arguments: &[&str], words: &[&str]) -> Verdict {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Verdict::Failed(format!("cannot find my own program: {error}")),
    };
    let mut command = Command::new(program);
    command.arg("build").args(arguments).arg("--out").arg(session.scratch().join("refused"));
    match deadline::run(&mut command, PATIENCE, &session.scratch().join("refused.log")) {
        Ok(ended) if ended.ended_with(2) => match words.iter().find(|word| !ended.err.contains(**word)) {
            None => Verdict::Passed(String::new()),
            Some(word) => Verdict::Failed(format!("standard error lacks `{word}`\n{}", ended.story())),
        },
        Ok(ended) => Verdict::Failed(format!("status 2 was expected\n{}", ended.story())),
        Err(failure) => failure.into(),
    }
}

fn other(session: &mut Session, name: &str, components: &[&str], fat: bool) -> Verdict {
    let components = components.iter().map(|name| (*name).to_owned()).collect();
    let out = Some(session.scratch().join(name));
    match build::build(&build::Options { components, variant: !fat, out, ..Default::default() }, session.progress) {
        Ok(built) => Verdict::Passed(format!("{} components, product checked", built.choice.components.len())),
        Err(failure) => failure.into(),
    }
}

/// A library whose message path is called directly, with a component from a folder outside the tree. The product
/// checks run it on two ranks.
fn direct_and_outside(session: &mut Session) -> Verdict {
    let folder = session.scratch().join("outside/memcpy-elsewhere");
    if let Err(failure) = elsewhere(&session.tree.root, &folder) {
        return failure.into();
    }
    let components = vec!["default".to_owned(), folder.display().to_string()];
    let direct = vec!["pml/ob1".to_owned(), "btl/sm".to_owned()];
    let out = Some(session.scratch().join("direct"));
    let options = build::Options { components, direct, thin: true, out, ..Default::default() };
    match build::build(&options, session.progress) {
        Ok(built) if built.choice.components.iter().any(|one| one.name == "memcpy/elsewhere") => {
            Verdict::Passed("the component from outside is in, the product was checked".to_owned())
        }
        Ok(built) => Verdict::Failed(format!("memcpy/elsewhere is not among {:?}", built.choice.components)),
        Err(failure) => failure.into(),
    }
}

/// A crate of its own, as somebody else would write it: memcpy/repmovs under another name.
fn elsewhere(root: &Path, folder: &Path) -> Result<()> {
    let from = root.join("components/memcpy/repmovs/src");
    let source = folder.join("src");
    std::fs::create_dir_all(&source).at(format_args!("create {}", source.display()))?;
    for name in ["lib.rs", "component.rs", "raw.rs"] {
        let text = shell::read(&from.join(name))?.replace("\"repmovs\"", "\"elsewhere\"");
        std::fs::write(source.join(name), text).at(format_args!("write {name}"))?;
    }
    let manifest = format!(
        "[package]\nname = \"memcpy-elsewhere\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         description = \"Copies by rep movsb\"\n\n[dependencies]\nopal-core = {{ path = \"{}\" }}\n\n\
         [package.metadata.ompi]\nbare = true\n\n[workspace]\n",
        root.join("opal-core").display()
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).at("write Cargo.toml")
}

fn start(session: &Session, program: &Path, arguments: &[&str]) -> std::result::Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    own_choice(&mut command);
    match deadline::run(&mut command, PATIENCE, &session.scratch().join("program.log")) {
        Ok(ended) if ended.ended_with(0) => Ok(ended.out),
        Ok(ended) => Err(ended.story()),
        Err(failure) => Err(failure.text),
    }
}

/// What cannot be built, and words of the sentence that says so.
const REFUSED: &[(&str, &[&str], &[&str])] = &[
    ("an_unknown_component", &["--components", "default,btl/smm"], &["btl/smm", "write btl/sm"]),
    (
        "two_of_a_static_framework",
        &["--components", "minimal,memcpy/portable,memcpy/repmovs"],
        &["memcpy", "exactly one"],
    ),
    ("a_missing_framework", &["--components", "minimal", "--exclude", "timer/clock"], &["timer", "--components"]),
];

const PATIENCE: Duration = Duration::from_secs(60);
