//! What every call says until it is written.

use ompi_core::error::{Class, Fault, Result};

/// MPI_ERR_UNSUPPORTED_OPERATION. Goes when its last caller is written.
#[cold]
pub fn not_written<T>() -> Result<T> {
    Err(Fault::new(Class::UnsupportedOperation).because("part/template is not written yet"))
}
