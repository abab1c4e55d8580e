//! Which rank a job ended with: over sockets the others may end before it, because of it. On one host, and on two that a script
//! plays which stands in for ssh.

use super::super::programs::{compiled, own_choice};
use super::super::{Session, Verdict, deadline};
use super::cases::LIMIT;
use crate::failure::{At, Result, fail};
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

/// A script that starts the daemon of any host on this one.
pub fn agent(session: &Session) -> Result<PathBuf> {
    let path = session.scratch().join("mpirun-agent");
    std::fs::write(&path, "#!/bin/sh\nexec sh -c \"$2\"\n").at("write the agent")?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).at("make the agent executable")?;
    Ok(path)
}
