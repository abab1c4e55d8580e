//! Jobs whose ranks say something of themselves on standard error: paths between them, who waits for whom.

use super::super::jobs::{self, Job};
use super::super::{Session, Verdict, deadline};
use crate::failure::Result;

/// One job of `tests/mpirun/seeing.c`.
pub struct SeeingCase {
    /// Of the test.
    pub name: &'static str,
    options: &'static [&'static str],
    /// What the program does.
    argument: &'static str,
    status: i32,
    /// What standard error says, words by words with one blank between, in any order.
    says: &'static [&'static str],
    /// What it does not say.
    silent: &'static [&'static str],
}

/// All of them.
pub const CASES: &[SeeingCase] = &[
    SeeingCase {
        name: "paths",
        options: &["-n", "3", "--mca", "ompi_display_comm", "1"],
        argument: "nothing",
        status: 0,
        says: &["paths between 3 ranks", " 0-2 itself self none ", " 0-2 each other sm none ", "fragments of"],
        silent: &[" 0 ", "not connected"],
    },
    SeeingCase {
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
    SeeingCase {
        name: "mismatch",
        options: &["-n", "2", "--timeout", "20"],
        argument: "mismatch",
        // MPI_ERR_NOT_SAME.
        status: 40,
        says: &["on ring failed: MPI_ERR_NOT_SAME", "do all make the same calls?"],
        silent: &[],
    },
    SeeingCase {
        name: "buffered",
        options: &["-n", "3", "--timeout", "4"],
        argument: "buffered",
        status: 124,
        says: &[
            "mpirun: a cycle: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0",
            "rank 0 in MPI_Buffer_detach, where nothing has happened for",
            "s: waits for rank 1 to receive a message with tag 7;",
        ],
        silent: &[],
    },
    SeeingCase {
        name: "file-not-opened-by-all",
        options: &["-n", "2", "--timeout", "4"],
        argument: "file",
        status: 124,
        says: &[
            "mpirun: a cycle: rank 0 waits for rank 1, which waits for rank 0",
            "rank 0 in MPI_File_open, where nothing has happened for",
            "s: waits for rank 1 in a collective operation on ring",
        ],
        silent: &[],
    },
    SeeingCase {
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
    SeeingCase {
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
    SeeingCase {
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
    SeeingCase {
        name: "a-thread-computes",
        options: &["-n", "2", "--stall-report", "1"],
        argument: "helper",
        status: 0,
        says: &[],
        silent: &["deadlock", "a cycle"],
    },
    SeeingCase {
        name: "a-thread-waits",
        options: &["-n", "2", "--timeout", "3", "--get-stack-traces"],
        argument: "helper",
        status: 124,
        says: &[
            "rank 0 not in a call of MPI, another thread in MPI_Recv: a thread of rank 0 waits for a message from rank 1 with tag 5 on MPI_COMM_WORLD;",
            "rank 1 not in a call of MPI, another thread in MPI_Recv: a thread of rank 1 waits for a message from rank 0 with tag 5 on MPI_COMM_WORLD.",
            " main + ",
            "thread ",
            "PMPI_Recv + ",
            " receives + ",
        ],
        silent: &["a cycle"],
    },
    SeeingCase {
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
    SeeingCase {
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
    SeeingCase {
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
    SeeingCase {
        name: "a-file-that-cannot-be-written",
        options: &["-n", "2", "--stats=/no-such-folder/file.json"],
        argument: "nothing",
        status: 1,
        says: &["--stats (ompi_stats): /no-such-folder/file.json cannot be written: No such file or directory"],
        silent: &["here it is"],
    },
    SeeingCase {
        name: "a-trace-that-cannot-be-written",
        options: &["-n", "2", "--trace", "/no-such-folder/file.json"],
        argument: "nothing",
        status: 1,
        says: &["--trace (ompi_trace): /no-such-folder/file.json cannot be written: No such file or directory"],
        silent: &[],
    },
    SeeingCase {
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
    SeeingCase {
        name: "a-spawned-job",
        options: &["-n", "1", "--timeout", "4.5"],
        argument: "family",
        status: 124,
        says: &[
            "mpirun: job 2, which job 1 spawned (mpirun ",
            "mpirun: rank 0 (process ",
            "s: waits for a message from rank 1 with tag 7 on ring",
            "mpirun: a cycle: rank 0 of job 2 waits for rank 1 of job 2, which waits for rank 0 of job 2",
            "the job still ran after 4.5 s (--timeout): rank 0 in MPI_Recv, where nothing has happened for",
            "s: waits for a message from rank 0 (of job 2) with tag 4",
            "; so did job 2, which ranks spawned.",
            "With it ended job 2, which ranks spawned.",
        ],
        silent: &[],
    },
    SeeingCase {
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

/// Runs one.
pub fn run(session: &mut Session, case: &SeeingCase) -> Result<Verdict> {
    let name = format!("seeing/{}", case.name);
    let job = Job { source: SOURCE, name: &name, options: case.options, arguments: &[case.argument] };
    let ended = job.run(session)?;
    Ok(jobs::verdict(&ended, holds(case, &ended)))
}

fn holds(case: &SeeingCase, ended: &deadline::Ended) -> std::result::Result<(), String> {
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

/// The program of most jobs here.
pub const SOURCE: &str = "tests/mpirun/seeing.c";
