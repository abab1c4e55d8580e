//! Requests: operations under way. Slots of one cache line in chunks that never move; a handle is index and generation.
//!
//! Three users, three doors:
//! * Who runs an operation (the PML, a schedule of collectives, MPI_Grequest_start) makes a request with [`create`],
//!   keeps its [`Id`] and calls [`complete`] once. What else it must do for the request is its [`Driver`].
//! * Code of the library that waits for what it started itself holds a [`Request`] and calls [`Request::wait`],
//!   [`Request::test`] or [`wait_all`].
//! * The C rows hold handles and call [`handles`]: `wait`, `test`, `wait_all`, `wait_any`, `wait_some`, `test_all`,
//!   `test_any`, `test_some`, `get_status`, `free`, `cancel`, `start`. A handle that was completed is set to
//!   MPI_REQUEST_NULL there (to nothing for persistent ones). They return `Ok(status)` for an operation that ended, with
//!   the operation's own error code in `status.error`; [`Status::deliver`] turns it into what a row returns. `Err` is a
//!   fault of the call itself (a handle that is none, a peer that died while waiting).
//!
//! **Invariant:** a slot is written by the operation's owner until it is complete, and by the waiter afterwards.
#![allow(unsafe_code)]

use crate::error::{Class, Fault, Result};
use crate::status::Status;
use alloc::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use core::cell::UnsafeCell;
use opal_core::sync::{AtomicPtr, AtomicU32, AtomicU64, Guarded, Ordering, threads_possible};
use opal_core::wait;

pub mod collective;
pub mod exchange;
pub mod generalized;
pub mod handles;
pub mod persistent;

/// MPI_REQUEST_NULL.
pub const NULL: usize = 0x180;

/// The name of a request for who completes it. Its number is the C handle; the default is none's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id(pub u32);

/// The right to complete one operation. Its number is the C handle.
#[derive(Debug, PartialEq, Eq)]
pub struct Request(pub u32);

/// What kind of operation a request stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A send: cannot be cancelled any more (MPI 5.0 §3.8.4 deprecates it), completes normally.
    Send,
    /// A receive: can be cancelled while it is not matched.
    Recv,
    /// A collective, a generalized request; `query` and `release` of its driver are called.
    Generic,
    /// As `Generic`, and the driver's `poll` is called by whoever waits.
    Polled,
    /// Can be started again after it has completed; made inactive. `query` and `release` are called,
    /// and `poll` by whoever waits.
    Persistent,
    /// As `Generic`; can be neither freed by the user nor cancelled (MPI 5.0 §6.12).
    Collective,
    /// As `Persistent`, not polled; can be freed while it is inactive only, and not be cancelled (MPI 5.0 §6.13).
    PersistentCollective,
}

/// What the owner of an operation does for its requests. `token` is what it gave to [`create`].
pub trait Driver: Sync {
    /// MPI_Cancel. May [`complete`] the request with a cancelled status, or do nothing.
    fn cancel(&self, _token: u64, _id: Id) {}

    /// [`Kind::Polled`] and [`Kind::Persistent`]: tries to move the operation on.
    fn poll(&self, _token: u64) {}

    /// [`Kind::Persistent`]: starts the operation; the request is active already.
    fn start(&self, _token: u64, _id: Id) -> Result<()> {
        Err(Class::UnsupportedOperation.into())
    }

    /// Not for sends and receives: the last word on the status before the user sees it.
    fn query(&self, _token: u64, _status: &mut Status) {}

    /// Not for sends and receives: the request is gone; gives back what the token stands for.
    fn release(&self, _token: u64) {}

    /// As `release`, by a driver whose release can fail: an error code for the call that completes or frees the request.
    fn end(&self, token: u64) -> i32 {
        self.release(token);
        0
    }
}

impl Request {
    /// Waits for it and frees it. `MPI_ERR_*` of the operation as `Err`.
    pub fn wait(self) -> Result<Status> {
        opal_core::progress::flush();
        let slot = slot_of(self.0);
        slot.wait()?;
        checked(slot.take(self.0))
    }

    /// Completes and frees it if it is done; gives it back otherwise. Makes progress once.
    pub fn test(self) -> Result<core::result::Result<Status, Request>> {
        opal_core::progress::flush();
        let slot = slot_of(self.0);
        if !slot.is_complete() {
            slot.poll();
            opal_core::progress::pass();
            if !slot.is_complete() {
                return Ok(Err(self));
            }
        }
        checked(slot.take(self.0)).map(Ok)
    }

    /// The C handle.
    pub fn into_handle(self) -> usize {
        self.0 as usize
    }

    /// The request behind a C handle that is in force.
    pub fn from_handle(handle: usize) -> Option<Request> {
        find(handle).map(|_| Request(handle as u32))
    }

    /// Whether its operation is done. Makes no progress.
    pub fn is_complete(&self) -> bool {
        slot_of(self.0).is_complete()
    }

    /// Its name for [`complete`].
    pub fn id(&self) -> Id {
        Id(self.0)
    }
}

/// Waits for all; the first failure is returned after all have completed.
pub fn wait_all(requests: impl IntoIterator<Item = Request>) -> Result<()> {
    let mut first = Ok(());
    for request in requests {
        let ended = request.wait();
        if let (Ok(()), Err(fault)) = (&first, ended) {
            first = Err(fault);
        }
    }
    first
}

/// A request for an operation that is under way (a persistent one: inactive at first).
#[inline(always)]
pub fn create(kind: Kind, driver: &'static dyn Driver, token: u64) -> Result<Request> {
    let Some((index, slot)) = reserve() else {
        return Err(no_slot());
    };
    // SAFETY: a slot that was free until now is this thread's alone.
    unsafe { *slot.driver.get() = Some(driver) };
    slot.token.store(token, Ordering::Relaxed);
    let flags = match kind {
        Kind::Send | Kind::Recv => ACTIVE,
        Kind::Generic => ACTIVE | QUERIED,
        Kind::Polled => ACTIVE | QUERIED | POLLED,
        Kind::Persistent => INACTIVE | QUERIED | PERSISTENT | POLLED,
        Kind::Collective => ACTIVE | QUERIED | COLLECTIVE,
        Kind::PersistentCollective => INACTIVE | QUERIED | PERSISTENT | COLLECTIVE,
    };
    let generation = slot.word.load(Ordering::Relaxed) & GENERATION;
    // Release: who learns of the handle sees the driver; the handle itself travels by the program's own means.
    slot.word.store(generation | flags, Ordering::Release);
    Ok(Request(generation >> GENERATION_SHIFT << INDEX_BITS | index))
}

/// As [`create`] for a plain send or receive, with nothing but a few loads and stores: `None` if there may be other
/// threads or no slot is at hand, and then `create` is to be asked.
#[inline(always)]
pub fn create_at_once(driver: &'static dyn Driver, token: u64) -> Option<Request> {
    let mut list = LIST.lock_alone()?;
    let index = list.first;
    let slot = slot(index)?;
    list.first = slot.next_free.load(Ordering::Relaxed);
    // SAFETY: a slot that was free until now is this thread's alone.
    unsafe { *slot.driver.get() = Some(driver) };
    slot.token.store(token, Ordering::Relaxed);
    let generation = slot.word.load(Ordering::Relaxed) & GENERATION;
    slot.word.store(generation | ACTIVE, Ordering::Release);
    Some(Request(generation >> GENERATION_SHIFT << INDEX_BITS | index))
}

/// Replaces the token that [`create`] was given, before the handle is known to others.
#[inline(always)]
pub fn set_token(id: Id, token: u64) {
    slot_of(id.0).token.store(token, Ordering::Relaxed);
}

/// A request that is complete, with the empty status: for a send that was done at once. Costs nothing.
#[inline(always)]
pub fn done() -> Request {
    Request(DONE)
}

/// The token of a request in force, or of one that the user freed while its operation was under way.
pub fn token(handle: usize) -> Option<u64> {
    find_even_freed(handle).map(|(slot, _)| slot.token.load(Ordering::Relaxed))
}

/// Ends an operation. Once per request (per start of a persistent one), by its owner; `status.error` is its error code.
// Inlined so that the status is made in its slot: made elsewhere and copied, the copy would wait for its own stores.
#[inline(always)]
pub fn complete(id: Id, status: Status) {
    let slot = slot_of(id.0);
    debug_assert!(slot.word.load(Ordering::Relaxed) & STATE == ACTIVE);
    // SAFETY: an active slot's status belongs to the owner of the operation.
    unsafe { *slot.status.get() = status };
    // ACTIVE (1) becomes COMPLETE (2). Release pairs with the Acquire in `is_complete`.
    let before = slot.change(|word| word & !STATE | COMPLETE);
    if before & (DETACHED | AWAITED) != 0 {
        tell_of(id, before);
    }
}

/// As [`complete`], for who has just found that there is one thread only: six instructions less.
#[inline(always)]
pub fn complete_alone(id: Id, status: Status) {
    let slot = slot_of(id.0);
    // SAFETY: an active slot's status belongs to the owner of the operation.
    unsafe { *slot.status.get() = status };
    let word = slot.word.load(Ordering::Relaxed);
    debug_assert!(word & STATE == ACTIVE);
    // Release as in `complete`. Nobody changes the word in between.
    slot.word.store(word + (COMPLETE - ACTIVE), Ordering::Release);
    if word & (DETACHED | AWAITED) != 0 {
        tell_of(id, word);
    }
}

/// The user freed the request while its operation was under way, or a thread may sleep until it is complete.
#[cold]
#[inline(never)]
fn tell_of(id: Id, before: u32) {
    if before & DETACHED != 0 {
        slot_of(id.0).take(id.0);
    } else {
        wait::rouse();
    }
}

struct Slot {
    word: AtomicU32,
    next_free: AtomicU32,
    token: AtomicU64,
    driver: UnsafeCell<Option<&'static dyn Driver>>,
    status: UnsafeCell<Status>,
}

const _: () = assert!(size_of::<Slot>() == 64);

const STATE: u32 = 3;
const FREE: u32 = 0;
const ACTIVE: u32 = 1;
const COMPLETE: u32 = 2;
const INACTIVE: u32 = 3;
const PERSISTENT: u32 = 4;
const DETACHED: u32 = 8;
const POLLED: u32 = 16;
const QUERIED: u32 = 32;
const COLLECTIVE: u32 = 64;
/// A thread may sleep until it is complete. Not set where there is one thread only, which completes what it waits for itself.
const AWAITED: u32 = 128;
const GENERATION_SHIFT: u32 = 16;
const GENERATION: u32 = 0x1ff << GENERATION_SHIFT;

impl Slot {
    #[inline(always)]
    fn is_complete(&self) -> bool {
        // Acquire pairs with the Release in `complete`.
        self.word.load(Ordering::Acquire) & STATE == COMPLETE
    }

    #[inline]
    fn wait(&self) -> Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        self.wait_longer()
    }

    #[inline(never)]
    fn wait_longer(&self) -> Result<()> {
        let polled = self.word.load(Ordering::Relaxed) & POLLED != 0;
        self.announce();
        wait::until(|| {
            if polled {
                self.drive(|driver, token| driver.poll(token));
            }
            self.is_complete()
        })?;
        Ok(())
    }

    /// Has who completes it wake this thread.
    fn announce(&self) {
        if threads_possible() {
            self.change(|word| word | AWAITED);
        }
    }

    fn poll(&self) {
        if self.word.load(Ordering::Relaxed) & (STATE | POLLED) == ACTIVE | POLLED {
            self.drive(|driver, token| driver.poll(token));
        }
    }

    fn drive(&self, call: impl FnOnce(&'static dyn Driver, u64)) {
        // SAFETY: written before the handle was handed out and not again until the slot is free.
        if let Some(driver) = unsafe { *self.driver.get() } {
            call(driver, self.token.load(Ordering::Relaxed));
        }
    }

    /// The status of a complete request, as the user shall see it.
    #[inline]
    fn look(&self) -> Status {
        // SAFETY: complete, so the owner of the operation writes no more.
        let mut status = unsafe { *self.status.get() };
        if self.word.load(Ordering::Relaxed) & QUERIED != 0 {
            self.drive(|driver, token| driver.query(token, &mut status));
        }
        status
    }

    /// Takes the status of a complete request; the slot is free (inactive if persistent) afterwards.
    #[inline]
    fn take(&self, handle: u32) -> Status {
        if handle == DONE {
            return Status::EMPTY;
        }
        let word = self.word.load(Ordering::Relaxed);
        if word & QUERIED != 0 {
            return self.take_queried(handle, word);
        }
        // SAFETY: complete, so the owner of the operation writes no more.
        let status = unsafe { *self.status.get() };
        self.free(handle);
        status
    }

    #[inline(never)]
    fn take_queried(&self, handle: u32, word: u32) -> Status {
        let mut status = if word & DETACHED == 0 { self.look() } else { Status::EMPTY };
        if word & (PERSISTENT | DETACHED) == PERSISTENT {
            self.change(|word| word & !STATE | INACTIVE);
        } else {
            let mut code = 0;
            self.drive(|driver, token| code = driver.end(token));
            if status.error == 0 {
                status.error = code;
            }
            self.free(handle);
        }
        status
    }

    #[inline(always)]
    fn free(&self, handle: u32) {
        self.free_into(&mut LIST.lock(), handle, self.word.load(Ordering::Relaxed));
    }

    /// As `free`, for who has the list and has just loaded the word.
    #[inline(always)]
    fn free_into(&self, list: &mut List, handle: u32, word: u32) {
        let index = handle & INDEX_MASK;
        let generation = (word + (1 << GENERATION_SHIFT)) & GENERATION;
        self.word.store(generation | FREE, Ordering::Relaxed);
        self.next_free.store(list.first, Ordering::Relaxed);
        list.first = index;
    }

    /// Replaces the word; returns what it was.
    #[inline(always)]
    fn change(&self, to: impl Fn(u32) -> u32) -> u32 {
        let mut word = self.word.load(Ordering::Relaxed);
        if !threads_possible() {
            // One thread: no locked instruction. Release as below.
            self.word.store(to(word), Ordering::Release);
            return word;
        }
        // `complete` publishes the status to `is_complete`; freeing an active request meets its completion here. SeqCst: who
        // sleeps was counted before it looked, see `wait::rouse`.
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

struct List {
    first: u32,
    next: u32,
}

const INDEX_BITS: u32 = 22;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// Slots in a chunk. All chunks are of one size so that a look-up is a shift and two loads, and a mask; a small one, since
/// the call that makes it clears it.
const CHUNK: u32 = 128;
const CHUNKS: usize = ((INDEX_MASK + 1) / CHUNK) as usize;
const NONE: u32 = 0;
/// The first slot is complete for ever: handles below it are the standard's, so that their chunks are never made.
const DONE: u32 = 1024;
const _: () = assert!(DONE.is_multiple_of(CHUNK));

// Chunk k holds CHUNK indices from k·CHUNK on.
static SLOTS: [AtomicPtr<Slot>; CHUNKS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS];
static LIST: Guarded<List> = Guarded::new(List { first: NONE, next: DONE + 1 });

#[inline(always)]
fn slot(index: u32) -> Option<&'static Slot> {
    // Acquire pairs with the Release in `grow`.
    let base = SLOTS[(index / CHUNK) as usize % CHUNKS].load(Ordering::Acquire);
    if base.is_null() {
        return absent(index);
    }
    // SAFETY: every chunk has CHUNK slots.
    let at = unsafe { base.add((index % CHUNK) as usize) };
    // SAFETY: chunks are never freed.
    Some(unsafe { &*at })
}

/// A slot whose chunk was not made: only that of [`done`] is made when it is looked at.
#[cold]
#[inline(never)]
fn absent(index: u32) -> Option<&'static Slot> {
    if index != DONE {
        return None;
    }
    let _list = LIST.lock();
    let chunk = (DONE / CHUNK) as usize;
    // Relaxed: written under the same lock.
    if SLOTS[chunk].load(Ordering::Relaxed).is_null() {
        grow(chunk);
    }
    // SAFETY: just made; the chunk's first slot.
    Some(unsafe { &*SLOTS[chunk].load(Ordering::Relaxed) })
}

/// The slot of a request that is known to be in force.
#[inline(always)]
fn slot_of(handle: u32) -> &'static Slot {
    slot(handle & INDEX_MASK).expect("a request has a slot")
}

/// The slot of a handle from the program, if it is in force.
#[inline(always)]
fn find(handle: usize) -> Option<&'static Slot> {
    find_even_freed(handle).filter(|(_, word)| word & DETACHED == 0).map(|(slot, _)| slot)
}

#[inline(always)]
fn find_even_freed(handle: usize) -> Option<(&'static Slot, u32)> {
    if handle > i32::MAX as usize {
        return None;
    }
    let slot = slot(handle as u32 & INDEX_MASK)?;
    let word = slot.word.load(Ordering::Acquire);
    let same = (word & GENERATION) >> GENERATION_SHIFT == handle as u32 >> INDEX_BITS;
    (same && word & STATE != FREE).then_some((slot, word))
}

#[inline(always)]
fn reserve() -> Option<(u32, &'static Slot)> {
    let mut list = LIST.lock();
    let index = list.first;
    if index == NONE {
        return list.extend();
    }
    let slot = slot(index)?;
    list.first = slot.next_free.load(Ordering::Relaxed);
    Some((index, slot))
}

impl List {
    /// A slot that was never used.
    #[cold]
    #[inline(never)]
    fn extend(&mut self) -> Option<(u32, &'static Slot)> {
        let index = self.next;
        if index > INDEX_MASK {
            return None;
        }
        let chunk = (index / CHUNK) as usize;
        // Relaxed: written under the same lock.
        if SLOTS[chunk].load(Ordering::Relaxed).is_null() {
            grow(chunk);
        }
        self.next += 1;
        Some((index, slot(index)?))
    }
}

#[cold]
#[inline(never)]
fn no_slot() -> Fault {
    Fault::new(Class::NoMem).because("four million requests are in use already")
}

#[cold]
fn grow(chunk: usize) {
    let layout = Layout::array::<Slot>(CHUNK as usize).expect("8 KiB");
    let layout = layout.align_to(64).expect("64 is a power of two");
    // SAFETY: the layout is not empty.
    let base = unsafe { alloc_zeroed(layout) }.cast::<Slot>();
    if base.is_null() {
        handle_alloc_error(layout);
    }
    if chunk == (DONE / CHUNK) as usize {
        // SAFETY: all zeros is a slot: free, generation 0, no driver (None is the null pointer).
        let done = unsafe { &*base };
        done.word.store(COMPLETE, Ordering::Relaxed);
        // SAFETY: nobody else knows the slot yet.
        unsafe { *done.status.get() = Status::EMPTY };
    }
    // Release pairs with the Acquire in `slot`.
    SLOTS[chunk].store(base, Ordering::Release);
}

fn checked(status: Status) -> Result<Status> {
    if status.error == 0 { Ok(status) } else { Err(status.fault()) }
}

#[cfg(test)]
#[path = "request/tests.rs"]
mod tests;
