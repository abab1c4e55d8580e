//! Error handlers. MPI 5.0 §9.3.

use super::kinds::{Callback, Comm, Errhandler, File, Out, Session, Win};
use crate::errhandler;
use crate::error::{Class, Fault};
use core::ffi::c_void;

rows! {
    /// Makes an error handler for communicators. MPI 5.0 §9.3.1.
    fn Comm_create_errhandler(comm_errhandler_fn: Callback, errhandler: Out<usize>) [] => {
        if comm_errhandler_fn.is_null() {
            return Err(Fault::new(Class::Arg).argument("comm_errhandler_fn").because("a null pointer is no function"));
        }
        // SAFETY: not null, so a function of this type by the standard.
        let function = unsafe { core::mem::transmute::<*const c_void, errhandler::CommFunction>(comm_errhandler_fn) };
        errhandler.set(errhandler::create(function).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// Sets the error handler of a communicator. MPI 5.0 §9.3.1.
    fn Comm_set_errhandler(comm: Comm, errhandler: Errhandler) [] => {
        errhandler::set(comm, errhandler)
    }

    /// The error handler of a communicator. MPI 5.0 §9.3.1.
    fn Comm_get_errhandler(comm: Comm, errhandler: Out<usize>) [] => {
        errhandler.set(errhandler::share(comm));
        Ok(())
    }

    /// Makes an error handler for windows. MPI 5.0 §9.3.2.
    fn Win_create_errhandler(win_errhandler_fn: Callback, errhandler: Out<usize>) [] => unsupported

    /// Sets the error handler of a window. MPI 5.0 §9.3.2.
    fn Win_set_errhandler(win: Win, errhandler: Errhandler) [] => unsupported

    /// The error handler of a window. MPI 5.0 §9.3.2.
    fn Win_get_errhandler(win: Win, errhandler: Out<usize>) [] => unsupported

    /// Makes an error handler for files. MPI 5.0 §9.3.3.
    fn File_create_errhandler(file_errhandler_fn: Callback, errhandler: Out<usize>) [] => unsupported

    /// Sets the error handler of a file. MPI 5.0 §9.3.3.
    fn File_set_errhandler(file: File, errhandler: Errhandler) [] => unsupported

    /// The error handler of a file. MPI 5.0 §9.3.3.
    fn File_get_errhandler(file: File, errhandler: Out<usize>) [] => unsupported

    /// Makes an error handler for sessions. MPI 5.0 §9.3.4.
    fn Session_create_errhandler(session_errhandler_fn: Callback, errhandler: Out<usize>) [always] => unsupported

    /// Sets the error handler of a session. MPI 5.0 §9.3.4.
    fn Session_set_errhandler(session: Session, errhandler: Errhandler) [always] => unsupported

    /// The error handler of a session. MPI 5.0 §9.3.4.
    fn Session_get_errhandler(session: Session, errhandler: Out<usize>) [always] => unsupported

    /// Frees an error handler; objects that use it keep it. MPI 5.0 §9.3.5.
    fn Errhandler_free(errhandler: Out<usize>) [always] => {
        errhandler::free(errhandler.get())?;
        errhandler.set(errhandler::NULL);
        Ok(())
    }
}
