//! Sessions. MPI 5.0 §11.3 and §7.4.2.

use super::kinds::{Errhandler, Group, Hints, Out, Rank, Raw, Session, Text};
use core::ffi::{c_char, c_int};

rows! {
    /// Opens a session. MPI 5.0 §11.3.1.
    fn Session_init(info: Hints, errhandler: Errhandler, session: Out<usize>) [always] => unsupported

    /// Closes a session. MPI 5.0 §11.3.1.
    fn Session_finalize(session: Out<usize>) [always] => unsupported

    /// Number of process sets. MPI 5.0 §11.3.2.
    fn Session_get_num_psets(session: Session, info: Hints, npset_names: Out<c_int>) [always] => unsupported

    /// The name of a process set. MPI 5.0 §11.3.2.
    fn Session_get_nth_pset(
        session: Session, info: Hints, n: Raw<c_int>, pset_len: Out<c_int>, pset_name: Out<c_char>,
    ) [always] => unsupported

    /// The hints of a session. MPI 5.0 §11.3.3.
    fn Session_get_info(session: Session, info_used: Out<usize>) [always] => unsupported

    /// What is known of a process set. MPI 5.0 §11.3.4.
    fn Session_get_pset_info(session: Session, pset_name: Text, info: Out<usize>) [always] => unsupported

    /// The group of a process set. MPI 5.0 §7.3.2.
    fn Group_from_session_pset(session: Session, pset_name: Text, newgroup: Out<usize>) [always] => unsupported

    /// A communicator for a group, without another one. MPI 5.0 §7.4.2.
    fn Comm_create_from_group(
        group: Group, stringtag: Text, info: Hints, errhandler: Errhandler, newcomm: Out<usize>,
    ) [always] => unsupported

    /// An intercommunicator for two groups, without another communicator. MPI 5.0 §7.6.2.
    fn Intercomm_create_from_groups(
        local_group: Group, local_leader: Rank, remote_group: Group, remote_leader: Rank, stringtag: Text,
        info: Hints, errhandler: Errhandler, newintercomm: Out<usize>,
    ) [always] => unsupported
}
