//! An ordinary Cargo project outside the tree that depends on crate `ompi` by its path, as README shows it.

use crate::failure::{Result, fail};
use crate::test::{Session, Verdict, deadline, programs};
use crate::{shell, tree};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// With the default components, and with those that the project names.
pub fn ordinary(session: &mut Session) -> Result<Verdict> {
    let (root, shown) = (session.tree.root.clone(), session.scratch().join("rust/project"));
    let (ompi, image) = (root.join("ompi-core/rust"), root.join("ompi-core/image/components"));
    let all = format!("ompi = {{ path = {ompi:?} }}\n");
    let few = format!(
        "ompi = {{ path = {ompi:?}, default-features = false }}\n\
         ompi-components = {{ path = {image:?}, default-features = false, features = [\"minimal\", \"coll-self\"] }}\n"
    );
    let by_default = run(session, &shown, "all", &all, "")?;
    let named = run(session, &shown, "few", &few, "use ompi_components as _;\n")?;
    let tcp = "component btl/tcp: ";
    Ok(match (by_default.contains(tcp), named.contains(tcp), named.contains("component coll/self: ")) {
        (true, false, true) => Verdict::Passed(String::new()),
        _ => Verdict::Failed(format!("the features do not say which components are linked\n{by_default}\n{named}")),
    })
}

/// Builds it, runs it on three ranks, and returns what the ranks list as their components.
fn run(session: &mut Session, folder: &Path, name: &str, dependencies: &str, line: &str) -> Result<String> {
    let dist = session.library().map_err(fail)?.dist;
    let folder = folder.join(name);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}"
    );
    shell::write(&folder.join("Cargo.toml"), &manifest)?;
    // The versions that are known to work; cargo leaves the others out.
    shell::write(&folder.join("Cargo.lock"), &shell::read(&session.tree.root.join("Cargo.lock"))?)?;
    shell::write(&folder.join("src/main.rs"), &format!("{line}{MAIN}"))?;
    let target = session.scratch().join("rust/project/target");
    let mut cargo = tree::cargo();
    cargo.args(["build", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    shell::output(cargo.arg("--target-dir").arg(&target))?;
    let mut mpirun = Command::new(dist.join("bin/mpirun"));
    mpirun.args(["-n", "3", "--mca", "mpi_show_components", "1"]).arg(target.join("debug").join(name));
    programs::own_choice(&mut mpirun);
    let ended = deadline::run(&mut mpirun, Duration::from_secs(60), &folder.join("log"))?;
    let lines = ended.out.lines().filter(|line| line.ends_with(" of 3: 3")).count();
    if ended.ended_with(0) && lines == 3 { Ok(ended.story()) } else { Err(fail(ended.story())) }
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
