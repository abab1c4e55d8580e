//! `mpifort`, `mpif90` and `mpif77`: the Fortran compiler, for what does not call MPI.
//!
//! These names exist so that those of another MPI are not found in their place. configure scripts take the first one that is there
//! for their Fortran compiler, try whether it makes programs, and give up otherwise, be MPI used from C alone.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Whether a wrapper of this name is for Fortran.
pub fn is_called(name: &str) -> bool {
    ["mpifort", "mpif77", "mpif90"].contains(&name)
}

/// Calls the compiler, and says what is missing when that fails.
pub fn compile(name: &str, arguments: &[OsString]) -> ExitCode {
    let asks_for_flags = |argument: &OsString| {
        let text = argument.to_string_lossy();
        ["-show", "--show", "-compile_info", "-compile-info", "-link_info", "-link-info"]
            .iter()
            .any(|ours| text.starts_with(ours))
    };
    // There are no flags that would make a program of MPI.
    let status = match arguments.iter().any(asks_for_flags) {
        true => None,
        false => Command::new(compiler()).args(arguments).status().ok(),
    };
    if status.is_some_and(|status| status.success()) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{name}: this version of ompi-rs has no Fortran interface (mpif.h, use mpi, use mpi_f08) yet; only programs that do not call MPI \
         compile"
    );
    ExitCode::from(status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// From what users of Open MPI and of MPICH set, or GNU's.
fn compiler() -> String {
    let set =
        ["OMPI_FC", "MPICH_FC"].iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty());
    set.unwrap_or_else(|| "gfortran".to_owned())
}
