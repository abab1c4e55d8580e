//! `docs/clusters.md`: each line of its examples is run on test hosts, or says that it is not.

use super::super::{Session, Verdict, foreign};
use super::rig::{Rig, contains, expect, rig_with, run, up_and_down, verdict};
use super::{direct, pmix};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::Path;

/// Which lines a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Ssh,
    Slurm,
    Pmix,
    /// A test of its own does what the line does.
    Elsewhere,
    Marked,
}

/// `cluster/document…`
pub fn cases(session: &mut Session) {
    for (name, group, manager) in [
        ("ssh", Group::Ssh, Manager::None),
        ("slurm", Group::Slurm, Manager::Slurm),
        ("pmix", Group::Pmix, Manager::Slurm),
    ] {
        session.case(&format!("cluster/document_{name}"), |session| {
            let lacks = match group {
                Group::Ssh => direct::lacks(),
                Group::Pmix => foreign::PMIX.lacks().or_else(pmix::lacks_openmpi),
                _ => None,
            };
            match lacks.or_else(|| hosts::lacks(&session.tree)).or_else(|| hosts::lacks_for(manager)) {
                Some(why) => Verdict::Skipped(why),
                None => verdict(document(session, group, manager)),
            }
        });
    }
}

fn document(session: &mut Session, group: Group, manager: Manager) -> Result<()> {
    let lines = lines(&session.tree.root.join("docs/clusters.md"))?;
    let dist = match group {
        Group::Pmix => foreign::library(session)?,
        _ => session.library().map_err(fail)?.dist,
    };
    let rig = rig_with(session, &dist)?;
    let folder = session.scratch().join("cluster/document");
    prepare(&folder, &rig)?;
    up_and_down(session, "document-hosts", 3, manager, |cluster| {
        lines.iter().filter(|(its, _)| *its == group).try_for_each(|(_, line)| of_line(&rig, cluster, &folder, line))
    })
}

/// The lines of all examples.
fn lines(document: &Path) -> Result<Vec<(Group, String)>> {
    let text = shell::read(document)?;
    let (mut lines, mut is_example) = (Vec::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            is_example = line == "```sh";
        } else if is_example {
            lines.push((group(line)?, line.to_owned()));
        }
    }
    match lines.len() > 20 {
        true => Ok(lines),
        false => Err(fail(format!("{} has {} lines of examples only", document.display(), lines.len()))),
    }
}

fn group(line: &str) -> Result<Group> {
    let is = |beginning: &&str| line.starts_with(*beginning);
    Ok(match () {
        () if line.contains("not run here") => Group::Marked,
        () if ELSEWHERE.iter().any(is) => Group::Elsewhere,
        () if ["srun --mpi=pmix ", "mpirun.openmpi "].iter().any(is) => Group::Pmix,
        () if ["srun ", "salloc ", "sbatch "].iter().any(is) => Group::Slurm,
        () if ["mpirun ", "mpiexec.hydra "].iter().any(is) => Group::Ssh,
        () => {
            return Err(fail(format!(
                "docs/clusters.md: no test runs `{line}`; let one do it, or write: not run here"
            )));
        }
    })
}

/// What the examples speak of.
fn prepare(folder: &Path, rig: &Rig) -> Result<()> {
    shell::folder(folder)?;
    std::fs::copy(&rig.places, folder.join("program")).at("copy the program")?;
    for (name, text) in [
        ("hosts", "h1 slots=4\nh2 slots=4 max_slots=8\nh3 slots=4\n"),
        ("lines", "h1\nh2\nh1\n"),
        ("ranks", "rank 0=h1 slot=0-1\nrank 1=h2 slot=1\n"),
        ("data", "data\n"),
        ("conf", "conf\n"),
    ] {
        shell::write(&folder.join(name), text)?;
    }
    Ok(())
}

/// The line as it stands, but for the names of hosts, for as many ranks as the hosts of the test have processors, and for what a user
/// who is root has to say.
fn of_line(rig: &Rig, cluster: &Cluster, folder: &Path, line: &str) -> Result<()> {
    let typed = line.split(" #").next().unwrap_or(line).trim().replace('…', "./program");
    let words: Vec<String> = typed.split(' ').map(of_test_hosts).collect();
    let output = folder.join("output");
    let typed = words.join(" ").replace("sbatch ", &format!("sbatch --wait --quiet --output={} ", output.display()));
    let _ = std::fs::remove_file(&output);
    let script = format!("cd {} && PATH={}:$PATH && {typed}", folder.display(), rig.dist.join("bin").display());
    let mut command = cluster.command("head", &["sh", "-c", &script])?;
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    let ended = run(rig, &mut command)?;
    expect(&ended, 0).map_err(|failure| fail(format!("`{typed}`: {}", failure.text)))?;
    if !typed.contains("--explain") {
        let said = if typed.starts_with("sbatch") { shell::read(&output)? } else { ended.out };
        contains(&said, "rank 0 of ").map_err(|failure| fail(format!("`{typed}`: {}", failure.text)))?;
    }
    Ok(())
}

/// `a:4,b:4` and the like with the names of test hosts; `-n8` of Slurm for its two processors on each host.
fn of_test_hosts(word: &str) -> String {
    let name = |part: &str| match part.split_once(':') {
        Some(("a", rest)) => Some(format!("h1:{rest}")),
        Some(("b", rest)) => Some(format!("h2:{rest}")),
        None if part == "a" => Some("h1".to_owned()),
        None if part == "b" => Some("h2".to_owned()),
        _ => None,
    };
    let parts: Option<Vec<String>> = word.split(',').map(name).collect();
    match (parts, word) {
        (Some(parts), _) => parts.join(","),
        (None, "-n8") => "-n4".to_owned(),
        (None, word) => word.to_owned(),
    }
}

/// `cluster/pmix…` builds the library, `cluster/hosts…` makes test hosts and ends them.
const ELSEWHERE: [&str; 3] = ["apt-get install ", "cargo xtask build ", "cargo xtask cluster "];
