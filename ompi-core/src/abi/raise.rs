//! Where a fault becomes an error code: the handler of the object that the call concerns decides what happens.

use crate::errhandler::{self, Errhandler};
use crate::error::{Class, Fault};
use crate::{comm, init};
use alloc::format;
use alloc::string::String;
use core::ffi::c_int;

/// The object whose error handler is in force, as an argument names it (MPI 5.0 §9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This argument names none.
    None,
    /// A communicator's handle, perhaps not a valid one.
    Comm(usize),
}

/// Calls the handler in force and returns the code for the caller. Without a valid object it is MPI_COMM_SELF's
/// (MPI 5.0 §9.3), before MPI is initialised and after it is finalised the initial one.
#[cold]
#[inline(never)]
pub fn raise(function: &'static str, scopes: &[Scope], fault: Fault) -> c_int {
    let named = scopes.iter().find_map(|scope| match scope {
        Scope::Comm(handle) => comm::borrow(*handle).map(|comm| (*handle, comm)),
        Scope::None => None,
    });
    let named = named.or_else(|| fault.context().and_then(comm::of_context));
    if !init::is_active() {
        return match init::initial_errhandler() {
            Errhandler::Return => fault.get(),
            _ => fatal(function, None, &fault),
        };
    }
    let (handle, comm) = named.unwrap_or_else(|| (comm::SELF_HANDLE, comm::itself()));
    match errhandler::of_comm(comm) {
        // The text does not speak of a communicator that the program did not name.
        Errhandler::Fatal | Errhandler::Abort if named.is_none() => fatal(function, None, &fault),
        _ => call(handle, comm, function, &fault),
    }
    fault.get()
}

/// Does what the error handler of a communicator says; returns if it does. No lock is held here.
#[cold]
pub fn call(handle: usize, comm: &comm::Communicator, function: &'static str, fault: &Fault) {
    match errhandler::of_comm(comm) {
        Errhandler::Return => {}
        Errhandler::Fatal | Errhandler::Abort => fatal(function, Some(comm), fault),
        Errhandler::User(call) => {
            let (mut handle, mut code) = (handle, fault.get());
            // SAFETY: the function that the user registered for communicators, called as MPI 5.0 §9.3.1 says.
            unsafe { call(&mut handle, &mut code) };
        }
    }
}

/// For MPI_T functions: the code and nothing else (MPI 5.0 §15.3.10).
#[cold]
#[inline(never)]
pub fn raise_tool(_function: &'static str, _scopes: &[Scope], fault: Fault) -> c_int {
    const NOT_SUPPORTED: c_int = 1004;
    match fault.get() {
        code if code == Class::UnsupportedOperation as i32 => NOT_SUPPORTED,
        code => code,
    }
}

fn fatal(function: &str, comm: Option<&comm::Communicator>, fault: &Fault) -> ! {
    init::abort(fault.get(), &describe(function, comm, fault))
}

/// The readable block: what failed, why, and what happens now.
fn describe(function: &str, comm: Option<&comm::Communicator>, fault: &Fault) -> String {
    let on = comm.map(|comm| format!(" on {}", comm.name())).unwrap_or_default();
    let class = errhandler::error_string(fault.get());
    let mut text = format!("{function}{on} failed: {class}");
    match (fault.of_argument(), fault.reason()) {
        ("", "") => {}
        ("", reason) => text += &format!("\n  {reason}"),
        (argument, "") => text += &format!("\n  argument {argument}"),
        (argument, reason) => text += &format!("\n  argument {argument}: {reason}"),
    }
    if fault.get() == Class::UnsupportedOperation as i32 && fault.reason().is_empty() {
        text += "\n  this version of ompi-rs does not offer it yet";
    }
    text + "\n  The error handler in force ends the job; MPI_Comm_set_errhandler with MPI_ERRORS_RETURN would return the error instead."
}
