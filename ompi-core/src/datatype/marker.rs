//! MPI_LB and MPI_UB, which MPI 3.0 removed: members of structures that set a bound (MPI 1.1 §3.12.3). `mpi_removed.h` has
//! their handles. No other function takes them.

use super::combiner::COMBINER_NAMED;
use super::object::{Contents, Datatype};
use alloc::sync::Arc;
use opal_core::datatype::{Layout, Marker};
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock};

/// MPI_LB.
const LOWER: usize = -2isize as usize;
/// MPI_UB.
const UPPER: usize = -3isize as usize;

/// A reference of one's own to what a handle in MPI_Type_create_struct stands for: a datatype, or one of the markers.
pub fn member(handle: usize) -> Option<Arc<Datatype>> {
    let (which, own_name) = match handle {
        LOWER => (Marker::Lower, "MPI_LB"),
        UPPER => (Marker::Upper, "MPI_UB"),
        _ => return super::get(handle),
    };
    Some(Arc::new(Datatype {
        layout: Arc::new(Layout::marker(which).ok()?),
        combiner: COMBINER_NAMED,
        predefined: 0,
        contents: Contents::default(),
        own_name,
        given_name: ConditionalLock::new(None),
        handle: AtomicUsize::new(handle),
        committed: AtomicBool::new(false),
    }))
}
