//! Collective operations on all processes of a communicator.
#![allow(unsafe_code)] // hands typed slices to the collectives

use crate::point_to_point::{read_only, writable};
use crate::{Communicator, Equivalence, Error, SystemOperation, or_end};
use ompi_core::data::Source;
use ompi_core::framework::coll::Function;

impl Communicator<'_> {
    /// Waits until all have called it.
    pub fn barrier(&self) {
        or_end("barrier", self.try_barrier());
    }

    /// Waits until all have called it, or says why not.
    pub fn try_barrier(&self) -> Result<(), Error> {
        self.inner.coll().of(Function::Barrier)?.barrier(self.inner).map_err(Error::from)
    }

    /// Gives everybody what the root has.
    ///
    /// # Panics
    /// If the communicator has no rank `root`.
    pub fn broadcast_into<T: Equivalence>(&self, root: i32, values: &mut [T]) {
        let root = self.process_at_rank(root).rank as usize;
        let result = self.inner.coll().of(Function::Bcast).and_then(|module| {
            // SAFETY: an exclusive slice is readable and writable for the length of the call.
            unsafe { module.bcast(&writable(values), root, self.inner) }
        });
        or_end("broadcast", result.map_err(Error::from));
    }

    /// Combines everybody's `values` element by element; all get the result.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn all_reduce_into<T: Equivalence>(&self, values: &[T], result: &mut [T], operation: SystemOperation) {
        assert_eq!(values.len(), result.len(), "a reduction gives as many elements as it takes");
        let done = self.inner.coll().of(Function::Allreduce).and_then(|module| {
            let from = Source::From(read_only(values));
            // SAFETY: borrowed slices, readable and writable for the length of the call, that cannot overlap.
            unsafe { module.allreduce(from, &writable(result), &operation.op(), self.inner) }
        });
        or_end("all-reduce", done.map_err(Error::from));
    }

    /// Everybody's `values`, in the order of ranks, to all.
    ///
    /// # Panics
    /// If `all` is not as long as all ranks' values together.
    pub fn all_gather_into<T: Equivalence>(&self, values: &[T], all: &mut [T]) {
        assert_eq!(all.len(), values.len() * self.inner.size(), "room for every rank's values is needed");
        let mut to = writable(all);
        to.count = values.len();
        let done = self.inner.coll().of(Function::Allgather).and_then(|module| {
            // SAFETY: borrowed slices, readable and writable for the length of the call, that cannot overlap.
            unsafe { module.allgather(Source::From(read_only(values)), &to, self.inner) }
        });
        or_end("all-gather", done.map_err(Error::from));
    }
}
