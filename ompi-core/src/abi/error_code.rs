//! Error codes, classes and texts, and calling handlers. MPI 5.0 §9.3.5, §9.4 and §9.5.

use super::Scope;
use super::kinds::{CommHandle, FileOrNull, Out, Raw, Session, Text, WinHandle, give_text};
use super::raise::call_handler;
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::string::String;
use core::ffi::{c_char, c_int};

rows! {
    /// The text of an error code. After a call that started processes, connected to others or asked for a name, and that returned this
    /// code, it says why the last one failed. MPI 5.0 §9.3.5.
    fn Error_string(errorcode: Raw<c_int>, string: Out<c_char>, resultlen: Out<c_int>) [always] => {
        errhandler::class_of(errorcode).ok_or_else(|| unknown(errorcode))?;
        // SAFETY: the standard asks for room of MPI_MAX_ERROR_STRING characters.
        unsafe { give_text(&cut(errhandler::explained_string(errorcode)), string, MAX_ERROR_STRING, Some(resultlen)) };
        Ok(())
    }

    /// The class of an error code. MPI 5.0 §9.4.
    fn Error_class(errorcode: Raw<c_int>, errorclass: Out<c_int>) [always] => {
        errorclass.set(errhandler::class_of(errorcode).ok_or_else(|| unknown(errorcode))?);
        Ok(())
    }

    /// Adds a class of the user's. MPI 5.0 §9.5.
    fn Add_error_class(errorclass: Out<c_int>) [always] => {
        errorclass.set(errhandler::add_class());
        Ok(())
    }

    /// Removes a class of the user's. MPI 5.0 §9.5.
    fn Remove_error_class(errorclass: Raw<c_int>) [always] => {
        errhandler::remove_class(errorclass)
    }

    /// Adds a code to a class. MPI 5.0 §9.5.
    fn Add_error_code(errorclass: Raw<c_int>, errorcode: Out<c_int>) [always] => {
        errorcode.set(errhandler::add_code(errorclass)?);
        Ok(())
    }

    /// Removes a code of the user's. MPI 5.0 §9.5.
    fn Remove_error_code(errorcode: Raw<c_int>) [always] => {
        errhandler::remove_code(errorcode)
    }

    /// Sets the text of a class or code of the user's. MPI 5.0 §9.5.
    fn Add_error_string(errorcode: Raw<c_int>, string: Text) [always] => {
        let text = string.to_string_lossy().into_owned();
        if text.len() >= MAX_ERROR_STRING {
            let why = format!("it has {} characters, {} are allowed", text.len(), MAX_ERROR_STRING - 1);
            return Err(Fault::new(Class::Arg).argument("string").because(why));
        }
        errhandler::set_text(errorcode, Some(text))
    }

    /// Removes the text of a class or code of the user's. MPI 5.0 §9.5.
    fn Remove_error_string(errorcode: Raw<c_int>) [always] => {
        errhandler::set_text(errorcode, None)
    }

    /// Calls the error handler of a communicator. MPI 5.0 §9.5.
    fn Comm_call_errhandler(comm: CommHandle, errorcode: Raw<c_int>) [] => {
        call_handler(Scope::Comm(comm.0), "MPI_Comm_call_errhandler", &known(errorcode)?);
        Ok(())
    }

    /// Calls the error handler of a window. MPI 5.0 §9.5.
    fn Win_call_errhandler(win: WinHandle, errorcode: Raw<c_int>) [] => {
        call_handler(Scope::Win(win.0), "MPI_Win_call_errhandler", &known(errorcode)?);
        Ok(())
    }

    /// Calls the error handler of a file. MPI 5.0 §9.5.
    fn File_call_errhandler(fh: FileOrNull, errorcode: Raw<c_int>) [] => {
        call_handler(Scope::File(fh), "MPI_File_call_errhandler", &known(errorcode)?);
        Ok(())
    }

    /// Calls the error handler of a session. MPI 5.0 §9.5.
    fn Session_call_errhandler(session: Session, errorcode: Raw<c_int>) [always] => {
        call_handler(Scope::Session(session.0), "MPI_Session_call_errhandler", &known(errorcode)?);
        Ok(())
    }
}

/// As much of a text as there is room for.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_ERROR_STRING - 1));
    text
}

/// MPI_MAX_ERROR_STRING.
const MAX_ERROR_STRING: usize = 512;

fn unknown(code: c_int) -> Fault {
    Fault::new(Class::Arg).argument("errorcode").because(format!("{code} is not an error code"))
}

/// A fault with a code that the user raises.
fn known(code: c_int) -> Result<Fault> {
    errhandler::class_of(code).map(|_| Fault::code(code)).ok_or_else(|| unknown(code))
}
