//! An access of the program's, as the side that accesses sees it.

use crate::raw::Buffer;
use crate::wire::Kind;
use ompi_core::framework::op::Operation;

/// What is to be done, with buffers that may be used until it is.
pub struct Access<'a> {
    /// What the target is asked for.
    pub kind: Kind,
    /// Of an accumulate.
    pub operation: Operation,
    /// What is sent, in this order.
    pub sources: [Option<Buffer<'a>>; 2],
    /// Where what was read goes.
    pub result: Option<Buffer<'a>>,
}

impl Access<'_> {
    /// What is sent.
    pub fn sources(&self) -> impl Iterator<Item = &Buffer<'_>> {
        self.sources.iter().flatten()
    }
}
