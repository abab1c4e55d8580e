//! The module: the framework's calls.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::unwritten::not_written;
use core::ops::Range;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::framework::part::{Module, PartitionedTransfer};
use ompi_core::request::Request;

/// The one module.
pub struct TemplatePart;

impl Module for TemplatePart {
    unsafe fn psend_init(&self, _transfer: PartitionedTransfer) -> Result<Request> {
        // 3. A request of kind `Partitioned`, whose driver starts each round. Tell the peer of it: `coll::PART_SETUP`.
        not_written()
    }

    unsafe fn precv_init(&self, _transfer: PartitionedTransfer) -> Result<Request> {
        // 4. Find its send, in the order in which both were made.
        not_written()
    }

    fn pready(&self, _token: u64, _partitions: Range<usize>) -> Result<()> {
        // 5. Mark, and send what is ready when it pays.
        not_written()
    }

    fn parrived(&self, _token: u64, _partition: usize) -> Result<bool> {
        // 6. A load; progress only if it is not there.
        not_written()
    }

    fn withdraw(&self, _comm: &Communicator) {
        // 7. Nothing stays posted for requests that are not under way. Nothing ever was.
    }
}
