//! Starting processes and connecting to others. MPI 5.0 §11.8 to §11.10.

use super::kinds::{Array, Comm, CommPlace, Hints, Out, Rank, Raw, Text};
use crate::comm;
use crate::error::{Class, Fault};
use core::ffi::{c_char, c_int};

rows! {
    /// Starts processes of one program. MPI 5.0 §11.8.2.
    fn Comm_spawn(
        command: Text, argv: Raw<*mut *mut c_char>, maxprocs: Raw<c_int>, info: Hints, root: Rank, comm: Comm,
        intercomm: Out<usize>, array_of_errcodes: Out<c_int>,
    ) [] => unsupported

    /// The intercommunicator to those who started this process. MPI 5.0 §11.8.2.
    fn Comm_get_parent(parent: Out<usize>) [] => {
        // No process can start others yet, so none was started by one.
        parent.set(comm::NULL);
        Ok(())
    }

    /// Starts processes of several programs. MPI 5.0 §11.8.3.
    fn Comm_spawn_multiple(
        count: Raw<c_int>, array_of_commands: Raw<*mut *mut c_char>, array_of_argv: Raw<*mut *mut *mut c_char>,
        array_of_maxprocs: Array<c_int>, array_of_info: Array<usize>, root: Rank, comm: Comm, intercomm: Out<usize>,
        array_of_errcodes: Out<c_int>,
    ) [] => unsupported

    /// Makes an address at which others can connect. MPI 5.0 §11.9.2.
    fn Open_port(info: Hints, port_name: Out<c_char>) [] => unsupported

    /// Gives the address back. MPI 5.0 §11.9.2.
    fn Close_port(port_name: Text) [] => unsupported

    /// Waits for a connection. MPI 5.0 §11.9.2.
    fn Comm_accept(port_name: Text, info: Hints, root: Rank, comm: Comm, newcomm: Out<usize>) [] => unsupported

    /// Connects to a port. MPI 5.0 §11.9.3.
    fn Comm_connect(port_name: Text, info: Hints, root: Rank, comm: Comm, newcomm: Out<usize>) [] => unsupported

    /// Publishes a port under a name. MPI 5.0 §11.9.4.
    fn Publish_name(service_name: Text, info: Hints, port_name: Text) [] => unsupported

    /// Withdraws a name. MPI 5.0 §11.9.4.
    fn Unpublish_name(service_name: Text, info: Hints, port_name: Text) [] => unsupported

    /// Finds the port of a name. MPI 5.0 §11.9.4.
    fn Lookup_name(service_name: Text, info: Hints, port_name: Out<c_char>) [] => unsupported

    /// Completes all communication and frees a communicator. MPI 5.0 §11.10.4.
    fn Comm_disconnect(comm: CommPlace) [] => {
        match comm.get() {
            comm::WORLD_HANDLE | comm::SELF_HANDLE => {
                let why = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be disconnected";
                return Err(Fault::new(Class::Comm).argument("comm").because(why));
            }
            handle => comm::disconnect(handle)?,
        }
        comm.set(comm::NULL);
        Ok(())
    }

    /// Makes an intercommunicator over a socket. MPI 5.0 §11.10.5.
    fn Comm_join(fd: Raw<c_int>, intercomm: Out<usize>) [] => unsupported
}
