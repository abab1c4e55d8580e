//! Sending.

use crate::unwritten::not_written;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Mode};
use ompi_core::request::Request;

/// 7. Starts a send. Of MPI_PROC_NULL it completes at once, of a synchronous one when it was matched.
pub fn start(_data: &Data<'_>, _dest: i32, _tag: i32, _mode: Mode, _on: MatchContext<'_>) -> Result<Request> {
    not_written()
}

/// 8. Sends a message outside of all communicators; there it goes to `ompi_core::oob::deliver`, in order.
pub fn control(_process: u32, _message: &[u8]) -> Result<()> {
    not_written()
}
