//! Senders that run ahead of their receiver, over each transport, with little room for their messages, and with no memory left.

use super::jobs::{self, Job};
use super::{Session, Verdict, deadline};
use crate::failure::Result;

/// `unexpected/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("unexpected/{}", case.name), |session| {
            run(session, case).map_or_else(Verdict::from, |ended| jobs::verdict(&ended, (case.holds)(&ended)))
        });
    }
    Ok(())
}

struct Case {
    name: &'static str,
    ranks: usize,
    options: &'static [&'static str],
    // Of the shell that starts each rank's program, which is its first argument.
    script: &'static str,
    holds: fn(&deadline::Ended) -> std::result::Result<(), String>,
}

const CASES: &[Case] = &[
    Case { name: "shared-memory", ranks: 3, options: SAID, script: PLAIN, holds: stopped },
    Case { name: "sockets", ranks: 3, options: SOCKETS, script: PLAIN, holds: stopped },
    // Every second message is announced, in every phase of the program.
    Case { name: "one-message", ranks: 4, options: ONE, script: PLAIN, holds: stopped },
    Case { name: "one-message-sockets", ranks: 3, options: ONE_SOCKETS, script: PLAIN, holds: stopped },
    Case { name: "out-of-memory", ranks: 2, options: UNLIMITED, script: LITTLE_MEMORY, holds: out_of_memory },
];

const SAID: &[&str] = &["--mca", "pml_base_verbose", "20"];
const SOCKETS: &[&str] = &["--mca", "pml_base_verbose", "20", "--mca", "btl", "self,tcp"];
const ONE: &[&str] = &["--mca", "pml_base_verbose", "20", "--mca", "pml_ob1_unexpected_messages", "1"];
const ONE_SOCKETS: &[&str] =
    &["--mca", "pml_base_verbose", "20", "--mca", "pml_ob1_unexpected_messages", "1", "--mca", "btl", "self,tcp"];
const UNLIMITED: &[&str] =
    &["--mca", "pml_ob1_unexpected_messages", "1000000000", "--mca", "pml_ob1_unexpected_bytes", "1000000000000"];
const PLAIN: &str = "exec $0";
const LITTLE_MEMORY: &str = "ulimit -v 600000 && exec $0 without-end";

fn run(session: &mut Session, case: &Case) -> Result<deadline::Ended> {
    let (ranks, name) = (case.ranks.to_string(), format!("unexpected/{}", case.name));
    // The shell stands before the program.
    let options = [&["-n", &ranks], case.options, &["sh", "-c", case.script]].concat();
    Job { source: "tests/c/pt2pt_unexpected.c", name: &name, options: &options, arguments: &[] }.run(session)
}

/// Some receiver says in one line that a sender must wait, and all is well.
fn stopped(ended: &deadline::Ended) -> std::result::Result<(), String> {
    if !ended.ended_with(0) {
        return Err("status 0 was expected".to_owned());
    }
    match ended.err.lines().filter(|line| line.contains(" rank 0]") && line.contains("runs ahead")).count() {
        1 => Ok(()),
        lines => Err(format!("rank 0 should say once that a process runs ahead; lines: {lines}")),
    }
}

/// A sentence with the number of messages and the rank, and no word of a defect.
fn out_of_memory(ended: &deadline::Ended) -> std::result::Result<(), String> {
    let said = ended.err.lines().any(|line| {
        line.contains("out of memory: ") && line.contains(" unexpected messages from rank 1 in MPI_COMM_WORLD")
    });
    if ended.ended_with(0) || !said || ended.err.contains("defect") {
        return Err("the job should end with a sentence about its unexpected messages".to_owned());
    }
    Ok(())
}
