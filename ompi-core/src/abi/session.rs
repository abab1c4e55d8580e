//! Sessions. MPI 5.0 §11.3 and §7.4.2.

use super::kinds::{
    CommErrhandler, Group, Hints, Out, Rank, Raw, Session, SessionErrhandler, SessionPlace, Text, give_text,
};
use crate::comm::{self, Hints as HintsInUse};
use crate::error::{Class, Fault, Result};
use crate::{group, session};
use alloc::format;
use alloc::sync::Arc;
use core::ffi::{CStr, c_char, c_int};

rows! {
    /// Opens a session. MPI 5.0 §11.3.1.
    fn Session_init(info: Hints, errhandler: SessionErrhandler, session: Out<usize>) [always] => {
        session.set(session::NULL);
        session.set(session::open(info.as_deref(), errhandler)?);
        Ok(())
    }

    /// Closes a session. MPI 5.0 §11.3.1.
    fn Session_finalize(session: SessionPlace) [always] => {
        session::close(session.get())?;
        session.set(session::NULL);
        Ok(())
    }

    /// Number of process sets. MPI 5.0 §11.3.2.
    fn Session_get_num_psets(session: Session, info: Hints, npset_names: Out<c_int>) [always] => {
        let _unused = (session, info);
        npset_names.set(session::process_sets().len() as c_int);
        Ok(())
    }

    /// The name of a process set. MPI 5.0 §11.3.2.
    fn Session_get_nth_pset(
        session: Session, info: Hints, n: Raw<c_int>, pset_len: Out<c_int>, pset_name: Raw<*mut c_char>,
    ) [always] => {
        let _unused = (session, info);
        let names = session::process_sets();
        let name = usize::try_from(n).ok().and_then(|n| names.get(n)).ok_or_else(|| {
            let why = format!("there are {} process sets, numbered from 0", names.len());
            Fault::new(Class::Arg).argument("n").because(why)
        })?;
        let room = usize::try_from(pset_len.get())
            .map_err(|_| Fault::new(Class::Arg).argument("pset_len").because("it is negative"))?;
        if room > 0 {
            let place = super::kinds::OutPtr::new(pset_name).map_err(|fault| fault.argument("pset_name"))?;
            // SAFETY: the standard asks for room of `pset_len` characters.
            unsafe { give_text(name, place, room, None) };
        }
        pset_len.set(name.len() as c_int + 1);
        Ok(())
    }

    /// The hints of a session. MPI 5.0 §11.3.3.
    fn Session_get_info(session: Session, info_used: Out<usize>) [always] => {
        info_used.set(session.1.info().into_handle()?);
        Ok(())
    }

    /// What is known of a process set. MPI 5.0 §11.3.4.
    fn Session_get_pset_info(session: Session, pset_name: Text, info: Out<usize>) [always] => {
        let _unused = session;
        info.set(session::set_info(&pset_name.to_string_lossy())?.into_handle()?);
        Ok(())
    }

    /// The group of a process set. MPI 5.0 §7.3.2.
    fn Group_from_session_pset(session: Session, pset_name: Text, newgroup: Out<usize>) [always] => {
        let group = session::group(session.0, &pset_name.to_string_lossy())?;
        newgroup.set(group::insert(Arc::new(group)).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// A communicator for a group, without another one. MPI 5.0 §7.4.2.
    fn Comm_create_from_group(
        group: Group, stringtag: Text, info: Hints, errhandler: CommErrhandler, newcomm: Out<usize>,
    ) [] => {
        let hints = HintsInUse::of(info.as_deref());
        newcomm.set(comm::NULL);
        let made = comm::create_from_group(&group, tag(stringtag)?, errhandler, hints)?;
        newcomm.set(from_groups(made.unwrap_or(comm::NULL), "MPI_Comm_create_from_group"));
        Ok(())
    }

    /// An intercommunicator for two groups, without another communicator. MPI 5.0 §7.6.2.
    fn Intercomm_create_from_groups(
        local_group: Group, local_leader: Rank, remote_group: Raw<usize>, remote_leader: Rank, stringtag: Text,
        info: Hints, errhandler: CommErrhandler, newintercomm: Out<usize>,
    ) [] => {
        let hints = HintsInUse::of(info.as_deref());
        // The remote group counts at the leader only.
        let remote = group::get(remote_group);
        newintercomm.set(comm::NULL);
        let made = comm::create_inter_from_groups(
            (&local_group, local_leader), (remote.as_deref(), remote_leader), tag(stringtag)?, errhandler, hints,
        )?;
        newintercomm.set(from_groups(made, "MPI_Intercomm_create_from_groups"));
        Ok(())
    }
}

/// The handle of a communicator that was made without another one.
fn from_groups(handle: usize, function: &'static str) -> usize {
    if let Some(new) = comm::borrow(handle) {
        new.set_origin(function, None);
    }
    handle
}

/// MPI_MAX_STRINGTAG_LEN, with the terminating NUL.
const MAX_STRINGTAG: usize = 1024;

fn tag(text: &'static CStr) -> Result<&'static [u8]> {
    let bytes = text.to_bytes();
    match bytes.len() < MAX_STRINGTAG {
        true => Ok(bytes),
        false => {
            let why = format!("it has {} characters, {} are allowed", bytes.len(), MAX_STRINGTAG - 1);
            Err(Fault::new(Class::Arg).argument("stringtag").because(why))
        }
    }
}
