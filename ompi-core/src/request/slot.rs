//! The slot of one request: a cache line whose word says what state the request is in and which thread may touch the rest.
#![allow(unsafe_code)]

use super::driver::{Driver, Id};
use crate::error::Result;
use crate::status::Status;
use core::cell::UnsafeCell;
use opal_core::sync::{AtomicU32, AtomicU64, Ordering, threads_possible};
use opal_core::wait::{self, Subject};

/// A free slot belongs to the thread that took it off the list. Of an active one all threads read the driver, and the
/// owner of the operation writes the status. The status of a complete one belongs to the waiter.
#[repr(C)]
pub(super) struct Slot {
    pub(super) word: AtomicU32,
    // Its own place among all, so that its handle can be told from it.
    pub(super) index: AtomicU32,
    // Of a free slot: the address of the next one that is free.
    pub(super) token: AtomicU64,
    driver: UnsafeCell<Option<&'static dyn Driver>>,
    status: UnsafeCell<Status>,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// Bits of a handle that are the slot's index; the generation stands above.
pub(super) const INDEX_BITS: u32 = 22;

pub(super) const STATE: u32 = 3;
pub(super) const FREE: u32 = 0;
pub(super) const ACTIVE: u32 = 1;
pub(super) const COMPLETE: u32 = 2;
pub(super) const INACTIVE: u32 = 3;
pub(super) const PERSISTENT: u32 = 4;
pub(super) const DETACHED: u32 = 8;
pub(super) const POLLED: u32 = 16;
pub(super) const QUERIED: u32 = 32;
pub(super) const COLLECTIVE: u32 = 64;
/// A thread may sleep until it is complete. Not set where there is one thread only, which completes what it waits for itself.
pub(super) const AWAITED: u32 = 128;
pub(super) const PARTITIONED: u32 = 256;
pub(super) const ONE_SIDED: u32 = 512;
pub(super) const GENERATION_SHIFT: u32 = 16;
pub(super) const GENERATION: u32 = 0x1ff << GENERATION_SHIFT;

impl Slot {
    /// Where the status lies, for debuggers.
    pub(super) const STATUS: usize = core::mem::offset_of!(Slot, status);

    /// Takes a slot that was free until now and is this thread's alone into use; returns its handle.
    #[inline(always)]
    pub(super) fn begin(&self, driver: &'static dyn Driver, token: u64, flags: u32) -> u32 {
        written(&self.driver);
        // SAFETY: nobody else knows the slot yet, by the caller's promise to have just taken it off the list.
        unsafe { *self.driver.get() = Some(driver) };
        self.token.store(token, Ordering::Relaxed);
        let generation = self.word.load(Ordering::Relaxed) & GENERATION;
        // Release: a thread that learns of the handle sees the driver; the handle itself travels by the program's own
        // means.
        self.word.store(generation | flags, Ordering::Release);
        generation >> GENERATION_SHIFT << INDEX_BITS | self.index.load(Ordering::Relaxed)
    }

    /// Of a free slot: the next one that is free.
    #[inline(always)]
    pub(super) fn next_free(&self) -> Option<&'static Slot> {
        let address = self.token.load(Ordering::Relaxed) as usize;
        // SAFETY: null, or the address of a slot that `free` exposed; slots never move and are never given back.
        unsafe { core::ptr::with_exposed_provenance::<Slot>(address).as_ref() }
    }

    /// Makes it complete; returns the word as it was.
    #[inline(always)]
    pub(super) fn end(&self, status: Status) -> u32 {
        debug_assert!(self.word.load(Ordering::Relaxed) & STATE == ACTIVE);
        self.set_status(status);
        // ACTIVE (1) becomes COMPLETE (2). Release pairs with the Acquire in `is_complete`.
        self.change(|word| word & !STATE | COMPLETE)
    }

    /// As `end`, for a caller that has just found that there is one thread only.
    #[inline(always)]
    pub(super) fn end_alone(&self, status: Status) -> u32 {
        self.set_status(status);
        let word = self.word.load(Ordering::Relaxed);
        debug_assert!(word & STATE == ACTIVE);
        // Release as in `end`. Nobody changes the word in between.
        self.word.store(word + (COMPLETE - ACTIVE), Ordering::Release);
        word
    }

    /// The slot of requests that are complete for ever; nobody else knows it yet.
    pub(super) fn end_for_ever(&self) {
        self.set_status(Status::EMPTY);
        self.word.store(COMPLETE, Ordering::Relaxed);
    }

    #[inline(always)]
    fn set_status(&self, status: Status) {
        written(&self.status);
        // SAFETY: until it is complete, the status belongs to the owner of the operation, who alone calls this.
        unsafe { *self.status.get() = status };
    }

    #[inline(always)]
    pub(super) fn is_complete(&self) -> bool {
        // Acquire pairs with the Release in `complete`.
        self.word.load(Ordering::Acquire) & STATE == COMPLETE
    }

    #[inline]
    pub(super) fn wait(&self) -> Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        self.wait_longer()
    }

    #[inline(never)]
    fn wait_longer(&self) -> Result<()> {
        let polled = self.word.load(Ordering::Relaxed) & POLLED != 0;
        self.announce();
        let is_complete = || {
            if polled {
                self.drive(|driver, token| driver.poll(token));
            }
            self.is_complete()
        };
        wait::until_done(wait::awaiting(is_complete, || self.subject()))?;
        Ok(())
    }

    /// What its operation waits for.
    #[cold]
    pub(super) fn subject(&self) -> Subject {
        let generation = (self.word.load(Ordering::Relaxed) & GENERATION) >> GENERATION_SHIFT;
        let id = Id(generation << INDEX_BITS | self.index.load(Ordering::Relaxed));
        let mut subject = Subject::UNKNOWN;
        self.drive(|driver, token| subject = driver.subject(token, id));
        subject
    }

    /// Has the thread that completes it wake this one.
    pub(super) fn announce(&self) {
        if threads_possible() {
            self.change(|word| word | AWAITED);
        }
    }

    // Whether there was somebody to ask: it may be complete now.
    pub(super) fn poll(&self) -> bool {
        let asks = self.word.load(Ordering::Relaxed) & (STATE | POLLED) == ACTIVE | POLLED;
        if asks {
            self.drive(|driver, token| driver.poll(token));
        }
        asks
    }

    #[inline(always)]
    pub(super) fn drive(&self, call: impl FnOnce(&'static dyn Driver, u64)) {
        read(&self.driver);
        // SAFETY: written before the handle was handed out and not again until the slot is free.
        if let Some(driver) = unsafe { *self.driver.get() } {
            call(driver, self.token.load(Ordering::Relaxed));
        }
    }

    /// [`Driver::context`] of a request in force.
    #[cold]
    pub(super) fn context(&self) -> Option<u32> {
        let mut context = None;
        self.drive(|driver, token| context = driver.context(token));
        context
    }

    /// The status of a complete request, as the user shall see it.
    #[inline]
    pub(super) fn look(&self) -> Status {
        let mut status = self.status();
        if self.word.load(Ordering::Relaxed) & QUERIED != 0 {
            self.drive(|driver, token| driver.query(token, &mut status));
        }
        status
    }

    /// The status of a complete request as its operation left it.
    #[inline(always)]
    pub(super) fn status(&self) -> Status {
        read(&self.status);
        // SAFETY: complete, so the owner of the operation writes no more.
        unsafe { *self.status.get() }
    }

    /// Replaces the word; returns what it was.
    #[inline(always)]
    pub(super) fn change(&self, to: impl Fn(u32) -> u32) -> u32 {
        let mut word = self.word.load(Ordering::Relaxed);
        if !threads_possible() {
            // One thread: no locked instruction. Release as below.
            self.word.store(to(word), Ordering::Release);
            return word;
        }
        // `complete` publishes the status to `is_complete`; freeing an active request meets its completion here. SeqCst: a
        // sleeper was counted before it looked, see `wait::wake_threads`.
        while let Err(now) = self.word.compare_exchange_weak(word, to(word), Ordering::SeqCst, Ordering::Relaxed) {
            word = now;
        }
        word
    }
}

// SAFETY: `driver` and `status` have one writer at a time, handed over through `word` as the file's invariant says.
unsafe impl Sync for Slot {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Slot {}

/// A model watches reads and writes of data that is not atomic.
#[cfg(loom)]
fn read<T>(cell: &UnsafeCell<T>) {
    opal_core::sync::model::reading_value(cell.get());
}

#[cfg(loom)]
fn written<T>(cell: &UnsafeCell<T>) {
    opal_core::sync::model::writing_value(cell.get());
}

#[cfg(not(loom))]
#[inline(always)]
fn read<T>(_cell: &UnsafeCell<T>) {}

#[cfg(not(loom))]
#[inline(always)]
fn written<T>(_cell: &UnsafeCell<T>) {}

/// What an operation is that others take part in, so that it can be neither cancelled nor freed while it is under way.
pub(super) fn never_alone(word: u32) -> Option<&'static str> {
    match word & (COLLECTIVE | PARTITIONED | ONE_SIDED) {
        0 => None,
        COLLECTIVE => Some("collective"),
        PARTITIONED => Some("partitioned"),
        _ => Some("one-sided"),
    }
}
