//! Communicators. MPI 5.0 §7.4, §7.6 and §7.8.

use super::kinds::{
    Comm, CommHandle, CommPlace, Group, Hints, NamedComm, Out, OutPtr, Rank, Raw, Tag, Text, give_text,
};
use super::tell::tell_if_heard;
use crate::comm::{self, Communicator, Hints as HintsInUse};
use crate::error::{Class, Fault, Result};
use crate::group::{self, Comparison};
use crate::status::UNDEFINED;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::ffi::{c_char, c_int};

rows! {
    /// Number of processes. MPI 5.0 §7.4.1.
    fn Comm_size(comm: Comm, size: Out<c_int>) [] => {
        size.set(comm.size() as c_int);
        Ok(())
    }

    /// This process's rank. MPI 5.0 §7.4.1.
    fn Comm_rank(comm: Comm, rank: Out<c_int>) [] => {
        rank.set(comm.rank as c_int);
        Ok(())
    }

    /// Whether two communicators have the same processes and context. MPI 5.0 §7.4.1.
    fn Comm_compare(comm1: Comm, comm2: Comm, result: Out<c_int>) [] => {
        result.set(match core::ptr::eq(comm1, comm2) {
            true => Comparison::Ident as c_int,
            false => compare(comm1, comm2),
        });
        Ok(())
    }

    /// Copies a communicator with its attributes into a new context. MPI 5.0 §7.4.2.
    fn Comm_dup(comm: CommHandle, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        newcomm.set(made(comm::duplicate(comm.0, comm.1, HintsInUse::default())?, "MPI_Comm_dup", comm.1));
        Ok(())
    }

    /// As MPI_Comm_dup with hints of its own. MPI 5.0 §7.4.2.
    fn Comm_dup_with_info(comm: CommHandle, info: Hints, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        newcomm.set(made(comm::duplicate(comm.0, comm.1, HintsInUse::of(info.as_deref()))?, "MPI_Comm_dup_with_info", comm.1));
        Ok(())
    }

    /// Begins MPI_Comm_dup. MPI 5.0 §7.4.2.
    fn Comm_idup(comm: CommHandle, newcomm: Out<usize>, request: Out<usize>) [] => {
        begin(comm, HintsInUse::default(), newcomm, request, "MPI_Comm_idup")
    }

    /// Begins MPI_Comm_dup_with_info. MPI 5.0 §7.4.2.
    fn Comm_idup_with_info(comm: CommHandle, info: Hints, newcomm: Out<usize>, request: Out<usize>) [] => {
        begin(comm, HintsInUse::of(info.as_deref()), newcomm, request, "MPI_Comm_idup_with_info")
    }

    /// A communicator for a part of the processes, called by all. MPI 5.0 §7.4.2.
    fn Comm_create(comm: Comm, group: Group, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        newcomm.set(made(comm::create(comm, &group)?.unwrap_or(comm::NULL), "MPI_Comm_create", comm));
        Ok(())
    }

    /// A communicator for a group, called by its members only. MPI 5.0 §7.4.2.
    fn Comm_create_group(comm: Comm, group: Group, tag: Tag, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        newcomm.set(made(comm::create_group(comm, &group, tag)?.unwrap_or(comm::NULL), "MPI_Comm_create_group", comm));
        Ok(())
    }

    /// Communicators for the processes of equal color. MPI 5.0 §7.4.2.
    fn Comm_split(comm: Comm, color: Raw<c_int>, key: Raw<c_int>, newcomm: Out<usize>) [] => {
        let color = match color {
            UNDEFINED => None,
            0.. => Some(color as u64),
            _ => {
                let why = format!("{color} is negative and not MPI_UNDEFINED");
                return Err(Fault::new(Class::Arg).argument("color").because(why));
            }
        };
        newcomm.set(comm::NULL);
        let new = comm::split(comm, color, key, HintsInUse::default())?.unwrap_or(comm::NULL);
        newcomm.set(made(new, "MPI_Comm_split", comm));
        Ok(())
    }

    /// Communicators for the processes that share a resource. MPI 5.0 §7.4.2.
    fn Comm_split_type(comm: Comm, split_type: Raw<c_int>, key: Raw<c_int>, info: Hints, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        let new = comm::split_type(comm, split_type, key, info.as_deref())?.unwrap_or(comm::NULL);
        newcomm.set(made(new, "MPI_Comm_split_type", comm));
        Ok(())
    }

    /// Frees a communicator; pending communication completes. MPI 5.0 §7.4.3.
    fn Comm_free(comm: CommPlace) [] => {
        match comm.get() {
            comm::WORLD_HANDLE | comm::SELF_HANDLE => {
                let why = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed";
                return Err(Fault::new(Class::Comm).argument("comm").because(why));
            }
            handle => {
                // What happened on it is told while it is there.
                tell_if_heard();
                comm::free(handle)?;
            }
        }
        comm.set(comm::NULL);
        Ok(())
    }

    /// Gives a communicator hints. MPI 5.0 §7.4.4.
    fn Comm_set_info(comm: Comm, info: Hints) [] => {
        if let Some(info) = info {
            comm.hints.update(&info);
        }
        Ok(())
    }

    /// The hints in use. MPI 5.0 §7.4.4.
    fn Comm_get_info(comm: Comm, info_used: Out<usize>) [] => {
        info_used.set(comm.hints.info().into_handle()?);
        Ok(())
    }

    /// Says whether it is an intercommunicator. MPI 5.0 §7.6.1.
    fn Comm_test_inter(comm: Comm, flag: Out<c_int>) [] => {
        flag.set(c_int::from(comm.is_inter()));
        Ok(())
    }

    /// Number of processes in the remote group. MPI 5.0 §7.6.1.
    fn Comm_remote_size(comm: Comm, size: Out<c_int>) [] => {
        size.set(remote(comm)?.size() as c_int);
        Ok(())
    }

    /// The remote group. MPI 5.0 §7.6.1.
    fn Comm_remote_group(comm: Comm, group: Out<usize>) [] => {
        group.set(group::insert(remote(comm)?.clone()).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// Joins two communicators into an intercommunicator. MPI 5.0 §7.6.2.
    fn Intercomm_create(
        local_comm: Comm, local_leader: Rank, peer_comm: Raw<usize>, remote_leader: Rank, tag: Tag,
        newintercomm: Out<usize>,
    ) [] => {
        // The leader's communicator to the other leader counts at the leader only.
        let peer = comm::borrow(peer_comm);
        newintercomm.set(comm::NULL);
        let new = comm::create_inter(local_comm, local_leader, peer, remote_leader, tag)?;
        newintercomm.set(made(new, "MPI_Intercomm_create", local_comm));
        Ok(())
    }

    /// Merges both groups of an intercommunicator into one. MPI 5.0 §7.6.2.
    fn Intercomm_merge(intercomm: Comm, high: Raw<c_int>, newintracomm: Out<usize>) [] => {
        newintracomm.set(comm::NULL);
        newintracomm.set(made(comm::merge(intercomm, high != 0)?, "MPI_Intercomm_merge", intercomm));
        Ok(())
    }

    /// Names a communicator. MPI 5.0 §7.8.
    fn Comm_set_name(comm: Comm, comm_name: Text) [] => {
        let mut name = comm_name.to_string_lossy().into_owned();
        name.truncate(name.floor_char_boundary(MAX_OBJECT_NAME - 1));
        comm.set_name(name);
        Ok(())
    }

    /// The name of a communicator; MPI_COMM_NULL has one, too. MPI 5.0 §7.8.
    fn Comm_get_name(comm: NamedComm, comm_name: Out<c_char>, resultlen: Out<c_int>) [] => {
        let name = comm.map_or_else(|| String::from("MPI_COMM_NULL"), Communicator::name);
        // SAFETY: the standard asks for room of MPI_MAX_OBJECT_NAME characters.
        unsafe { give_text(&name, comm_name, MAX_OBJECT_NAME, Some(resultlen)) };
        Ok(())
    }
}

/// MPI_MAX_OBJECT_NAME.
const MAX_OBJECT_NAME: usize = 128;
/// MPI_CONGRUENT: the same groups, other contexts.
const CONGRUENT: c_int = 202;

/// The handle of a new communicator, which remembers for messages about it how it was made.
pub(super) fn made(handle: usize, function: &'static str, parent: &Communicator) -> usize {
    if let Some(new) = comm::borrow(handle) {
        new.set_origin(function, Some(parent));
    }
    handle
}

/// The new handle is in force when the request is complete.
fn begin(
    comm: (usize, &Communicator),
    hints: HintsInUse,
    newcomm: OutPtr<usize>,
    request: OutPtr<usize>,
    function: &'static str,
) -> Result<()> {
    newcomm.set(comm::NULL);
    let (copy, started) = comm::begin_duplicate(comm.0, comm.1, hints)?;
    newcomm.set(made(copy, function, comm.1));
    request.set(started.into_handle());
    Ok(())
}

/// How two different communicators compare: both groups of intercommunicators count.
pub fn compare(one: &Communicator, two: &Communicator) -> c_int {
    let remote = match (&one.remote, &two.remote) {
        (None, None) => Comparison::Ident,
        (Some(one), Some(two)) => one.compare(two),
        _ => Comparison::Unequal,
    };
    match (one.group.compare(&two.group), remote) {
        (Comparison::Ident, Comparison::Ident) => CONGRUENT,
        (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal as c_int,
        _ => Comparison::Similar as c_int,
    }
}

fn remote(comm: &Communicator) -> Result<&Arc<group::Group>> {
    let why = "it is not an intercommunicator, so it has no remote group";
    comm.remote.as_ref().ok_or_else(|| Fault::new(Class::Comm).argument("comm").because(why))
}
