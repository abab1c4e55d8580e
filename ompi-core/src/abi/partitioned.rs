//! Partitioned communication. MPI 5.0 §4.2.

use super::kinds::{Array, Buffer, Comm, Committed, ConstBuffer, Count, Hints, Out, Rank, Raw, RecvTag, Request, Tag};
use core::ffi::c_int;

rows! {
    /// Makes a persistent request for a send in partitions. MPI 5.0 §4.2.1.
    fn Psend_init(
        buf: ConstBuffer, partitions: Raw<c_int>, count: Count, datatype: Committed, dest: Rank, tag: Tag,
        comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for a receive in partitions. MPI 5.0 §4.2.1.
    fn Precv_init(
        buf: Buffer, partitions: Raw<c_int>, count: Count, datatype: Committed, source: Rank, tag: RecvTag,
        comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Says that a partition of a send may leave. MPI 5.0 §4.2.1.
    fn Pready(partition: Raw<c_int>, request: Request) [] => unsupported

    /// Says that a range of partitions may leave. MPI 5.0 §4.2.1.
    fn Pready_range(partition_low: Raw<c_int>, partition_high: Raw<c_int>, request: Request) [] => unsupported

    /// Says that the listed partitions may leave. MPI 5.0 §4.2.1.
    fn Pready_list(length: Raw<c_int>, array_of_partitions: Array<c_int>, request: Request) [] => unsupported

    /// Says whether a partition of a receive is there. MPI 5.0 §4.2.1.
    fn Parrived(request: Request, partition: Raw<c_int>, flag: Out<c_int>) [] => unsupported
}
