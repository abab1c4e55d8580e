//! Operations of reductions.

use ompi_core::datatype::Datatype;
use ompi_core::error::Result;
use ompi_core::framework::op;
use ompi_core::op::Op;

/// What a reduction combines with: a [`SystemOperation`], or a reference to a [`UserOperation`](super::UserOperation).
pub trait Operation: sealed::Combines {}

pub(super) mod sealed {
    use super::{Datatype, Op, Result};

    /// Of no use to programs.
    pub trait Combines {
        /// As the library knows it, for this datatype; `Err(Op)` if it is for another one.
        fn op(&self, datatype: &Datatype) -> Result<Op>;
    }
}

/// An operation of the standard, on the types that MPI 5.0 §6.9.2 names for it: others are `Err(Op)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemOperation(op::Operation);

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $operation:ident;)*) => {
        impl SystemOperation {
            $($(#[$doc])*
            pub const fn $name() -> SystemOperation {
                SystemOperation(op::Operation::$operation)
            })*
        }
    };
}

operations! {
    /// MPI_SUM.
    sum = Sum;
    /// MPI_PROD.
    product = Prod;
    /// MPI_MAX.
    max = Max;
    /// MPI_MIN.
    min = Min;
    /// MPI_LAND.
    logical_and = Land;
    /// MPI_LOR.
    logical_or = Lor;
    /// MPI_LXOR.
    logical_xor = Lxor;
    /// MPI_BAND.
    bitwise_and = Band;
    /// MPI_BOR.
    bitwise_or = Bor;
    /// MPI_BXOR.
    bitwise_xor = Bxor;
    /// MPI_MINLOC, for [`ValueIndex`](crate::datatype::ValueIndex).
    min_location = Minloc;
    /// MPI_MAXLOC.
    max_location = Maxloc;
}

impl sealed::Combines for SystemOperation {
    // The library looks at the datatype, on every rank.
    #[inline]
    fn op(&self, _datatype: &Datatype) -> Result<Op> {
        Ok(Op::Predefined(self.0))
    }
}

impl Operation for SystemOperation {}
