//! Receiving.

use crate::unwritten::not_written;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched};
use ompi_core::request::Request;

/// 9. Starts a receive: what waits unexpected comes first, in the order in which it arrived.
pub fn start(_data: &Data<'_>, _source: i32, _tag: i32, _on: MatchContext<'_>) -> Result<Request> {
    not_written()
}

/// 10. Starts to receive what a matched probe took.
pub fn start_matched(_data: &Data<'_>, _message: Matched) -> Result<Request> {
    not_written()
}
