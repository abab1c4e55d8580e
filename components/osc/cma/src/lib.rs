//! osc/cma: windows over private memory of the processes of one node, by single copies ([`opal_core::framework::smsc`]): those of
//! MPI_Win_create over any memory of the program's, and dynamic ones. The target never has to be inside MPI.
//!
//! A put or get is one call of the system. An accumulate reads, combines and writes under the target's accumulate lock. Locks and the
//! other words of synchronisation lie in shared memory ([`ompi_core::win::node`]), as those of osc/sm do. Of a dynamic window each process
//! tells in its words where the list of its attached memory lies ([`attached`]); others copy the list when it has changed, and refuse
//! accesses outside.
//!
//! Owns no memory of windows. **Invariant:** nothing outside a window's memory is touched, whatever shared words say: an access is
//! checked here, and copied lists lie in memory of this process's own.
#![no_std]

extern crate alloc;

mod attached;
mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
