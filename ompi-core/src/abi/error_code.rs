//! Error codes, classes and texts, and calling handlers. MPI 5.0 §9.3.5, §9.4 and §9.5.

use super::kinds::{Comm, File, Out, Raw, Session, Text, Win};
use core::ffi::{c_char, c_int};

rows! {
    /// The text of an error code. MPI 5.0 §9.3.5.
    fn Error_string(errorcode: Raw<c_int>, string: Out<c_char>, resultlen: Out<c_int>) [always] => unsupported

    /// The class of an error code. MPI 5.0 §9.4.
    fn Error_class(errorcode: Raw<c_int>, errorclass: Out<c_int>) [always] => unsupported

    /// Adds a class of the user's. MPI 5.0 §9.5.
    fn Add_error_class(errorclass: Out<c_int>) [always] => unsupported

    /// Removes a class of the user's. MPI 5.0 §9.5.
    fn Remove_error_class(errorclass: Raw<c_int>) [always] => unsupported

    /// Adds a code to a class. MPI 5.0 §9.5.
    fn Add_error_code(errorclass: Raw<c_int>, errorcode: Out<c_int>) [always] => unsupported

    /// Removes a code of the user's. MPI 5.0 §9.5.
    fn Remove_error_code(errorcode: Raw<c_int>) [always] => unsupported

    /// Sets the text of a class or code of the user's. MPI 5.0 §9.5.
    fn Add_error_string(errorcode: Raw<c_int>, string: Text) [always] => unsupported

    /// Removes the text of a class or code of the user's. MPI 5.0 §9.5.
    fn Remove_error_string(errorcode: Raw<c_int>) [always] => unsupported

    /// Calls the error handler of a communicator. MPI 5.0 §9.5.
    fn Comm_call_errhandler(comm: Comm, errorcode: Raw<c_int>) [] => unsupported

    /// Calls the error handler of a window. MPI 5.0 §9.5.
    fn Win_call_errhandler(win: Win, errorcode: Raw<c_int>) [] => unsupported

    /// Calls the error handler of a file. MPI 5.0 §9.5.
    fn File_call_errhandler(fh: File, errorcode: Raw<c_int>) [] => unsupported

    /// Calls the error handler of a session. MPI 5.0 §9.5.
    fn Session_call_errhandler(session: Session, errorcode: Raw<c_int>) [always] => unsupported
}
