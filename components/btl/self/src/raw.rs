//! Operations on memory of this process that it has registered, by its own address.
#![allow(unsafe_code)]

use opal_core::framework::btl::{Atomic, Width};
use opal_core::framework::memcpy;
use opal_core::sync::{AtomicU32, AtomicU64, Ordering};

/// AcqRel: who learns of one by another finds what was written before it.
macro_rules! on_word {
    ($word:expr, $atomic:expr, $integer:ty) => {
        match $atomic {
            Atomic::Add(operand) => $word.fetch_add(operand as $integer, Ordering::AcqRel),
            Atomic::And(operand) => $word.fetch_and(operand as $integer, Ordering::AcqRel),
            Atomic::Or(operand) => $word.fetch_or(operand as $integer, Ordering::AcqRel),
            Atomic::Xor(operand) => $word.fetch_xor(operand as $integer, Ordering::AcqRel),
            Atomic::Swap(operand) => $word.swap(operand as $integer, Ordering::AcqRel),
            Atomic::CompareSwap(expected, new) => {
                let (expected, new) = (expected as $integer, new as $integer);
                match $word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(found) | Err(found) => found,
                }
            }
        }
    };
}

/// The address that peers know.
pub fn published(address: *mut u8) -> u64 {
    address.expose_provenance() as u64
}

/// Writes bytes to a published address.
///
/// # Safety
/// There are so many at both places, and they do not overlap.
pub unsafe fn write(address: u64, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { memcpy::copy(core::ptr::with_exposed_provenance_mut(address as usize), from, bytes) };
}

/// Reads bytes from a published address.
///
/// # Safety
/// As of [`write`].
pub unsafe fn read(address: u64, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { memcpy::copy(to, core::ptr::with_exposed_provenance(address as usize), bytes) };
}

/// Does an atomic operation on a word at a published address; what was there.
///
/// # Safety
/// There is such a word, aligned.
pub unsafe fn atomic(address: u64, atomic: Atomic, width: Width) -> u64 {
    match width {
        Width::Four => {
            // SAFETY: the caller's promise.
            let word = unsafe { &*core::ptr::with_exposed_provenance::<AtomicU32>(address as usize) };
            u64::from(on_word!(word, atomic, u32))
        }
        Width::Eight => {
            // SAFETY: the caller's promise.
            let word = unsafe { &*core::ptr::with_exposed_provenance::<AtomicU64>(address as usize) };
            on_word!(word, atomic, u64)
        }
    }
}
