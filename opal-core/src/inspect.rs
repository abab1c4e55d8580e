//! What a debugger must know of this library's objects to find them in the memory of a process or in a core: the places of tables,
//! and where fields lie. The library is compiled without debug information, and the compiler orders fields as it likes; so it says itself
//! what it did.
//!
//! Nothing of the library reads a [`Fact`]. `share/ompi-rs/gdb.py` does.
#![allow(unsafe_code)]

/// One number by its name.
#[repr(C)]
pub struct Fact {
    name: &'static str,
    value: *const (),
}

// SAFETY: nobody follows the address but a debugger.
unsafe impl Sync for Fact {}

impl Fact {
    /// A number: bytes from the beginning of an object to a field, the size of an object in bytes, how many.
    pub const fn number(name: &'static str, value: usize) -> Fact {
        Fact { name, value: core::ptr::without_provenance(value) }
    }

    /// The address of an object.
    pub const fn address<T>(name: &'static str, object: *const T) -> Fact {
        Fact { name, value: object.cast() }
    }
}

/// What is so of types of Rust's library, whose fields nobody can name. Tested below.
pub static FACTS: [Fact; 5] = [
    Fact::number("slice.length", SLICE_LENGTH),
    Fact::number("vec.elements", VEC_ELEMENTS),
    Fact::number("vec.length", VEC_LENGTH),
    Fact::number("arc.value", ARC_VALUE),
    Fact::number("mutex.value", MUTEX_VALUE),
];

/// Of `&[T]`, `&str` and `Box<[T]>`, whose address comes first.
const SLICE_LENGTH: usize = size_of::<usize>();
/// Of `Vec` and `String`.
const VEC_ELEMENTS: usize = size_of::<usize>();
const VEC_LENGTH: usize = 2 * size_of::<usize>();
/// From where an `Arc` leads, for objects that want no more than 16 bytes' alignment.
const ARC_VALUE: usize = 2 * size_of::<usize>();
/// Of what is aligned as a word: the lock comes first.
const MUTEX_VALUE: usize = size_of::<usize>();

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Mutex;
    use alloc::boxed::Box;
    use alloc::string::String;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    /// The words of an object.
    fn words<T, const N: usize>(object: &T) -> [usize; N] {
        assert_eq!(size_of::<T>(), N * size_of::<usize>());
        // SAFETY: as many words, all of them initialized in the types below.
        unsafe { core::ptr::from_ref(object).cast::<[usize; N]>().read() }
    }

    #[test]
    fn objects_of_the_library_lie_as_told() {
        let mut vec = Vec::<u64>::with_capacity(7);
        vec.extend([1, 2, 3]);
        let of_vec: [usize; 3] = words(&vec);
        assert_eq!((of_vec[VEC_ELEMENTS / 8], of_vec[VEC_LENGTH / 8]), (vec.as_ptr().addr(), 3));
        let string = String::from("four");
        let of_string: [usize; 3] = words(&string);
        assert_eq!((of_string[VEC_ELEMENTS / 8], of_string[VEC_LENGTH / 8]), (string.as_ptr().addr(), 4));
        let named = Some(string);
        assert_eq!(words::<_, 3>(&named)[1..], of_string[1..]);
        let boxed: Box<[u64]> = Box::new([1, 2]);
        assert_eq!(words(&boxed), [boxed.as_ptr().addr(), 2]);
        let slice: &[u64] = &boxed;
        assert_eq!(words(&slice), [boxed.as_ptr().addr(), 2]);
        let arc = Arc::new(5_u64);
        assert_eq!(words(&arc), [Arc::as_ptr(&arc).addr() - ARC_VALUE]);
        assert_eq!(words::<Option<Arc<u64>>, 1>(&None), [0]);
        let mutex: Mutex<u64> = Mutex::new(7);
        assert_eq!(core::ptr::from_ref(&*mutex.lock()).addr() - core::ptr::from_ref(&mutex).addr(), MUTEX_VALUE);
    }
}
