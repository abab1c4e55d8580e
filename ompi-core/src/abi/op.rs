//! Reduction operations of the user. MPI 5.0 §6.9.5 and §6.9.7.

use super::kinds::{Callback, Op, Out, Raw};
use core::ffi::c_int;

rows! {
    /// Makes an operation from a function. MPI 5.0 §6.9.5.
    fn Op_create(user_fn: Callback, commute: Raw<c_int>, op: Out<usize>) [] => unsupported

    /// As MPI_Op_create for a function that takes a large count. MPI 5.0 §6.9.5.
    fn Op_create_c(user_fn: Callback, commute: Raw<c_int>, op: Out<usize>) [] => unsupported

    /// Frees an operation. MPI 5.0 §6.9.5.
    fn Op_free(op: Out<usize>) [] => unsupported

    /// Says whether an operation is commutative. MPI 5.0 §6.9.7.
    fn Op_commutative(op: Op, commute: Out<c_int>) [] => unsupported
}
