//! Errors of failed calls, and the error handlers that run before.

use alloc::string::String;
use core::fmt;
use ompi_core::abi::{Scope, call_handler};
use ompi_core::errhandler;
use ompi_core::error::{Class, Fault};

/// The error classes of MPI 5.0 §9.4, with the standard ABI's numbers.
pub use ompi_core::error::Class as ErrorClass;

/// The result of every operation.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why an operation failed: a class, and a sentence that says what was wrong and what to do.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{ErrorClass, ErrorHandler, traits::*};
///
/// let world = universe.world();
/// world.set_error_handler(ErrorHandler::Return);
/// let error = world.this_process().send_with_tag(&1, -5).unwrap_err();
/// assert_eq!(error.class(), ErrorClass::Tag);
/// assert!(error.to_string().contains("-5 is negative"), "{error}");
/// ```
#[derive(Clone)]
pub struct Error(pub(crate) Fault);

impl Error {
    /// The error class. Codes that a program added have the class that it said.
    pub fn class(&self) -> ErrorClass {
        let class = errhandler::class_of(self.code()).unwrap_or(Class::Unknown as i32);
        Class::ALL.iter().copied().find(|known| *known as i32 == class).unwrap_or(Class::Unknown)
    }

    /// The error code as C programs see it: a class's number, or one that the program added.
    pub fn code(&self) -> i32 {
        self.0.get()
    }

    /// The argument that was wrong, by the standard's name; or nothing.
    pub fn argument(&self) -> &'static str {
        self.0.of_argument()
    }

    /// What was wrong and what to do; or nothing.
    pub fn reason(&self) -> &str {
        self.0.reason()
    }

    pub(crate) fn new(class: Class, argument: &'static str, reason: impl Into<String>) -> Error {
        Error(Fault::new(class).argument(argument).because(reason))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&errhandler::error_string(self.code()))?;
        match (self.argument(), self.reason()) {
            ("", "") => Ok(()),
            ("", reason) => write!(f, ": {reason}"),
            (argument, "") => write!(f, ": {argument}"),
            (argument, reason) => write!(f, ": {argument}: {reason}"),
        }
    }
}

impl fmt::Debug for Error {
    // As `Display`: it is what `main` prints of an error that it returns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

impl From<Fault> for Error {
    #[cold]
    fn from(fault: Fault) -> Error {
        Error(fault)
    }
}

/// What happens when an operation on a communicator fails, before its method returns (MPI 5.0 §9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorHandler {
    /// A message, and the job ends. In force unless `mpirun --initial-errhandler` says otherwise.
    Fatal,
    /// A message, and the processes of the communicator end; in this version the whole job.
    Abort,
    /// Nothing: the method returns the error.
    Return,
}

impl ErrorHandler {
    pub(crate) fn handle(self) -> usize {
        match self {
            ErrorHandler::Fatal => errhandler::FATAL,
            ErrorHandler::Abort => errhandler::ABORT,
            ErrorHandler::Return => errhandler::RETURN,
        }
    }
}

/// The error for the caller, after the handler of the communicator that `scope` names has run.
///
/// A peer that died ends the job whatever the handler says: what waited for it may still be under way with its buffer,
/// and nothing tells when that ends.
#[cold]
#[inline(never)]
pub(crate) fn raise(scope: Scope, function: &'static str, fault: Fault) -> Error {
    let error = Error(fault);
    match error.class() {
        Class::ProcAborted => {
            ompi_core::init::lost_peer();
            end(function, &error)
        }
        _ => call_handler(scope, function, &error.0),
    }
    error
}

/// Ends the job for a failure where there is nobody to return it to: in a destructor.
#[cold]
pub(crate) fn end(what: &str, error: &Error) -> ! {
    ompi_core::init::abort(error.code(), &alloc::format!("{what} failed: {error}"))
}
