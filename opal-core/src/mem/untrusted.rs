//! A run of bytes in memory that another process may write at any time.

use core::marker::PhantomData;

/// Bytes of a peer: readable for its length during `'a`, of any content, possibly changing while they are read.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a> {
    at: *const u8,
    bytes: usize,
    life: PhantomData<&'a u8>,
}

impl<'a> Untrusted<'a> {
    /// Wraps a run of bytes.
    ///
    /// # Safety
    /// `at` is readable for `bytes` during `'a`.
    #[inline(always)]
    pub const unsafe fn new(at: *const u8, bytes: usize) -> Untrusted<'a> {
        Untrusted { at, bytes, life: PhantomData }
    }

    /// A run of this process's own.
    pub const fn of(own: &'a [u8]) -> Untrusted<'a> {
        Untrusted { at: own.as_ptr(), bytes: own.len(), life: PhantomData }
    }

    /// Its length in bytes.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there is nothing.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Where it lies; for a convertor, which reads it once.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *const u8 {
        self.at
    }

    /// The part from `offset` on, empty if there is none.
    #[inline(always)]
    pub fn skip(&self, offset: usize) -> Untrusted<'a> {
        let offset = offset.min(self.bytes);
        // SAFETY: within the run.
        Untrusted { at: unsafe { self.at.add(offset) }, bytes: self.bytes - offset, life: PhantomData }
    }

    /// The first `bytes` bytes, or all if there are fewer.
    #[inline(always)]
    pub fn first(&self, bytes: usize) -> Untrusted<'a> {
        Untrusted { bytes: self.bytes.min(bytes), ..*self }
    }

    /// Copies what both have room for; returns how many bytes.
    #[inline(always)]
    pub fn copy_to(&self, to: &mut [u8]) -> usize {
        let bytes = self.bytes.min(to.len());
        crate::sync::reading(self.at, bytes);
        // SAFETY: readable by the contract of `new`, writable as an exclusive slice.
        unsafe { crate::framework::memcpy::copy(to.as_mut_ptr(), self.at, bytes) };
        bytes
    }

    /// A copy that nobody else can change: the only way to look at single values.
    pub fn array<const N: usize>(&self) -> Option<[u8; N]> {
        let mut own = [0; N];
        (self.copy_to(&mut own) == N).then_some(own)
    }
}
