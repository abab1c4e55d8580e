//! Atomics and guarded data. This file alone names loom or the atomics component.

#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// The atomics component of this build.
#[cfg(ompi_atomics = "asm")]
pub(crate) use atomics_asm as component;
/// The atomics component of this build.
#[cfg(not(ompi_atomics = "asm"))]
pub(crate) use atomics_core as component;

#[cfg(not(loom))]
pub use component::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};

pub use spin::Once;
pub use spin::mutex::SpinMutex as Mutex;

#[path = "sync/guarded.rs"]
mod guarded;
pub use guarded::{Guard, Guarded, raise_threads, threads_possible};
