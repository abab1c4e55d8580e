//! Reduction operations as MPI objects: predefined ones find a kernel, user-defined ones call back.
#![allow(unsafe_code)]

use crate::datatype::Datatype;
use crate::error::Result;
use crate::framework::op::Operation;
use core::ffi::{c_int, c_void};

/// MPI_User_function.
pub type UserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut usize);
/// MPI_User_function_c.
pub type LargeUserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut usize);

/// An operation.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// One of the standard's.
    Predefined(Operation),
    /// From MPI_Op_create.
    User {
        /// The function.
        function: UserFunction,
        /// `a op b = b op a`.
        commutative: bool,
    },
    /// From MPI_Op_create_c.
    LargeUser {
        /// The function.
        function: LargeUserFunction,
        /// `a op b = b op a`.
        commutative: bool,
    },
}

impl Op {
    /// Whether the order of operands is free.
    pub fn is_commutative(&self) -> bool {
        match self {
            Op::Predefined(_) => true,
            Op::User { commutative, .. } | Op::LargeUser { commutative, .. } => *commutative,
        }
    }
}

/// The signature of what applies an operation; see `Op::reduce` of the op chapter.
pub type Reduce = unsafe fn(op: &Op, input: *const u8, inout: *mut u8, count: usize, datatype: &Datatype) -> Result<()>;

/// The operation behind a handle.
pub fn get(handle: usize) -> Option<Op> {
    let predefined = match handle {
        33 => Operation::Sum,
        34 => Operation::Min,
        35 => Operation::Max,
        36 => Operation::Prod,
        40 => Operation::Band,
        41 => Operation::Bor,
        42 => Operation::Bxor,
        48 => Operation::Land,
        49 => Operation::Lor,
        50 => Operation::Lxor,
        56 => Operation::Minloc,
        57 => Operation::Maxloc,
        60 => Operation::Replace,
        61 => Operation::NoOp,
        _ => return None,
    };
    Some(Op::Predefined(predefined))
}
