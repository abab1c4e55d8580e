//! Rust types that MPI knows.
#![allow(unsafe_code)] // the promise about a type's bytes

use ompi_core::datatype::{self, Datatype};
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;

/// A type whose values are sent as one element of an MPI datatype.
///
/// # Safety
/// Every pattern of `size_of::<Self>()` bytes is a value, there is no padding, and [`Equivalence::HANDLE`] is the
/// predefined datatype with just that layout.
pub unsafe trait Equivalence: Copy + 'static {
    /// Handle of the predefined datatype in the standard ABI.
    const HANDLE: usize;

    /// The datatype.
    fn datatype() -> &'static Datatype {
        datatype::borrow(Self::HANDLE).expect("predefined datatypes exist from MPI_Init on")
    }
}

macro_rules! equivalent {
    ($($rust:ty = $handle:literal),*) => {
        // SAFETY: plain numbers without padding; the handles are those of the fixed-size types of the standard ABI.
        $(unsafe impl Equivalence for $rust { const HANDLE: usize = $handle; })*
    };
}

equivalent! {
    i8 = 576, u8 = 577, i16 = 584, u16 = 585, i32 = 592, u32 = 593, i64 = 600, u64 = 601,
    isize = 600, usize = 601, f32 = 528, f64 = 532
}

/// A predefined reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemOperation(Operation);

impl SystemOperation {
    /// MPI_SUM.
    pub const fn sum() -> SystemOperation {
        SystemOperation(Operation::Sum)
    }

    /// MPI_PROD.
    pub const fn product() -> SystemOperation {
        SystemOperation(Operation::Prod)
    }

    /// MPI_MAX.
    pub const fn max() -> SystemOperation {
        SystemOperation(Operation::Max)
    }

    /// MPI_MIN.
    pub const fn min() -> SystemOperation {
        SystemOperation(Operation::Min)
    }

    /// MPI_LAND.
    pub const fn logical_and() -> SystemOperation {
        SystemOperation(Operation::Land)
    }

    /// MPI_LOR.
    pub const fn logical_or() -> SystemOperation {
        SystemOperation(Operation::Lor)
    }

    pub(crate) fn op(self) -> Op {
        Op::Predefined(self.0)
    }
}
