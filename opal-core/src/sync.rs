//! Atomics and guarded data. This file and `sync/model.rs` alone name loom or the atomics component.

/// The atomics component of this build.
#[cfg(ompi_atomics = "asm")]
pub(crate) use atomics_asm as component;
/// The atomics component of this build.
#[cfg(not(ompi_atomics = "asm"))]
pub(crate) use atomics_core as component;

#[cfg(not(loom))]
pub use component::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence,
    fence,
};
#[cfg(not(loom))]
pub use core::hint::spin_loop;
#[cfg(not(loom))]
pub use spin::Once;
#[cfg(not(loom))]
pub use spin::mutex::SpinMutex as Mutex;

#[cfg(loom)]
#[path = "sync/model.rs"]
pub mod model;
#[cfg(loom)]
pub use model::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Mutex, Once, Ordering,
    compiler_fence, fence, reading, spin_loop, writing,
};

#[path = "sync/conditional_lock.rs"]
mod conditional_lock;
pub use conditional_lock::{ConditionalLock, Guard, raise_threads, threads_possible};

/// For models: bytes are read here without being atomic. Nothing in a product.
#[cfg(not(loom))]
#[inline(always)]
pub fn reading(_at: *const u8, _bytes: usize) {}

/// For models: bytes are written here without being atomic. Nothing in a product.
#[cfg(not(loom))]
#[inline(always)]
pub fn writing(_at: *const u8, _bytes: usize) {}
