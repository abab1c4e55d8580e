//! Sockets of a job, and attacks of outsiders: where it listens, a flood while MPI_Finalize runs, a program
//! that closes descriptors which are not its own.

use super::jobs::{self, Job};
use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::shell;

/// `sockets/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("sockets/{}", case.name), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    session.case("sockets/mixed-protection", |session| mixed(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// One job of `tests/sockets/sockets.c`.
struct Case {
    name: &'static str,
    options: &'static [&'static str],
    /// What the program does.
    argument: &'static str,
    succeeds: bool,
    /// What standard error says somewhere.
    says: &'static [&'static str],
    /// Bytes of standard error.
    most_bytes: usize,
}

const CASES: &[Case] = &[
    Case { name: "nothing-listens", options: &[], argument: "nothing", succeeds: true, says: &[], most_bytes: 0 },
    Case { name: "loopback-only", options: TCP, argument: "loopback", succeeds: true, says: &[], most_bytes: 0 },
    Case {
        name: "a-flood-at-the-end",
        options: TCP,
        argument: "outsiders",
        succeeds: true,
        says: &["speaks wire format", "only counted", "were closed that did not prove to belong to this job"],
        most_bytes: 4000,
    },
    Case { name: "authenticated", options: AUTH, argument: "loopback", succeeds: true, says: &[], most_bytes: 0 },
    Case { name: "encrypted", options: ENCRYPT, argument: "loopback", succeeds: true, says: &[], most_bytes: 0 },
    Case {
        name: "closed-descriptors",
        options: TCP,
        argument: "closed",
        succeeds: false,
        says: &[
            "no longer tells what happens to sockets: the descriptor of epoll is closed (EBADF)",
            "rank 0: both halves ended, with an error",
            "rank 1: both halves ended, with an error",
        ],
        most_bytes: 8000,
    },
];

const TCP: &[&str] = &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map"];

const AUTH: &[&str] = &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map", "--mca", "btl_tcp_protect", "auth"];
const ENCRYPT: &[&str] =
    &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map", "--mca", "btl_tcp_protect", "encrypt"];

fn run(session: &mut Session, case: &Case) -> Result<Verdict> {
    let name = format!("sockets/{}", case.name);
    // Where ranks meet that have lost each other.
    let folder = session.scratch().join(&name);
    let _ = std::fs::remove_dir_all(&folder);
    shell::folder(&folder)?;
    let options = [&["-n", "2"], case.options].concat();
    let arguments = [case.argument, &folder.to_string_lossy()];
    let job = Job { source: SOURCE, name: &name, options: &options, arguments: &arguments };
    let ended = job.run(session)?;
    Ok(jobs::verdict(&ended, holds(case, &ended)))
}

fn holds(case: &Case, ended: &deadline::Ended) -> std::result::Result<(), String> {
    if ended.ended_with(0) != case.succeeds {
        let wanted = if case.succeeds { "status 0 was expected" } else { "another status than 0 was expected" };
        return Err(wanted.to_owned());
    }
    if let Some(words) = case.says.iter().find(|words| !ended.err.contains(**words)) {
        return Err(format!("standard error does not contain `{words}`"));
    }
    match ended.err.len() <= case.most_bytes {
        true => Ok(()),
        false => Err(format!(
            "standard error has {} bytes, more than {}: outsiders can make the job write",
            ended.err.len(),
            case.most_bytes
        )),
    }
}

/// Ranks with different settings: both say which, and the job ends.
fn mixed(session: &mut Session) -> Result<Verdict> {
    let by_rank = "[ $OMPI_COMM_WORLD_RANK = 0 ] && protect=auth || protect=none
        OMPI_MCA_btl_tcp_protect=$protect exec \"$0\" exchange";
    let options = [&["-n", "2"], TCP, &["sh", "-c", by_rank]].concat();
    let job = Job { source: SOURCE, name: "sockets/mixed-protection", options: &options, arguments: &[] };
    let ended = job.run(session)?;
    let says = [
        "process 1 protects it by `none`, this process by `auth`",
        "process 0 protects it by `auth`, this process by `none`",
    ];
    let said = says.iter().filter(|words| ended.err.contains(**words)).count();
    Ok(match !ended.ended_with(0) && said > 0 {
        // The first one that gives up ends the job; unit tests have both sentences.
        true => Verdict::Passed(format!("{said} of 2 sentences")),
        false => Verdict::Failed(format!("no rank says which parameter differs\n{}", ended.story())),
    })
}

const SOURCE: &str = "tests/sockets/sockets.c";
