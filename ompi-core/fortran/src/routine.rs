//! A routine of this library, for the messages of libmpi_abi.

/// A routine of this library.
pub struct Routine {
    /// The function.
    pub at: *const (),
    /// How the standard writes it.
    pub binding: &'static str,
}

// SAFETY: the address is that of a function, which nobody changes.
unsafe impl Sync for Routine {}

impl Routine {
    /// The function, and how the standard writes it.
    pub const fn new(at: *const (), binding: &'static str) -> Routine {
        Routine { at, binding }
    }

    /// Whether it is that of this function of C. Fortran calls the large twin by the same name.
    pub fn is_of(&self, function: &[u8]) -> bool {
        let name = self.binding.split('(').next().unwrap_or("").as_bytes();
        name.eq_ignore_ascii_case(function)
            || function.strip_suffix(b"_c").is_some_and(|function| name.eq_ignore_ascii_case(function))
    }
}
