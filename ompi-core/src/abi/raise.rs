//! Where a fault becomes an error code: the handler of the object that the call concerns decides what happens.

use super::fortran;
use crate::errhandler::{self, Errhandler};
use crate::error::{Class, Fault};
use crate::parameters::COMPAT_MPI3;
use crate::{comm, file, init, process, session, win};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_int;
use orte_core::framework::ess;

/// The object whose error handler is in force, as an argument names it (MPI 5.0 §9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This argument names none.
    None,
    /// A communicator's handle, perhaps not a valid one.
    Comm(usize),
    /// A session's handle, perhaps not a valid one.
    Session(usize),
    /// A window's handle, perhaps not a valid one.
    Win(usize),
    /// A file's handle, perhaps not a valid one, or MPI_FILE_NULL.
    File(usize),
    /// The handler itself, of an object that the call makes: for this kind of object.
    Handler(usize, errhandler::HandlerKind),
}

/// What an error is reported on.
struct Object {
    handler: Errhandler,
    // What a handler of the user's gets.
    handle: usize,
    // For the text: the object that the program named.
    name: String,
    // For the text: whose handler it is.
    whose: String,
    // For the text: what would have errors returned.
    remedy: &'static str,
    // MPI_ERRORS_ABORT ends its processes.
    group: GroupOf,
}

/// Where the processes of an object stand; its handle says of which one.
enum GroupOf {
    Comm,
    Win,
    File,
    /// It has none but this process.
    Alone,
}

impl Object {
    fn of_comm(handle: usize, comm: &comm::Communicator) -> Object {
        let whose = comm.described();
        Object {
            handler: errhandler::of(&comm.errhandler),
            handle,
            name: format!(" on {whose}"),
            whose,
            remedy: "MPI_Comm_set_errhandler with MPI_ERRORS_RETURN",
            group: GroupOf::Comm,
        }
    }

    fn named(scope: &Scope) -> Option<Object> {
        match *scope {
            Scope::None => None,
            Scope::Comm(handle) => comm::borrow(handle).map(|comm| Object::of_comm(handle, comm)),
            Scope::Session(handle) => {
                let handler = errhandler::of(&session::get(handle)?.errhandler);
                Some(Object {
                    handler,
                    handle,
                    name: String::from(" on a session"),
                    whose: String::from("the session"),
                    remedy: "MPI_Session_set_errhandler with MPI_ERRORS_RETURN",
                    group: GroupOf::Alone,
                })
            }
            Scope::Win(handle) => {
                let window = win::borrow(handle)?;
                let whose = window.described();
                Some(Object {
                    handler: errhandler::of(&window.errhandler),
                    handle,
                    name: format!(" on {whose}"),
                    whose,
                    remedy: "MPI_Win_set_errhandler with MPI_ERRORS_RETURN",
                    group: GroupOf::Win,
                })
            }
            Scope::File(handle) => {
                if let Some(file) = file::borrow(handle) {
                    let whose = format!("file {}", file.path.to_string_lossy());
                    return Some(Object {
                        handler: errhandler::of(&file.errhandler),
                        handle,
                        name: format!(" on {whose}"),
                        whose,
                        remedy: "MPI_File_set_errhandler with MPI_ERRORS_RETURN",
                        group: GroupOf::File,
                    });
                }
                let handler = (handle == errhandler::FILE_NULL).then(|| errhandler::of(&errhandler::DEFAULT_FILE))?;
                Some(Object {
                    handler,
                    handle,
                    name: String::from(" on MPI_FILE_NULL"),
                    whose: String::from("MPI_FILE_NULL"),
                    remedy: "MPI_File_set_errhandler on MPI_FILE_NULL with MPI_ERRORS_RETURN",
                    group: GroupOf::Alone,
                })
            }
            Scope::Handler(handler, kind) => {
                let handle = if kind == errhandler::HandlerKind::Session { session::NULL } else { comm::NULL };
                errhandler::check(handler, kind).ok()?;
                let (handler, name, whose) = (errhandler::get(handler)?, String::new(), "argument errhandler".into());
                Some(Object { handler, handle, name, whose, remedy: "MPI_ERRORS_RETURN there", group: GroupOf::Alone })
            }
        }
    }

    /// Without a valid object it is MPI_COMM_SELF's handler (MPI 5.0 §9.3), outside the world model the initial one. The
    /// text does not say that something failed on a communicator that the program did not name.
    fn default() -> Object {
        let handle = if COMPAT_MPI3.flag() { comm::WORLD_HANDLE } else { comm::SELF_HANDLE };
        let own = init::is_world_active().then(|| comm::borrow(handle)).flatten();
        match own.map(|comm| Object::of_comm(handle, comm)) {
            Some(object) => Object { name: String::new(), ..object },
            None => {
                let handler = errhandler::get(init::initial_errhandler()).unwrap_or(Errhandler::Fatal);
                let remedy = "the parameter mpi_initial_errhandler with mpi_errors_return";
                let (name, whose) = (String::new(), String::new());
                Object { handler, handle: comm::NULL, name, whose, remedy, group: GroupOf::Alone }
            }
        }
    }
}

impl Object {
    /// The processes that MPI_ERRORS_ABORT ends (MPI 5.0 §9.3); none if MPI is not active.
    fn members(&self) -> Vec<u32> {
        let members = match self.group {
            GroupOf::Comm => comm::borrow(self.handle).map(|comm| {
                let remote = comm.remote.iter().flat_map(|remote| remote.members().iter());
                comm.group.members().iter().chain(remote).collect()
            }),
            GroupOf::Win => win::borrow(self.handle).map(|window| window.group.members().to_vec()),
            GroupOf::File => file::borrow(self.handle).map(|file| file.group.members().to_vec()),
            GroupOf::Alone => None,
        };
        members.unwrap_or_else(alone)
    }
}

/// Calls the handler in force and returns the code for the caller.
#[cold]
#[inline(never)]
pub fn raise(function: &'static str, scopes: &[Scope], fault: Fault) -> c_int {
    if fault.get() == Class::ProcAborted as i32 {
        ess::lost_peer();
    }
    let object = match init::is_active() {
        true if is_io(function) => {
            let files = scopes.iter().filter(|scope| matches!(scope, Scope::File(_)));
            files.chain([&Scope::File(errhandler::FILE_NULL)]).find_map(Object::named)
        }
        true => scopes.iter().find_map(Object::named).or_else(|| {
            let context = fault.context()?;
            let comm = || comm::of_context(context).map(|(handle, comm)| Object::of_comm(handle, comm));
            // Of a request of MPI-IO, or of one-sided communication.
            let file = || Object::named(&Scope::File(file::of_context(context)?.0));
            let window = || Object::named(&Scope::Win(win::of_context(context)?));
            comm().or_else(file).or_else(window)
        }),
        // Objects are no longer, or not yet; but a handler that the call names is there.
        false => scopes.iter().filter(|scope| matches!(scope, Scope::Handler(..))).find_map(Object::named),
    };
    let fault = explained(fault);
    errhandler::keep_reason(fault.get(), if is_about_others(function) { reason(&fault) } else { String::new() });
    call(object.unwrap_or_else(Object::default), function, &fault);
    fault.get()
}

/// Whether it is a routine about processes of other jobs, whose errors are mostly no mistakes of the caller's: the error string says why.
fn is_about_others(function: &str) -> bool {
    let beginnings = ["MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_disconnect"];
    let names = ["MPI_Open_port", "MPI_Close_port", "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name"];
    beginnings.iter().any(|beginning| function.starts_with(beginning)) || names.contains(&function)
}

/// The argument that is wrong and why; empty if neither is known.
fn reason(fault: &Fault) -> String {
    match (fault.of_argument(), fault.reason()) {
        (argument, "") => String::from(argument),
        ("", reason) => String::from(reason),
        (argument, reason) => format!("argument {argument}: {reason}"),
    }
}

/// With the reason that the file keeps for a request of MPI-IO that failed.
fn explained(fault: Fault) -> Fault {
    match fault.context().filter(|_| fault.reason().is_empty()).and_then(file::late_reason) {
        Some(reason) => fault.because(reason),
        None => fault,
    }
}

/// Whether it is a routine of input and output. Without a valid file these use the default file error
/// handler (MPI 5.0 §14.7), whatever communicator they name.
fn is_io(function: &str) -> bool {
    (function.starts_with("MPI_File_") && !function.ends_with("errhandler"))
        || function.starts_with("MPI_Register_datarep")
}

/// Does what the error handler of an object says, for MPI_Comm_call_errhandler and its like.
#[cold]
pub fn call_handler(scope: Scope, function: &'static str, fault: &Fault) {
    call(Object::named(&scope).unwrap_or_else(Object::default), function, fault);
}

/// Returns if the handler does. No lock is held here.
fn call(object: Object, function: &'static str, fault: &Fault) {
    match object.handler {
        Errhandler::Return => {}
        Errhandler::Fatal => init::abort(fault.get(), &describe(function, &object, fault, "the job")),
        Errhandler::Abort => {
            let members = object.members();
            let ended = if members.len() > 1 { "the processes of that group" } else { "this process" };
            let text = describe(function, &object, fault, ended);
            match members.is_empty() {
                // MPI is not active.
                true => init::abort(fault.get(), &text),
                false => init::abort_some(&members, fault.get(), &text),
            }
        }
        Errhandler::User(call) => {
            let (mut handle, mut code) = (object.handle, fault.get());
            // SAFETY: the function that the user registered for this kind of object, called as MPI 5.0 §9.3 says.
            unsafe { call(&mut handle, &mut code) };
        }
    }
}

/// For MPI_T functions: the code and nothing else (MPI 5.0 §15.3.10).
#[cold]
#[inline(never)]
pub fn raise_tool(_function: &'static str, _scopes: &[Scope], fault: Fault) -> c_int {
    fault.of_tool().get()
}

/// This process, if MPI is active.
fn alone() -> Vec<u32> {
    if init::is_active() { Vec::from([process::me().index]) } else { Vec::new() }
}

/// The readable block: what failed, why, and what happens now.
fn describe(function: &str, object: &Object, fault: &Fault, ended: &str) -> String {
    let Object { name: on, whose, remedy, .. } = object;
    let class = errhandler::error_string(fault.get());
    let caller = fortran::caller(function);
    let mut text = match caller.routine {
        "" => format!("{function}{on} failed: {class}"),
        routine => format!("Fortran's {routine}{on} failed: {class}"),
    };
    let (argument, reason) = match caller.reason {
        "" => (fault.of_argument(), fault.reason()),
        reason => (caller.argument, reason),
    };
    match (argument, reason) {
        ("", "") => {}
        ("", reason) => text += &format!("\n  {reason}"),
        (argument, "") => text += &format!("\n  argument {argument}"),
        (argument, reason) => text += &format!("\n  argument {argument}: {reason}"),
    }
    if fault.get() == Class::UnsupportedOperation as i32 && fault.reason().is_empty() {
        text += "\n  this version of ompi-rs does not offer it yet";
    }
    let of = if whose.is_empty() { String::new() } else { format!(", that of {whose},") };
    text + &format!("\n  The error handler in force{of} ends {ended}; {remedy} would return the error instead.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_function_that_would_help() {
        let said = |object: Option<Object>| describe("MPI_X", &object.unwrap(), &Fault::new(Class::Arg), "the job");
        let of_file = said(Object::named(&Scope::File(errhandler::FILE_NULL)));
        assert!(of_file.contains("that of MPI_FILE_NULL, ends the job; MPI_File_set_errhandler on MPI_FILE_NULL with"));
        let fatal = Scope::Handler(errhandler::FATAL, errhandler::HandlerKind::Session);
        let of_argument = said(Object::named(&fatal));
        assert!(of_argument.contains("that of argument errhandler, ends the job; MPI_ERRORS_RETURN there would"));
    }
}
