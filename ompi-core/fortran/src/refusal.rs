//! Errors that the shims find themselves: without an object, the error handler of MPI_COMM_SELF is called. MPI 5.0 §9.3.

unsafe extern "C" {
    safe fn PMPI_Comm_call_errhandler(comm: usize, code: i32) -> i32;
}

const COMM_SELF: usize = 258;
const ERR_BUFFER: i32 = 1;

/// MPI_ERR_BUFFER: a section with gaps where a procedure can only take a whole array.
#[cold]
pub fn refuse_section() -> i32 {
    raise(ERR_BUFFER)
}

/// Calls the error handler that is there where no object is.
#[cold]
pub fn raise(code: i32) -> i32 {
    PMPI_Comm_call_errhandler(COMM_SELF, code);
    code
}
