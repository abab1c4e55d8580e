//! Datatypes as MPI objects: a layout, how it was made, its handle.

use crate::error::{Class, Fault, Result};
use crate::handle::Table;
use alloc::string::String;
use alloc::sync::Arc;
use opal_core::datatype::Layout;
use opal_core::sync::{AtomicBool, AtomicUsize, Guarded, Once, Ordering};

mod predefined;

/// A datatype. Immutable but for being committed, named and given a handle.
pub struct Datatype {
    /// Where its bytes lie.
    pub layout: Arc<Layout>,
    /// MPI_COMBINER_…: how it was made (MPI 5.0 §5.1.13).
    pub combiner: i32,
    /// The handle if it is a named predefined type, else 0.
    pub predefined: u32,
    // The standard's name if predefined.
    own_name: &'static str,
    given_name: Guarded<Option<String>>,
    // 0: none, never had or freed.
    handle: AtomicUsize,
    committed: AtomicBool,
}

/// MPI_UINT64_T, in which the library's own words travel.
pub const UINT64: usize = 601;
/// MPI_COMBINER_NAMED.
pub const COMBINER_NAMED: i32 = 101;
/// MPI_COMBINER_CONTIGUOUS.
pub const COMBINER_CONTIGUOUS: i32 = 103;

static DYNAMIC: Table<Datatype> = Table::new();
static PREDEFINED: Once<predefined::Set> = Once::new();

impl Datatype {
    /// A new derived datatype, not yet committed.
    pub fn derived(layout: Layout, combiner: i32) -> Datatype {
        Datatype::of_layout(Arc::new(layout), combiner)
    }

    fn of_layout(layout: Arc<Layout>, combiner: i32) -> Datatype {
        Datatype {
            layout,
            combiner,
            predefined: 0,
            own_name: "",
            given_name: Guarded::new(None),
            handle: AtomicUsize::new(0),
            committed: AtomicBool::new(false),
        }
    }

    /// Whether it is one of the standard's types, named or not (MPI 5.0 §5.1.13), rather than derived from them.
    pub fn is_predefined(&self) -> bool {
        matches!(self.combiner, COMBINER_NAMED | 113..=115 | 117)
    }

    /// What the user named it, else the standard's name, else nothing.
    pub fn name(&self) -> String {
        self.given_name.lock().as_deref().unwrap_or(self.own_name).into()
    }

    /// MPI_Type_set_name.
    pub fn set_name(&self, name: String) {
        *self.given_name.lock() = Some(name);
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
        Datatype::register(Arc::new(self))
    }

    fn register(this: Arc<Datatype>) -> Option<usize> {
        let handle = DYNAMIC.insert(this.clone())?;
        this.handle.store(handle, Ordering::Relaxed);
        Some(handle)
    }

    /// Calls back with a handle that the user's code can use for this type: its own, or one for the time of the call
    /// if the user freed it while an operation was pending.
    pub fn with_handle<R>(&self, call: impl FnOnce(usize) -> R) -> Result<R> {
        let handle = self.handle.load(Ordering::Relaxed);
        if handle != 0 {
            return Ok(call(handle));
        }
        let again = Datatype::of_layout(self.layout.clone(), self.combiner);
        again.commit();
        let handle = again.into_handle().ok_or_else(full)?;
        let result = call(handle);
        // The user's function may not free a handle that is not its own; if it did, there is nothing left to do.
        drop(remove(handle));
        Ok(result)
    }
}

impl core::fmt::Debug for Datatype {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Datatype").field("name", &self.own_name).field("layout", &self.layout).finish_non_exhaustive()
    }
}

#[cold]
fn full() -> Fault {
    Fault::new(Class::NoMem).because("four million datatypes exist; free some with MPI_Type_free")
}

/// The datatype behind a handle.
#[inline(always)]
pub fn borrow(handle: usize) -> Option<&'static Datatype> {
    match handle {
        0x200..0x400 => PREDEFINED.get()?.get(handle - 0x200),
        _ => DYNAMIC.borrow(handle),
    }
}

/// MPI_BYTE.
///
/// # Panics
/// Before [`open`].
pub fn byte() -> &'static Datatype {
    borrow(583).expect("predefined datatypes are made before anything uses them")
}

/// Ends a handle of a derived datatype.
pub fn remove(handle: usize) -> Option<Arc<Datatype>> {
    let removed = DYNAMIC.remove(handle)?;
    removed.handle.store(0, Ordering::Relaxed);
    Some(removed)
}

/// Makes the predefined datatypes: once, before anything else of this layer.
pub fn open() {
    PREDEFINED.call_once(predefined::Set::new);
}
