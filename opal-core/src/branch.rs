//! What the compiler is told of branches.

/// Makes the block that calls it one that is rarely taken. `core::hint::cold_path` does so only in crates that are compiled for speed:
/// in those compiled for size the compiler looks for the intrinsic before it inlines the function around it.
#[cold]
#[inline(always)]
pub fn cold_path() {}
