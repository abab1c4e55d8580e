//! Atomics in hand-written assembly, with the interface of `core::sync::atomic` that opal-core uses.
//!
//! A leaf crate without dependencies: opal-core itself depends on the chosen atomics component and registers it.
//! Every operation is opaque to the compiler, so what it emits is what stands here, in debug builds too; in exchange
//! the compiler never merges or drops one, and ThreadSanitizer does not see them (use atomics/core with it).
//!
//! The mapping (Intel SDM vol. 3 §9.2, "Memory Ordering"; Sewell et al., x86-TSO, doi:10.1145/1785414.1785443): loads
//! are not reordered with loads nor stores with stores, so a plain `mov` is an acquire load and a release store; only
//! a later load may pass an earlier store, which sequentially consistent stores prevent by being an `xchg`. `lock`
//! prefixes order everything.
//!
//! Invariant: no `asm!` here is `nomem` or `readonly`: each is a compiler barrier, which is at least what its ordering
//! asks for.
#![no_std]

#[cfg(not(target_arch = "x86_64"))]
compile_error!("atomics/asm is written for x86_64; build the library with atomics/core");

mod boolean;
mod integer;
mod pointer;
mod raw;

pub use boolean::AtomicBool;
pub use core::sync::atomic::Ordering;
pub use integer::{AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};
pub use pointer::AtomicPtr;
pub use raw::{compiler_fence, fence};

/// What the image and `ompi_info` call this component.
pub const NAME: &str = "asm";
/// One sentence for `ompi_info`.
pub const DOC: &str = "Atomics in hand-written assembly.";
