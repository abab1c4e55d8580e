//! The procedures that give the attached buffer back: only mpi_f08 learns its address. MPI 5.0 §3.6.

use crate::arguments::{Buffer, Ierror, In, Int, Out};

unsafe extern "C" {
    safe fn PMPI_Buffer_detach(buffer: *mut usize, size: *mut Int) -> Int;
    safe fn PMPI_Comm_detach_buffer(comm: usize, buffer: *mut usize, size: *mut Int) -> Int;
    safe fn PMPI_Session_detach_buffer(session: usize, buffer: *mut usize, size: *mut Int) -> Int;
    safe fn PMPI_Buffer_detach_c(buffer: *mut usize, size: *mut i64) -> Int;
    safe fn PMPI_Comm_detach_buffer_c(comm: usize, buffer: *mut usize, size: *mut i64) -> Int;
    safe fn PMPI_Session_detach_buffer_c(session: usize, buffer: *mut usize, size: *mut i64) -> Int;
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_buffer_detach_(_buffer: Buffer, size: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Buffer_detach(&mut 0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_comm_detach_buffer_(comm: In<Int>, _buffer: Buffer, size: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Comm_detach_buffer(comm.handle(), &mut 0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_session_detach_buffer_(session: In<Int>, _buffer: Buffer, size: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Session_detach_buffer(session.handle(), &mut 0, size));
}

plain_names! { buffer_detach comm_detach_buffer session_detach_buffer }

#[unsafe(no_mangle)]
extern "C" fn pmpi_buffer_detach_f08_(buffer: Out<usize>, size: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Buffer_detach(buffer.0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_comm_detach_buffer_f08_(comm: In<Int>, buffer: Out<usize>, size: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Comm_detach_buffer(comm.handle(), buffer.0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_session_detach_buffer_f08_(session: In<Int>, buffer: Out<usize>, size: *mut Int, ierror: Ierror) {
    ierror.set(PMPI_Session_detach_buffer(session.handle(), buffer.0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_buffer_detach_c_f08_(buffer: Out<usize>, size: *mut i64, ierror: Ierror) {
    ierror.set(PMPI_Buffer_detach_c(buffer.0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_comm_detach_buffer_c_f08_(comm: In<Int>, buffer: Out<usize>, size: *mut i64, ierror: Ierror) {
    ierror.set(PMPI_Comm_detach_buffer_c(comm.handle(), buffer.0, size));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_session_detach_buffer_c_f08_(session: In<Int>, buffer: Out<usize>, size: *mut i64, ierror: Ierror) {
    ierror.set(PMPI_Session_detach_buffer_c(session.handle(), buffer.0, size));
}

alias! { "mpi_buffer_detach_f08_", "pmpi_buffer_detach_f08_" }
alias! { "mpi_comm_detach_buffer_f08_", "pmpi_comm_detach_buffer_f08_" }
alias! { "mpi_session_detach_buffer_f08_", "pmpi_session_detach_buffer_f08_" }
alias! { "mpi_buffer_detach_c_f08_", "pmpi_buffer_detach_c_f08_" }
alias! { "mpi_comm_detach_buffer_c_f08_", "pmpi_comm_detach_buffer_c_f08_" }
alias! { "mpi_session_detach_buffer_c_f08_", "pmpi_session_detach_buffer_c_f08_" }

routines! {
    pmpi_buffer_detach_ = "MPI_Buffer_detach(buffer_addr, size, ierror)"
    pmpi_comm_detach_buffer_ = "MPI_Comm_detach_buffer(comm, buffer_addr, size, ierror)"
    pmpi_session_detach_buffer_ = "MPI_Session_detach_buffer(session, buffer_addr, size, ierror)"
    pmpi_buffer_detach_f08_ = "MPI_Buffer_detach(buffer_addr, size, ierror) of mpi_f08"
    pmpi_comm_detach_buffer_f08_ = "MPI_Comm_detach_buffer(comm, buffer_addr, size, ierror) of mpi_f08"
    pmpi_session_detach_buffer_f08_ = "MPI_Session_detach_buffer(session, buffer_addr, size, ierror) of mpi_f08"
    pmpi_buffer_detach_c_f08_ = "MPI_Buffer_detach(buffer_addr, size, ierror) of mpi_f08"
    pmpi_comm_detach_buffer_c_f08_ = "MPI_Comm_detach_buffer(comm, buffer_addr, size, ierror) of mpi_f08"
    pmpi_session_detach_buffer_c_f08_ = "MPI_Session_detach_buffer(session, buffer_addr, size, ierror) of mpi_f08"
}
