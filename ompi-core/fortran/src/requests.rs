//! Requests that a procedure may end: what it uses of sections with gaps goes back into them. See `pending`.

use crate::arguments::{Handle, Handles, In, Int, Out};
use crate::memory::List;
use crate::pending::{self, Use};

unsafe extern "C" {
    safe fn PMPI_Type_get_extent_c(datatype: usize, lb: *mut i64, extent: *mut i64) -> Int;
}

/// A request that the procedure may end.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Request(*mut Int);

impl Request {
    /// As C has it.
    #[inline]
    pub fn load(self) -> usize {
        pending::claim(self.0);
        Handle::of(self.0).load()
    }

    /// As Fortran has it.
    #[inline]
    pub fn store(self, handle: usize) {
        pending::settle(self.0, handle);
        Handle::of(self.0).store(handle);
    }

    /// MPI_START begins.
    #[inline]
    pub fn start(self) {
        pending::start(Out(self.0).get());
    }

    /// MPI_REQUEST_FREE begins.
    #[inline]
    pub fn release(self) {
        pending::release(self.0);
    }
}

/// An array of them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Requests(*mut Int);

impl Requests {
    /// As C has them; nothing where there is no memory for them.
    pub fn load(self, count: usize) -> Option<List> {
        let list = Handles::of(self.0).load(count)?;
        self.places(count).for_each(pending::claim);
        Some(list)
    }

    /// As Fortran has them.
    pub fn store(self, list: &List) {
        for (place, handle) in self.places(list.as_slice().len()).zip(list.as_slice()) {
            pending::settle(place, *handle);
        }
        Handles::of(self.0).store(list);
    }

    /// MPI_STARTALL begins.
    pub fn start(self, count: usize) {
        self.places(count).for_each(|place| pending::start(Out(place).get()));
    }

    fn places(self, count: usize) -> impl Iterator<Item = *mut Int> {
        (0..count).map(move |at| self.0.wrapping_add(at))
    }
}

/// A procedure that ends none of these requests has looked at them.
pub fn look_at(requests: &List) {
    requests.as_slice().iter().for_each(|request| pending::look(*request as Int));
}

/// The same of one request.
#[inline]
pub fn look(request: In<Int>) {
    pending::look(request.get());
}

/// How a partitioned operation uses its copy.
pub fn partitions(count: impl Into<i64>, datatype: In<Int>) -> Use {
    let (mut lb, mut extent) = (0, 0);
    // A datatype that is none has been refused by then.
    PMPI_Type_get_extent_c(datatype.handle(), &raw mut lb, &raw mut extent);
    Use::Partitioned(count.into().saturating_mul(extent))
}

/// MPI_PREADY_LIST begins.
pub fn ready_list(request: In<Int>, count: usize, partitions: *const Int) {
    for at in 0..count {
        let partition = In::at(partitions.wrapping_add(at)).get();
        pending::ready(request.get(), (partition, partition));
    }
}
