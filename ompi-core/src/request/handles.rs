//! The C interface's view of requests: handles that become MPI_REQUEST_NULL. MPI 5.0 §3.7.3 to §3.7.7.
//!
//! Statuses returned carry the operation's own error code in `error`; a row hands a single one to
//! [`Status::deliver`], which leaves the user's MPI_ERROR alone.

mod one;
mod several;
pub use one::{cancel, free, get_status, is_active, look, start, test, wait};
pub use several::{Any, test_all, test_any, test_some, wait_all, wait_any, wait_some};
