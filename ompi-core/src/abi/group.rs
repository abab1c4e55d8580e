//! Groups. MPI 5.0 §7.3.

use super::kinds::{Array, Comm, Group, Out, OutArray, Raw};
use core::ffi::c_int;

rows! {
    /// Number of members. MPI 5.0 §7.3.1.
    fn Group_size(group: Group, size: Out<c_int>) [] => unsupported

    /// This process's rank, or MPI_UNDEFINED. MPI 5.0 §7.3.1.
    fn Group_rank(group: Group, rank: Out<c_int>) [] => unsupported

    /// The ranks in one group of members of another. MPI 5.0 §7.3.1.
    fn Group_translate_ranks(
        group1: Group, n: Raw<c_int>, ranks1: Array<c_int>, group2: Group, ranks2: OutArray<c_int>,
    ) [] => unsupported

    /// Whether two groups have the same members, in the same order. MPI 5.0 §7.3.1.
    fn Group_compare(group1: Group, group2: Group, result: Out<c_int>) [] => unsupported

    /// The group of a communicator. MPI 5.0 §7.3.2.
    fn Comm_group(comm: Comm, group: Out<usize>) [] => unsupported

    /// The first group's members, then those of the second that are not among them. MPI 5.0 §7.3.2.
    fn Group_union(group1: Group, group2: Group, newgroup: Out<usize>) [] => unsupported

    /// Those members of the first group that are in the second. MPI 5.0 §7.3.2.
    fn Group_intersection(group1: Group, group2: Group, newgroup: Out<usize>) [] => unsupported

    /// Those members of the first group that are not in the second. MPI 5.0 §7.3.2.
    fn Group_difference(group1: Group, group2: Group, newgroup: Out<usize>) [] => unsupported

    /// The listed members in the listed order. MPI 5.0 §7.3.2.
    fn Group_incl(group: Group, n: Raw<c_int>, ranks: Array<c_int>, newgroup: Out<usize>) [] => unsupported

    /// All but the listed members. MPI 5.0 §7.3.2.
    fn Group_excl(group: Group, n: Raw<c_int>, ranks: Array<c_int>, newgroup: Out<usize>) [] => unsupported

    /// The members in the listed ranges. MPI 5.0 §7.3.2.
    fn Group_range_incl(group: Group, n: Raw<c_int>, ranges: Array<[c_int; 3]>, newgroup: Out<usize>) [] => unsupported

    /// All but the members in the listed ranges. MPI 5.0 §7.3.2.
    fn Group_range_excl(group: Group, n: Raw<c_int>, ranges: Array<[c_int; 3]>, newgroup: Out<usize>) [] => unsupported

    /// Frees a group. MPI 5.0 §7.3.3.
    fn Group_free(group: Out<usize>) [] => unsupported
}
