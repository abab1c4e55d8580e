//! Which rank a job ended with: over sockets the others may end before it, because of it; and what is said of ranks that hang. On one
//! host, and on two that a script plays which stands in for ssh.

use super::super::programs::{compiled, own_choice};
use super::super::{Session, Verdict, deadline};
use super::cases::LIMIT;
use crate::failure::{At, Result, fail};
use crate::shell;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// `mpirun/ends-…`.
pub fn cases(session: &mut Session) {
    for end in ENDS {
        session.case(&format!("mpirun/ends-{}", end.argument), |session| {
            ending(session, end).unwrap_or_else(Verdict::from)
        });
    }
    for hang in HANGS {
        session.case(&format!("mpirun/{}", hang.name), |session| hanging(session, hang).unwrap_or_else(Verdict::from));
    }
}

/// What the last rank does under `tests/mpirun/ends.c`, and what is expected of mpirun.
struct End {
    argument: &'static str,
    status: i32,
    says: &'static str,
}

const fn end(argument: &'static str, status: i32, says: &'static str) -> End {
    End { argument, status, says }
}

const ENDS: &[End] = &[
    end("abort", 42, "called MPI_Abort on MPI_COMM_WORLD with error code 42"),
    end("exit", 3, "ended with status 3"),
    end("exit-all", 3, "ended with status 3"),
    end("exit-caught-abort", 3, "ended with status 3"),
    end("exit-caught-exit", 3, "ended with status 3"),
    end("kill", 137, "was ended by signal 9"),
    end("leave", 1, "ended after MPI_Init without calling MPI_Finalize"),
    end("early", 1, "ended with status 0 without calling MPI_Init, and other ranks waited for it"),
];

fn ending(session: &mut Session, end: &End) -> Result<Verdict> {
    let agent = agent(session)?.display().to_string();
    let here = ["-n", "3", "--mca", "btl", "tcp,self"];
    let there = ["--mca", "plm_ssh_agent", &agent, "--host", "localhost:2,b.invalid:1"];
    for (name, options) in [("one-node", here), ("sm", ["-n", "3", "--mca", "btl", "sm,self"]), ("two-hosts", there)] {
        let source = session.tree.root.join("tests/mpirun/ends.c");
        let program = compiled(session, &source, &[])?;
        let dist = session.library().map_err(fail)?.dist;
        let mut command = Command::new(dist.join("bin/mpirun"));
        command.args(options).arg(&program).arg(end.argument);
        own_choice(&mut command);
        let log = session.scratch().join("mpirun").join(format!("ends-{}-{name}", end.argument));
        let ended = deadline::run(&mut command, LIMIT, &log)?;
        let names = ended.err.lines().any(|line| line.starts_with("mpirun: rank 2 ") && line.contains(end.says));
        if !ended.ended_with(end.status) || !names {
            return Ok(Verdict::Failed(format!(
                "{name}: rank 2, status {} and `{}` were expected\n{}",
                end.status,
                end.says,
                ended.story()
            )));
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// What `tests/mpirun/first_day.c` does on two hosts until --timeout, and what is said of its ranks.
struct Hang {
    name: &'static str,
    options: &'static [&'static str],
    argument: &'static str,
    says: &'static [&'static str],
}

const HANGS: &[Hang] = &[
    Hang {
        name: "hosts-timeout",
        options: &["--timeout", "3", "--get-stack-traces"],
        argument: "wait",
        says: &[
            "rank 1 is in",
            "#0 compute + ",
            "rank 2 is in",
            " main + ",
            "rank 0 in MPI_Recv, where nothing has happened for",
            "rank 1 not in a call of MPI; rank 2 in MPI_Barrier, where nothing has happened for",
        ],
    },
    Hang {
        name: "hosts-stall",
        options: &["--timeout", "9", "--stall-report", "2"],
        argument: "deadlock",
        says: &[
            "all ranks that run have waited in MPI for 2 s (--stall-report)",
            ") in MPI_Recv, where nothing has happened for",
            " on b.invalid) in MPI_Barrier, where nothing has happened for",
            " on b.invalid) in MPI_Barrier, where nothing has happened for",
            "after 9 s (--timeout)",
        ],
    },
    Hang {
        name: "hosts-no-stall",
        options: &["--timeout", "5", "--stall-report", "1"],
        argument: "wait",
        says: &["after 5 s (--timeout)"],
    },
];

fn hanging(session: &mut Session, hang: &Hang) -> Result<Verdict> {
    let agent = agent(session)?.display().to_string();
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let program = compiled(session, &source, &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["--mca", "plm_ssh_agent", &agent, "--host", "localhost:1,b.invalid:2"]);
    command.args(hang.options).arg(&program).arg(hang.argument);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun").join(hang.name))?;
    let mut rest = ended.err.as_str();
    for words in hang.says {
        match rest.find(words) {
            Some(at) => rest = &rest[at + words.len()..],
            None => {
                return Ok(Verdict::Failed(format!("standard error lacks `{words}` in this order\n{}", ended.story())));
            }
        }
    }
    let reports = ended.err.matches("(--stall-report)").count();
    Ok(match ended.ended_with(124) && reports == usize::from(hang.name == "hosts-stall") {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("{reports} stalls were reported\n{}", ended.story())),
    })
}

/// A script that starts the daemon of any host on this one.
pub fn agent(session: &Session) -> Result<PathBuf> {
    let folder = session.scratch().join("mpirun");
    shell::folder(&folder)?;
    let path = folder.join("agent");
    std::fs::write(&path, "#!/bin/sh\nexec sh -c \"$2\"\n").at("write the agent")?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).at("make the agent executable")?;
    Ok(path)
}
