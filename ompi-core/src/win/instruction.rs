//! Accumulates by instructions of the processor: each element of 1, 2, 4 or 8 bytes is read, changed and written by one that is atomic, or by
//! a loop around one that compares and exchanges.
#![allow(unsafe_code)]

use crate::datatype::Datatype;
use crate::framework::op::{self, Kernel, Operation};
use opal_core::datatype::Scalar;
use opal_core::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What instructions do with each element of one basic type.
#[derive(Clone, Copy)]
pub struct Instruction {
    bytes: usize,
    step: Step,
}

#[derive(Clone, Copy)]
enum Step {
    Add,
    And,
    Or,
    Xor,
    Replace,
    Read,
    /// Added as floating-point numbers, then compared and exchanged; by the kernel where no such numbers are as long.
    AddFloat(Kernel),
    /// Computed aside, then compared and exchanged.
    Compute(Kernel),
}

impl Instruction {
    /// For elements of a basic type at an address; `None` where there is none.
    #[inline(always)]
    pub fn of(operation: Operation, basic: &Datatype, at: *mut u8) -> Option<Instruction> {
        let bytes = word_of(basic, at)?;
        let primitive = basic.layout.primitive()?;
        let is_integer = matches!(primitive.scalar, Scalar::Signed | Scalar::Unsigned);
        let step = match operation {
            Operation::Replace => Step::Replace,
            Operation::NoOp => Step::Read,
            Operation::Sum if is_integer => Step::Add,
            Operation::Band if is_integer => Step::And,
            Operation::Bor if is_integer => Step::Or,
            Operation::Bxor if is_integer => Step::Xor,
            Operation::Sum if primitive.scalar == Scalar::Float => Step::AddFloat(op::kernel(operation, primitive)?),
            _ => Step::Compute(op::kernel(operation, primitive)?),
        };
        Some(Instruction { bytes, step })
    }

    /// Whether many elements take no longer than by a copy: it only loads, or only stores.
    #[cfg(not(ompi_bare))]
    pub fn is_copy(self, fetches: bool) -> bool {
        matches!((self.step, fetches), (Step::Read, _) | (Step::Replace, false))
    }

    /// Whether what it does last is a full fence.
    #[inline(always)]
    pub fn is_fence(self, fetches: bool) -> bool {
        LOCKED_IS_FENCE && !matches!((self.step, fetches), (Step::Read, _) | (Step::Replace, false))
    }

    /// Changes `count` elements at `at` by those at `origin`.
    ///
    /// # Safety
    /// `at` is the address that the instruction was made for. The elements there are readable and writable, and whoever else changes them
    /// does so by instructions; those at `origin` are readable, unless the operation is [`Operation::NoOp`].
    #[inline(always)]
    pub unsafe fn apply(self, at: *mut u8, origin: *const u8, count: usize) {
        // SAFETY: the caller's promise; nothing is fetched.
        unsafe { self.run::<false>(at, origin, core::ptr::null_mut(), count) }
    }

    /// The same, and `count` elements at `result` become what was there.
    ///
    /// # Safety
    /// That of [`Instruction::apply`]; the elements at `result` are writable.
    #[inline(always)]
    pub unsafe fn fetch(self, at: *mut u8, origin: *const u8, result: *mut u8, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.run::<true>(at, origin, result, count) }
    }

    #[inline(always)]
    unsafe fn run<const FETCHES: bool>(self, at: *mut u8, origin: *const u8, result: *mut u8, count: usize) {
        for element in 0..count {
            let offset = element * self.bytes;
            let (at, result, origin) =
                (at.wrapping_add(offset), result.wrapping_add(offset), origin.wrapping_add(offset));
            match self.bytes {
                // SAFETY: `word_of` has found the address aligned for words of so many bytes; the rest is the caller's promise. Here
                // and below.
                8 => unsafe { change_8::<FETCHES>(self.step, at, origin, result) },
                // SAFETY: as above.
                4 => unsafe { change_4::<FETCHES>(self.step, at, origin, result) },
                // SAFETY: as above.
                2 => unsafe { change_2::<FETCHES>(self.step, at, origin, result) },
                // SAFETY: as above.
                _ => unsafe { change_1::<FETCHES>(self.step, at, origin, result) },
            }
        }
    }
}

/// Whether an instruction that reads, changes and writes a word is a full fence: those of x86 with a lock prefix are, and so are they if they
/// compare in vain (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, §10.2.2 "Memory Ordering in P6 and More Recent
/// Processor Families").
pub const LOCKED_IS_FENCE: bool = cfg!(target_arch = "x86_64");

/// Reads an element to `result`, and replaces it by that at `origin` if it was equal to that at `compare`; `false`, nothing being done,
/// where no instruction does it.
///
/// # Safety
/// The element at `at` is readable and writable, and whoever else changes it does so by instructions; `origin` and `compare` are readable,
/// `result` is writable for one element.
#[inline(always)]
pub unsafe fn compare_and_swap(
    basic: &Datatype,
    at: *mut u8,
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
) -> bool {
    match word_of(basic, at) {
        // SAFETY: the address is aligned for words of so many bytes; the rest is the caller's promise. Here and below.
        Some(8) => unsafe { swap_8(at, origin, compare, result) },
        // SAFETY: as above.
        Some(4) => unsafe { swap_4(at, origin, compare, result) },
        // SAFETY: as above.
        Some(2) => unsafe { swap_2(at, origin, compare, result) },
        // SAFETY: as above.
        Some(1) => unsafe { swap_1(at, origin, compare, result) },
        _ => return false,
    }
    true
}

/// The bytes of a type whose elements at this address are words of the processor.
#[inline(always)]
fn word_of(basic: &Datatype, at: *mut u8) -> Option<usize> {
    let bytes = basic.layout.size();
    let is_word = matches!(bytes, 1 | 2 | 4 | 8) && at.addr().is_multiple_of(bytes);
    (is_word && basic.layout.run_of(2) == Some(0)).then_some(bytes)
}

macro_rules! words {
    ($($change:ident $swap:ident $atomic:ident $word:ty, $sum:expr;)*) => {$(
        /// # Safety
        /// That of [`Instruction::run`] for one element, which is aligned.
        #[inline(always)]
        unsafe fn $change<const FETCHES: bool>(step: Step, at: *mut u8, origin: *const u8, result: *mut u8) {
            // SAFETY: aligned, readable and writable by the caller's promise.
            let word = unsafe { &*at.cast::<$atomic>() };
            if let Step::Read = step {
                let old = word.load(Ordering::Acquire);
                // SAFETY: the caller's promise.
                return unsafe { result.cast::<$word>().write_unaligned(old) };
            }
            // SAFETY: the caller's promise: it does not only read.
            let value = unsafe { origin.cast::<$word>().read_unaligned() };
            let old = match step {
                Step::Replace if FETCHES => word.swap(value, Ordering::AcqRel),
                Step::Add => word.fetch_add(value, Ordering::AcqRel),
                Step::And => word.fetch_and(value, Ordering::AcqRel),
                Step::Or => word.fetch_or(value, Ordering::AcqRel),
                Step::Xor => word.fetch_xor(value, Ordering::AcqRel),
                Step::Replace | Step::Read => return word.store(value, Ordering::Release),
                Step::AddFloat(kernel) | Step::Compute(kernel) => {
                    const SUM: Option<fn($word, $word) -> $word> = $sum;
                    let mut found = word.load(Ordering::Relaxed);
                    loop {
                        let mut new = found;
                        match SUM {
                            Some(sum) if matches!(step, Step::AddFloat(_)) => new = sum(value, found),
                            _ => {
                                let place = (&raw mut new).cast::<u8>();
                                // SAFETY: the kernel is one for elements as long as this word.
                                unsafe { kernel((&raw const value).cast(), place, place, 1) };
                            }
                        }
                        match word.compare_exchange_weak(found, new, Ordering::AcqRel, Ordering::Relaxed) {
                            Ok(old) => break old,
                            Err(other) => found = other,
                        }
                    }
                }
            };
            if FETCHES {
                // SAFETY: the caller's promise.
                unsafe { result.cast::<$word>().write_unaligned(old) };
            }
        }

        /// # Safety
        /// That of [`compare_and_swap`], for an aligned element.
        #[inline(always)]
        unsafe fn $swap(at: *mut u8, origin: *const u8, compare: *const u8, result: *mut u8) {
            // SAFETY: aligned, readable and writable by the caller's promise.
            let word = unsafe { &*at.cast::<$atomic>() };
            // SAFETY: the caller's promise, here and below.
            let expected = unsafe { compare.cast::<$word>().read_unaligned() };
            // SAFETY: as above.
            let new = unsafe { origin.cast::<$word>().read_unaligned() };
            let (Ok(old) | Err(old)) = word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
            // SAFETY: as above.
            unsafe { result.cast::<$word>().write_unaligned(old) };
        }
    )*};
}

words! {
    change_8 swap_8 AtomicU64 u64, Some(|a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits());
    change_4 swap_4 AtomicU32 u32, Some(|a, b| (f32::from_bits(a) + f32::from_bits(b)).to_bits());
    change_2 swap_2 AtomicU16 u16, None;
    change_1 swap_1 AtomicU8 u8, None;
}
