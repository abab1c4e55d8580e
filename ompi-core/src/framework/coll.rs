//! Collective operations: each communicator has a table *function → module*, filled when it is made.
//!
//! Which module serves a function is agreed by all ranks of the communicator at creation (a reduction of ability
//! bits); at call time a module may choose among algorithms only by what the standard makes equal everywhere.
#![allow(unsafe_code)] // linkme's expansion

use crate::comm::Communicator;
use crate::data::{Blocks, Counts, Data, Source, TypedBlocks};
use crate::error::{Class, Fault, Result};
use crate::op::Op;
use alloc::sync::Arc;
use opal_core::mca;

/// The blocking collective functions, as bit numbers of [`Functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's names
#[repr(u8)]
pub enum Function {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
}

/// Number of [`Function`]s.
pub const FUNCTIONS: usize = 17;

/// A set of functions, bit `Function as u8`.
pub type Functions = u64;

/// All functions.
pub const ALL_FUNCTIONS: Functions = (1 << FUNCTIONS) - 1;

fn not_here<T>() -> Result<T> {
    Err(Fault::new(Class::UnsupportedOperation))
}

/// A component's object for one communicator.
///
/// Every method is called by all ranks of the communicator in the same order; arguments are checked. On ranks where
/// the standard ignores an argument it is `None` or empty. Messages travel on the collective lane.
///
/// # Safety
/// For all methods: what `Data`, `Blocks` and `TypedBlocks` describe is readable (sources) or writable (targets), and
/// sources overlap no target.
#[allow(clippy::missing_safety_doc, missing_docs, unused_variables, clippy::too_many_arguments)] // the standard documents them
pub trait Module: Send + Sync {
    /// Which of the methods below it offers.
    fn functions(&self) -> Functions;

    fn barrier(&self, comm: &Communicator) -> Result<()> {
        not_here()
    }
    unsafe fn bcast(&self, data: &Data<'_>, root: usize, comm: &Communicator) -> Result<()> {
        not_here()
    }
    /// `to` at the root: `count` elements per rank.
    unsafe fn gather(&self, from: Source<'_>, to: Option<&Data<'_>>, root: usize, comm: &Communicator) -> Result<()> {
        not_here()
    }
    unsafe fn gatherv(
        &self,
        from: Source<'_>,
        to: Option<&Blocks<'_>>,
        root: usize,
        comm: &Communicator,
    ) -> Result<()> {
        not_here()
    }
    /// `from` at the root: `count` elements per rank; `to` is `None` for MPI_IN_PLACE at the root.
    unsafe fn scatter(
        &self,
        from: Option<&Data<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        comm: &Communicator,
    ) -> Result<()> {
        not_here()
    }
    unsafe fn scatterv(
        &self,
        from: Option<&Blocks<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        comm: &Communicator,
    ) -> Result<()> {
        not_here()
    }
    /// `to`: `count` elements per rank.
    unsafe fn allgather(&self, from: Source<'_>, to: &Data<'_>, comm: &Communicator) -> Result<()> {
        not_here()
    }
    unsafe fn allgatherv(&self, from: Source<'_>, to: &Blocks<'_>, comm: &Communicator) -> Result<()> {
        not_here()
    }
    /// Both: `count` elements per rank.
    unsafe fn alltoall(&self, from: Source<'_>, to: &Data<'_>, comm: &Communicator) -> Result<()> {
        not_here()
    }
    /// `from` is `None` for MPI_IN_PLACE.
    unsafe fn alltoallv(&self, from: Option<&Blocks<'_>>, to: &Blocks<'_>, comm: &Communicator) -> Result<()> {
        not_here()
    }
    unsafe fn alltoallw(
        &self,
        from: Option<&TypedBlocks<'_>>,
        to: &TypedBlocks<'_>,
        comm: &Communicator,
    ) -> Result<()> {
        not_here()
    }
    /// `to` at the root; with `InPlace` (root only) the root's contribution lies in `to`.
    unsafe fn reduce(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        op: &Op,
        root: usize,
        comm: &Communicator,
    ) -> Result<()> {
        not_here()
    }
    unsafe fn allreduce(&self, from: Source<'_>, to: &Data<'_>, op: &Op, comm: &Communicator) -> Result<()> {
        not_here()
    }
    /// `to.count` is this rank's; `counts` has one entry per rank.
    unsafe fn reduce_scatter(
        &self,
        from: Source<'_>,
        to: &Data<'_>,
        counts: Counts<'_>,
        op: &Op,
        comm: &Communicator,
    ) -> Result<()> {
        not_here()
    }
    /// `to.count` elements for every rank.
    unsafe fn reduce_scatter_block(&self, from: Source<'_>, to: &Data<'_>, op: &Op, comm: &Communicator) -> Result<()> {
        not_here()
    }
    unsafe fn scan(&self, from: Source<'_>, to: &Data<'_>, op: &Op, comm: &Communicator) -> Result<()> {
        not_here()
    }
    unsafe fn exscan(&self, from: Source<'_>, to: &Data<'_>, op: &Op, comm: &Communicator) -> Result<()> {
        not_here()
    }
}

/// A kind of collectives.
pub trait Component: mca::Component {
    /// Priority and module for a communicator, or why not. Must not communicate.
    fn query(&self, comm: &Communicator) -> core::result::Result<(i32, Arc<dyn Module>), mca::Declined>;
}

opal_core::framework! {
    /// Collective operations.
    "coll", Ompi, version 1, ManyOfMany, OMPI_COLLS: dyn Component
}

/// Which module serves which function on one communicator, and its component's name for those who ask.
#[derive(Default)]
pub struct Table {
    entries: [Option<(&'static str, Arc<dyn Module>)>; FUNCTIONS],
}

impl Table {
    /// The module that serves a function.
    #[inline]
    pub fn of(&self, function: Function) -> Result<&dyn Module> {
        match &self.entries[function as usize] {
            Some((_, module)) => Ok(&**module),
            None => Err(Fault::new(Class::UnsupportedOperation).because("no coll component offers it here")),
        }
    }

    /// The component's name that serves a function.
    pub fn name_of(&self, function: Function) -> Option<&'static str> {
        self.entries[function as usize].as_ref().map(|(name, _)| *name)
    }

    /// Fills the table: for every function the highest bidder of `offers` (name, priority, module), sorted here.
    pub fn fill(&mut self, mut offers: alloc::vec::Vec<(&'static str, i32, Arc<dyn Module>)>) {
        // Highest priority first; the name decides between equals, so that all ranks agree.
        offers.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        for (index, entry) in self.entries.iter_mut().enumerate() {
            *entry = offers
                .iter()
                .find(|(_, _, module)| module.functions() & 1 << index != 0)
                .map(|(name, _, module)| (*name, module.clone()));
        }
    }
}
