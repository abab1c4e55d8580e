//! Which routine a Fortran program has called, if libmpi_abi_fortran stands between it and the C function that fails.

/// How Fortran writes the routine that called this C function just now; `None` if C did, or nobody can tell.
#[cfg(all(target_arch = "x86_64", not(ompi_bare)))]
pub fn routine(function: &str) -> Option<&'static str> {
    let at: *const ();
    // SAFETY: loads an address that the linker made: 0 where libmpi_abi_fortran is no part of the program.
    unsafe {
        core::arch::asm!(
            ".weak ompi_fortran_routine",
            "mov {at}, qword ptr [rip + ompi_fortran_routine@GOTPCREL]",
            at = out(reg) at,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    if at.is_null() {
        return None;
    }
    // SAFETY: the function of this name in libmpi_abi_fortran, `ompi-core/fortran/src/caller.rs`.
    let asked = unsafe { core::mem::transmute::<*const (), extern "C" fn(*const u8, usize) -> Text>(at) };
    let Text { at, length } = asked(function.as_ptr(), function.len());
    // SAFETY: a text of that library's, which stays as long as the program.
    let binding = unsafe { core::slice::from_raw_parts(at, length) };
    core::str::from_utf8(binding).ok().filter(|binding| !binding.is_empty())
}

/// There is no such library.
#[cfg(not(all(target_arch = "x86_64", not(ompi_bare))))]
pub fn routine(_function: &str) -> Option<&'static str> {
    None
}

#[cfg(all(target_arch = "x86_64", not(ompi_bare)))]
#[repr(C)]
struct Text {
    at: *const u8,
    length: usize,
}
