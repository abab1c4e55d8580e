//! Datatypes of structs: made once, for ever. `#[derive(Equivalence)]` calls them.

use super::{DatatypeRef, Equivalence};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::Counts;
use ompi_core::datatype::{self, Datatype, Number};
use ompi_core::error::Result;
use opal_core::sync::Once;

/// The datatype of one struct. Of no use to programs.
#[doc(hidden)]
pub struct Lasting(Once<&'static Datatype>);

/// A field of a struct. Of no use to programs.
#[doc(hidden)]
pub struct Field {
    offset: usize,
    count: usize,
    datatype: Arc<Datatype>,
}

impl Field {
    /// One of this type.
    pub fn of<T: Equivalence>(offset: usize) -> Field {
        Field { offset, count: T::COUNT, datatype: shared(T::equivalent_datatype()) }
    }
}

/// The fields of a struct. Of no use to programs.
#[doc(hidden)]
pub fn fields<const N: usize>(fields: [Field; N]) -> Vec<Field> {
    fields.into()
}

/// Whether fields of these sizes leave no padding in a struct. Of no use to programs.
#[doc(hidden)]
pub const fn is_dense(size: usize, fields: &[(usize, bool)]) -> bool {
    let (mut sum, mut dense, mut place) = (0, true, 0);
    while place < fields.len() {
        sum += fields[place].0;
        dense &= fields[place].1;
        place += 1;
    }
    dense && sum == size
}

impl Lasting {
    /// Not made yet.
    #[allow(clippy::new_without_default)] // only the macro makes one
    pub const fn new() -> Lasting {
        Lasting(Once::new())
    }

    /// The datatype of the struct with this name, size and fields.
    ///
    /// # Panics
    /// If memory is exhausted.
    #[inline]
    pub fn get(&self, name: &str, size: usize, fields: impl FnOnce() -> Vec<Field>) -> DatatypeRef<'static> {
        match self.0.get() {
            Some(datatype) => DatatypeRef(datatype),
            None => {
                DatatypeRef(self.0.call_once(|| make(name, size, &fields()).expect("a struct is no large datatype")))
            }
        }
    }
}

#[cold]
fn make(name: &str, size: usize, fields: &[Field]) -> Result<&'static Datatype> {
    let counts: Vec<i64> = fields.iter().map(|field| field.count as i64).collect();
    let offsets: Vec<i64> = fields.iter().map(|field| field.offset as i64).collect();
    let types: Vec<Arc<Datatype>> = fields.iter().map(|field| field.datatype.clone()).collect();
    let count = Number::Large(fields.len() as i64);
    let parts = datatype::structure(count, Counts::Large(&counts), Counts::Large(&offsets), &types)?;
    let whole = datatype::resized(0, size as i64, true, &Arc::new(parts))?;
    whole.set_name(name.into());
    whole.commit();
    let handle = datatype::register(Arc::new(whole))?;
    Ok(datatype::borrow(handle).expect("it was just registered"))
}

/// A reference of one's own to a datatype that has a handle.
pub(crate) fn shared(datatype: DatatypeRef<'_>) -> Arc<Datatype> {
    let predefined = datatype::get(datatype.0.predefined as usize);
    predefined.or_else(|| datatype::keep(datatype.0)).expect("datatypes of types have handles")
}
