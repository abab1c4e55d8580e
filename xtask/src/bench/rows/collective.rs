//! Collectives: one program, named by its argument, with as many ranks as cores and with more.

use super::row::{K4, K16, K64, M1, M4, PLAIN, Row};

/// All of them, in the order of the page.
pub const ROWS: &[Row] = &[
    Row {
        name: "barrier-2",
        title: BARRIER,
        raw: Some(("raw_sm", &["--barrier"])),
        aims: &[(8, 0.6)],
        ..collective(2, &["--barrier"], &[8])
    },
    Row { name: "barrier-4", title: BARRIER, aims: &[(8, 0.7)], ..collective(4, &["--barrier"], &[8]) },
    Row { name: "barrier-8", title: BARRIER, aims: &[(8, 0.7)], ..collective(8, &["--barrier"], &[8]) },
    Row {
        name: "bcast-2",
        title: BCAST,
        aims: &[(8, 0.6), (K64, 0.75)],
        ..collective(2, &["--bcast"], LENGTHS_OF_TWO)
    },
    Row { name: "bcast-4", title: BCAST, ..collective(4, &["--bcast"], LENGTHS) },
    Row { name: "bcast-8", title: BCAST, ..collective(8, &["--bcast"], LENGTHS) },
    Row { name: "reduce-2", title: REDUCE, ..collective(2, &["--reduce"], LENGTHS_OF_TWO) },
    Row { name: "reduce-4", title: REDUCE, ..collective(4, &["--reduce"], LENGTHS) },
    Row {
        name: "allreduce-2",
        title: ALLREDUCE,
        aims: &[(8, 0.6), (K64, 0.75), (M4, 0.75)],
        ..collective(2, &["--allreduce"], LENGTHS_OF_TWO)
    },
    Row { name: "allreduce-4", title: ALLREDUCE, aims: &[(8, 0.7)], ..collective(4, &["--allreduce"], LENGTHS) },
    Row { name: "allreduce-8", title: ALLREDUCE, aims: &[(8, 0.7)], ..collective(8, &["--allreduce"], LENGTHS) },
    Row {
        name: "alltoall-2",
        title: ALLTOALL,
        aims: &[(8, 0.6), (K4, 0.75), (K64, 0.75)],
        ..collective(2, &["--alltoall"], LENGTHS_OF_TWO)
    },
    Row { name: "alltoall-4", title: ALLTOALL, aims: &[(8, 0.7)], ..collective(4, &["--alltoall"], LENGTHS) },
    Row { name: "alltoall-8", title: ALLTOALL, aims: &[(8, 0.7)], ..collective(8, &["--alltoall"], LENGTHS) },
    Row { name: "allgather-2", title: ALLGATHER, aims: &[(8, 0.6)], ..collective(2, &["--allgather"], LENGTHS_OF_TWO) },
    Row { name: "allgather-4", title: ALLGATHER, ..collective(4, &["--allgather"], LENGTHS) },
    Row { name: "allgather-8", title: ALLGATHER, ..collective(8, &["--allgather"], LENGTHS) },
    Row { name: "gather-2", title: GATHER, ..collective(2, &["--gather"], LENGTHS) },
    Row { name: "gather-4", title: GATHER, ..collective(4, &["--gather"], LENGTHS) },
    Row { name: "scatter-2", title: SCATTER, ..collective(2, &["--scatter"], LENGTHS) },
    Row { name: "scatter-4", title: SCATTER, ..collective(4, &["--scatter"], LENGTHS) },
    Row { name: "gatherv-2", title: GATHERV, ..collective(2, &["--gatherv"], LENGTHS) },
    Row { name: "gatherv-4", title: GATHERV, ..collective(4, &["--gatherv"], LENGTHS) },
    Row { name: "scatterv-2", title: SCATTERV, ..collective(2, &["--scatterv"], LENGTHS) },
    Row { name: "scatterv-4", title: SCATTERV, ..collective(4, &["--scatterv"], LENGTHS) },
    Row { name: "allgatherv-2", title: ALLGATHERV, ..collective(2, &["--allgatherv"], LENGTHS) },
    Row { name: "allgatherv-4", title: ALLGATHERV, ..collective(4, &["--allgatherv"], LENGTHS) },
    Row { name: "alltoallv-2", title: ALLTOALLV, ..collective(2, &["--alltoallv"], LENGTHS) },
    Row { name: "alltoallv-4", title: ALLTOALLV, ..collective(4, &["--alltoallv"], LENGTHS) },
    Row { name: "reduce-scatter-2", title: REDUCE_SCATTER, ..collective(2, &["--reduce_scatter"], LENGTHS) },
    Row { name: "reduce-scatter-4", title: REDUCE_SCATTER, ..collective(4, &["--reduce_scatter"], LENGTHS) },
    Row { name: "scan-2", title: SCAN, ..collective(2, &["--scan"], LENGTHS) },
    Row { name: "scan-4", title: SCAN, ..collective(4, &["--scan"], LENGTHS) },
    Row {
        name: "neighbor-allgather-2",
        title: NEIGHBOR_ALLGATHER,
        ..collective(2, &["--neighbor_allgather"], LENGTHS)
    },
    Row {
        name: "neighbor-allgather-4",
        title: NEIGHBOR_ALLGATHER,
        ..collective(4, &["--neighbor_allgather"], LENGTHS)
    },
    Row { name: "neighbor-alltoall-2", title: NEIGHBOR_ALLTOALL, ..collective(2, &["--neighbor_alltoall"], LENGTHS) },
    Row { name: "neighbor-alltoall-4", title: NEIGHBOR_ALLTOALL, ..collective(4, &["--neighbor_alltoall"], LENGTHS) },
    Row {
        name: "overlap-bcast",
        title: "MPI_Ibcast around some 120 µs of computing with 16 MPI_Test, and MPI_Wait",
        ..overlap(&["--bcast"])
    },
    Row {
        name: "overlap-allreduce",
        title: "MPI_Iallreduce around the same computing, and MPI_Wait",
        ..overlap(&["--allreduce"])
    },
    Row {
        name: "overlap-alltoall",
        title: "MPI_Ialltoall around the same computing, and MPI_Wait",
        ..overlap(&["--alltoall"])
    },
];
const fn collective(ranks: u32, arguments: &'static [&'static str], sizes: &'static [u64]) -> Row {
    Row { program: "collective", arguments, sizes, ranks, ..PLAIN }
}

const fn overlap(arguments: &'static [&'static str]) -> Row {
    Row { program: "overlap", arguments, sizes: &[1 << 10, K64, M1], ..PLAIN }
}

const BARRIER: &str = "MPI_Barrier, one call";
const BCAST: &str = "MPI_Bcast, one call, roots in turn";
const REDUCE: &str = "MPI_Reduce of doubles with MPI_SUM, one call, roots in turn";
const ALLREDUCE: &str = "MPI_Allreduce of doubles with MPI_SUM, one call";
const ALLTOALL: &str = "MPI_Alltoall, one call, bytes for each pair";
const ALLGATHER: &str = "MPI_Allgather, one call, bytes from each rank";
const GATHER: &str = "MPI_Gather, one call, roots in turn, bytes from each rank";
const SCATTER: &str = "MPI_Scatter, one call, roots in turn, bytes for each rank";
const ALLGATHERV: &str = "MPI_Allgatherv, one call, bytes from each rank";
const ALLTOALLV: &str = "MPI_Alltoallv, one call, bytes for each pair";
const REDUCE_SCATTER: &str = "MPI_Reduce_scatter_block of doubles with MPI_SUM, one call, bytes for each rank";
const SCAN: &str = "MPI_Scan of doubles with MPI_SUM, one call";
const GATHERV: &str = "MPI_Gatherv, one call, roots in turn, bytes from each rank";
const SCATTERV: &str = "MPI_Scatterv, one call, roots in turn, bytes for each rank";
const NEIGHBOR_ALLGATHER: &str = "MPI_Neighbor_allgather, one call, bytes for both neighbors in a ring";
const NEIGHBOR_ALLTOALL: &str = "MPI_Neighbor_alltoall, one call, bytes for each of both neighbors in a ring";
const LENGTHS: &[u64] = &[8, 1 << 10, K64, M1];
const LENGTHS_OF_TWO: &[u64] = &[8, 1 << 10, K4, K16, K64, M1, M4];
