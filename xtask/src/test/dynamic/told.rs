//! What users are told of jobs that wait for each other, what errors say, what spawned jobs inherit, and jobs that outlive those that
//! started them.

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

const SOURCE: &str = "tests/dynamic/told.c";

const CASES: &[JobCase] = &[
    JobCase {
        name: "reasons",
        options: &["-n", "2"],
        arguments: &["reasons"],
        status: Some(0),
        says: &["all is well"],
    },
    JobCase {
        name: "no-room-for-spawned",
        options: &["-n", "1", "--nooversubscribe"],
        arguments: &["crowd"],
        status: Some(0),
        says: &["all is well"],
    },
    // They have parted: the failure of the first job is none of the other's business.
    JobCase {
        name: "parent-dies-later",
        options: &["-n", "1"],
        arguments: &["fails"],
        status: Some(137),
        says: &["SIGKILL", "the child went on"],
    },
    JobCase {
        name: "parent-aborts-later",
        options: &["-n", "2"],
        arguments: &["aborts"],
        status: Some(6),
        says: &["called MPI_Abort", "the child went on"],
    },
    JobCase {
        name: "spawned-job-is-late",
        options: &["-n", "1", "--timeout", "3", "--get-stack-traces"],
        arguments: &["lasts"],
        status: Some(124),
        says: &[
            "the child goes on",
            "job 2, which job 1 spawned (mpirun",
            "rank 0 is in",
            "after 3 s (--timeout) job 2, which ranks spawned, still ran; the ranks of the first job have ended",
            "With it ended job 2, which ranks spawned.",
        ],
    },
];

/// As those of `robust`.
const SCRIPTS: &[(&str, &str)] = &[
    // Nobody is accused who waits for a job that computes.
    (
        "no-stall-while-another-job-computes",
        r#"
        "$0" -n 2 --stall-report 1 "$1" computes > "$2/out" 2> "$2/err" || exit 1
        grep 'all is well' "$2/out" && test ! -s "$2/err"
        "#,
    ),
    (
        "stall-of-two-jobs",
        r#"
        "$0" -n 1 --stall-report 1 "$1" cycle 2> "$2/err" & job=$!
        until grep -q 'a cycle' "$2/err"; do sleep 0.1; kill -0 $job || exit 1; done
        "$0" --status $job > "$2/status" || exit 1
        kill $job; wait $job
        grep 'all ranks that run of jobs 1, 2 have waited in MPI for 1 s (--stall-report): a deadlock' "$2/err" || exit 1
        cycle='a cycle: rank 0 of job 1 waits for rank 0 of job 2, which waits for rank 0 of job 1'
        grep "$cycle" "$2/err" && grep "$cycle" "$2/status" && echo all is well
        "#,
    ),
    // Not the set of ranks, which are those of the first job.
    (
        "spawned-by-options",
        r#"
        export SMELL=roses
        "$0" -n 1 --env COLOUR red --unset-env SMELL --usize 9 --pset left:0 --cpu-set 0 --bind-to core "$1" inherits > "$2/out" || exit 1
        grep 'colour red, smell none, universe 9, set none' "$2/out" && grep 'all is well' "$2/out"
        "#,
    ),
    // A process that nobody launched.
    (
        "alone-parent-dies-later",
        r#"
        "$1" fails > "$2/out" 2>&1
        until grep -q 'the child went on' "$2/out"; do sleep 0.1; done
        echo all is well
        "#,
    ),
    (
        "interrupted-with-spawned-job",
        r#"
        "$0" -n 1 "$1" lasts > "$2/out" 2> "$2/err" & job=$!
        until grep -q 'the child goes on' "$2/out"; do sleep 0.1; kill -0 $job || exit 1; done
        kill -TERM $job; wait $job
        test $? = 143 && grep 'With it ended job 2, which ranks spawned' "$2/err" && echo all is well
        "#,
    ),
];
