//! rsmpi, Rust's other binding of MPI (crate `mpi`): its examples, compiled by its own build script with our mpicc. They
//! assert what they compute. Only in the full tier: they compile for a while, and want libclang.

use super::{Session, Verdict, deadline, programs};
use crate::failure::{At, Result, fail};
use crate::{shell, tree};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `rsmpi/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    if session.options.all {
        for ranks in 1..=4 {
            session.case(&format!("rsmpi/examples@{ranks}"), |session| match compiled(session) {
                Ok(folder) => run(session, &folder, ranks).unwrap_or_else(Verdict::from),
                Err(verdict) => verdict,
            });
        }
    }
    Ok(())
}

fn run(session: &mut Session, folder: &Path, ranks: u32) -> Result<Verdict> {
    let mpirun = session.library().map_err(fail)?.dist.join("bin/mpirun");
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder.join("examples")).at("list rsmpi's examples")? {
        let name = programs::stem(&entry.at("list rsmpi's examples")?.path());
        let alone = ranks == 1 && NOT_ALONE.contains(&name.as_str());
        if !alone && !LEFT_OUT.iter().any(|(left_out, _)| *left_out == name) {
            names.push(name);
        }
    }
    names.sort();
    for name in &names {
        let mut command = Command::new(&mpirun);
        command.arg("-n").arg(ranks.to_string()).arg(folder.join("target/debug/examples").join(name));
        programs::own_choice(&mut command);
        let ended =
            deadline::run(&mut command, RUN_LIMIT, &session.scratch().join(format!("rsmpi/{name}@{ranks}.log")))?;
        if !ended.ended_with(0) {
            return Ok(Verdict::Failed(format!("example {name} failed\n{}", ended.story())));
        }
    }
    Ok(match names.is_empty() {
        true => Verdict::Failed(format!(
            "{} has no examples that can run here; look at the list of skipped ones in xtask/src/test/rsmpi.rs",
            folder.display()
        )),
        false => Verdict::Passed(format!("{} examples", names.len())),
    })
}

/// A copy of the crate, whose examples are compiled with the library as it is now.
fn compiled(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    if !has_libclang() {
        let why = "no libclang, with which it reads mpi.h: apt-get install libclang1-14 libclang-common-14-dev";
        return Err(Verdict::Skipped(why.to_owned()));
    }
    let mpicc = session.library().map_err(fail)?.dist.join("bin/mpicc");
    let folder = session.scratch().join("rsmpi/source");
    if !folder.join("Cargo.toml").is_file() {
        copied(session, &folder)?;
    }
    let mut build = tree::cargo();
    build.args(["build", "--quiet", "--examples", "--features", "complex,derive"]).current_dir(&folder);
    // Its examples deny warnings, also those that only a newer compiler has.
    build.env("MPICC", mpicc).env("RUSTFLAGS", "--cap-lints=warn").env("CARGO_TARGET_DIR", folder.join("target"));
    let ended = deadline::run(&mut build, BUILD_LIMIT, &session.scratch().join("rsmpi/build.log"))?;
    if ended.ended_with(0) { Ok(folder) } else { Err(Verdict::Failed(ended.story())) }
}

/// The crate as the registry has it, made a package of its own.
fn copied(session: &Session, folder: &Path) -> std::result::Result<(), Verdict> {
    let wanting = session.scratch().join("rsmpi/fetch");
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\nmpi = \"={VERSION}\"\n[workspace]\n"
    );
    shell::write(&wanting.join("Cargo.toml"), &manifest)?;
    shell::write(&wanting.join("src/lib.rs"), "")?;
    let mut metadata = tree::cargo();
    metadata.args(["metadata", "--format-version", "1"]).current_dir(&wanting);
    let outcome = shell::outcome(&mut metadata, FETCH_LIMIT)?;
    if !outcome.status.success() {
        return Err(Verdict::Skipped(format!("crate mpi {VERSION} cannot be fetched: {}", outcome.stderr.trim())));
    }
    let data: serde_json::Value = serde_json::from_str(&outcome.stdout).at("read cargo metadata")?;
    let packages = data["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let package = packages
        .iter()
        .find(|package| package["name"] == "mpi")
        .ok_or_else(|| fail("`cargo metadata` does not list crate mpi"))?;
    let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
    let source = manifest.parent().ok_or_else(|| fail("the manifest of crate mpi lies in no folder"))?;
    shell::folder(folder.parent().unwrap_or(folder))?;
    shell::output(Command::new("cp").arg("-r").arg(source).arg(folder))?;
    let text = shell::read(&folder.join("Cargo.toml"))?;
    Ok(shell::write(&folder.join("Cargo.toml"), &format!("{text}\n[workspace]\n"))?)
}

/// Where bindgen looks for it.
fn has_libclang() -> bool {
    let mut listed = Command::new("sh");
    listed.args(["-c", "ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib/*/libclang-*.so* 2>/dev/null"]);
    std::env::var_os("LIBCLANG_PATH").is_some()
        || listed.output().is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).lines().any(|line| !line.contains("libclang-cpp"))
        })
}

/// Examples that are no programs to run here, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("derive_multiple_thread_init", "panics on purpose"),
    ("derive_nonthreaded_panic", "panics on purpose"),
    ("derive_postfinalize_panic", "panics on purpose"),
    ("derive_preinit_panic", "panics on purpose"),
    ("spawn", "it spawns a program that is not built here"),
    ("spawn_multiple", "it spawns programs that are not built here"),
];
/// Examples that tell what a rank sent itself from what came from another one, so not for one rank.
const NOT_ALONE: &[&str] = &["immediate_multiple_requests"];
const VERSION: &str = "0.8.0";
const FETCH_LIMIT: Duration = Duration::from_secs(120);
const BUILD_LIMIT: Duration = Duration::from_secs(900);
const RUN_LIMIT: Duration = Duration::from_secs(60);
