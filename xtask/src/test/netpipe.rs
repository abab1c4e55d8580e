//! NetPIPE, a program that sends messages of many sizes to and fro: Debian's copy of its source, compiled by our mpicc.

use super::debian::DebianSource;
use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `netpipe/…`: over each transport, how fast; and whether all bytes arrive.
pub fn tier(session: &mut Session) -> Result<()> {
    for transport in ["sm", "tcp"] {
        for (name, options, check) in RUNS {
            session.case(&format!("netpipe/{transport}{name}"), |session| match compiled(session) {
                Ok(program) => run(session, &program, transport, name, options, *check).unwrap_or_else(Verdict::from),
                Err(verdict) => verdict,
            });
        }
    }
    Ok(())
}

type Check = fn(&str, &str) -> std::result::Result<String, String>;

/// What a run is called, its options, and what its words and its file of results must be like.
const RUNS: &[(&str, &[&str], Check)] = &[
    ("", &[], |results, _| measured(results, 1)),
    // It notes the bytes of both directions together.
    ("-both-ways", &["-2", "-a"], |results, _| measured(results, 2)),
    ("-integrity", &["-i"], intact),
];

fn run(
    session: &mut Session,
    program: &Path,
    transport: &str,
    name: &str,
    options: &[&str],
    check: Check,
) -> Result<Verdict> {
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("netpipe").join(format!("{transport}{name}"));
    // What an earlier call left must not stand for what this one makes.
    let _ = std::fs::remove_dir_all(&folder);
    shell::folder(&folder)?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    // Only this transport to others, or another would carry the messages.
    command.args(["-n", "2", "--mca", "btl", &format!("self,{transport}")]);
    if transport == "tcp" {
        // Processes of one node would copy the long ones from each other's memory.
        command.args(["--mca", "smsc", "^cma,map"]);
    }
    command.arg(program);
    command.args(["-l", "1", "-u", &LONGEST.to_string(), "-n", "5", "-o", "results"]).args(options);
    programs::own_choice(command.current_dir(&folder));
    let ended = deadline::run(&mut command, LIMIT, &folder.join("log"))?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(ended.story()));
    }
    let results = shell::read(&folder.join("results"))?;
    // It talks on standard error.
    Ok(match check(&results, &format!("{}{}", ended.out, ended.err)) {
        Ok(note) => Verdict::Passed(note),
        Err(why) => Verdict::Failed(format!("{why}\n{results}")),
    })
}

/// Lines of bytes times `ways`, Mbit/s and seconds: every power of two and its neighbours, and something moved at each.
fn measured(results: &str, ways: u64) -> std::result::Result<String, String> {
    let mut rows = Vec::new();
    for line in results.lines() {
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [bytes, rate, seconds] if rate > 0.0 && seconds > 0.0 => rows.push((bytes as u64, rate)),
            _ => return Err(format!("`{line}` is not a size, a rate and a time, both above 0")),
        }
    }
    let is_there = |bytes: u64| rows.iter().any(|(size, _)| *size == bytes * ways);
    let powers = (0..).map(|bits| 1_u64 << bits).take_while(|bytes| *bytes <= LONGEST);
    // It tries three bytes less and more as soon as the steps are wider than that.
    let wanted = powers.flat_map(|bytes| if bytes < 16 { vec![bytes] } else { vec![bytes - 3, bytes, bytes + 3] });
    let missing: Vec<u64> = wanted.filter(|bytes| !is_there(*bytes)).collect();
    match missing.is_empty() {
        true => {
            Ok(format!("{} sizes, {:.0} Mbit/s at best", rows.len(), rows.iter().map(|row| row.1).fold(0.0, f64::max)))
        }
        false => Err(format!("the results lack messages of {missing:?} bytes")),
    }
}

/// Lines of bytes and repetitions, and a word for each that it passed.
fn intact(results: &str, said: &str) -> std::result::Result<String, String> {
    let sizes = results.lines().count();
    let passed = said.lines().filter(|line| line.contains("Integrity check passed")).count();
    let last = results.lines().last().and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    match passed == sizes && sizes >= 30 && last.is_some_and(|bytes| bytes > LONGEST / 2) {
        true => Ok(format!("{sizes} sizes")),
        false => Err(format!(
            "{passed} of {sizes} sizes passed the integrity check, the last one has {last:?} bytes; all should pass, up to half of {LONGEST} at least\n{said}"
        )),
    }
}

/// Compiles it anew: that is part of the test, and takes a second.
fn compiled(session: &mut Session) -> std::result::Result<PathBuf, Verdict> {
    let sources = SOURCE.unpacked(&session.tree.target)?.join("src");
    let dist = session.library().map_err(fail)?.dist;
    let program = session.scratch().join("netpipe/NPmpi");
    let mut command = Command::new(dist.join("bin/mpicc"));
    command.args(["-O2", "-DMPI", "netpipe.c", "mpi.c", "-o"]).arg(&program).current_dir(&sources);
    shell::folder(&session.scratch().join("netpipe"))?;
    programs::own_choice(&mut command);
    shell::output(&mut command)?;
    Ok(program)
}

/// Beyond every limit at which a message begins to travel otherwise.
const LONGEST: u64 = 1 << 21;
const SOURCE: DebianSource = DebianSource {
    release: None,
    package: "netpipe",
    archive: "netpipe_3.7.2.orig.tar.gz",
    sha256: "13dac884ff52951636f651c421f5ff4a853218a95aa28a4a852402ee385a2ab8",
    folder: "NetPIPE-3.7.2",
};
const LIMIT: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_looked_at() {
        assert!(measured("1 0.1 0.1\n2 0.2 0.1\n", 1).unwrap_err().contains("lack messages"));
        assert!(measured("1 0.0 0.1\n", 1).unwrap_err().contains("above 0"));
        assert!(measured("1 inf\n", 1).is_err());
        assert!(intact("1 5\n", "0: 1 bytes 5 times --> Integrity check passed\n").is_err());
        let results: String = (1..=30).map(|size| format!("{} 5\n", size * LONGEST / 30)).collect();
        let said = "-->  Integrity check passed\n".repeat(30);
        assert!(intact(&results, &said).is_ok());
        assert!(intact(&results, &said[28..]).is_err());
    }
}
