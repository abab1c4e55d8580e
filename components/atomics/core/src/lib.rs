//! Atomics as the compiler knows them: `core::sync::atomic`, visible to ThreadSanitizer.
//!
//! A leaf crate without dependencies: opal-core itself depends on the chosen atomics component and registers it.
#![no_std]

pub use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence,
    fence,
};

/// What the image and `ompi_info` call this component.
pub const NAME: &str = "core";
/// One sentence for `ompi_info`.
pub const DOC: &str = "Atomics of the Rust core library.";
