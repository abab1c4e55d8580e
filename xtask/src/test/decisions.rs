//! The decision file of coll/tuned: its decisions are followed, its mistakes are named, and ranks whose files differ do
//! without it. `ompi_info --coll` tells the same.

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use crate::shell;
use deadline::Ended;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// `decisions/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let cases: [(&str, Case); 4] =
        [("followed@3", followed), ("mistakes", mistakes), ("differing@2", differing), ("ompi_info", info)];
    for (name, case) in cases {
        session.case(&format!("decisions/{name}"), |session| case(session).unwrap_or_else(Verdict::from));
    }
    Ok(())
}

type Case = fn(&mut Session) -> Result<Verdict>;

const GOOD: &str = "# from how many ranks and bytes on\nbcast 2 0 next\nbcast 2 1k chain\nallreduce 3 0 ring\n";

fn file(session: &Session, name: &str, text: &str) -> Result<PathBuf> {
    let path = session.scratch().join("decisions").join(name);
    shell::write(&path, text)?;
    Ok(path)
}

/// A few draws of the differential test, with everything that the library says.
fn job(session: &mut Session, name: &str, ranks: u32, before: &[&str]) -> Result<Ended> {
    let program = compiled(session, &session.tree.root.join("tests/c/coll_differential.c"), &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", &ranks.to_string(), "--mca", "coll_base_verbose", "40"]);
    command.args(before).arg(program).args(["120", "3"]);
    own_choice(&mut command);
    deadline::run(&mut command, LIMIT, &session.scratch().join("decisions").join(format!("{name}.log")))
}

fn followed(session: &mut Session) -> Result<Verdict> {
    let path = file(session, "good", GOOD)?;
    let ended = job(session, "followed", 3, &["--mca", "coll_tuned_decisions", &path.to_string_lossy()])?;
    let wanted = ["as the decision file says: chain", "as the decision file says: ring", "by the built-in limits"];
    Ok(match wanted.iter().find(|words| !ended.err.contains(**words)) {
        _ if !ended.ended_with(0) => Verdict::Failed(ended.story()),
        Some(words) => Verdict::Failed(format!("`{words}` is not in the trace")),
        None => Verdict::Passed(String::new()),
    })
}

fn mistakes(session: &mut Session) -> Result<Verdict> {
    let path = file(session, "bad", "bcast 2 0 next\nbcast 2 0 chian\n")?;
    let ended = job(session, "mistakes", 2, &["--mca", "coll_tuned_decisions", &path.to_string_lossy()])?;
    let wanted = "line 2: there is no algorithm of bcast chian; did you mean chain?";
    let right = !ended.ended_with(0) && ended.err.contains(wanted);
    Ok(if right { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

/// Each rank has a file of its own, which would make them wait for each other for ever.
fn differing(session: &mut Session) -> Result<Verdict> {
    let path = file(session, "rank-0", "bcast 2 0 chain\nallreduce 2 0 ring\n")?;
    file(session, "rank-1", "bcast 2 0 scatter_allgather\nallreduce 2 0 halving\n")?;
    let folder = path.parent().unwrap_or(&path).to_string_lossy().into_owned();
    let script = "export OMPI_MCA_coll_tuned_decisions=$0/rank-$OMPI_COMM_WORLD_RANK; exec \"$@\"";
    let ended = job(session, "differing", 2, &["sh", "-c", script, &folder])?;
    let right = ended.ended_with(0)
        && ended.err.contains("not the same on all ranks")
        && !ended.err.contains("as the decision file says");
    Ok(if right { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

fn info(session: &mut Session) -> Result<Verdict> {
    let path = file(session, "info", GOOD)?;
    let ask = |session: &mut Session, name: &str, more: &[&str]| {
        let dist = session.library().map_err(fail)?.dist;
        let mut command = Command::new(dist.join("bin/ompi_info"));
        command.args(["--coll", "--size", "3"]).args(more);
        own_choice(&mut command);
        deadline::run(&mut command, LIMIT, &session.scratch().join("decisions").join(format!("{name}.log")))
    };
    let plain = ask(session, "info", &["--bytes", "4096"])?;
    let named = ask(session, "info-named", &["--bytes", "4096", "--mca", "coll_tuned_bcast_algorithm", "chain"])?;
    let with =
        ask(session, "info-with", &["--bytes", "4096", "--mca", "coll_tuned_decisions", &path.to_string_lossy()])?;
    let long = ask(session, "info-long", &["--bytes", "1048576"])?;
    let all = ["MPI_Barrier", "MPI_Neighbor_alltoallw", "basic", "tuned", "scatter_allgather, chain"];
    let missing = all.iter().find(|words| !plain.out.contains(**words));
    Ok(match missing {
        _ if !plain.ended_with(0) || !with.ended_with(0) => {
            Verdict::Failed(format!("{}\n{}", plain.story(), with.story()))
        }
        Some(words) => Verdict::Failed(format!("`{words}` is not in the list:\n{}", plain.out)),
        None if plain.out.contains("as the decision file says") => Verdict::Failed("no file was named".to_owned()),
        None if !with.out.contains("chain, as the decision file says") => Verdict::Failed(with.out.clone()),
        None if !is_chosen(&with.out, "tuned", "chain, as the decision file says") => Verdict::Failed(with.out.clone()),
        None if !is_chosen(&named.out, "tuned", "chain, as its parameter says") => Verdict::Failed(named.out.clone()),
        // A barrier has no data, whatever else is asked for.
        None if !is_chosen(&long.out, "sm", "flags, short data") => Verdict::Failed(long.out.clone()),
        None => Verdict::Passed(String::new()),
    })
}

/// Whether the component that says so of its choice is the marked one.
fn is_chosen(table: &str, component: &str, words: &str) -> bool {
    let lines: Vec<&str> = table.lines().collect();
    lines.windows(2).any(|pair| pair[0].trim_start().starts_with(&format!("* {component} ")) && pair[1].contains(words))
}

const LIMIT: Duration = Duration::from_secs(60);
