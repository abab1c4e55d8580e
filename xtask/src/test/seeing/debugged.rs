//! What gdb shows of handles, by `share/ompi-rs/gdb.py`.

use super::super::programs::{compiled, own_choice};
use super::super::{Session, Verdict, deadline};
use super::asked::LIMIT;
use crate::failure::{Result, fail};
use std::path::Path;
use std::process::Command;

/// Handles of the program's own in tests/mpirun/objects.c, and what stands behind their numbers.
const OBJECTS: &[(&str, &str)] = &[
    ("ring", "\"ring\", rank 0 of 1"),
    ("plain", "without a name, rank 0 of 1"),
    ("freed", "freed"),
    ("rubbish", "no handle of this kind"),
    ("group", "1 processes, of ranks 0 in MPI_COMM_WORLD, this one has rank 0"),
    ("pair", "without a name, MPI_COMBINER_VECTOR, 8 bytes, extent 16, not committed"),
    ("named", "\"pair\", MPI_COMBINER_DUP, 8 bytes, extent 16, committed"),
    ("op", "adds, commutative"),
    ("handler", "hears, of communicators"),
    ("info", "colour=\"red\""),
    ("session", "in use"),
    ("win", "\"window\", rank 0 of 1, 64 bytes in units of 4, by MPI_Win_allocate"),
    ("file", "\"/dev/null\", RDWR, of 1 processes"),
    ("receives", "receives from rank 0 with tag 5 on \"ring\", nothing has come"),
    ("any", "receives from any rank with any tag on a communicator without a name, nothing has come"),
    ("sends", "sends to rank 0 of the job with tag 6, announced, not received yet"),
    ("complete", "complete: source 0, tag 8, 4 bytes, error 0"),
    ("persistent", "inactive, persistent: receives from rank 0 with tag 9 on MPI_Comm 0x400"),
    ("taken", "complete and taken, or freed"),
    ("message", "source 0, tag 11, 4 bytes, error 0, on \"ring\", not received yet"),
];

/// What stands in its queues.
const QUEUES: &[&str] = &[
    "on \"ring\":\n  posted: from rank 0 with tag 5, at most 4 bytes to 0x",
    "\n  unexpected: from rank 0 with tag 6\n  unexpected: from rank 0 with tag 12\n",
    "on a communicator without a name:\n  posted: from any rank with any tag, at most 4 bytes to 0x",
    "\nlong and synchronous messages:\n  sends to rank 0 of the job with tag 6, announced, not received yet\n",
];

/// How the program is linked: options of mpicc.
pub const LINKED: &[(&str, &[&str])] = &[("gdb-objects", &["-O0"]), ("gdb-objects-static", &["-O0", "-static"])];

/// In a process that is stopped where all is there.
pub fn objects(session: &mut Session, name: &str, options: &[&str]) -> Result<Verdict> {
    if crate::shell::which("gdb").is_none() {
        return Ok(Verdict::Skipped("gdb is not installed: apt-get install gdb".to_owned()));
    }
    let program = compiled(session, &session.tree.root.join("tests/mpirun/objects.c"), options)?;
    let folder = session.scratch().join("seeing").join(name);
    crate::shell::folder(&folder)?;
    let said = shown(session, &program, &folder.join("log"))?;
    for (variable, wanted) in OBJECTS {
        let line = format!("{variable} is ");
        let found = said.lines().find_map(|text| text.strip_prefix(&line));
        if found.is_none_or(|found| found.split_once(": ").is_none_or(|(_, words)| words != *wanted)) {
            let found = found.unwrap_or("nothing");
            return Ok(Verdict::Failed(format!("of {variable} gdb shows `{found}`, not `{wanted}`\n{said}")));
        }
    }
    let rest = QUEUES.iter().try_fold(said.as_str(), |rest, line| Some(rest.split_once(line)?.1));
    if rest.is_none() {
        return Ok(Verdict::Failed(format!("mpi-queues does not print, in this order: {QUEUES:?}\n{said}")));
    }
    // As for an integer of Fortran.
    if said.split_once("by number").is_none_or(|(_, rest)| !rest.contains("MPI_Comm 0x400: \"ring\", rank 0 of 1")) {
        return Ok(Verdict::Failed(format!("$mpi_comm does not say what 1024 is\n{said}")));
    }
    Ok(Verdict::Passed(String::new()))
}

/// What gdb says.
fn shown(session: &mut Session, program: &Path, log: &Path) -> Result<String> {
    let script = session.library().map_err(fail)?.dist.join("share/ompi-rs/gdb.py");
    let mut command = Command::new("gdb");
    command.args(["-nx", "-batch", "-x"]).arg(script).arg(program);
    command.args(["-ex", "break look_here", "-ex", "run", "-ex", "up"]);
    for (variable, _) in OBJECTS {
        command.args([
            "-ex",
            &format!("echo {variable} is \\ "),
            "-ex",
            &format!("output {variable}"),
            "-ex",
            "echo \\n",
        ]);
    }
    let by_number = "echo by number is \\ ";
    command.args(["-ex", by_number, "-ex", "set language fortran", "-ex", "output $mpi_comm(1024)", "-ex", "echo \\n"]);
    command.args(["-ex", "mpi-queues", "-ex", "kill"]);
    own_choice(&mut command);
    Ok(deadline::run(&mut command, LIMIT, log)?.out.replace("is  ", "is ").replace('\'', ""))
}
