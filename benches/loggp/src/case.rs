//! A case of the study, and its buffers, behind whose addresses is no memory: the study moves no data.

use coll_han::layout::Layout;
use ompi_core::data::{Data, Source};
use ompi_core::datatype;

/// What is done.
pub struct Case<'a> {
    /// Of the whole data (Bcast, Reduce, Allreduce), or of one rank's block.
    pub bytes: u64,
    /// The ranks and where they are.
    pub layout: &'a Layout,
}

/// Nothing is behind the addresses: nobody looks.
pub struct Buffers<'a> {
    /// What every rank contributes.
    pub from: Data<'static>,
    /// Where the result goes.
    pub to: Data<'static>,
    /// The ranks and where they are.
    pub layout: &'a Layout,
}

impl<'a> Buffers<'a> {
    /// Buffers of the size that the case says.
    pub fn new(case: &Case<'a>) -> Buffers<'a> {
        let double = datatype::borrow(MPI_DOUBLE).expect("predefined");
        let count = case.bytes as usize / 8;
        let data = |at| Data { at: core::ptr::without_provenance_mut(at), count, datatype: double };
        Buffers { from: data(1 << 56), to: data(1 << 57), layout: case.layout }
    }

    /// What every rank contributes, as the collective takes it.
    pub fn source(&self) -> Source<'static> {
        Source::From(self.from)
    }
}

const MPI_DOUBLE: usize = 532;
