//! Running jobs that are asked what they do.

use super::super::programs::{compiled, own_choice};
use super::super::{Session, Verdict, deadline};
use super::cases::SOURCE;
use crate::failure::{Result, fail};
use std::process::Command;
use std::time::Duration;

/// Name, script, status, and what it says.
type Asked = (&'static str, &'static str, i32, &'static [&'static str]);

/// Scripts with mpirun as `$0`, the program as `$1` and a folder as `$2`; their status, and what they say in this order.
pub const ASKED: &[Asked] = &[
    (
        // By another mpirun and by SIGUSR2; then who must not be asked is refused.
        "status",
        r#"
        "$0" -n 3 "$1" cycle 2> "$2/err" & job=$!
        until answer=$("$0" --status $job 2>&1) && echo "$answer" | grep 'a cycle' > "$2/cycle"; do sleep 0.1; done
        echo "$answer"
        kill -USR2 $job
        until grep 'a cycle' "$2/err" > "$2/cycle"; do sleep 0.1; done
        cat "$2/err"
        asked=
        for each in 1 2 3 4 5 6 7 8; do "$0" --status $job > "$2/answer.$each" 2>&1 & asked="$asked $!"; done
        for each in $asked; do wait $each; done
        echo "8 asked at once, $(grep -l 'a cycle' "$2"/answer.? | wc -l) were answered"
        "$0" --status $$ 2>&1
        "$0" --status x 2>&1
        "$0" --status 999999999 2>&1
        kill $job
        wait $job
        "#,
        143,
        &[
            "rank 0 (process ",
            ") in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 1 with tag 7 on ring",
            "a cycle: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0",
            "what the ranks do (SIGUSR2):",
            "a cycle: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0",
            "8 asked at once, 8 were answered",
            "it is not this mpirun",
            "a running mpirun is wanted",
            "there is no such process",
        ],
    ),
    (
        // The mpirun of a spawned job can be asked for itself as well.
        "status-of-a-spawned-job",
        r#"
        "$0" -n 1 "$1" family 2> "$2/err" & job=$!
        until answer=$("$0" --status $job 2>&1) && echo "$answer" | grep 'a cycle' > "$2/cycle"; do sleep 0.1; done
        echo "$answer"
        further=$(echo "$answer" | sed -n 's/.*spawned (mpirun \([0-9]*\)).*/\1/p')
        echo "of $further alone:"
        "$0" --status $further
        kill $job
        wait $job
        "#,
        143,
        &[
            "  rank 0 (process ",
            "  job 2, which job 1 spawned (mpirun ",
            "    rank 0 (process ",
            "    rank 1 (process ",
            "  a cycle: rank 0 of job 2 waits for rank 1 of job 2, which waits for rank 0 of job 2",
            "alone:\n  rank 0 (process ",
            "  a cycle: rank 0 waits for rank 1, which waits for rank 0",
        ],
    ),
    (
        // What waits for another job says so; the port's secret is nobody's business. A server without clients is no stall.
        "status-at-a-port",
        r#"
        "$0" --stall-report 1 -n 3 "$1" port 2> "$2/err" & job=$!
        until answer=$("$0" --status $job 2>&1) && [ $(echo "$answer" | grep -c 'where nothing has happened for') = 3 ]; do sleep 0.1; done
        echo "$answer"
        "$0" --stall-report 1 -n 2 "$1" port 2> "$2/servers" & servers=$!
        until "$0" --status $servers 2>&1 | grep -q 'happened for [3-9]'; do sleep 0.1; done
        echo "stalls: $(cat "$2/err" "$2/servers" | grep -c stall-report)"
        kill $servers $job
        wait $servers
        wait $job
        "#,
        143,
        &[
            " in MPI_Comm_accept, where nothing has happened for ",
            " s: waits for a process to connect to port ",
            " in MPI_Comm_accept, where nothing has happened for ",
            " in MPI_Comm_connect, where nothing has happened for ",
            " s: waits for an accept at port ",
            "stalls: 0",
        ],
    ),
    (
        // A signal that comes before there are ranks waits for them: mpirun reads its hosts while the shell has the file open.
        "an-early-signal",
        r#"
        rm -f "$2/hosts"; mkfifo "$2/hosts"
        "$0" --hostfile "$2/hosts" -n 1 "$1" nothing 2>&1 & job=$!
        exec 3> "$2/hosts"
        kill -USR2 $job
        echo localhost >&3
        exec 3>&-
        wait $job
        "#,
        0,
        &["what the ranks do (SIGUSR2):"],
    ),
];

/// A running job is asked.
pub fn asked(session: &mut Session, name: &str, script: &str, status: i32, says: &[&str]) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join(SOURCE), &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("seeing").join(name);
    crate::shell::folder(&folder)?;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(dist.join("bin/mpirun")).arg(program).arg(&folder);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &folder.join("log"))?;
    let mut rest = ended.out.as_str();
    for words in says {
        match rest.find(words) {
            Some(at) => rest = &rest[at + words.len()..],
            None => return Ok(Verdict::Failed(format!("it does not say `{words}` in this order\n{}", ended.story()))),
        }
    }
    Ok(match ended.ended_with(status) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("status {status} was expected\n{}", ended.story())),
    })
}

/// How long a program may take that is no job of its own.
pub const LIMIT: Duration = Duration::from_secs(60);
