//! An ordinary Cargo project outside the tree that depends on crate `ompi` by its path, as README shows it.

use crate::failure::{Result, fail};
use crate::test::{Session, Verdict, deadline, programs};
use crate::{shell, tree};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// With the default components, and with those that the project names.
pub fn ordinary(session: &mut Session) -> Result<Verdict> {
    let root = session.tree.root.clone();
    let (ompi, image) = (root.join("ompi-core/rust"), root.join("ompi-core/image/components"));
    let all = format!("ompi = {{ path = {ompi:?} }}\n");
    let few = format!(
        "ompi = {{ path = {ompi:?}, default-features = false }}\n\
         ompi-components = {{ path = {image:?}, default-features = false, features = [\"minimal\", \"coll-self\"] }}\n"
    );
    let by_default = run(session, "all", &all, "")?;
    let named = run(session, "few", &few, "use ompi_components as _;\n")?;
    let tcp = "component btl/tcp: ";
    Ok(match (by_default.contains(tcp), named.contains(tcp), named.contains("component coll/self: ")) {
        (true, false, true) => Verdict::Passed(String::new()),
        _ => Verdict::Failed(format!("the features do not say which components are linked\n{by_default}\n{named}")),
    })
}

/// Builds it, runs it on three ranks, and returns what the ranks list as their components.
fn run(session: &mut Session, name: &str, dependencies: &str, line: &str) -> Result<String> {
    let program = build(session, name, dependencies, &format!("{line}{MAIN}"))?;
    let dist = session.library().map_err(fail)?.dist;
    let mut mpirun = Command::new(dist.join("bin/mpirun"));
    mpirun.args(["-n", "3", "--mca", "mpi_show_components", "1"]).arg(program);
    programs::own_choice(&mut mpirun);
    let ended = deadline::run(
        &mut mpirun,
        Duration::from_secs(60),
        &session.scratch().join("rust/project").join(name).join("log"),
    )?;
    let lines = ended.out.lines().filter(|line| line.ends_with(" of 3: 3")).count();
    if ended.ended_with(0) && lines == 3 { Ok(ended.err) } else { Err(fail(ended.story())) }
}

/// The program of a project that has these lines as its dependencies, as `cargo build` makes it.
pub fn build(session: &mut Session, name: &str, dependencies: &str, main: &str) -> Result<PathBuf> {
    let folder = session.scratch().join("rust/project").join(name);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}"
    );
    shell::write(&folder.join("Cargo.toml"), &manifest)?;
    // The versions that are known to work; cargo leaves the others out.
    shell::write(&folder.join("Cargo.lock"), &shell::read(&session.tree.root.join("Cargo.lock"))?)?;
    shell::write(&folder.join("src/main.rs"), main)?;
    let target = session.scratch().join("rust/project/target");
    let mut cargo = tree::cargo();
    cargo.args(["build", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    shell::output(cargo.arg("--target-dir").arg(&target))?;
    Ok(target.join("debug").join(name))
}

const MAIN: &str = "\
use ompi::{SystemOperation, traits::*};

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect(\"MPI starts once per process\");
    let world = universe.world();
    let mut sum = 0;
    world.all_reduce_into(&world.rank(), &mut sum, SystemOperation::sum())?;
    println!(\"rank {} of {}: {sum}\", world.rank(), world.size());
    Ok(())
}
";
