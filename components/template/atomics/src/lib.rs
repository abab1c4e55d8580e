//! Atomics, by which instructions say here. Until they are written these are those of the Rust core library: there is no
//! moment at which a program could be told that it has none.
//!
//! A leaf crate without dependencies: opal-core itself depends on the chosen atomics component and registers it.
//! components/atomics/asm is one that is finished.
#![no_std]

// Replace them one by one by types of the same interface.
pub use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};

/// What the image and `ompi_info` call this component.
pub const NAME: &str = "template";
/// One sentence for `ompi_info`.
pub const DOC: &str = "Atomics that are not written yet: those of the Rust core library.";
