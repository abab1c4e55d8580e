//! What all fabrics' cases have in common: programs, compiled with the library that has them, and what is missing here.

use super::super::cluster::rig::{Rig, contains, expect, on_two_with, reached_by, run, verdict};
use super::super::foreign::{Foreign, library};
use super::super::session::deadline::Ended;
use super::super::{Session, Verdict, deadline};
use crate::cluster::hosts::{self, Cluster, Manager};
use crate::failure::{Result, fail};
use crate::shell;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A transport over a library of fabrics.
pub struct Fabric {
    /// What is needed for it.
    pub foreign: Foreign,
    /// Its name in framework btl.
    pub btl: &'static str,
    /// Before the names of its cases.
    pub place: &'static str,
    /// The list by which no other one reaches another process.
    pub alone: &'static str,
    /// The parameter that names what is used.
    pub include: &'static str,
    /// What needs no hardware and connects hosts.
    pub between_hosts: &'static str,
}

/// A case on this node.
pub type Said = fn(&mut Session) -> Result<()>;

impl Fabric {
    /// A case, skipped with what is missing for it.
    pub fn case(&self, session: &mut Session, name: &str, case: impl FnOnce(&mut Session) -> Result<()>) {
        self.case_unless(session, name, None, case);
    }

    /// The same, which needs more than the library, and what of that is missing.
    pub fn case_unless(
        &self,
        session: &mut Session,
        name: &str,
        lacks: Option<String>,
        case: impl FnOnce(&mut Session) -> Result<()>,
    ) {
        let lacks = self.foreign.lacks().or(lacks);
        session.case(&format!("fabrics/{name}"), |session| unless_lacking(lacks, || case(session)));
    }

    /// A case on two test hosts, which gets these programs of `tests/c`.
    pub fn case_on_two(
        &self,
        session: &mut Session,
        name: &str,
        programs: &[&str],
        case: impl Fn(&Rig, &Cluster, &[PathBuf]) -> Result<()>,
    ) {
        session.case(&format!("fabrics/{name}"), |session| {
            let lacks = self.foreign.lacks().or_else(|| hosts::lacks(&session.tree));
            unless_lacking(lacks, || {
                let dist = library(session)?;
                let programs: Result<Vec<PathBuf>> =
                    programs.iter().map(|program| compiled(session, "c", program)).collect();
                let programs = programs?;
                let name = format!("fabrics_{}", self.btl);
                on_two_with(session, &dist, &name, Manager::None, |rig, cluster| case(rig, cluster, &programs))
            })
        });
    }

    /// A rank is killed, of whom the others have all it sent, and which they hear of however they look: mpirun leaves them alone here.
    pub fn polls(&self, session: &mut Session, what: &'static str, how: &str) -> Result<()> {
        let options = [&self.over(what)[..], &["--mca", "smsc", "^cma,map", "--disable-auto-cleanup"]].concat();
        let ended = job_of(session, ("fabrics", &["polls", how]), 3, &options)?;
        [0, 1].iter().try_for_each(|rank| contains(&ended.out, &format!("rank {rank} was told: {how}")))
    }

    /// Options by which all ranks are reached through it.
    pub fn over(&self, what: &'static str) -> Vec<&'static str> {
        vec!["--mca", "btl", self.alone, "--mca", self.include, what]
    }

    /// One that was asked for and cannot be had ends the start, although btl/tcp would reach all ranks: options, and what is said.
    pub fn asked_in_vain(&self, session: &mut Session, cases: &[(&[&str], &str)]) -> Result<()> {
        for (options, words) in cases {
            let ended = job_of(session, ("c", &["pt2pt_blocking"]), 2, &[&["--mca", "btl", "^sm"], *options].concat())?;
            fails(&ended)?;
            contains(&ended.err, &format!("btl/{} was asked for and cannot run", self.btl))?;
            contains(&ended.err, words)?;
        }
        Ok(())
    }

    /// Without a word of the user's nothing over sockets is taken.
    pub fn not_unasked(&self, session: &mut Session, library: &str) -> Result<()> {
        let options = ["--mca", "btl", "^sm", "--mca", "btl_base_verbose", "40"];
        let ended = job_of(session, ("c", &["pt2pt_blocking"]), 2, &options)?;
        expect(&ended, 0)?;
        contains(&ended.err, &format!("{} declines: {library} 1.", self.btl))?;
        contains(&ended.err, "process 1 is reached by tcp (")
    }

    /// Rank 0 uses one thing, rank 1 another one: whoever sends first says what both have.
    pub fn nothing_in_common(&self, session: &mut Session, [first, second]: [&str; 2], words: &str) -> Result<()> {
        let executable = compiled(session, "c", "pt2pt_blocking")?.display().to_string();
        let rank = "[ \"$OMPI_COMM_WORLD_RANK\" = 0 ]";
        let script =
            format!("{rank} && what={first} || what={second}; OMPI_MCA_{}=$what exec {executable}", self.include);
        let mut command = Command::new(library(session)?.join("bin/mpirun"));
        command.args(["-n", "2", "--mca", "btl", self.alone, "sh", "-c", &script]);
        let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("fabrics/job.log"))?;
        fails(&ended)?;
        contains(&ended.err, words)
    }

    /// A program of `tests/c`, all of whose messages go through it.
    pub fn on_this_node(&self, session: &mut Session, what: &'static str, program: &str, ranks: u32) -> Result<()> {
        let more = ["--mca", "smsc", "^cma,map", "--mca", "btl_base_verbose", "40"];
        let ended = job_of(session, ("c", &[program]), ranks, &[&self.over(what)[..], &more].concat())?;
        expect(&ended, 0)?;
        nobody_is_lost(&ended)?;
        contains(&ended.err, &format!("process 1 is reached by {} (", self.btl))
    }

    /// Long messages that the receiver reads by itself, and how often memory is registered for them.
    pub fn get(
        &self,
        session: &mut Session,
        what: &'static str,
        reads: &'static str,
        keeps: &'static str,
    ) -> Result<()> {
        let mut options = self.over(what);
        options.extend(["--mca", "smsc", "^cma,map"]);
        if reads == "fragments" {
            options.extend(["--mca", "pml_ob1_get_bytes_min", "1000000000"]);
        }
        if keeps == "ended" {
            options.extend(["--mca", "rcache", "^grdma"]);
        }
        expect(&job_of(session, ("fabrics", &["get", reads, keeps]), 2, &options)?, 0)
    }

    /// Ranks in blocks and in turn: shared memory within a host, the fabric between them.
    pub fn places(&self, rig: &Rig, cluster: &Cluster) -> Result<()> {
        for (by, nodes) in [("slot", [0, 0, 1, 1]), ("node", [0, 1, 0, 1])] {
            let mut command = self.mpirun(rig, cluster)?;
            command.args(["--host", "h1:2,h2:2", "--map-by", by, "-n", "4", "--mca", "btl_base_verbose", "40"]);
            reached_by(rig, &mut command, nodes, "0", self.btl)?;
        }
        Ok(())
    }

    /// Both kinds of peers in one communicator, under load; nobody counts as lost because the others left first.
    pub fn programs(&self, rig: &Rig, cluster: &Cluster) -> Result<()> {
        let mut command = self.mpirun(rig, cluster)?;
        command.args(["--host", "h1:1,h2:1", "-n", "2"]).arg(&rig.pairs).args(["1048576", "8"]);
        let ended = run(rig, &mut command)?;
        expect(&ended, 0)?;
        nobody_is_lost(&ended)
    }

    /// On the node where one logs in, over what needs no hardware.
    pub fn mpirun(&self, rig: &Rig, cluster: &Cluster) -> Result<Command> {
        let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
        command.args(["--mca", self.include, self.between_hosts]);
        Ok(command)
    }
}

/// Skips a case with what is missing for it.
fn unless_lacking(lacks: Option<String>, case: impl FnOnce() -> Result<()>) -> Verdict {
    lacks.map_or_else(|| verdict(case()), Verdict::Skipped)
}

/// What ompi_info says with these words: it has each of the parts.
pub fn info_says(session: &mut Session, words: &[&str], parts: &[&str]) -> Result<()> {
    let said = shell::output(Command::new(library(session)?.join("bin/ompi_info")).args(words))?;
    parts.iter().try_for_each(|part| contains(&said, part))
}

/// A job that should fail, by itself.
pub fn fails(ended: &Ended) -> Result<()> {
    match ended.status.is_none() || ended.ended_with(0) {
        true => Err(fail(format!("it should fail\n{}", ended.story()))),
        false => Ok(()),
    }
}

/// All left in good order.
fn nobody_is_lost(ended: &Ended) -> Result<()> {
    match ended.err.contains("counts as lost") {
        false => Ok(()),
        true => Err(fail(format!("a rank counts as lost that has left in good order\n{}", ended.story()))),
    }
}

/// A program of a folder of `tests`, with its arguments.
pub fn job_of(session: &mut Session, (place, program): (&str, &[&str]), ranks: u32, options: &[&str]) -> Result<Ended> {
    let executable = compiled(session, place, program[0])?;
    let mut command = Command::new(library(session)?.join("bin/mpirun"));
    command.arg("-n").arg(ranks.to_string()).args(options).arg(executable).args(&program[1..]);
    deadline::run(&mut command, LIMIT, &session.scratch().join("fabrics/job.log"))
}

/// A program of a folder of `tests`.
pub fn compiled(session: &mut Session, place: &str, program: &str) -> Result<PathBuf> {
    let dist = library(session)?;
    let folder = session.scratch().join("fabrics");
    shell::folder(&folder)?;
    let executable = folder.join(program);
    let source = session.tree.root.join(format!("tests/{place}/{program}.c"));
    shell::output(Command::new(dist.join("bin/mpicc")).arg("-O1").arg(source).arg("-o").arg(&executable).arg("-lm"))?;
    Ok(executable)
}

/// Cases of names and counts: each of the first with each of the second, at 2 and 4 ranks.
pub fn at_2_and_4(places: &[&'static str]) -> Vec<(&'static str, &'static str, u32)> {
    let of =
        |place: &'static str| PROGRAMS.iter().flat_map(move |program| [2, 4].map(|ranks| (place, *program, ranks)));
    places.iter().copied().flat_map(of).collect()
}

/// The ways of `tests/fabrics/polls.c`.
pub const POLLS: [&str; 4] = ["test", "probe", "wait", "recv"];
/// Programs of `tests/c` for each transport.
const PROGRAMS: &[&str] = &[
    "pt2pt_blocking",
    "pt2pt_nonblocking",
    "pt2pt_any_source",
    "pt2pt_persistent",
    "pt2pt_probe",
    "pt2pt_unexpected",
    "coll_blocking_1",
    "coll_nonblocking_4",
    "rma_fence",
    "threads_pt2pt",
];

/// For one job.
const LIMIT: Duration = Duration::from_secs(240);
