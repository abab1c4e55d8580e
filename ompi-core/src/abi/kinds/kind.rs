//! What a kind of parameter is.

use crate::abi::raise::Scope;
use crate::error::Result;
use core::marker::PhantomData;

/// MPI_Aint: as wide as MPI_Count on every machine that we know.
pub type Aint = i64;
/// MPI_Offset.
pub type Offset = i64;
/// MPI_Count, where the plain function has it, too.
pub type LargeCount = i64;

/// A kind of parameter.
pub trait ParamKind {
    /// What C passes.
    type C: Copy;
    /// What C passes to the `_c` twin.
    type Large: Copy;
    /// What the row's body sees.
    type Value;

    /// Checks the argument of the plain function.
    ///
    /// # Safety
    /// Pointers are what the standard says of this kind: null where a check below refuses null, or good for the access.
    unsafe fn check(raw: Self::C) -> Result<Self::Value>;

    /// Checks the argument of the `_c` twin.
    ///
    /// # Safety
    /// As `check`.
    unsafe fn check_large(raw: Self::Large) -> Result<Self::Value>;

    /// The object whose error handler is in force, if this argument names one. `raw` points to the C argument.
    fn scope(_raw: *const ()) -> Scope {
        Scope::None
    }
}

/// An argument of a call that all processes make together: where it is wrong, the row's body tells the others so instead of
/// leaving them to wait.
pub struct Agreed<K>(PhantomData<K>);

impl<K: ParamKind> ParamKind for Agreed<K> {
    type C = K::C;
    type Large = K::Large;
    type Value = Result<K::Value>;

    unsafe fn check(raw: K::C) -> Result<Result<K::Value>> {
        // SAFETY: the caller's promise.
        Ok(unsafe { K::check(raw) })
    }

    unsafe fn check_large(raw: K::Large) -> Result<Result<K::Value>> {
        // SAFETY: the caller's promise.
        Ok(unsafe { K::check_large(raw) })
    }

    fn scope(raw: *const ()) -> Scope {
        K::scope(raw)
    }
}
