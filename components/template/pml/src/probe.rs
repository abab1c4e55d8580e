//! Probing.

use crate::unwritten::not_written;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched};
use ompi_core::status::Status;

/// 11. Looks for a message that could be received; makes progress once if there is none.
pub fn look(_source: i32, _tag: i32, _on: MatchContext<'_>) -> Result<Option<Status>> {
    not_written()
}

/// 12. As `look`, and takes the message out of matching.
pub fn take(_source: i32, _tag: i32, _on: MatchContext<'_>) -> Result<Option<Matched>> {
    not_written()
}
