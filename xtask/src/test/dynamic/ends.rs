//! Processes that end while those of another job still need them, sends that only MPI_Finalize completes, and what further jobs inherit.

use super::case::{JobCase, run};
use super::robust::scripted;
use crate::test::{Session, Verdict};

/// The rest of `dynamic/…`.
pub fn cases(session: &mut Session) {
    for case in CASES {
        let verdict = |session: &mut Session| run(session, SOURCE, case).unwrap_or_else(Verdict::from);
        session.case(&format!("dynamic/{}", case.name), verdict);
    }
    for (name, script) in SCRIPTS {
        let verdict = |session: &mut Session| scripted(session, SOURCE, name, script).unwrap_or_else(Verdict::from);
        session.case(&format!("dynamic/{name}"), verdict);
    }
}

const SOURCE: &str = "tests/dynamic/ends.c";

const CASES: &[JobCase] = &[
    JobCase {
        name: "peer-dies",
        options: &["-n", "3", "--disable-auto-cleanup"],
        arguments: &["dies"],
        status: Some(137),
        says: &["MPI_ERR_PROC_ABORTED", "all is well"],
    },
    well("peer-leaves", &["-n", "2"], &["leaves"]),
    well("peer-leaves-mpi", &["-n", "1"], &["stays"]),
    well("peer-is-tested", &["-n", "1"], &["tested"]),
    well("peer-leaves-tcp", &["-n", "2", "--mca", "btl", "self,sm,tcp"], &["leaves"]),
    well("peer-leaves-mpi-tcp", &["-n", "1", "--mca", "btl", "self,tcp"], &["stays"]),
    well("peer-is-tested-tcp", &["-n", "1", "--mca", "btl", "self,tcp"], &["tested"]),
    JobCase {
        name: "peer-dies-tcp",
        options: &["-n", "3", "--disable-auto-cleanup", "--mca", "btl", "self,sm,tcp"],
        arguments: &["dies"],
        status: Some(137),
        says: &["MPI_ERR_PROC_ABORTED", "all is well"],
    },
    JobCase {
        name: "peer-dies-in-a-message",
        options: &["-n", "1", "--disable-auto-cleanup", "--mca", "btl", "self,tcp"],
        arguments: &["middle"],
        status: Some(137),
        says: &["all is well"],
    },
    JobCase {
        name: "peer-is-named",
        options: &["-n", "1"],
        arguments: &["fatal"],
        status: Some(58),
        says: &[
            "MPI_ERR_PROC_ABORTED",
            "rank 0 in MPI_COMM_WORLD of job",
            "has ended or left MPI without MPI_Comm_disconnect",
        ],
    },
    JobCase {
        name: "errors-abort-of-two-jobs",
        options: &["-n", "2"],
        arguments: &["abort-both"],
        status: Some(6),
        says: &["MPI_ERR_RANK", "ends the processes of that group", "rank 1 went on"],
    },
    well("bridge", &["-n", "2"], &["bridge"]),
    well("bridge-tcp", &["-n", "1", "--mca", "btl", "self,sm,tcp"], &["bridge"]),
    JobCase {
        name: "program-like-an-option",
        options: &["-n", "1"],
        arguments: &["dash"],
        status: Some(0),
        says: &["all is well"],
    },
    JobCase {
        name: "universe-of-slots",
        options: &["--host", "localhost:5", "-n", "1"],
        arguments: &["universe"],
        status: Some(0),
        says: &["universe of 5"],
    },
    well("freed-send", &["-n", "1"], &["freed"]),
    well("freed-send-of-child", &["-n", "1"], &["freed-by-child"]),
];

const fn well(name: &'static str, options: &'static [&'static str], arguments: &'static [&'static str]) -> JobCase {
    JobCase { name, options, arguments, status: Some(0), says: &["all is well"] }
}

/// As those of `robust`.
const SCRIPTS: &[(&str, &str)] = &[(
    "inherited-options",
    r#"
    rm -rf "$2/files"
    "$0" -n 1 -x COLOUR=red --genv SHAPE round --tag-output --timestamp-output --output-filename "$2/files" --quiet \
        --stall-report 7 --disable-auto-cleanup "$1" options > "$2/out" 2> "$2/err" || exit 1
    grep '\[2,0\]<stdout>: colour red, shape round' "$2/out" || exit 1
    grep -q 'colour red, shape round' "$2/files/2/rank.0/stdout" || exit 1
    grep -q 'all is well' "$2/files/1/rank.0/stdout" || exit 1
    test ! -s "$2/err" && echo all is well
    "#,
)];
