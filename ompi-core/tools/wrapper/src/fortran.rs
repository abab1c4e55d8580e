//! `mpifort`, `mpif90` and `mpif77` where they are not like the others: a library without Fortran.
//!
//! The names are there in any case, so that those of another MPI are not found in their place. configure scripts take the first one
//! that is there for their Fortran compiler, try whether it makes programs, and give up otherwise, be MPI used from C alone.

use crate::language::Language;
use std::ffi::OsString;
use std::process::Command;

/// Calls the compiler for what does not call MPI, and says what is missing when that fails.
pub fn compile(arguments: &[OsString]) -> Result<(), (u8, String)> {
    let asks_for_flags = |argument: &OsString| {
        let text = argument.to_string_lossy();
        ["-show", "--show", "-compile_info", "-compile-info", "-link_info", "-link-info"]
            .iter()
            .any(|ours| text.starts_with(ours))
    };
    let compiler = Language::Fortran.compiler(None, None).map_err(|text| (2, text))?;
    // There are no flags that would make a program of MPI.
    let status = match arguments.iter().any(asks_for_flags) {
        true => None,
        false => Command::new(&compiler[0]).args(&compiler[1..]).args(arguments).status().ok(),
    };
    match status {
        Some(status) if status.success() => Ok(()),
        status => {
            let code = status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
            Err((code, WITHOUT.to_owned()))
        }
    }
}

const WITHOUT: &str = "this library was built without Fortran (mpif.h, use mpi, use mpi_f08), so only programs that do not call MPI compile; \
                       install gfortran (apt-get install gfortran) and run `cargo xtask build` again";
