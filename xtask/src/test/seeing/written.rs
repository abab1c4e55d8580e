//! What `--stats` and `--trace` write of known traffic.

use super::super::jobs::{self, Job};
use super::super::{Session, Verdict};
use super::cases::SOURCE;
use crate::failure::{Result, fail};

/// Statistics beside what the program prints.
pub fn on_output(session: &mut Session) -> Result<Verdict> {
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

/// Rank 2 is to be named for each long wait, though in some the ranks know only that somebody is missing, and rank 0 waits for rank 1.
pub fn who_was_late(session: &mut Session, name: &str, options: &[&str]) -> Result<Verdict> {
    let json = written(session, &format!("{name}.json"), &[options, &["--stats="]].concat(), "late")?;
    let parsed: serde_json::Value = serde_json::from_str(&json).map_err(|error| fail(format!("{error} in\n{json}")))?;
    let no_waits = Vec::new();
    let waits = |rank: usize| parsed["ranks"][rank]["longest_waits"].as_array().unwrap_or(&no_waits);
    let long: Vec<_> =
        [0, 1].into_iter().flat_map(waits).filter(|wait| wait["seconds"].as_f64().unwrap_or(0.0) > 0.1).collect();
    Ok(match long.len() == 8 && long.iter().all(|wait| wait["late"] == 2) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("eight long waits for rank 2 were expected, not {long:#?}")),
    })
}

/// Known traffic, as text, as JSON and as a picture.
pub fn stats(session: &mut Session) -> Result<Verdict> {
    let text = written(session, "stats.txt", &["--stats="], "traffic")?;
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
    let json = written(session, "stats.json", &["--stats="], "traffic")?;
    let parsed: serde_json::Value = serde_json::from_str(&json).map_err(|error| fail(format!("{error} in\n{json}")))?;
    let ranks = parsed["ranks"].as_array().map_or(0, Vec::len);
    let sent = &parsed["ranks"][1]["peers"][0];
    if ranks != 3 || sent["rank"] != 0 || sent["sent_bytes"] != 8 {
        return Ok(Verdict::Failed(format!("{ranks} ranks, and of rank 1: {sent}\n{json}")));
    }
    let svg = written(session, "stats.svg", &["--stats="], "traffic")?;
    Ok(match svg.contains("rank 0 to rank 2: 3 messages, 1048592 bytes, by sm") && svg.ends_with("</svg>\n") {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("the picture lacks a message\n{svg}")),
    })
}

/// The same traffic over two hosts: messages between them went by sockets.
pub fn on_two_hosts(session: &mut Session) -> Result<Verdict> {
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
pub fn files_of_two_jobs(session: &mut Session) -> Result<Verdict> {
    let folder = session.scratch().join("seeing/two-jobs");
    crate::shell::folder(&folder)?;
    let file = |name: &str| folder.join(name);
    let names = [("stats.json", "stats.2.json"), ("trace", "trace.2")];
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
pub fn by_sessions(session: &mut Session) -> Result<Verdict> {
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
pub const LOST: &[(&str, &str, bool)] = &[
    ("stats-of-an-abort", "abort", false),
    ("stats-of-a-death", "die", false),
    ("stats-of-a-death-on-two-hosts", "die", true),
];

/// One of them.
pub fn lost(session: &mut Session, name: &str, argument: &str, hosts: bool) -> Result<Verdict> {
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
pub fn trace_of_an_abort(session: &mut Session) -> Result<Verdict> {
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

/// The same traffic as a trace, with room for all events, and for four.
pub fn trace(session: &mut Session) -> Result<Verdict> {
    for (name, room, dropped) in [("trace.json", "65536", false), ("trace-small.json", "4", true)] {
        let text = written(session, name, &["--mca", "ompi_trace_events", room, "--trace"], "traffic")?;
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
fn written(session: &mut Session, name: &str, options: &[&str], argument: &str) -> Result<String> {
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
    let ended = Job { source: SOURCE, name: &name, options: &options, arguments: &[argument] }.run(session)?;
    if !ended.ended_with(0) {
        return Err(fail(format!("status 0 was expected\n{}", ended.story())));
    }
    std::fs::read_to_string(&file).map_err(|error| fail(format!("{}: {error}\n{}", file.display(), ended.story())))
}
