//! Memory shared by the processes of a node: one *receive segment* per rank, which owns it, and whose senders map it.
//!
//! The segment starts as zeros. Its contents belong to the transport. Peers may write any bytes
//! to it at any time, so it is accessed through [`crate::mem`] only, never as `&[u8]`.
#![allow(unsafe_code)] // linkme's expansion

use crate::Result;
use crate::mca;
use crate::sync::Once;

mod slice;
pub use slice::Slice;

/// Bytes that say how a peer finds a segment; travel in the wire-up.
pub type Address = [u8; 24];

/// A mapped segment. Stays mapped until [`Module::detach`].
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// First byte, page-aligned.
    pub base: *mut u8,
    /// Length in bytes.
    pub bytes: usize,
}

// SAFETY: a segment is an address range; its bytes are touched through `crate::mem` only.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// What the launcher left for this process: slices of one descriptor, one per rank of the node.
#[derive(Clone, Copy, Debug)]
pub struct Inherited {
    /// An open descriptor of the whole; -1 where there are no descriptors.
    pub descriptor: i32,
    /// Where the receive segment of local rank 0 begins, in bytes.
    pub offset: u64,
    /// From one segment to the next, in bytes.
    pub stride: u64,
    /// This process's place among the node's.
    pub local_rank: u32,
    /// Number of segments.
    pub local_size: u32,
}

/// A running way to share memory.
pub trait Module: Sync {
    /// This process's own segment, mapped, all zeros at first, at least `bytes` long.
    ///
    /// `Err(OutOfResource)` if the launcher's slice or the system's memory is smaller. Call once.
    fn create(&self, bytes: usize) -> Result<Segment>;

    /// What a peer passes to [`Module::attach`]; valid after [`Module::create`].
    fn address(&self) -> Address;

    /// Maps a peer's segment. `Err(Malformed)` for an address that no peer of this node can have sent.
    fn attach(&self, address: &Address) -> Result<Segment>;

    /// Unmaps. Nobody in this process touches the segment afterwards.
    fn detach(&self, segment: Segment);
}

/// A way to share memory.
pub trait Component: mca::Component {
    /// Priority and module, after `open`; `inherited` is what the launcher left, if anything.
    fn query(&self, inherited: Option<Inherited>) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

crate::framework! {
    /// Memory shared by the processes of a node.
    "shmem", Opal, version 1, OneOfMany, OMPI_SHMEMS: dyn Component
}

static SELECTED: Once<&'static dyn Module> = Once::new();
static INHERITED: Once<Option<Inherited>> = Once::new();

/// Chooses the component. Once, before transports are opened; without one, those that need it decline.
pub fn select(inherited: Option<Inherited>) -> Result<()> {
    let (_, module) = mca::select_one(&FRAMEWORK, &OMPI_SHMEMS, |component| component.query(inherited))?;
    SELECTED.call_once(|| module);
    INHERITED.call_once(|| inherited);
    Ok(())
}

/// What [`select`] was given: this process's place among those of its node.
pub fn inherited() -> Option<Inherited> {
    INHERITED.get().copied().flatten()
}

/// The running module.
pub fn selected() -> Option<&'static dyn Module> {
    SELECTED.get().copied()
}
