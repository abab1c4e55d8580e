//! Rust types that MPI knows.
#![allow(unsafe_code)] // promises about the bytes of types

use super::DatatypeRef;
use ompi_core::datatype;

/// A type whose values can be sent and received.
///
/// Numbers are, arrays of what is, and structs of what is with `#[derive(Equivalence)]`. `bool`, `char` and enumerations are not: whatever a peer sends must be a value, and
/// most bytes are none of theirs. Send the number behind them.
///
/// # Safety
/// * Every pattern of bytes in the places that the datatype names is a value, and so is zero everywhere.
/// * A value is [`COUNT`](Self::COUNT) elements of [`equivalent_datatype`](Self::equivalent_datatype), one after the
///   other from the value's address on, in its `size_of::<Self>()` bytes, and these are their extents' sum.
/// * The datatype names initialised bytes only.
/// * It is committed, the same each time, and never freed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent or received",
    note = "numbers can, arrays of what can, and structs with `#[derive(Equivalence)]`"
)]
pub unsafe trait Equivalence: Copy + 'static {
    /// How many elements of the datatype one value is.
    const COUNT: usize = 1;

    /// Whether the datatype names each byte of a value: there is no padding.
    const IS_DENSE: bool;

    /// The datatype. MPI must have been started.
    fn equivalent_datatype() -> DatatypeRef<'static>;
}

macro_rules! equivalent {
    ($($rust:ty = $handle:literal),*) => {$(
        // SAFETY: plain numbers without padding; the handles are those of the fixed-size types of the standard ABI.
        unsafe impl Equivalence for $rust {
            const IS_DENSE: bool = true;

            #[inline(always)]
            fn equivalent_datatype() -> DatatypeRef<'static> {
                DatatypeRef(datatype::borrow($handle).expect(STARTED))
            }
        }
    )*};
}

const STARTED: &str = "predefined datatypes exist once MPI was started";

// By size where Rust fixes it; floats by C's names, which all ABIs know as the same.
equivalent! {
    i8 = 576, u8 = 577, i16 = 584, u16 = 585, i32 = 592, u32 = 593, i64 = 600, u64 = 601,
    f32 = 528, f64 = 532
}

#[cfg(target_pointer_width = "64")]
equivalent! { isize = 600, usize = 601 }

/// As many elements as all of its values are: a reduction works on arrays, too.
// SAFETY: an array is its elements, one after the other, without gaps between them.
unsafe impl<T: Equivalence, const N: usize> Equivalence for [T; N] {
    const COUNT: usize = N * T::COUNT;
    const IS_DENSE: bool = T::IS_DENSE;

    #[inline(always)]
    fn equivalent_datatype() -> DatatypeRef<'static> {
        T::equivalent_datatype()
    }
}
