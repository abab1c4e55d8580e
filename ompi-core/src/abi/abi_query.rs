//! What this library's binary interface is. MPI 5.0 §20.

use super::kinds::{Hints, Out, Raw};
use crate::info::Info;
use core::ffi::{c_int, c_void};

rows! {
    /// Version of the standard's binary interface. MPI 5.0 §20.2.
    fn Abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) [always] => {
        abi_major.set(1);
        abi_minor.set(0);
        Ok(())
    }

    /// Properties of this library's binary interface. MPI 5.0 §20.2.
    fn Abi_get_info(info: Out<usize>) [always] => {
        let sizes = [("mpi_aint_size", "8"), ("mpi_count_size", "8"), ("mpi_offset_size", "8")];
        info.set(Info::of(sizes).into_handle()?);
        Ok(())
    }

    /// What this library knows of the Fortran compiler. MPI 5.0 §20.4.
    fn Abi_get_fortran_info(info: Out<usize>) [always] => unsupported

    /// Tells the library about the Fortran compiler. MPI 5.0 §20.4.
    fn Abi_set_fortran_info(info: Hints) [always] => unsupported

    /// The bits of Fortran's .TRUE. and .FALSE. MPI 5.0 §20.4.
    fn Abi_get_fortran_booleans(
        logical_size: Raw<c_int>, logical_true: Raw<*mut c_void>, logical_false: Raw<*mut c_void>,
        is_set: Out<c_int>,
    ) [always] => unsupported

    /// Tells the library the bits of Fortran's .TRUE. and .FALSE. MPI 5.0 §20.4.
    fn Abi_set_fortran_booleans(
        logical_size: Raw<c_int>, logical_true: Raw<*mut c_void>, logical_false: Raw<*mut c_void>,
    ) [always] => unsupported
}
