//! The cost of long data in a program that has not sent any yet: one program, a launch for each sample.

use super::row::{K4, K16, K64, K256, M1, PLAIN, Row};

/// All of them, in the order of the page. One size each: the second one of a launch would not be the
/// first; but first-osu, which asks what a size costs that is new in a job.
pub const ROWS: &[Row] = &[
    Row { name: "first-send-64k", title: SEND, ..first(&["--send"], &[K64]) },
    Row { name: "first-send-1m", title: SEND, ..first(&["--send"], &[M1]) },
    Row {
        name: "first-osu",
        title: OSU,
        program: "osu",
        arguments: &["--first"],
        sizes: &[K4, K16, K64, K256, M1],
        ..PLAIN
    },
    Row { name: "first-allreduce-64k", title: ALLREDUCE, ..first(&["--allreduce"], &[K64]) },
    Row { name: "first-allreduce-1m", title: ALLREDUCE, ..first(&["--allreduce"], &[M1]) },
    Row { name: "first-alltoall-64k", title: ALLTOALL, ..first(&["--alltoall"], &[K64]) },
    Row { name: "first-alltoall-1m", title: ALLTOALL, ..first(&["--alltoall"], &[M1]) },
];

const fn first(arguments: &'static [&'static str], sizes: &'static [u64]) -> Row {
    Row { program: "first", arguments, sizes, ..PLAIN }
}

const OSU: &str = "one way, mean of the first 100 round trips of each size; a sample per turn";
const SEND: &str = "one way, mean of a job's first 16 round trips; a sample per turn";
const ALLREDUCE: &str = "MPI_Allreduce of doubles with MPI_SUM, mean of a job's first 16; a sample per turn";
const ALLTOALL: &str = "MPI_Alltoall, bytes for each pair, mean of a job's first 16; a sample per turn";
