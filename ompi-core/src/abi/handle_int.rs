//! Handles as integers, for Fortran and other languages; the numbers are the same. MPI 5.0 §20.

use core::ffi::c_int;

rows! {
    /// The number of a communicator. MPI 5.0 §20.4.
    fn Comm_toint(comm: usize) -> c_int => {
        comm as c_int
    }

    /// The communicator of a number. MPI 5.0 §20.4.
    fn Comm_fromint(comm: c_int) -> usize => {
        comm as usize
    }

    /// The number of an error handler. MPI 5.0 §20.4.
    fn Errhandler_toint(errhandler: usize) -> c_int => {
        errhandler as c_int
    }

    /// The error handler of a number. MPI 5.0 §20.4.
    fn Errhandler_fromint(errhandler: c_int) -> usize => {
        errhandler as usize
    }

    /// The number of a file. MPI 5.0 §20.4.
    fn File_toint(file: usize) -> c_int => {
        file as c_int
    }

    /// The file of a number. MPI 5.0 §20.4.
    fn File_fromint(file: c_int) -> usize => {
        file as usize
    }

    /// The number of a group. MPI 5.0 §20.4.
    fn Group_toint(group: usize) -> c_int => {
        group as c_int
    }

    /// The group of a number. MPI 5.0 §20.4.
    fn Group_fromint(group: c_int) -> usize => {
        group as usize
    }

    /// The number of an info object. MPI 5.0 §20.4.
    fn Info_toint(info: usize) -> c_int => {
        info as c_int
    }

    /// The info object of a number. MPI 5.0 §20.4.
    fn Info_fromint(info: c_int) -> usize => {
        info as usize
    }

    /// The number of a message. MPI 5.0 §20.4.
    fn Message_toint(message: usize) -> c_int => {
        message as c_int
    }

    /// The message of a number. MPI 5.0 §20.4.
    fn Message_fromint(message: c_int) -> usize => {
        message as usize
    }

    /// The number of an operation. MPI 5.0 §20.4.
    fn Op_toint(op: usize) -> c_int => {
        op as c_int
    }

    /// The operation of a number. MPI 5.0 §20.4.
    fn Op_fromint(op: c_int) -> usize => {
        op as usize
    }

    /// The number of a request. MPI 5.0 §20.4.
    fn Request_toint(request: usize) -> c_int => {
        request as c_int
    }

    /// The request of a number. MPI 5.0 §20.4.
    fn Request_fromint(request: c_int) -> usize => {
        request as usize
    }

    /// The number of a session. MPI 5.0 §20.4.
    fn Session_toint(session: usize) -> c_int => {
        session as c_int
    }

    /// The session of a number. MPI 5.0 §20.4.
    fn Session_fromint(session: c_int) -> usize => {
        session as usize
    }

    /// The number of a datatype. MPI 5.0 §20.4.
    fn Type_toint(datatype: usize) -> c_int => {
        datatype as c_int
    }

    /// The datatype of a number. MPI 5.0 §20.4.
    fn Type_fromint(datatype: c_int) -> usize => {
        datatype as usize
    }

    /// The number of a window. MPI 5.0 §20.4.
    fn Win_toint(win: usize) -> c_int => {
        win as c_int
    }

    /// The window of a number. MPI 5.0 §20.4.
    fn Win_fromint(win: c_int) -> usize => {
        win as usize
    }
}
