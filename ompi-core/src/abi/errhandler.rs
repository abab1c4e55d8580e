//! Error handlers. MPI 5.0 §9.3.

use super::kinds::{Callback, Comm, Errhandler, NamedFile, Out, OutPtr, Session, Win};
use crate::errhandler::{self, HandlerKind};
use crate::error::{Class, Fault, Result};
use crate::file::File;
use core::ffi::c_void;
use opal_core::sync::AtomicUsize;

rows! {
    /// Makes an error handler for communicators. MPI 5.0 §9.3.1.
    fn Comm_create_errhandler(comm_errhandler_fn: Callback, errhandler: Out<usize>) [always] => {
        create(HandlerKind::Comm, comm_errhandler_fn, errhandler).map_err(|fault| fault.argument("comm_errhandler_fn"))
    }

    /// Sets the error handler of a communicator. MPI 5.0 §9.3.1.
    fn Comm_set_errhandler(comm: Comm, errhandler: Errhandler) [] => {
        errhandler::set(&comm.errhandler, HandlerKind::Comm, errhandler)
    }

    /// The error handler of a communicator. MPI 5.0 §9.3.1.
    fn Comm_get_errhandler(comm: Comm, errhandler: Out<usize>) [] => {
        errhandler.set(errhandler::share(&comm.errhandler));
        Ok(())
    }

    /// Makes an error handler for windows. MPI 5.0 §9.3.2.
    fn Win_create_errhandler(win_errhandler_fn: Callback, errhandler: Out<usize>) [always] => {
        create(HandlerKind::Win, win_errhandler_fn, errhandler).map_err(|fault| fault.argument("win_errhandler_fn"))
    }

    /// Sets the error handler of a window. MPI 5.0 §9.3.2.
    fn Win_set_errhandler(win: Win, errhandler: Errhandler) [] => {
        errhandler::set(&win.errhandler, HandlerKind::Win, errhandler)
    }

    /// The error handler of a window. MPI 5.0 §9.3.2.
    fn Win_get_errhandler(win: Win, errhandler: Out<usize>) [] => {
        errhandler.set(errhandler::share(&win.errhandler));
        Ok(())
    }

    /// Makes an error handler for files. MPI 5.0 §9.3.3.
    fn File_create_errhandler(file_errhandler_fn: Callback, errhandler: Out<usize>) [always] => {
        create(HandlerKind::File, file_errhandler_fn, errhandler).map_err(|fault| fault.argument("file_errhandler_fn"))
    }

    /// Sets the error handler of a file; at MPI_FILE_NULL that of files that are opened. MPI 5.0 §9.3.3.
    fn File_set_errhandler(file: NamedFile, errhandler: Errhandler) [] => {
        errhandler::set(of_file(file), HandlerKind::File, errhandler)
    }

    /// The error handler of a file. MPI 5.0 §9.3.3.
    fn File_get_errhandler(file: NamedFile, errhandler: Out<usize>) [] => {
        errhandler.set(errhandler::share(of_file(file)));
        Ok(())
    }

    /// Makes an error handler for sessions. MPI 5.0 §9.3.4.
    fn Session_create_errhandler(session_errhandler_fn: Callback, errhandler: Out<usize>) [always] => {
        create(HandlerKind::Session, session_errhandler_fn, errhandler).map_err(|fault| fault.argument("session_errhandler_fn"))
    }

    /// Sets the error handler of a session. MPI 5.0 §9.3.4.
    fn Session_set_errhandler(session: Session, errhandler: Errhandler) [always] => {
        errhandler::set(&session.1.errhandler, HandlerKind::Session, errhandler)
    }

    /// The error handler of a session. MPI 5.0 §9.3.4.
    fn Session_get_errhandler(session: Session, errhandler: Out<usize>) [always] => {
        errhandler.set(errhandler::share(&session.1.errhandler));
        Ok(())
    }

    /// Frees an error handler; objects that use it keep it. MPI 5.0 §9.3.5.
    fn Errhandler_free(errhandler: Out<usize>) [always] => {
        errhandler::free(errhandler.get())?;
        errhandler.set(errhandler::NULL);
        Ok(())
    }
}

fn create(kind: HandlerKind, function: *const c_void, place: OutPtr<usize>) -> Result<()> {
    if function.is_null() {
        return Err(Fault::new(Class::Arg).because("a null pointer is not a function"));
    }
    // SAFETY: not null, so a function of this type by the standard.
    let function = unsafe { core::mem::transmute::<*const c_void, errhandler::HandlerFn>(function) };
    place.set(errhandler::create(kind, function).ok_or(Class::NoMem)?);
    Ok(())
}

/// Where a file keeps its handler; MPI_FILE_NULL has that of files that are opened.
fn of_file(file: Option<&'static File>) -> &'static AtomicUsize {
    file.map_or(&errhandler::DEFAULT_FILE, |file| &file.errhandler)
}
