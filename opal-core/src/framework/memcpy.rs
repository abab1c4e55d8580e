//! Copying memory: static, called directly.
#![allow(unsafe_code)] // linkme's expansion and the component's symbol

use crate::mca;

/// A way to copy. The copy itself is the symbol that [`provide_memcpy!`](crate::provide_memcpy) defines.
pub trait Component: mca::Component {}

crate::framework! {
    /// Copies between buffers of one process.
    "memcpy", Opal, version 1, Static, OMPI_MEMCPYS: dyn Component
}

#[cfg(not(test))]
unsafe extern "Rust" {
    #[link_name = "__opal_memcpy_copy_v1"]
    fn component_copy(to: *mut u8, from: *const u8, bytes: usize);
}
#[cfg(test)]
use core::ptr::copy_nonoverlapping as component_copy_generic;
#[cfg(test)]
unsafe fn component_copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the contract of `copy`.
    unsafe { component_copy_generic(from, to, bytes) }
}

/// Copies `bytes` bytes.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes` bytes, and they do not overlap. Either may be shared with another
/// process that writes meanwhile: the bytes copied are then unspecified, but only they.
#[inline(always)]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise is the component's contract.
    unsafe { component_copy(to, from, bytes) }
}

/// Defines the framework's symbol: `provide_memcpy!(raw::copy)` with
/// `unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize)`.
#[macro_export]
macro_rules! provide_memcpy {
    ($($copy:ident)::+) => {
        #[allow(unsafe_code)]
        const _: () = {
            #[unsafe(export_name = "__opal_memcpy_copy_v1")]
            #[inline]
            unsafe fn provided(to: *mut u8, from: *const u8, bytes: usize) {
                // SAFETY: the contract of `framework::memcpy::copy`.
                unsafe { $($copy)::+(to, from, bytes) }
            }
        };
    };
}
