//! Reduction operations of the user. MPI 5.0 §6.9.5 and §6.9.7.

use super::kinds::{Callback, Op, Out, Raw};
use crate::error::{Class, Fault};
use crate::op::{self, LargeUserFunction, Op as Operation, UserFunction};
use core::ffi::{c_int, c_void};

rows! {
    /// Makes an operation from a function. MPI 5.0 §6.9.5.
    fn Op_create(user_fn: Callback, commute: Raw<c_int>, op: Out<usize>) [] => {
        if user_fn.is_null() {
            return Err(Fault::new(Class::Arg).argument("user_fn").because("a null pointer is not a function"));
        }
        // SAFETY: not null, so a function of this type by the standard.
        let function = unsafe { core::mem::transmute::<*const c_void, UserFunction>(user_fn) };
        op.set(op::create(Operation::User { function, commutative: commute != 0 })?);
        Ok(())
    }

    /// As MPI_Op_create for a function that takes a large count. MPI 5.0 §6.9.5.
    fn Op_create_c(user_fn: Callback, commute: Raw<c_int>, op: Out<usize>) [] => {
        if user_fn.is_null() {
            return Err(Fault::new(Class::Arg).argument("user_fn").because("a null pointer is not a function"));
        }
        // SAFETY: not null, so a function of this type by the standard.
        let function = unsafe { core::mem::transmute::<*const c_void, LargeUserFunction>(user_fn) };
        op.set(op::create(Operation::LargeUser { function, commutative: commute != 0 })?);
        Ok(())
    }

    /// Frees an operation. MPI 5.0 §6.9.5.
    fn Op_free(op: Out<usize>) [] => {
        op::free(op.get())?;
        op.set(op::NULL);
        Ok(())
    }

    /// Says whether an operation is commutative. MPI 5.0 §6.9.7.
    fn Op_commutative(op: Op, commute: Out<c_int>) [] => {
        commute.set(c_int::from(op.is_commutative()));
        Ok(())
    }
}
