//! Data that needs a lock only once threads exist.
//!
//! `MPI_THREAD_SINGLE` programs pay a predictable branch and no locked instruction. The flag only ever rises, inside
//! `MPI_Init_thread` or `MPI_Session_init`. Another thread may be inside a call of a lower level at that time: a few
//! instructions lie between its look at the flag and its mark that the value is held, and in between the mark of a second
//! thread would be lost. So [`raise_threads`] returns only when no thread can be there any more.
#![allow(unsafe_code)]

use super::{AtomicBool, Ordering};
use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

static THREADS: AtomicBool = AtomicBool::new(false);

/// Whether more than one thread may be inside the library.
#[inline(always)]
pub fn threads_possible() -> bool {
    THREADS.load(Ordering::Relaxed)
}

/// From now on every [`ConditionalLock`] locks, also in threads that are amid a call now. Never goes back.
pub fn raise_threads() {
    if !THREADS.swap(true, Ordering::SeqCst) {
        crate::sys::let_threads_run(PASSED_NS);
    }
}

/// A value behind a lock that is taken only when [`threads_possible`].
pub struct ConditionalLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: with threads the lock serialises access; without, there is one thread. `T: Send` moves between them.
unsafe impl<T: Send> Sync for ConditionalLock<T> {}
// SAFETY: as for any owner of a `T`.
unsafe impl<T: Send> Send for ConditionalLock<T> {}

impl<T> ConditionalLock<T> {
    /// Where the value lies, for debuggers ([`crate::inspect`]).
    pub const VALUE: usize = core::mem::offset_of!(ConditionalLock<T>, value);

    /// Guards `value`.
    pub const fn new(value: T) -> ConditionalLock<T> {
        ConditionalLock { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Takes the value for as long as the guard lives.
    ///
    /// # Panics
    /// When the same thread already holds it and no other thread may exist: a programming error that would be a
    /// deadlock or two `&mut` otherwise.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        if threads_possible() {
            self.lock_contended();
        } else {
            assert!(!self.held.load(Ordering::Relaxed), "guarded data entered twice");
            self.held.store(true, Ordering::Relaxed);
        }
        Guard { of: self }
    }

    /// Takes the value whatever is known of threads: for data that threads of the program reach of which MPI was not told, as
    /// inside `malloc`. All that use such data take it so.
    pub fn lock_among_threads(&self) -> Guard<'_, T> {
        self.lock_contended();
        Guard { of: self }
    }

    /// Another guard for a hold whose guard was forgotten; it is forgotten again.
    ///
    /// # Safety
    /// There is such a hold, it is the caller's, and nobody else uses the value by it meanwhile.
    pub unsafe fn held_already(&self) -> ManuallyDrop<Guard<'_, T>> {
        ManuallyDrop::new(Guard { of: self })
    }

    /// Ends a hold whose guard was forgotten, so that it lasts from one function to another.
    ///
    /// # Safety
    /// There is such a hold, and nobody uses the value by it any more.
    pub unsafe fn let_go(&self) {
        // Release pairs with the Acquire in `lock` and `try_lock`.
        self.held.store(false, Ordering::Release);
    }

    /// Takes the value if no other thread may exist and nobody holds it: without a call on any way through it, so that a
    /// hot function that goes elsewhere for `None` needs no registers saved. Where it goes, [`ConditionalLock::lock`] tells a
    /// programming error; one test of both here saves three instructions.
    #[inline(always)]
    pub fn lock_alone(&self) -> Option<Guard<'_, T>> {
        if threads_possible() | self.held.load(Ordering::Relaxed) {
            return None;
        }
        self.held.store(true, Ordering::Relaxed);
        Some(Guard { of: self })
    }

    /// Takes the value if nobody holds it.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        if threads_possible() {
            // Acquire pairs with the Release in `drop`.
            self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        } else {
            if self.held.load(Ordering::Relaxed) {
                return None;
            }
            self.held.store(true, Ordering::Relaxed);
        }
        Some(Guard { of: self })
    }

    #[cold]
    #[inline(never)]
    fn lock_contended(&self) {
        let mut polls = 0u32;
        // Acquire pairs with the Release in `drop`.
        while self.held.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            polls += 1;
            if polls.is_multiple_of(64) {
                crate::sys::yield_now();
            } else {
                super::spin_loop();
            }
        }
    }
}

/// The right to use a [`ConditionalLock`] value.
pub struct Guard<'a, T> {
    of: &'a ConditionalLock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `held` is set, so this guard is the only one.
        unsafe { &*self.of.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `held` is set, so this guard is the only one.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release pairs with the Acquire in `lock` and `try_lock`.
        self.of.held.store(false, Ordering::Release);
    }
}

/// Processor time in which a thread is past the few instructions between two looks at the flag, whatever else counts as its
/// time (interrupts, another guest of the machine).
const PASSED_NS: u64 = 2_000_000;

#[cfg(all(test, loom))]
#[path = "models.rs"]
mod models;
