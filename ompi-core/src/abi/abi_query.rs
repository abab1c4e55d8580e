//! What this library's binary interface is. MPI 5.0 §20.

use super::kinds::{Hints, Out, Raw, array_mut};
use crate::error::{Class, Fault, Result};
use crate::info::Info;
use alloc::format;
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
    fn Abi_get_fortran_info(info: Out<usize>) [always] => {
        info.set(fortran().into_handle()?);
        Ok(())
    }

    /// Tells the library about the Fortran compiler. MPI 5.0 §20.4.
    fn Abi_set_fortran_info(info: Hints) [always] => {
        drop(info);
        Err(known())
    }

    /// The bits of Fortran's .TRUE. and .FALSE. MPI 5.0 §20.4.
    fn Abi_get_fortran_booleans(
        logical_size: Raw<c_int>, logical_true: Raw<*mut c_void>, logical_false: Raw<*mut c_void>,
        is_set: Out<c_int>,
    ) [always] => {
        let size = logical(logical_size)?;
        // gfortran's values: 0 and 1 in as many bytes.
        for (place, value, argument) in [(logical_true, 1u8, "logical_true"), (logical_false, 0, "logical_false")] {
            // SAFETY: a LOGICAL of this size by the standard.
            let bytes = unsafe { array_mut(place.cast::<u8>(), size, argument)? };
            bytes.fill(0);
            bytes[0] = value;
        }
        is_set.set(1);
        Ok(())
    }

    /// Tells the library the bits of Fortran's .TRUE. and .FALSE. MPI 5.0 §20.4.
    fn Abi_set_fortran_booleans(
        logical_size: Raw<c_int>, logical_true: Raw<*mut c_void>, logical_false: Raw<*mut c_void>,
    ) [always] => {
        let _unused = (logical_true, logical_false);
        logical(logical_size)?;
        Err(known())
    }
}

/// The predefined Fortran datatypes are gfortran's, so their sizes are known and stay.
fn fortran() -> Info {
    let info = Info::of([
        ("mpi_logical_size", "4"),
        ("mpi_integer_size", "4"),
        ("mpi_real_size", "4"),
        ("mpi_double_precision_size", "8"),
        ("mpi_double_complex_supported", "true"),
    ]);
    let sized: [(&str, &[u32]); 4] = [
        ("logical", &[1, 2, 4, 8, 16]),
        ("integer", &[1, 2, 4, 8, 16]),
        ("real", &[2, 4, 8, 16]),
        ("complex", &[4, 8, 16, 32]),
    ];
    for (kind, sizes) in sized {
        sizes.iter().for_each(|size| info.set(&format!("mpi_{kind}{size}_supported"), "true"));
    }
    info
}

fn known() -> Fault {
    Fault::new(Class::Abi).because("the Fortran values are set already; MPI_Abi_get_fortran_info returns them")
}

fn logical(size: c_int) -> Result<usize> {
    match size {
        1 | 2 | 4 | 8 | 16 => Ok(size as usize),
        _ => {
            Err(Fault::new(Class::Arg).argument("logical_size").because(format!("a LOGICAL cannot have {size} bytes")))
        }
    }
}
