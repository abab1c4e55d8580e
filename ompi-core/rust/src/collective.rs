//! Collective operations on all processes of a communicator.
#![allow(unsafe_code)] // hands typed slices to the collectives

use crate::point_to_point::{read_only, writable};
use crate::{Communicator, Equivalence, Error, SystemOperation, or_end};
use ompi_core::data::Source;
use ompi_core::executor::{barrier, run};
use ompi_core::framework::coll::Call;

impl Communicator<'_> {
    /// Waits until all have called it.
    pub fn barrier(&self) {
        or_end("barrier", self.try_barrier());
    }

    /// Waits until all have called it, or says why not.
    pub fn try_barrier(&self) -> Result<(), Error> {
        barrier(self.inner).map_err(Error::from)
    }

    /// Gives everybody what the root has.
    ///
    /// # Panics
    /// If the communicator has no rank `root`.
    pub fn broadcast_into<T: Equivalence>(&self, root: i32, values: &mut [T]) {
        let root = self.process_at_rank(root).rank as usize;
        let data = writable(values);
        // SAFETY: an exclusive slice is readable and writable for the length of the call.
        let result = unsafe { run(self.inner, Call::Bcast(&data, root)) };
        or_end("broadcast", result.map_err(Error::from));
    }

    /// Combines everybody's `values` element by element; all get the result.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn all_reduce_into<T: Equivalence>(&self, values: &[T], result: &mut [T], operation: SystemOperation) {
        assert_eq!(values.len(), result.len(), "a reduction gives as many elements as it takes");
        let (from, to, op) = (Source::From(read_only(values)), writable(result), operation.op());
        // SAFETY: borrowed slices, readable and writable for the length of the call, that cannot overlap.
        let done = unsafe { run(self.inner, Call::Allreduce(from, &to, &op)) };
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
        let from = Source::From(read_only(values));
        // SAFETY: borrowed slices, readable and writable for the length of the call, that cannot overlap.
        let done = unsafe { run(self.inner, Call::Allgather(from, &to)) };
        or_end("all-gather", done.map_err(Error::from));
    }
}
