//! Atomics and guarded data. This file alone names loom or the atomics component.

#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

#[cfg(not(loom))]
pub use atomics_core::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};

pub use spin::Once;
pub use spin::mutex::SpinMutex as Mutex;

#[path = "sync/guarded.rs"]
mod guarded;
pub use guarded::{Guard, Guarded, raise_threads, threads_possible};
