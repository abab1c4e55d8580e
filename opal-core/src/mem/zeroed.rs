//! Arrays that begin as zeros. The system gives zeros without writing them: of a long array only those pages take memory that
//! somebody has written to.

use alloc::boxed::Box;

/// A type one of whose values is all zeros.
///
/// # Safety
/// It is.
pub unsafe trait Zeroed {}

// SAFETY: zeros are 0.
unsafe impl Zeroed for u32 {}
// SAFETY: as above.
unsafe impl Zeroed for u64 {}
// SAFETY: zeros are `None` where a reference is something (documentation of `Option`, "Representation").
unsafe impl<T> Zeroed for Option<&'static T> {}

/// Makes a structure [`Zeroed`] whose fields all are: `zeroed_fields!(Place { first: u32, last: u32 })`.
#[macro_export]
macro_rules! zeroed_fields {
    ($name:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        #[allow(unsafe_code)]
        // SAFETY: all its fields are; what follows compiles only for these fields and no others.
        unsafe impl $crate::mem::Zeroed for $name {}

        const _: fn($name) = |$name { $($field),+ }| {
            fn is_zeroed<T: $crate::mem::Zeroed>(_: T) {}
            $(is_zeroed::<$kind>($field);)+
        };
    };
}

/// So many of them.
pub fn zeroed<T: Zeroed>(count: usize) -> Box<[T]> {
    // SAFETY: zeros are a value of the type, by the contract of the trait.
    unsafe { Box::<[T]>::new_zeroed_slice(count).assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Entry {
        to: Option<&'static u32>,
        bits: u64,
    }

    zeroed_fields!(Entry { to: Option<&'static u32>, bits: u64 });

    #[test]
    fn all_are_zeros() {
        let mut entries = zeroed::<Entry>(100_000);
        assert!(entries.iter().all(|entry| entry.to.is_none() && entry.bits == 0));
        entries[7] = Entry { to: Some(&3), bits: 1 };
        assert_eq!((entries[7].to, entries[7].bits), (Some(&3), 1));
        assert!(zeroed::<Entry>(0).is_empty());
    }
}
