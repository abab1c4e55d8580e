//! Partitioned communication: one message whose parts become ready one by one. MPI 5.0 §4.2.
//!
//! The requests that a component makes have the kind `request::Kind::Partitioned`; each start and each completion goes through
//! the component's own `request::Driver`. What it sends internally goes through the PML on the communicator's collective context,
//! with the tags that `framework::coll::Tags` keeps for it.
#![allow(unsafe_code)] // linkme's expansion

use crate::comm::Communicator;
use crate::datatype::Datatype;
use crate::error::{Class, Fault, Result};
use crate::request::Request;
use alloc::sync::Arc;
use core::ops::Range;
use opal_core::mca;
use opal_core::sync::Once;

/// What a partitioned request moves each time it is started.
pub struct PartitionedTransfer {
    /// The buffer's address.
    pub at: *mut u8,
    /// Partitions, which lie one behind the other.
    pub partitions: usize,
    /// Elements of each.
    pub count: usize,
    /// Of this type, committed, which is kept alive.
    pub datatype: Arc<Datatype>,
    /// Destination or source: a rank or MPI_PROC_NULL.
    pub peer: i32,
    /// Tag, not MPI_ANY_TAG.
    pub tag: i32,
    /// The communicator's handle.
    pub comm: usize,
}

/// The running component. A token is that of a request of kind `Partitioned`, which this component made.
pub trait Module: Sync {
    /// MPI_Psend_init: a request, inactive. Local: waits for nobody.
    ///
    /// # Safety
    /// Whenever it is started, each partition is readable from the time when it is marked ready until the operation completes.
    unsafe fn psend_init(&self, transfer: PartitionedTransfer) -> Result<Request>;

    /// MPI_Precv_init: a request, inactive. Local: waits for nobody. Requests match those of the peer in the order in which both
    /// were made, for each communicator, peer and tag.
    ///
    /// # Safety
    /// Whenever it is started, the buffer is writable until the operation completes; of each partition that has arrived it is left
    /// alone.
    unsafe fn precv_init(&self, transfer: PartitionedTransfer) -> Result<Request>;

    /// Marks partitions ready of a send that is under way, or of one to MPI_PROC_NULL. Several threads may do so at once.
    /// `Err(MPI_ERR_ARG)` for partitions that do not exist or that are marked already, `Err(MPI_ERR_REQUEST)` if it is no send.
    fn pready(&self, token: u64, partitions: Range<usize>) -> Result<()>;

    /// Whether a partition of a receive was seen to be there; of one that has ended the request tells. `Err(MPI_ERR_ARG)` for a partition
    /// that does not exist, `Err(MPI_ERR_REQUEST)` if it is no receive. Makes progress if it is not there.
    fn parrived(&self, token: u64, partition: usize) -> Result<bool>;

    /// Takes back what is posted on a communicator for operations that are not under way: before MPI_Comm_disconnect waits for
    /// what is.
    fn withdraw(&self, comm: &Communicator);
}

/// A way to do it.
pub trait Component: mca::Component {
    /// Priority and module, or why not.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// Partitioned communication.
    "part", Ompi, version 1, OneOfMany, OMPI_PARTS: dyn Component
}

static SELECTED: Once<opal_core::Result<Option<&'static dyn Module>>> = Once::new();

/// The component that was chosen, the first time anybody asks. `Err(MPI_ERR_UNSUPPORTED_OPERATION)` if there is none or it was
/// left out.
#[inline]
pub fn selected() -> Result<&'static dyn Module> {
    let select = || {
        let found = mca::select_best(&FRAMEWORK, &OMPI_PARTS, |component| component.query())?;
        Ok(found.map(|(_, module)| module))
    };
    (*SELECTED.call_once(select))?.ok_or_else(|| {
        Fault::new(Class::UnsupportedOperation)
            .because("the library has no component of framework part, or it was left out")
    })
}

/// As [`selected`], if anybody asked before.
pub fn in_use() -> Option<&'static dyn Module> {
    SELECTED.get().and_then(|selected| selected.ok().flatten())
}
