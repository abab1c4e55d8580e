//! Which routine a Fortran program has called, if libmpi_abi_fortran stands between it and the C function that fails.

/// What a Fortran program has called; empty texts where there is none.
pub struct Caller {
    /// How Fortran writes the routine that called the C function just now; empty if C did, or nobody can tell.
    pub routine: &'static str,
    /// What the routine refuses itself, where it calls an error handler for that.
    pub argument: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Caller {
    const NONE: Caller = Caller { routine: "", argument: "", reason: "" };
}

/// What led to this C function.
#[cfg(all(target_arch = "x86_64", not(ompi_bare)))]
pub fn caller(function: &str) -> Caller {
    let at: *const ();
    // SAFETY: loads an address that the linker made: 0 where libmpi_abi_fortran is no part of the program.
    unsafe {
        core::arch::asm!(
            ".weak ompi_fortran_call",
            "mov {at}, qword ptr [rip + ompi_fortran_call@GOTPCREL]",
            at = out(reg) at,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    if at.is_null() {
        return Caller::NONE;
    }
    // SAFETY: the function of this name in libmpi_abi_fortran, `ompi-core/fortran/src/caller.rs`.
    let ask = unsafe { core::mem::transmute::<*const (), extern "C" fn(*const u8, usize, *mut [Text; 3])>(at) };
    let mut texts = [const { Text { at: core::ptr::null(), length: 0 } }; 3];
    ask(function.as_ptr(), function.len(), &raw mut texts);
    let [routine, argument, reason] = texts.map(Text::read);
    Caller { routine, argument, reason }
}

/// There is no such library.
#[cfg(not(all(target_arch = "x86_64", not(ompi_bare))))]
pub fn caller(_function: &str) -> Caller {
    Caller::NONE
}

#[cfg(all(target_arch = "x86_64", not(ompi_bare)))]
#[repr(C)]
struct Text {
    at: *const u8,
    length: usize,
}

#[cfg(all(target_arch = "x86_64", not(ompi_bare)))]
impl Text {
    fn read(self) -> &'static str {
        if self.at.is_null() {
            return "";
        }
        // SAFETY: a text of that library's, which stays as long as the program.
        let bytes = unsafe { core::slice::from_raw_parts(self.at, self.length) };
        core::str::from_utf8(bytes).unwrap_or("")
    }
}
