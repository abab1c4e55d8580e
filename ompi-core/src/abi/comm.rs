//! Communicators. MPI 5.0 §7.4, §7.6 and §7.8.

use super::kinds::{Comm, CommPlace, Group, Hints, Out, Rank, Raw, Tag, Text};
use core::ffi::{c_char, c_int};

rows! {
    /// Number of processes. MPI 5.0 §7.4.1.
    fn Comm_size(comm: Comm, size: Out<c_int>) [] => unsupported

    /// This process's rank. MPI 5.0 §7.4.1.
    fn Comm_rank(comm: Comm, rank: Out<c_int>) [] => unsupported

    /// Whether two communicators have the same processes and context. MPI 5.0 §7.4.1.
    fn Comm_compare(comm1: Comm, comm2: Comm, result: Out<c_int>) [] => unsupported

    /// Copies a communicator with its attributes into a new context. MPI 5.0 §7.4.2.
    fn Comm_dup(comm: Comm, newcomm: Out<usize>) [] => unsupported

    /// As MPI_Comm_dup with hints of its own. MPI 5.0 §7.4.2.
    fn Comm_dup_with_info(comm: Comm, info: Hints, newcomm: Out<usize>) [] => unsupported

    /// Begins MPI_Comm_dup. MPI 5.0 §7.4.2.
    fn Comm_idup(comm: Comm, newcomm: Out<usize>, request: Out<usize>) [] => unsupported

    /// Begins MPI_Comm_dup_with_info. MPI 5.0 §7.4.2.
    fn Comm_idup_with_info(comm: Comm, info: Hints, newcomm: Out<usize>, request: Out<usize>) [] => unsupported

    /// A communicator for a part of the processes, called by all. MPI 5.0 §7.4.2.
    fn Comm_create(comm: Comm, group: Group, newcomm: Out<usize>) [] => unsupported

    /// A communicator for a group, called by its members only. MPI 5.0 §7.4.2.
    fn Comm_create_group(comm: Comm, group: Group, tag: Tag, newcomm: Out<usize>) [] => unsupported

    /// Communicators for the processes of equal color. MPI 5.0 §7.4.2.
    fn Comm_split(comm: Comm, color: Raw<c_int>, key: Raw<c_int>, newcomm: Out<usize>) [] => unsupported

    /// Communicators for the processes that share a resource. MPI 5.0 §7.4.2.
    fn Comm_split_type(
        comm: Comm, split_type: Raw<c_int>, key: Raw<c_int>, info: Hints, newcomm: Out<usize>,
    ) [] => unsupported

    /// Frees a communicator; pending communication completes. MPI 5.0 §7.4.3.
    fn Comm_free(comm: CommPlace) [] => unsupported

    /// Gives a communicator hints. MPI 5.0 §7.4.4.
    fn Comm_set_info(comm: Comm, info: Hints) [] => unsupported

    /// The hints in use. MPI 5.0 §7.4.4.
    fn Comm_get_info(comm: Comm, info_used: Out<usize>) [] => unsupported

    /// Says whether it is an intercommunicator. MPI 5.0 §7.6.1.
    fn Comm_test_inter(comm: Comm, flag: Out<c_int>) [] => unsupported

    /// Number of processes in the remote group. MPI 5.0 §7.6.1.
    fn Comm_remote_size(comm: Comm, size: Out<c_int>) [] => unsupported

    /// The remote group. MPI 5.0 §7.6.1.
    fn Comm_remote_group(comm: Comm, group: Out<usize>) [] => unsupported

    /// Joins two communicators into an intercommunicator. MPI 5.0 §7.6.2.
    fn Intercomm_create(
        local_comm: Comm, local_leader: Rank, peer_comm: Comm, remote_leader: Rank, tag: Tag,
        newintercomm: Out<usize>,
    ) [] => unsupported

    /// Merges both groups of an intercommunicator into one. MPI 5.0 §7.6.2.
    fn Intercomm_merge(intercomm: Comm, high: Raw<c_int>, newintracomm: Out<usize>) [] => unsupported

    /// Names a communicator. MPI 5.0 §7.8.
    fn Comm_set_name(comm: Comm, comm_name: Text) [] => unsupported

    /// The name of a communicator. MPI 5.0 §7.8.
    fn Comm_get_name(comm: Comm, comm_name: Out<c_char>, resultlen: Out<c_int>) [] => unsupported
}
