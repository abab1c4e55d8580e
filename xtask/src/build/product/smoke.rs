// Linked by `cargo xtask build` with rustc: the library must not meet the Rust runtime of the program.
use std::ffi::c_int;

unsafe extern "C" {
    fn PMPI_Get_version(version: *mut c_int, subversion: *mut c_int) -> c_int;
}

fn main() {
    let (mut version, mut subversion) = (0, 0);
    // SAFETY: both pointers are valid for the call, which is allowed before MPI_Init.
    let code = unsafe { PMPI_Get_version(&mut version, &mut subversion) };
    assert_eq!(code, 0);
    println!("MPI {version}.{subversion}");
}
