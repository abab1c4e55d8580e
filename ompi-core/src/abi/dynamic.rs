//! Starting processes and connecting to others. MPI 5.0 §11.8 to §11.10.

use super::kinds::{Array, Comm, CommPlace, Hints, Out, Rank, Raw, Text, array, give_text, intra, root};
use super::tell::tell_if_heard;
use crate::comm::{self, Communicator};
use crate::dynamic::{self, Program};
use crate::error::{Class, Fault, Result};
use crate::info::{self, Info};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};

rows! {
    /// Starts processes of one program. MPI 5.0 §11.8.2.
    fn Comm_spawn(
        command: Raw<*const c_char>, argv: Raw<*mut *mut c_char>, maxprocs: Raw<c_int>, info: Raw<usize>, root: Rank, comm: Comm,
        intercomm: Out<usize>, array_of_errcodes: Raw<*mut c_int>,
    ) [] => {
        intercomm.set(comm::NULL);
        let root = intra_root(root, comm)?;
        let (made, codes) = dynamic::spawn(comm, root, || {
            Ok(Vec::from([program(command, argv, maxprocs, hints(info)?)?]))
        });
        give_codes(&codes, array_of_errcodes);
        intercomm.set(super::comm::made(made?, "MPI_Comm_spawn", comm));
        Ok(())
    }

    /// The intercommunicator to those who started this process. MPI 5.0 §11.8.2.
    fn Comm_get_parent(parent: Out<usize>) [] => {
        parent.set(dynamic::parent());
        Ok(())
    }

    /// Starts processes of several programs. MPI 5.0 §11.8.3.
    fn Comm_spawn_multiple(
        count: Raw<c_int>, array_of_commands: Raw<*mut *mut c_char>, array_of_argv: Raw<*mut *mut *mut c_char>,
        array_of_maxprocs: Array<c_int>, array_of_info: Array<usize>, root: Rank, comm: Comm, intercomm: Out<usize>,
        array_of_errcodes: Raw<*mut c_int>,
    ) [] => {
        intercomm.set(comm::NULL);
        let root = intra_root(root, comm)?;
        let (made, codes) = dynamic::spawn(comm, root, || {
            let count = usize::try_from(count).ok().filter(|count| *count > 0);
            let count = count.ok_or_else(|| Fault::new(Class::Arg).argument("count").because("it is not positive"))?;
            // SAFETY: these arrays have so many elements by the standard.
            let commands = unsafe { array(array_of_commands.cast_const(), count, "array_of_commands") }?;
            // SAFETY: as above.
            let maxprocs = unsafe { array(array_of_maxprocs, count, "array_of_maxprocs") }?;
            // SAFETY: as above.
            let infos = unsafe { array(array_of_info, count, "array_of_info") }?;
            // A null pointer is MPI_ARGVS_NULL.
            let length = if array_of_argv.is_null() { 0 } else { count };
            // SAFETY: as above.
            let argvs = unsafe { array(array_of_argv.cast_const(), length, "array_of_argv") }?;
            let argv = |index: usize| argvs.get(index).copied().unwrap_or(core::ptr::null_mut());
            let one = |index: usize| program(commands[index], argv(index), maxprocs[index], hints(infos[index])?);
            (0..count).map(one).collect()
        });
        give_codes(&codes, array_of_errcodes);
        intercomm.set(super::comm::made(made?, "MPI_Comm_spawn_multiple", comm));
        Ok(())
    }

    /// Makes an address at which others can connect. MPI 5.0 §11.9.2.
    fn Open_port(info: Hints, port_name: Out<c_char>) [] => {
        let _ = info;
        let port = dynamic::open_port()?;
        // SAFETY: the place has room for MPI_MAX_PORT_NAME characters by the standard.
        unsafe { give_text(&port, port_name, MAX_PORT_NAME, None) };
        Ok(())
    }

    /// Gives the address back. MPI 5.0 §11.9.2.
    fn Close_port(port_name: Text) [] => {
        dynamic::close_port(&port_name.to_string_lossy())
    }

    /// Waits for a connection. MPI 5.0 §11.9.2.
    fn Comm_accept(port_name: Raw<*const c_char>, info: Raw<usize>, root: Rank, comm: Comm, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        let root = intra_root(root, comm)?;
        let made = dynamic::accept(comm, root, || Ok(port(port_name, info)?.0))?;
        newcomm.set(super::comm::made(made, "MPI_Comm_accept", comm));
        Ok(())
    }

    /// Connects to a port. MPI 5.0 §11.9.3.
    fn Comm_connect(port_name: Raw<*const c_char>, info: Raw<usize>, root: Rank, comm: Comm, newcomm: Out<usize>) [] => {
        newcomm.set(comm::NULL);
        let root = intra_root(root, comm)?;
        let made = dynamic::connect(comm, root, || port(port_name, info))?;
        newcomm.set(super::comm::made(made, "MPI_Comm_connect", comm));
        Ok(())
    }

    /// Publishes a port under a name. MPI 5.0 §11.9.4.
    fn Publish_name(service_name: Text, info: Hints, port_name: Text) [] => {
        let _ = info;
        let port = port_name.to_string_lossy();
        if port.len() >= MAX_PORT_NAME {
            let why = format!(
                "it has {} characters, and MPI_Lookup_name gives {} at most (MPI_MAX_PORT_NAME); MPI_Open_port gives one",
                port.len(),
                MAX_PORT_NAME - 1
            );
            return Err(Fault::new(Class::Port).argument("port_name").because(why));
        }
        dynamic::publish(&service_name.to_string_lossy(), &port)
    }

    /// Withdraws a name. MPI 5.0 §11.9.4.
    fn Unpublish_name(service_name: Text, info: Hints, port_name: Text) [] => {
        let _ = (info, port_name);
        dynamic::unpublish(&service_name.to_string_lossy())
    }

    /// Finds the port of a name. MPI 5.0 §11.9.4.
    fn Lookup_name(service_name: Text, info: Hints, port_name: Out<c_char>) [] => {
        let _ = info;
        let port = dynamic::lookup(&service_name.to_string_lossy())?;
        // SAFETY: the place has room for MPI_MAX_PORT_NAME characters by the standard.
        unsafe { give_text(&port, port_name, MAX_PORT_NAME, None) };
        Ok(())
    }

    /// Completes all communication and frees a communicator. MPI 5.0 §11.10.4.
    fn Comm_disconnect(comm: CommPlace) [] => {
        match comm.get() {
            comm::WORLD_HANDLE | comm::SELF_HANDLE => {
                let why = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be disconnected";
                return Err(Fault::new(Class::Comm).argument("comm").because(why));
            }
            handle => {
                tell_if_heard();
                comm::disconnect(handle)?;
            }
        }
        comm.set(comm::NULL);
        Ok(())
    }

    /// Makes an intercommunicator over a socket. MPI 5.0 §11.10.5.
    fn Comm_join(fd: Raw<c_int>, intercomm: Out<usize>) [] => {
        intercomm.set(comm::NULL);
        let itself = comm::borrow(comm::SELF_HANDLE)
            .ok_or_else(|| Fault::new(Class::Comm).because("it joins as MPI_COMM_SELF, which MPI_Init makes; a session has none"))?;
        intercomm.set(super::comm::made(dynamic::join(fd)?, "MPI_Comm_join", itself));
        Ok(())
    }
}

fn intra_root(rank: i32, comm: &Communicator) -> Result<usize> {
    intra(comm)?;
    root(rank, comm)
}

/// The port and for how many seconds it is tried, which count at the root only.
fn port(text: *const c_char, info: usize) -> Result<(String, Option<u64>)> {
    let seconds = hints(info)?.and_then(|info| info.get("timeout")).map(|value| seconds(&value)).transpose()?;
    if text.is_null() {
        let why = "a null pointer stands where a text is needed";
        return Err(Fault::new(Class::Arg).argument("port_name").because(why));
    }
    // SAFETY: not null; a NUL ends it by the contract of a C string.
    Ok((unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(), seconds))
}

/// The key `timeout`.
fn seconds(value: &str) -> Result<u64> {
    value.trim().parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| {
        let why = format!("the key timeout is `{value}`; it must be a positive number of seconds");
        Fault::new(Class::InfoValue).argument("info").because(why)
    })
}

/// Hints that count at the root only.
fn hints(handle: usize) -> Result<Option<Arc<Info>>> {
    match handle {
        info::NULL => Ok(None),
        _ => {
            let why = "it is not a valid info object; it was freed or never created";
            info::get(handle).map(Some).ok_or_else(|| Fault::new(Class::Info).argument("info").because(why))
        }
    }
}

/// A program of the caller's; a null pointer for the arguments is MPI_ARGV_NULL.
fn program(
    command: *const c_char,
    argv: *mut *mut c_char,
    maxprocs: c_int,
    info: Option<Arc<Info>>,
) -> Result<Program> {
    if command.is_null() {
        return Err(Fault::new(Class::Arg).argument("command").because("a null pointer stands where a text is needed"));
    }
    // SAFETY: not null; a NUL ends a C string.
    let text = |at: *const c_char| unsafe { CStr::from_ptr(at) }.to_bytes().to_vec();
    let mut arguments = Vec::new();
    let mut next = argv;
    while !next.is_null() {
        // SAFETY: a null pointer ends the array by the standard.
        let word = unsafe { next.read() };
        if word.is_null() {
            break;
        }
        arguments.push(text(word));
        next = next.wrapping_add(1);
    }
    Ok(Program { command: text(command), arguments, maxprocs, info })
}

/// The error code of each process that was asked for; a null pointer is MPI_ERRCODES_IGNORE.
fn give_codes(codes: &[i32], place: *mut c_int) {
    if !place.is_null() {
        // SAFETY: an array with an element for each process that the root asked for, by the standard.
        unsafe { core::ptr::copy_nonoverlapping(codes.as_ptr(), place, codes.len()) };
    }
}

/// MPI_MAX_PORT_NAME, with the terminating NUL.
const MAX_PORT_NAME: usize = 1024;
