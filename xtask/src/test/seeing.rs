//! What a job tells of itself: the paths between its ranks, who waits for whom.

use super::jobs::{self, Job};
use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use std::process::Command;
use std::time::Duration;

/// `seeing/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("seeing/{}", case.name), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    session.case("seeing/stats", |session| stats(session).unwrap_or_else(Verdict::from));
    session.case("seeing/stats-on-two-hosts", |session| on_two_hosts(session).unwrap_or_else(Verdict::from));
    for (name, argument, hosts) in LOST {
        session.case(&format!("seeing/{name}"), |session| {
            lost(session, name, argument, *hosts).unwrap_or_else(Verdict::from)
        });
    }
    session.case("seeing/files-of-two-jobs", |session| files_of_two_jobs(session).unwrap_or_else(Verdict::from));
    session.case("seeing/sessions", |session| by_sessions(session).unwrap_or_else(Verdict::from));
    session.case("seeing/trace", |session| trace(session).unwrap_or_else(Verdict::from));
    session.case("seeing/trace-of-an-abort", |session| trace_of_an_abort(session).unwrap_or_else(Verdict::from));
    for (name, options, argument, status, says) in TRANSPORTS {
        session.case(&format!("seeing/{name}"), |session| {
            transports(session, name, options, argument, *status, says).unwrap_or_else(Verdict::from)
        });
    }
    session.case("seeing/gdb", |session| in_gdb(session).unwrap_or_else(Verdict::from));
    session.case("seeing/debugger", |session| debugger(session).unwrap_or_else(Verdict::from));
    for (name, script, status, says) in ASKED {
        session.case(&format!("seeing/{name}"), |session| {
            asked(session, name, script, *status, says).unwrap_or_else(Verdict::from)
        });
    }
    session.case("seeing/stats-on-standard-output", |session| on_output(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// One job of `tests/mpirun/seeing.c`.
struct Case {
    name: &'static str,
    options: &'static [&'static str],
    /// What the program does.
    argument: &'static str,
    status: i32,
    /// What standard error says, words by words with one blank between, in any order.
    says: &'static [&'static str],
    /// What it does not say.
    silent: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "paths",
        options: &["-n", "3", "--mca", "ompi_display_comm", "1"],
        argument: "nothing",
        status: 0,
        says: &["paths between 3 ranks", " 0-2 itself self none ", " 0-2 each other sm none ", "fragments of"],
        silent: &[" 0 ", "not connected"],
    },
    Case {
        name: "paths-over-sockets",
        options: &[
            "-n",
            "2",
            "--mca",
            "btl",
            "self,tcp",
            "--mca",
            "smsc",
            "^cma,map",
            "--mca",
            "ompi_display_comm",
            "mpi_finalize",
        ],
        argument: "nothing",
        status: 0,
        says: &["paths between 2 ranks", " 0-1 each other tcp (lo) none none "],
        silent: &[" sm "],
    },
    Case {
        name: "a-cycle",
        options: &["-n", "3", "--timeout", "4"],
        argument: "cycle",
        status: 124,
        says: &[
            "mpirun: a cycle: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0",
            "rank 0 in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 1 with tag 7 on ring;",
            "rank 1 in MPI_Wait, where nothing has happened for",
            "s: waits for a message from rank 2 with any tag on ring;",
            "rank 2 in MPI_Ssend, where nothing has happened for",
            "s: waits for rank 0 to receive a message with tag 9.",
        ],
        silent: &[],
    },
    Case {
        name: "no-rank-is-named",
        options: &["-n", "3", "--timeout", "4"],
        argument: "any",
        status: 124,
        says: &[
            "s: waits for a message from any rank with tag 7 on ring;",
            "s: waits for any of 2 operations;",
            "s: waits for a message from rank 0 with tag 3 on ring.",
        ],
        silent: &["a cycle"],
    },
    Case {
        name: "at-a-window",
        options: &["-n", "3", "--timeout", "4"],
        argument: "window",
        status: 124,
        says: &[
            "a cycle: rank 0 waits for rank 1, which waits for rank 0",
            "rank 1 in MPI_Win_lock, where nothing has happened for",
            "s: waits for the lock of rank 1 of a window, which rank 0 holds",
            "rank 2 in MPI_Win_start, where nothing has happened for",
            "s: waits for rank 0 to call MPI_Win_post",
        ],
        silent: &[],
    },
    Case {
        name: "a-thread-computes",
        options: &["-n", "2", "--stall-report", "1"],
        argument: "helper",
        status: 0,
        says: &[],
        silent: &["deadlock", "a cycle"],
    },
    Case {
        name: "a-thread-waits",
        options: &["-n", "2", "--timeout", "3"],
        argument: "helper",
        status: 124,
        says: &[
            "rank 0 not in a call of MPI: a thread of rank 0 waits for a message from rank 1 with tag 5 on MPI_COMM_WORLD;",
            "rank 1 not in a call of MPI: a thread of rank 1 waits for a message from rank 0 with tag 5 on MPI_COMM_WORLD.",
        ],
        silent: &["a cycle"],
    },
    Case {
        name: "idle-threads-do-not-count",
        options: &["-n", "2", "--timeout", "5", "--stall-report", "2"],
        argument: "pool",
        status: 124,
        says: &[
            "all ranks that run have waited in MPI for 2 s (--stall-report)",
            "mpirun: a cycle: rank 0 waits for rank 1, which waits for rank 0",
        ],
        silent: &["a thread of rank"],
    },
    Case {
        name: "long-names",
        options: &["-n", "3", "--timeout", "4"],
        argument: "names",
        status: 124,
        says: &[
            "rank 0 in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 0 (rank 2 of the job) with tag 7 on odd?[2J?name xxxx",
            "rank 1 in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 2 (rank 0 of the job) with tag 7 on odd?[2J?name xxxx",
            "rank 2 in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 1 with tag 7 on odd?[2J?name xxxx",
            "xxx…;",
        ],
        silent: &["\u{1b}"],
    },
    Case {
        name: "partitions",
        options: &["-n", "3", "--timeout", "4"],
        argument: "partitions",
        status: 124,
        says: &[
            "s: waits for partitions of a message from rank 1 with tag 7 on ring;",
            "s: waits for this rank to call MPI_Pready for a message to rank 2 with tag 8 on ring;",
        ],
        silent: &[],
    },
    Case {
        name: "a-file-that-cannot-be-written",
        options: &["-n", "2", "--stats=/no-such-folder/file.json"],
        argument: "nothing",
        status: 1,
        says: &["--stats (ompi_stats): /no-such-folder/file.json cannot be written: No such file or directory"],
        silent: &["here it is"],
    },
    Case {
        name: "a-trace-that-cannot-be-written",
        options: &["-n", "2", "--trace", "/no-such-folder/file.json"],
        argument: "nothing",
        status: 1,
        says: &["--trace (ompi_trace): /no-such-folder/file.json cannot be written: No such file or directory"],
        silent: &[],
    },
    Case {
        name: "files-of-a-death",
        options: &["-n", "3", "--stats=/tmp/ompi-rs-unwritten.json", "--trace", "/tmp/ompi-rs-unwritten.trace"],
        argument: "die",
        status: 137,
        says: &[
            "its statistics (--stats): /tmp/ompi-rs-unwritten.json was not written; what each rank had counted:",
            "its events (--trace): /tmp/ompi-rs-unwritten.trace was not written",
        ],
        silent: &["has the events of this rank alone"],
    },
    Case {
        name: "a-spawned-job",
        options: &["-n", "1", "--timeout", "4.5"],
        argument: "family",
        status: 124,
        says: &[
            "mpirun: job 1 of those that ranks spawned (mpirun ",
            "mpirun: rank 0 (process ",
            "s: waits for a message from rank 1 with tag 7 on ring",
            "mpirun: a cycle: rank 0 waits for rank 1, which waits for rank 0",
            "the job still ran after 4.5 s (--timeout): rank 0 in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 0 (of another job ",
        ],
        silent: &[],
    },
    Case {
        name: "in-a-collective",
        options: &["-n", "2", "--timeout", "4", "--mca", "coll", "^sm"],
        argument: "collective",
        status: 124,
        says: &[
            "a cycle: rank 0 waits for rank 1, which waits for rank 0",
            "rank 0 in MPI_Barrier, where nothing has happened for",
            "s: waits for rank 1 in a collective operation on ring;",
        ],
        silent: &[],
    },
];

fn run(session: &mut Session, case: &Case) -> Result<Verdict> {
    let name = format!("seeing/{}", case.name);
    let job = Job { source: SOURCE, name: &name, options: case.options, arguments: &[case.argument] };
    let ended = job.run(session)?;
    Ok(jobs::verdict(&ended, holds(case, &ended)))
}

fn holds(case: &Case, ended: &deadline::Ended) -> std::result::Result<(), String> {
    if let Some(words) = case.says.iter().find(|words| !jobs::says(ended, words.trim_start())) {
        return Err(format!("standard error lacks `{words}`"));
    }
    if let Some(words) = case.silent.iter().find(|words| jobs::says(ended, words)) {
        return Err(format!("standard error has `{words}`"));
    }
    match ended.ended_with(case.status) {
        true => Ok(()),
        false => Err(format!("status {} was expected", case.status)),
    }
}

type Asked = (&'static str, &'static str, i32, &'static [&'static str]);

/// Scripts with mpirun as `$0`, the program as `$1` and a folder as `$2`; their status, and what they say in this order.
const ASKED: &[Asked] = &[
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
        further=$(echo "$answer" | sed -n 's/.*spawned (mpirun \([0-9]*\)):/\1/p')
        echo "of $further alone:"
        "$0" --status $further
        kill $job
        wait $job
        "#,
        143,
        &[
            "  rank 0 (process ",
            "  job 1 of those that ranks spawned (mpirun ",
            "    rank 0 (process ",
            "    rank 1 (process ",
            "    a cycle: rank 0 waits for rank 1, which waits for rank 0",
            "alone:\n  rank 0 (process ",
            "  a cycle: rank 0 waits for rank 1, which waits for rank 0",
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
fn asked(session: &mut Session, name: &str, script: &str, status: i32, says: &[&str]) -> Result<Verdict> {
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

/// Statistics beside what the program prints.
fn on_output(session: &mut Session) -> Result<Verdict> {
    let job = Job {
        source: SOURCE,
        name: "seeing/stats-on-standard-output",
        options: &["-n", "3", "--stats=-"],
        arguments: &["traffic"],
    };
    let ended = job.run(session)?;
    let (begin, line) = ("statistics of 3 ranks (--stats)\n", "MPI_COMM_WORLD");
    let holds = match ended.out.contains(begin) && ended.out.contains(line) && !jobs::says(&ended, "statistics") {
        _ if !ended.ended_with(0) => Err("status 0 was expected".to_owned()),
        true => Ok(()),
        false => Err("standard output should have the table, and standard error nothing of it".to_owned()),
    };
    Ok(jobs::verdict(&ended, holds))
}

/// Known traffic, as text, as JSON and as a picture.
fn stats(session: &mut Session) -> Result<Verdict> {
    let text = written(session, "stats.txt", &["--stats="])?;
    let squeezed: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let begins = |words: &str| squeezed.iter().any(|line| line.starts_with(words));
    let lines = [
        "statistics of 3 ranks (--stats)",
        // Three messages of eight bytes and one of a MiB.
        "sm 4 1048600",
        "MPI_COMM_WORLD 1 1048576",
        "ring 3 24",
        "MPI_Barrier ",
    ];
    if let Some(line) = lines.iter().find(|line| !begins(line)) {
        return Ok(Verdict::Failed(format!("no line begins with `{line}`\n{text}")));
    }
    // Rank 1 slept for 0.3 s before it sent.
    let late = "rank 1 a message from rank 1 with tag 7 on ring";
    if !squeezed.iter().any(|line| line.starts_with("rank 0 0.") && line.ends_with(late)) {
        return Ok(Verdict::Failed(format!("no wait of rank 0 ends with `{late}`\n{text}")));
    }
    let json = written(session, "stats.json", &["--stats="])?;
    let parsed: serde_json::Value = serde_json::from_str(&json).map_err(|error| fail(format!("{error} in\n{json}")))?;
    let ranks = parsed["ranks"].as_array().map_or(0, Vec::len);
    let sent = &parsed["ranks"][1]["peers"][0];
    if ranks != 3 || sent["rank"] != 0 || sent["sent_bytes"] != 8 {
        return Ok(Verdict::Failed(format!("{ranks} ranks, and of rank 1: {sent}\n{json}")));
    }
    let svg = written(session, "stats.svg", &["--stats="])?;
    Ok(match svg.contains("rank 0 to rank 2: 3 messages, 1048592 bytes, by sm") && svg.ends_with("</svg>\n") {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("the picture lacks a message\n{svg}")),
    })
}

/// The same traffic over two hosts: messages between them went by sockets.
fn on_two_hosts(session: &mut Session) -> Result<Verdict> {
    let agent = jobs::agent(session)?;
    let options = ["--mca", "plm_ssh_agent", &agent, "--host", jobs::TWO_HOSTS, "--stats"];
    let job = Job { source: SOURCE, name: "seeing/stats-on-two-hosts", options: &options, arguments: &["traffic"] };
    let ended = job.run(session)?;
    // Ranks 0 and 1 on one host, rank 2 on the other.
    let says = ["statistics of 3 ranks (--stats)", "MPI_COMM_WORLD 1 1048576", "ring 3 24", " sm 1 8 ", "3 1048592 "];
    let holds = match says.iter().find(|words| !jobs::says(&ended, words)) {
        _ if !ended.ended_with(0) => Err("status 0 was expected".to_owned()),
        Some(words) => Err(format!("standard error lacks `{words}`")),
        None if !jobs::says(&ended, " tcp ") && !jobs::says(&ended, " tcp (") => {
            Err("no message went by sockets".to_owned())
        }
        None => Ok(()),
    };
    Ok(jobs::verdict(&ended, holds))
}

/// A job that ranks start writes files of its own.
fn files_of_two_jobs(session: &mut Session) -> Result<Verdict> {
    let folder = session.scratch().join("seeing/two-jobs");
    crate::shell::folder(&folder)?;
    let file = |name: &str| folder.join(name);
    let names = [("stats.json", "stats.1.json"), ("trace", "trace.1")];
    for name in names.iter().flat_map(|(first, further)| [first, further]) {
        let _ = std::fs::remove_file(file(name));
    }
    let (stats, trace) = (format!("--stats={}", file(names[0].0).display()), file(names[1].0));
    let options = ["-n", "2", &stats, "--trace", &trace.to_string_lossy()];
    let ended = Job { source: SOURCE, name: "seeing/files-of-two-jobs", options: &options, arguments: &["spawn"] }
        .run(session)?;
    let ranks = |name: &str| {
        let text = std::fs::read_to_string(file(name)).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|all| Some(all["ranks"].as_array()?.len()))
    };
    let to_others = |name: &str| {
        let text = std::fs::read_to_string(file(name)).unwrap_or_default();
        let all = serde_json::from_str::<serde_json::Value>(&text).ok()?;
        let peers = all["ranks"][0]["peers"].as_array()?;
        Some(peers.iter().find(|peer| peer["rank"].is_null())?["sent"].clone())
    };
    let holds = match (ranks(names[0].0), ranks(names[0].1), names[1]) {
        _ if !ended.ended_with(0) => Err("status 0 was expected".to_owned()),
        _ if [names[0].0, names[0].1].iter().any(|name| to_others(name) != Some(1.into())) => {
            Err("the first rank of each job should have sent one message to another job".to_owned())
        }
        (Some(2), Some(1), (first, further)) if file(first).exists() && file(further).exists() => Ok(()),
        (first, further, _) => Err(format!("2 ranks and 1 were expected, and two traces: {first:?}, {further:?}")),
    };
    Ok(jobs::verdict(&ended, holds))
}

/// Without MPI_Init nobody gathers: each rank writes what it has.
fn by_sessions(session: &mut Session) -> Result<Verdict> {
    let folder = session.scratch().join("seeing/sessions");
    let _ = std::fs::remove_dir_all(&folder);
    crate::shell::folder(&folder)?;
    let (stats, trace) = (format!("--stats={}", folder.join("stats.json").display()), folder.join("trace.json"));
    let options = ["-n", "2", &stats, "--trace", &trace.to_string_lossy()];
    let ended =
        Job { source: SOURCE, name: "seeing/sessions", options: &options, arguments: &["sessions"] }.run(session)?;
    let json = |name: String| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).ok()
    };
    let is_right = |rank: u32| {
        let (stats, trace) = (json(format!("stats.rank{rank}.json"))?, json(format!("trace.rank{rank}.json"))?);
        let events = trace["traceEvents"].as_array()?;
        let posted = events.iter().filter(|event| event["name"] == "posted" && event["pid"] == rank).count();
        let own = &stats["ranks"][0];
        Some((posted, own["rank"] == rank, own["peers"][0]["sent"] == 6) == (6, true, true))
    };
    let holds = match (0..2).find(|rank| is_right(*rank) != Some(true)) {
        _ if !ended.ended_with(0) => Err("status 0 was expected".to_owned()),
        Some(rank) => Err(format!("rank {rank} should have written six messages, in both files")),
        None => Ok(()),
    };
    Ok(jobs::verdict(&ended, holds))
}

/// Jobs that do not reach MPI_Finalize: what each rank had counted is said, of all hosts.
const LOST: &[(&str, &str, bool)] = &[
    ("stats-of-an-abort", "abort", false),
    ("stats-of-a-death", "die", false),
    ("stats-of-a-death-on-two-hosts", "die", true),
];

fn lost(session: &mut Session, name: &str, argument: &str, hosts: bool) -> Result<Verdict> {
    let agent = jobs::agent(session)?;
    let options: &[&str] = match hosts {
        true => &["--mca", "plm_ssh_agent", &agent, "--host", jobs::TWO_HOSTS, "--stats"],
        false => &["-n", "3", "--stats"],
    };
    let name = format!("seeing/{name}");
    let ended = Job { source: SOURCE, name: &name, options, arguments: &[argument] }.run(session)?;
    let lines: Vec<String> = ended.err.lines().map(jobs::squeezed).collect();
    let of_rank = |rank: u32| {
        let begins = format!("mpirun: rank {rank} on ");
        let counted = ": 3 messages with 24 bytes sent, 3 with 24 received; ";
        lines
            .iter()
            .any(|line| line.starts_with(&begins) && line.contains(" s before its end") && line.contains(counted))
    };
    let holds = match (0..3).find(|rank| !of_rank(*rank)) {
        _ if ended.ended_with(0) => Err("another status than 0 was expected".to_owned()),
        _ if jobs::says(&ended, "statistics of 3 ranks") => Err("no table can be whole".to_owned()),
        _ if !jobs::says(&ended, "the job ended before MPI_Finalize could gather its statistics (--stats)") => {
            Err("it does not say that statistics are not whole".to_owned())
        }
        Some(rank) => Err(format!("it does not say what rank {rank} had counted")),
        None => Ok(()),
    };
    Ok(jobs::verdict(&ended, holds))
}

/// A rank that ends the job leaves its own events.
fn trace_of_an_abort(session: &mut Session) -> Result<Verdict> {
    let folder = session.scratch().join("seeing");
    crate::shell::folder(&folder)?;
    let file = folder.join("trace-of-an-abort.json");
    let _ = std::fs::remove_file(&file);
    let own = folder.join("trace-of-an-abort.rank2.json");
    let _ = std::fs::remove_file(&own);
    let options = ["-n", "3", "--trace", &file.to_string_lossy()];
    let job = Job { source: SOURCE, name: "seeing/trace-of-an-abort", options: &options, arguments: &["abort"] };
    let ended = job.run(session)?;
    if !ended.ended_with(3) || !jobs::says(&ended, "has the events of this rank alone") {
        return Ok(Verdict::Failed(format!("status 3, and a word about the trace, were expected\n{}", ended.story())));
    }
    let text = crate::shell::read(&own)?;
    let parsed: serde_json::Value = serde_json::from_str(&text).map_err(|error| fail(format!("{error} in\n{text}")))?;
    let events = parsed["traceEvents"].as_array().cloned().unwrap_or_default();
    let named = |name: &str| events.iter().filter(|event| event["name"] == name && event["pid"] == 2).count();
    Ok(match (named("posted"), named("matched"), named("MPI_Barrier")) {
        (3, 3, 1) => Verdict::Passed(String::new()),
        counts => Verdict::Failed(format!("three messages each way and a barrier were expected: {counts:?}\n{text}")),
    })
}

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
    for name in ["comm", "none", "own", "datatype", "op", "request", "status"] {
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

/// The same traffic as a trace, with room for all events, and for four.
fn trace(session: &mut Session) -> Result<Verdict> {
    for (name, room, dropped) in [("trace.json", "65536", false), ("trace-small.json", "4", true)] {
        let text = written(session, name, &["--mca", "ompi_trace_events", room, "--trace"])?;
        let parsed: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| fail(format!("{error} in\n{text}")))?;
        let events = parsed["traceEvents"].as_array().cloned().unwrap_or_default();
        let named = |name: &str| events.iter().filter(|event| event["name"] == name).count();
        let has_dropped = parsed["otherData"]["dropped"].as_u64().unwrap_or(0) > 0;
        // Of each rank the last ones are kept, and what came before is one event.
        let is_late = named("MPI_Barrier") != 3 || (named("dropped") > 0) != dropped;
        let is_long = events.len() > 3 + 3 * (4 + 1) && dropped;
        if named("process_name") != 3 || has_dropped != dropped || is_late || is_long {
            return Ok(Verdict::Failed(format!("wrong numbers of ranks or events\n{text}")));
        }
        if !dropped {
            for (name, count) in [("posted", 4), ("matched", 4), ("completed", 4), ("MPI_Barrier", 3)] {
                if named(name) != count {
                    return Ok(Verdict::Failed(format!("{count} times `{name}` is expected\n{text}")));
                }
            }
            let is_late = |event: &serde_json::Value| {
                event["name"] == "wait" && event["args"]["late"] == 1 && event["dur"].as_f64().unwrap_or(0.0) > 1e5
            };
            if named("unexpected arrived") != named("unexpected removed") || !events.iter().any(is_late) {
                return Ok(Verdict::Failed(format!("no wait for rank 1, or a message stays unexpected\n{text}")));
            }
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// What a job with known traffic writes into a file that the last option names.
fn written(session: &mut Session, name: &str, options: &[&str]) -> Result<String> {
    let folder = session.scratch().join("seeing");
    crate::shell::folder(&folder)?;
    let file = folder.join(name);
    let _ = std::fs::remove_file(&file);
    let (last, others) = options.split_last().expect("an option names the file");
    let path = file.to_string_lossy();
    let joined = format!("{last}{path}");
    let last = if last.ends_with('=') { vec![joined.as_str()] } else { vec![*last, &path] };
    let options = [&["-n", "3"], others, &last].concat();
    let name = format!("seeing/{name}");
    let ended = Job { source: SOURCE, name: &name, options: &options, arguments: &["traffic"] }.run(session)?;
    if !ended.ended_with(0) {
        return Err(fail(format!("status 0 was expected\n{}", ended.story())));
    }
    std::fs::read_to_string(&file).map_err(|error| fail(format!("{}: {error}\n{}", file.display(), ended.story())))
}

const SOURCE: &str = "tests/mpirun/seeing.c";
const LIMIT: Duration = Duration::from_secs(60);
