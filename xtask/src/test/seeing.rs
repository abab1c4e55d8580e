//! What a job tells of itself: the paths between its ranks, who waits for whom, what it counted; and what tools see of it.

mod asked;
mod cases;
mod debugged;
mod written;

use self::asked::{ASKED, LIMIT, asked};
use self::cases::{CASES, SOURCE, run};
use self::written::LOST;
use super::jobs::{self, Job};
use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use std::process::Command;

/// `seeing/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("seeing/{}", case.name), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    session.case("seeing/stats", |session| written::stats(session).unwrap_or_else(Verdict::from));
    for (name, options) in LATE {
        session.case(&format!("seeing/{name}"), |session| {
            written::who_was_late(session, name, options).unwrap_or_else(Verdict::from)
        });
    }
    session.case("seeing/stats-on-two-hosts", |session| written::on_two_hosts(session).unwrap_or_else(Verdict::from));
    for (name, argument, hosts) in LOST {
        session.case(&format!("seeing/{name}"), |session| {
            written::lost(session, name, argument, *hosts).unwrap_or_else(Verdict::from)
        });
    }
    session
        .case("seeing/files-of-two-jobs", |session| written::files_of_two_jobs(session).unwrap_or_else(Verdict::from));
    session.case("seeing/sessions", |session| written::by_sessions(session).unwrap_or_else(Verdict::from));
    session.case("seeing/trace", |session| written::trace(session).unwrap_or_else(Verdict::from));
    session
        .case("seeing/trace-of-an-abort", |session| written::trace_of_an_abort(session).unwrap_or_else(Verdict::from));
    for (name, options, argument, status, says) in TRANSPORTS {
        session.case(&format!("seeing/{name}"), |session| {
            transports(session, name, options, argument, *status, says).unwrap_or_else(Verdict::from)
        });
    }
    for (name, options) in TRAFFIC {
        session
            .case(&format!("seeing/{name}"), |session| traffic(session, name, options).unwrap_or_else(Verdict::from));
    }
    session.case("seeing/gdb", |session| in_gdb(session).unwrap_or_else(Verdict::from));
    for (name, options) in debugged::LINKED {
        session.case(&format!("seeing/{name}"), |session| {
            debugged::objects(session, name, options).unwrap_or_else(Verdict::from)
        });
    }
    session.case("seeing/debugger", |session| debugger(session).unwrap_or_else(Verdict::from));
    for (name, script, status, says) in ASKED {
        session.case(&format!("seeing/{name}"), |session| {
            asked(session, name, script, *status, says).unwrap_or_else(Verdict::from)
        });
    }
    session
        .case("seeing/stats-on-standard-output", |session| written::on_output(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// Collective operations by flags and by messages, for which a rank is late.
const LATE: &[(&str, &[&str])] = &[("late", &[]), ("late-by-messages", &["--mca", "coll", "^sm"])];

type Transports = (&'static str, &'static [&'static str], &'static str, i32, &'static [&'static str]);

/// Jobs of `tests/mpirun/transports.c`: options, what it does, status, what it says.
const TRANSPORTS: &[Transports] = &[
    (
        "events-of-transports",
        &["-n", "3"],
        "",
        0,
        &["rank 0 reaches rank 1 by sm", "rank 1 reaches rank 2 by sm", "rank 2 reaches rank 0 by sm"],
    ),
    (
        "event-of-a-lost-transport",
        &["-n", "2", "--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map"],
        "lost",
        5,
        &["rank 1 was lost by tcp"],
    ),
];

/// Jobs of `tests/c/tool_traffic.c`, whose default is in tier `c`: what performance variables say of messages that are known, for each transport
/// and each way to copy long ones, and beside what counts for the whole job.
const TRAFFIC: &[(&str, &[&str])] = &[
    ("traffic-over-sockets", &["-n", "3", "--mca", "btl", "self,tcp"]),
    ("traffic-encrypted", &["-n", "2", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_protect", "encrypt"]),
    ("traffic-in-fragments", &["-n", "3", "--mca", "smsc", "^cma,map"]),
    ("traffic-copied-by-the-system", &["-n", "3", "--mca", "smsc", "^map"]),
    ("traffic-copied-where-mapped", &["-n", "3", "--mca", "smsc", "^cma"]),
    ("traffic-with-checksums", &["-n", "3", "--mca", "pml_ob1_checksum", "1"]),
    ("traffic-beside-statistics", &["-n", "3", "--stats=-"]),
];

/// Each job's ranks compare for themselves.
fn traffic(session: &mut Session, name: &str, options: &[&str]) -> Result<Verdict> {
    let name = format!("seeing/{name}");
    let ended = Job { source: "tests/c/tool_traffic.c", name: &name, options, arguments: &["7"] }.run(session)?;
    let holds = if ended.ended_with(0) { Ok(()) } else { Err("status 0 was expected".to_owned()) };
    Ok(jobs::verdict(&ended, holds))
}

/// A tool hears of the transports that reach other ranks, and of one that reaches a rank no more.
fn transports(
    session: &mut Session,
    name: &str,
    options: &[&str],
    argument: &str,
    status: i32,
    says: &[&str],
) -> Result<Verdict> {
    let name = format!("seeing/{name}");
    let job = Job { source: "tests/mpirun/transports.c", name: &name, options, arguments: &[argument] };
    let ended = job.run(session)?;
    let lacks = says.iter().find(|words| !jobs::says(&ended, words));
    let holds = match lacks {
        Some(words) => Err(format!("standard error lacks `{words}`")),
        None if !ended.ended_with(status) => Err(format!("status {status} was expected")),
        None => Ok(()),
    };
    Ok(jobs::verdict(&ended, holds))
}

/// A debugger shows handles by their names.
fn in_gdb(session: &mut Session) -> Result<Verdict> {
    if crate::shell::which("gdb").is_none() {
        return Ok(Verdict::Skipped("gdb is not installed: apt-get install gdb".to_owned()));
    }
    let program = compiled(session, &session.tree.root.join("tests/mpirun/handles.c"), &["-g"])?;
    let script = session.library().map_err(fail)?.dist.join("share/ompi-rs/gdb.py");
    let mut command = Command::new("gdb");
    command.args(["-nx", "-batch", "-x"]).arg(script).args(["-ex", "break look_here", "-ex", "run", "-ex", "up"]);
    for name in ["comm", "none", "own", "datatype", "op", "request", "status", "values", "session", "variable"] {
        command.args(["-ex", &format!("print {name}")]);
    }
    command.args(["-ex", "kill"]).arg(program);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("seeing/gdb.log"))?;
    let wanted = [
        "$1 = MPI_COMM_WORLD\n",
        "$2 = MPI_COMM_NULL\n",
        "$3 = MPI_Comm 0x",
        "$4 = MPI_DOUBLE\n",
        "$5 = MPI_SUM\n",
        "$6 = MPI_REQUEST_NULL\n",
        "$7 = source 0, tag 9, 4 bytes, error 0\n",
        "$8 = MPI_T_ENUM_NULL\n",
        "$9 = MPI_T_pvar_session 0x",
        "$10 = MPI_T_PVAR_ALL_HANDLES\n",
    ];
    let lacks = wanted.iter().find(|words| !ended.out.contains(**words));
    Ok(jobs::verdict(&ended, lacks.map_or(Ok(()), |words| Err(format!("gdb does not print `{}`", words.trim_end())))))
}

/// A debugger that starts mpirun finds the ranks, which are stopped until it lets mpirun go on.
fn debugger(session: &mut Session) -> Result<Verdict> {
    if crate::shell::which("gdb").is_none() {
        return Ok(Verdict::Skipped("gdb is not installed: apt-get install gdb".to_owned()));
    }
    let program = compiled(session, &session.tree.root.join(SOURCE), &[])?;
    let mpirun = session.library().map_err(fail)?.dist.join("bin/mpirun");
    let mut command = Command::new("gdb");
    command.args(["-nx", "-batch", "-x"]).arg(session.tree.root.join("tests/mpirun/mpir.py"));
    command.arg("--args").arg(mpirun).args(["-n", "2"]).arg(&program).arg("nap");
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("seeing/debugger.log"))?;
    let (runs, stopped) = (format!(" runs {}", program.display()), ", stopped");
    let is_found = |rank: u32| {
        let begins = format!("rank {rank}: ");
        ended.out.lines().any(|line| line.starts_with(&begins) && line.contains(&runs) && line.ends_with(stopped))
    };
    let holds = match ended.out.contains("state 1, 2 ranks") && is_found(0) && is_found(1) {
        false => Err("it does not find 2 ranks that are stopped"),
        true if !ended.out.contains("exited normally") => Err("the job does not go on to its end"),
        true => Ok(()),
    };
    Ok(jobs::verdict(&ended, holds.map_err(str::to_owned)))
}
