//! Reduction operations as MPI objects: predefined ones find a kernel, user-defined ones call back.
#![allow(unsafe_code)]

use crate::datatype::Datatype;
use crate::error::{Class, Fault, Result};
use crate::framework::op::{self, Kernel, Operation};
use crate::handle::HandleTable;
use crate::parameters::STRICT_REDUCTIONS;
use alloc::format;
use alloc::sync::Arc;
use core::ffi::{c_int, c_void};
use opal_core::datatype::{Primitive, Scalar};
use opal_core::inspect::Fact;

/// MPI_User_function.
pub type UserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut usize);
/// MPI_User_function_c.
pub type LargeUserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut usize);
/// A function of the safe Rust interface: what it captured, the input, what is changed, and the number of elements.
pub type Closure = unsafe extern "C" fn(*const c_void, *const u8, *mut u8, usize);

/// An operation.
// Known to debuggers, as that of `Kept` in `sequence.rs`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
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
    /// Of the safe Rust interface.
    Closure {
        /// The function.
        function: Closure,
        /// The address of what it captured, which lives as long as the operation is in use.
        captured: usize,
        /// `a op b = b op a`.
        commutative: bool,
    },
}

impl Op {
    /// Whether the order of operands is free. MPI_REPLACE takes the last one, so it is not.
    pub fn is_commutative(&self) -> bool {
        match self {
            Op::Predefined(operation) => !matches!(operation, Operation::Replace | Operation::NoOp),
            Op::User { commutative, .. } | Op::LargeUser { commutative, .. } | Op::Closure { commutative, .. } => {
                *commutative
            }
        }
    }

    /// Whether a reduction collective may apply it to this type: every rank asks before anything is sent.
    ///
    /// Predefined operations work on the predefined types of their row in MPI 5.0 §6.9.2 only, not on types derived
    /// from them; MPI_REPLACE and MPI_NO_OP belong to one-sided communication (§12.3.4). `Err(Op)` names both.
    pub fn check(&self, datatype: &Datatype) -> Result<()> {
        let Op::Predefined(operation) = self else {
            return Ok(());
        };
        if matches!(operation, Operation::Replace | Operation::NoOp) {
            return Err(refused(*operation, datatype, "is for MPI_Accumulate and its relatives only"));
        }
        if !datatype.is_predefined() {
            return Err(refused(*operation, datatype, "works on predefined types only; use MPI_Op_create for others"));
        }
        self.kernel(datatype).map(drop)
    }

    /// The kernel of a predefined operation for a type all of whose data is of one basic type, derived or not: what
    /// MPI_Accumulate needs. `Err(Op)` if there is none, or for an operation of the user.
    pub fn kernel(&self, datatype: &Datatype) -> Result<Kernel> {
        let Op::Predefined(operation) = self else {
            return Err(Fault::new(Class::Op)
                .argument("op")
                .because("an operation from MPI_Op_create cannot be used here"));
        };
        let primitive = datatype.layout.primitive();
        primitive
            .and_then(|primitive| op::kernel(*operation, reduced_as(primitive, datatype, *operation)?))
            .ok_or_else(|| refused(*operation, datatype, "is not defined for that type (MPI 5.0 section 6.9.2)"))
    }

    /// `inout[i] = input[i] op inout[i]` for `count` elements. No lock is held while a function of the user runs.
    ///
    /// # Safety
    /// `input` is readable and `inout` readable and writable for `count` elements of the type; neither overlaps the
    /// other.
    pub unsafe fn reduce(&self, input: *const u8, inout: *mut u8, count: usize, datatype: &Datatype) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        match *self {
            Op::Predefined(_) => {
                let kernel = self.kernel(datatype)?;
                // SAFETY: the caller's promise; the kernel is for this type's elements, which lie without gaps other
                // than their own padding because `check` admits predefined types only.
                unsafe { kernel(input, inout, inout, count) }
            }
            Op::User { function, .. } => datatype.with_handle(|handle| {
                // SAFETY: the caller's promise is what the user's function needs.
                unsafe { call_in_pieces(function, input, inout, count, datatype, handle) }
            })?,
            Op::LargeUser { function, .. } => datatype.with_handle(|handle| {
                let (mut count, mut handle) = (count as i64, handle);
                // SAFETY: as above; the function gets copies of count and handle of its own.
                unsafe { function(input.cast_mut().cast(), inout.cast(), &mut count, &mut handle) }
            })?,
            Op::Closure { function, captured, .. } => {
                let captured = core::ptr::with_exposed_provenance(captured);
                // SAFETY: as above; the function belongs to the type that the operation was made for.
                unsafe { function(captured, input, inout, count) }
            }
        }
        Ok(())
    }
}

/// Text is no number in the standard; programs reduce MPI_CHAR all the same, which Open MPI and MPICH take for a signed
/// integer. The bytes of MPI_PACKED are a format of the library's: `None`, while those of MPI_BYTE are bits.
#[inline]
fn reduced_as(primitive: Primitive, datatype: &Datatype, operation: Operation) -> Option<Primitive> {
    match primitive.scalar {
        Scalar::Character if !STRICT_REDUCTIONS.flag() => Some(Primitive::new(Scalar::Signed, primitive.bytes)),
        Scalar::Byte if datatype.predefined == PACKED => {
            matches!(operation, Operation::Replace | Operation::NoOp).then_some(primitive)
        }
        _ => Some(primitive),
    }
}

/// MPI_PACKED.
pub const PACKED: u32 = 0x207;

/// MPI_User_function counts in `int`: longer arrays come in pieces.
///
/// # Safety
/// That of [`Op::reduce`].
unsafe fn call_in_pieces(
    function: UserFunction,
    input: *const u8,
    inout: *mut u8,
    count: usize,
    datatype: &Datatype,
    handle: usize,
) {
    let mut done = 0;
    while done < count {
        let piece = (count - done).min(c_int::MAX as usize);
        let offset = done as isize * datatype.layout.extent();
        let (mut length, mut handle) = (piece as c_int, handle);
        let (from, to) = (input.wrapping_offset(offset).cast_mut(), inout.wrapping_offset(offset));
        // SAFETY: a part of the caller's arrays; count and handle are copies that the function may change.
        unsafe { function(from.cast(), to.cast(), &mut length, &mut handle) };
        done += piece;
    }
}

#[cold]
fn refused(operation: Operation, datatype: &Datatype, why: &str) -> Fault {
    let name = ROWS.iter().find(|(_, row, _)| *row == operation).map_or("", |(_, _, name)| *name);
    let kind = datatype.name();
    let kind = if kind.is_empty() { "a derived datatype" } else { &kind };
    Fault::new(Class::Op).argument("op").because(format!("{name} on {kind}: the operation {why}"))
}

static DYNAMIC: HandleTable<Op> = HandleTable::new();

/// What a debugger needs to know of operations.
pub(crate) static FACTS: [Fact; 1] = [Fact::address("op.table", &raw const DYNAMIC)];

/// The operation behind a handle of the standard ABI.
#[inline]
pub fn borrow(handle: usize) -> Option<&'static Op> {
    match handle {
        0..FIRST_DYNAMIC => PREDEFINED.get(handle.checked_sub(FIRST)?)?.as_ref(),
        _ => DYNAMIC.borrow(handle),
    }
}

/// As [`borrow`], for code that keeps the operation after the call, such as a nonblocking reduction.
pub fn get(handle: usize) -> Option<Op> {
    borrow(handle).copied()
}

/// Gives an operation of the user a handle (MPI_Op_create).
pub fn create(op: Op) -> Result<usize> {
    let full = || Fault::new(Class::NoMem).because("four million operations exist; free some with MPI_Op_free");
    DYNAMIC.insert(Arc::new(op)).ok_or_else(full)
}

/// Ends a handle (MPI_Op_free). `Err(Op)` for a predefined one or one that is not in force.
pub fn free(handle: usize) -> Result<()> {
    if handle < FIRST_DYNAMIC && borrow(handle).is_some() {
        return Err(Fault::new(Class::Op).argument("op").because("a predefined operation cannot be freed"));
    }
    match DYNAMIC.remove(handle) {
        Some(_) => Ok(()),
        None => Err(Fault::new(Class::Op)
            .argument("op")
            .because("it is not a valid operation handle; it was freed or never created")),
    }
}

/// MPI_OP_NULL.
pub const NULL: usize = 32;

/// MPI_SUM.
pub const SUM: usize = 33;

const FIRST: usize = 32;
const FIRST_DYNAMIC: usize = 0x400;

const ROWS: &[(usize, Operation, &str)] = &[
    (SUM, Operation::Sum, "MPI_SUM"),
    (34, Operation::Min, "MPI_MIN"),
    (35, Operation::Max, "MPI_MAX"),
    (36, Operation::Prod, "MPI_PROD"),
    (40, Operation::Band, "MPI_BAND"),
    (41, Operation::Bor, "MPI_BOR"),
    (42, Operation::Bxor, "MPI_BXOR"),
    (48, Operation::Land, "MPI_LAND"),
    (49, Operation::Lor, "MPI_LOR"),
    (50, Operation::Lxor, "MPI_LXOR"),
    (56, Operation::Minloc, "MPI_MINLOC"),
    (57, Operation::Maxloc, "MPI_MAXLOC"),
    (60, Operation::Replace, "MPI_REPLACE"),
    (61, Operation::NoOp, "MPI_NO_OP"),
];

static PREDEFINED: [Option<Op>; 32] = {
    let mut all = [None; 32];
    let mut row = 0;
    while row < ROWS.len() {
        all[ROWS[row].0 - FIRST] = Some(Op::Predefined(ROWS[row].1));
        row += 1;
    }
    all
};

#[cfg(test)]
#[allow(clippy::multiple_unsafe_ops_per_block)] // a function of a user
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn handles() {
        opal_core::sync::raise_threads();
        for handle in (0..0x400).chain([0x400, usize::MAX]) {
            let row = ROWS.iter().find(|(value, _, _)| *value == handle);
            match (borrow(handle), row) {
                (Some(Op::Predefined(found)), Some((_, operation, _))) => assert_eq!(found, operation),
                (None, None) => {}
                other => panic!("handle {handle}: {other:?}"),
            }
        }
        assert!(free(33).is_err() && free(NULL).is_err());
        let handle = create(Op::User { function: concatenate, commutative: false }).unwrap();
        assert!(!borrow(handle).unwrap().is_commutative());
        free(handle).unwrap();
        assert!(borrow(handle).is_none() && free(handle).is_err());
    }

    /// 2x2 matrices of i32, `inout = in * inout`: the product depends on the order.
    unsafe extern "C" fn concatenate(input: *mut c_void, inout: *mut c_void, count: *mut c_int, handle: *mut usize) {
        // SAFETY: the caller passes a valid handle and count.
        let (count, handle) = unsafe { (*count, *handle) };
        assert!(crate::datatype::borrow(handle).is_some(), "the function can use the handle");
        let (input, inout) = (input.cast::<[i32; 4]>(), inout.cast::<[i32; 4]>());
        for index in 0..count as usize {
            // SAFETY: `count` elements.
            let (a, b) = unsafe { (input.add(index).read(), inout.add(index).read()) };
            let c = [
                a[0] * b[0] + a[1] * b[2],
                a[0] * b[1] + a[1] * b[3],
                a[2] * b[0] + a[3] * b[2],
                a[2] * b[1] + a[3] * b[3],
            ];
            // SAFETY: `count` elements.
            unsafe { inout.add(index).write(c) };
        }
    }

    #[test]
    fn user_functions_get_operands_in_order_and_a_handle() {
        opal_core::sync::raise_threads();
        crate::datatype::open();
        let int = crate::datatype::borrow(521).unwrap();
        let layout = opal_core::datatype::Layout::contiguous(4, &int.layout).unwrap();
        let matrix = Datatype::derived(layout, crate::datatype::COMBINER_CONTIGUOUS);
        let (a, mut b) = (Vec::from([1i32, 2, 3, 4]), Vec::from([0i32, 1, 1, 0]));
        let op = Op::User { function: concatenate, commutative: false };
        op.check(&matrix).unwrap();
        // SAFETY: one matrix each.
        unsafe { op.reduce(a.as_ptr().cast(), b.as_mut_ptr().cast(), 1, &matrix) }.unwrap();
        assert_eq!(b, [2, 1, 4, 3]);
    }

    #[test]
    fn predefined_operations_refuse_derived_types() {
        crate::datatype::open();
        let int = crate::datatype::borrow(521).unwrap();
        let layout = opal_core::datatype::Layout::contiguous(2, &int.layout).unwrap();
        let pair = Datatype::derived(layout, crate::datatype::COMBINER_CONTIGUOUS);
        let fault = Op::Predefined(Operation::Sum).check(&pair).unwrap_err();
        assert_eq!(fault.get(), Class::Op as i32);
        assert!(fault.reason().contains("MPI_SUM"), "{}", fault.reason());
        let fault = Op::Predefined(Operation::Replace).check(int).unwrap_err();
        assert!(fault.reason().contains("MPI_REPLACE on MPI_INT"), "{}", fault.reason());
    }
}
