//! Values with an index, for the reductions that find where the least or the greatest is. MPI 5.0 §6.9.4.
#![allow(unsafe_code)] // promises about the bytes of types

use super::{DatatypeRef, Equivalence};
use ompi_core::datatype;

/// A value and where it was found: for [`SystemOperation::min_location`](crate::SystemOperation::min_location) and
/// [`max_location`](crate::SystemOperation::max_location), which take the lower index of equal values.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{SystemOperation, datatype::ValueIndex, traits::*};
///
/// let world = universe.world();
/// let mine = ValueIndex { value: 0.5, index: world.rank() };
/// let mut least = mine;
/// world.all_reduce_into(&mine, &mut least, SystemOperation::min_location())?;
/// assert_eq!(least, ValueIndex { value: 0.5, index: 0 });
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(C)]
pub struct ValueIndex<T> {
    /// What is compared.
    pub value: T,
    /// Mostly a rank.
    pub index: i32,
}

macro_rules! located {
    ($($value:ty = $handle:literal),*) => {$(
        // SAFETY: the standard's C struct of the same two fields; numbers, for which any bytes are a value.
        unsafe impl Equivalence for ValueIndex<$value> {
            const IS_DENSE: bool = size_of::<ValueIndex<$value>>() == size_of::<$value>() + size_of::<i32>();

            #[inline]
            fn equivalent_datatype() -> DatatypeRef<'static> {
                DatatypeRef(datatype::borrow($handle).expect("predefined datatypes exist once MPI was started"))
            }
        }
    )*};
}

located! { f32 = 552, f64 = 553, i64 = 554, i32 = 555, i16 = 556 }
