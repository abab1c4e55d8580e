//! Datatypes as MPI objects: the handles, and the functions that take them. MPI 5.0 §5.

use crate::attr;
use crate::error::{Class, Fault, Result};
use crate::handle::{Fixed, HandleTable};
use alloc::sync::Arc;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicU8, Once, Ordering};

mod array;
mod combiner;
mod construct;
mod fortran;
mod marker;
mod object;
mod predefined;
#[cfg(test)]
mod tests;

pub use array::{Distribution, Order, darray, subarray};
pub use combiner::{COMBINER_CONTIGUOUS, COMBINER_NAMED, Combiner};
pub use construct::{
    Number, contiguous, dup, hindexed, hindexed_block, hvector, indexed, indexed_block, resized, structure, vector,
};
pub use fortran::{Typeclass, f90_complex, f90_integer, f90_real, match_size, value_index};
pub use marker::member;
pub use object::{Contents, Datatype};

/// MPI_DATATYPE_NULL.
pub const NULL: usize = 0x200;
/// MPI_BYTE.
pub const BYTE: usize = 583;
/// MPI_UINT64_T, in which the library's own words travel.
pub const UINT64: usize = 601;
static DYNAMIC: HandleTable<Datatype> = HandleTable::new();
pub(crate) static FACTS: [Fact; 7] = object::facts(&raw const DYNAMIC, &raw const BORROWED);
static PREDEFINED: Once<predefined::Set> = Once::new();
// The same for code that only looks at one during a call: one load.
static BORROWED: Fixed<Datatype, 0x200> = Fixed::new();
// By handle.
static UNITS: [AtomicU8; 0x400] = [const { AtomicU8::new(0) }; 0x400];

impl Datatype {
    /// Gives it a handle; `None` if there are four million datatypes.
    pub fn into_handle(self) -> Option<usize> {
        register(Arc::new(self)).ok()
    }

    /// Calls back with a handle that the user's code can use for this type: its own, or one for the time of the call
    /// if the user freed it while an operation was pending.
    pub fn with_handle<R>(&self, call: impl FnOnce(usize) -> R) -> Result<R> {
        let handle = self.handle.load(Ordering::Relaxed);
        if handle != 0 {
            return Ok(call(handle));
        }
        let again = Datatype::made(self.layout.clone(), self.combiner, self.contents.clone());
        again.commit();
        let handle = register(Arc::new(again))?;
        let result = call(handle);
        // The user's function may not free a handle that is not its own; if it did, there is nothing left to do.
        drop(remove(handle));
        Ok(result)
    }
}

/// Bytes of one element, if the handle is that of a predefined datatype whose elements lie in one run; 0 for all others.
#[inline(always)]
pub fn unit(handle: usize) -> usize {
    UNITS.get(handle).map_or(0, |unit| usize::from(unit.load(Ordering::Relaxed)))
}

/// The datatype behind a handle.
#[inline(always)]
pub fn borrow(handle: usize) -> Option<&'static Datatype> {
    match handle {
        0x200..0x400 => BORROWED.get(handle - 0x200),
        _ => DYNAMIC.borrow(handle),
    }
}

/// A counted reference to the datatype behind a handle, for code that keeps it beyond the call.
pub fn get(handle: usize) -> Option<Arc<Datatype>> {
    match handle {
        0x200..0x400 => PREDEFINED.get()?.get(handle - 0x200).cloned(),
        _ => DYNAMIC.get(handle),
    }
}

/// A reference of one's own to a datatype that has a handle in force. `None` for predefined types, which never end, and
/// for those without a handle.
pub fn keep(datatype: &Datatype) -> Option<Arc<Datatype>> {
    if datatype.is_predefined() {
        return None;
    }
    let same = |found: &Arc<Datatype>| core::ptr::eq(&**found, datatype);
    // The handle that it remembers may have been freed while another one is in force.
    get(datatype.handle.load(Ordering::Relaxed))
        .filter(same)
        .or_else(|| get(DYNAMIC.search(|found| core::ptr::eq(found, datatype))?.0))
}

/// A handle for a datatype: the standard's for a predefined one, else a new one, which is independent of others that it
/// has (MPI_Type_get_contents returns such).
pub fn register(datatype: Arc<Datatype>) -> Result<usize> {
    if datatype.is_predefined() {
        let handle = datatype.handle.load(Ordering::Relaxed);
        if handle != 0 {
            return Ok(handle);
        }
    }
    let full = || Fault::new(Class::NoMem).because("four million datatypes exist; free some with MPI_Type_free");
    let handle = DYNAMIC.insert(datatype.clone()).ok_or_else(full)?;
    datatype.handle.store(handle, Ordering::Relaxed);
    Ok(handle)
}

/// MPI_BYTE.
///
/// # Panics
/// Before [`open`].
pub fn byte() -> &'static Datatype {
    borrow(BYTE).expect("predefined datatypes are made before anything uses them")
}

/// MPI_Type_dup: a copy under its own handle, with the attributes that their callbacks copy.
pub fn duplicate(handle: usize, old: &Arc<Datatype>) -> Result<usize> {
    let copy = register(Arc::new(dup(old)))?;
    if let Err(fault) = attr::copy_all(attr::KeyvalKind::Type, handle, copy) {
        // The first fault is the one to report.
        let _second = free(copy);
        return Err(fault);
    }
    Ok(copy)
}

/// MPI_Type_free. `Err(Type)` for predefined types, named or not, and for what is no handle.
pub fn free(handle: usize) -> Result<()> {
    let fault = |why| Err(Fault::new(Class::Type).argument("datatype").because(why));
    match borrow(handle) {
        None => fault("it is not a valid datatype handle; it was freed or never created"),
        Some(datatype) if datatype.is_predefined() => fault("a predefined datatype cannot be freed"),
        Some(_) => {
            // The callbacks of its attributes may still use it.
            attr::delete_all(attr::KeyvalKind::Type, handle)?;
            match remove(handle) {
                Some(_) => Ok(()),
                None => fault("it is not a valid datatype handle; it was freed or never created"),
            }
        }
    }
}

/// Ends a handle of a derived datatype.
pub fn remove(handle: usize) -> Option<Arc<Datatype>> {
    let removed = DYNAMIC.remove(handle)?;
    // Only if it is the one that is remembered; another may still be in force.
    if removed.handle.load(Ordering::Relaxed) == handle {
        removed.handle.store(0, Ordering::Relaxed);
    }
    Some(removed)
}

/// Makes the predefined datatypes: once, before anything else of this layer.
pub fn open() {
    let set = PREDEFINED.call_once(predefined::Set::new);
    for index in 0..0x200 {
        if let Some(datatype) = set.get(index) {
            let dense = datatype.is_committed() && datatype.layout.run_of(2) == Some(0);
            let unit = if dense { u8::try_from(datatype.layout.size()).unwrap_or(0) } else { 0 };
            UNITS[0x200 + index].store(unit, Ordering::Relaxed);
            BORROWED.set(index, datatype);
        }
    }
}
