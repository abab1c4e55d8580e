//! Datatypes as MPI objects: a layout, how it was made, its handle.

use crate::handle::Table;
use alloc::sync::Arc;
use opal_core::datatype::Layout;
use opal_core::sync::{AtomicBool, Once, Ordering};

mod predefined;

/// A datatype. Immutable but for being committed.
#[derive(Debug)]
pub struct Datatype {
    /// Where its bytes lie.
    pub layout: Arc<Layout>,
    /// MPI_COMBINER_…: how it was made (MPI 5.0 §5.1.13).
    pub combiner: i32,
    /// The standard's name if predefined, else empty until the user names it.
    pub name: &'static str,
    /// The handle if predefined, else 0.
    pub predefined: u32,
    committed: AtomicBool,
}

/// MPI_UINT64_T, in which the library's own words travel.
pub const UINT64: usize = 601;
/// MPI_COMBINER_NAMED.
pub const COMBINER_NAMED: i32 = 101;

static DYNAMIC: Table<Datatype> = Table::new();
static PREDEFINED: Once<predefined::Set> = Once::new();

impl Datatype {
    /// A new derived datatype, not yet committed.
    pub fn derived(layout: Layout, combiner: i32) -> Datatype {
        let committed = AtomicBool::new(false);
        Datatype { layout: Arc::new(layout), combiner, name: "", predefined: 0, committed }
    }

    /// Whether it may be used in communication.
    #[inline(always)]
    pub fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    /// Makes it usable in communication.
    pub fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    /// Gives it a handle.
    pub fn into_handle(self) -> Option<usize> {
        DYNAMIC.insert(Arc::new(self))
    }
}

/// The datatype behind a handle.
#[inline(always)]
pub fn borrow(handle: usize) -> Option<&'static Datatype> {
    match handle {
        0x200..0x400 => PREDEFINED.get()?.get(handle - 0x200),
        _ => DYNAMIC.borrow(handle),
    }
}

/// Ends a handle of a derived datatype.
pub fn remove(handle: usize) -> Option<Arc<Datatype>> {
    DYNAMIC.remove(handle)
}

/// Makes the predefined datatypes: once, before anything else of this layer.
pub fn open() {
    PREDEFINED.call_once(predefined::Set::new);
}
