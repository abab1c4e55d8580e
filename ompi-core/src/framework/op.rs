//! Reduction operations: kernels that combine two arrays of one basic type.
#![allow(unsafe_code)] // linkme's expansion

use opal_core::datatype::Primitive;
use opal_core::mca;

/// The predefined operations of MPI 5.0 §6.9.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the standard's names
pub enum Operation {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    NoOp,
}

/// `inout[i] = in[i] op inout[i]` for `count` elements.
pub type Kernel = unsafe fn(input: *const u8, inout: *mut u8, count: usize);

/// A source of kernels.
pub trait Component: mca::Component {
    /// Priority after `open`, which may look at CPUID.
    fn query(&self) -> core::result::Result<i32, mca::Declined>;

    /// The kernel for an operation on a basic type, if there is one.
    fn kernel(&self, operation: Operation, primitive: Primitive) -> Option<Kernel>;
}

opal_core::framework! {
    /// Kernels of the predefined reduction operations.
    "op", Ompi, version 1, ManyOfMany, OMPI_OPS: dyn Component
}
