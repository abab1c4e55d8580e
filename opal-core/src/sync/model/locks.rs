//! Locks over this model's atomics, so that loom checks the order that they make.

use super::{AtomicBool, AtomicU8, Ordering, yield_now};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

/// As `spin::mutex::SpinMutex`.
pub struct Mutex<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock serialises access.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: as for any owner of a `T`.
unsafe impl<T: Send> Send for Mutex<T> {}

impl<T> Mutex<T> {
    /// Guards `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Takes the value for as long as the result lives.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        while self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            yield_now();
        }
        MutexGuard { of: self }
    }

    /// Takes the value if nobody holds it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(MutexGuard { of: self })
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

/// The right to use a [`Mutex`]' value.
pub struct MutexGuard<'a, T> {
    of: &'a Mutex<T>,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: `held` is set, so this is the only guard.
        unsafe { &*self.of.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `held` is set, so this is the only guard.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.of.held.store(false, Ordering::Release);
    }
}

/// As `spin::Once`. What a static one held in the last order is forgotten, not dropped.
pub struct Once<T> {
    // 0 nothing, 1 being made, 2 there.
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: written once, before `state` says that it is there.
unsafe impl<T: Send + Sync> Sync for Once<T> {}
// SAFETY: as for any owner of a `T`.
unsafe impl<T: Send> Send for Once<T> {}

impl<T> Once<T> {
    /// Empty.
    pub const fn new() -> Once<T> {
        Once { state: AtomicU8::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// The value; made by `make` if there is none yet.
    pub fn call_once(&self, make: impl FnOnce() -> T) -> &T {
        if self.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire).is_ok() {
            let value = make();
            // SAFETY: state 1 is this thread's alone.
            unsafe { *self.value.get() = MaybeUninit::new(value) };
            self.state.store(2, Ordering::Release);
        }
        loop {
            match self.get() {
                Some(value) => return value,
                None => yield_now(),
            }
        }
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != 2 {
            return None;
        }
        // SAFETY: a cell is never null.
        let value = unsafe { &*self.value.get() };
        // SAFETY: state 2 says that it was written and will not be again.
        Some(unsafe { value.assume_init_ref() })
    }

    /// Whether there is a value.
    pub fn is_completed(&self) -> bool {
        self.get().is_some()
    }
}

impl<T> core::fmt::Debug for Once<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Once")
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once::new()
    }
}
