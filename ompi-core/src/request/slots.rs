//! All slots: chunks that never move, found without a lock, and the list of those that are free.
#![allow(unsafe_code)]

use super::slot::{
    COMPLETE, DETACHED, FREE, GENERATION, GENERATION_SHIFT, INACTIVE, INDEX_BITS, PERSISTENT, QUERIED, STATE, Slot,
};
use crate::error::{Class, Fault, Result};
use crate::status::Status;
use alloc::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicPtr, ConditionalLock, Ordering};

/// Slots that are free: a list through them, of addresses, since a number would be looked up each time (12 instructions of
/// MPI_Irecv); and those that were never used.
pub(super) struct List {
    pub(super) first: Option<&'static Slot>,
    next: u32,
}

/// The bits of a handle that are the slot's index.
pub(super) const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// Slots in a chunk. All chunks are of one size so that a look-up is a shift and two loads, and a mask; a small one, since
/// the call that makes it clears it.
const CHUNK: u32 = 128;
const CHUNKS: usize = ((INDEX_MASK + 1) / CHUNK) as usize;
/// The first slot is complete for ever: handles below it are the standard's, so that their chunks are never made.
pub(super) const DONE: u32 = 1024;
const _: () = assert!(DONE.is_multiple_of(CHUNK));

// Chunk k holds CHUNK indices from k·CHUNK on.
static SLOTS: [AtomicPtr<Slot>; CHUNKS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS];
pub(super) static LIST: ConditionalLock<List> = ConditionalLock::new(List::NEW);

/// The slot of an index, if there is one.
#[inline(always)]
pub(super) fn slot(index: u32) -> Option<&'static Slot> {
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

/// A slot whose chunk was not made: only that of [`done`](super::done) is made when it is looked at.
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
pub(super) fn slot_of(handle: u32) -> &'static Slot {
    slot(handle & INDEX_MASK).expect("a request has a slot")
}

/// The slot of a handle from the program, if it is in force.
#[inline(always)]
pub(super) fn find(handle: usize) -> Option<&'static Slot> {
    find_even_freed(handle).filter(|(_, word)| word & DETACHED == 0).map(|(slot, _)| slot)
}

/// As `find`, also if the user freed it while its operation was under way; and the slot's word.
#[inline(always)]
pub(super) fn find_even_freed(handle: usize) -> Option<(&'static Slot, u32)> {
    if handle > i32::MAX as usize {
        return None;
    }
    let slot = slot(handle as u32 & INDEX_MASK)?;
    let word = slot.word.load(Ordering::Acquire);
    let same = (word & GENERATION) >> GENERATION_SHIFT == handle as u32 >> INDEX_BITS;
    (same && word & STATE != FREE).then_some((slot, word))
}

/// What a debugger needs to know of requests.
pub(crate) static FACTS: [Fact; 5] = [
    Fact::address("request.chunks", &raw const SLOTS),
    Fact::number("request.chunk", CHUNK as usize),
    Fact::number("request.done", DONE as usize),
    Fact::number("request.slot.token", offset_of!(Slot, token)),
    Fact::number("request.slot.status", Slot::STATUS),
];
const _: () = assert!(offset_of!(Slot, word) == 0 && size_of::<Slot>() == 64);

/// Takes a slot off the list.
#[inline(always)]
pub(super) fn reserve() -> Option<&'static Slot> {
    let mut list = LIST.lock();
    list.take().or_else(|| list.extend())
}

impl Slot {
    /// Nobody will ask for it any more: it is freed now, or at its end.
    pub(super) fn detach(&'static self, handle: u32) -> Result<()> {
        let before = self.change(|word| word | DETACHED);
        match before & STATE {
            // A persistent one has nothing to be taken; `take` releases it because it is detached now.
            COMPLETE | INACTIVE => match before & QUERIED {
                0 => _ = self.take(handle),
                _ => return self.take(handle).deliver(None),
            },
            _ => {}
        }
        Ok(())
    }

    /// Takes the status of a complete request; the slot is free (inactive if persistent) afterwards.
    #[inline]
    pub(super) fn take(&'static self, handle: u32) -> Status {
        if handle == DONE {
            return Status::EMPTY;
        }
        let word = self.word.load(Ordering::Relaxed);
        if word & QUERIED != 0 {
            return self.take_queried(word);
        }
        let status = self.status();
        self.free();
        status
    }

    #[inline(never)]
    fn take_queried(&'static self, word: u32) -> Status {
        let mut status = if word & DETACHED == 0 { self.look() } else { Status::EMPTY };
        if word & (PERSISTENT | DETACHED) == PERSISTENT {
            self.change(|word| word & !STATE | INACTIVE);
        } else {
            let mut code = 0;
            self.drive(|driver, token| code = driver.end(token));
            if status.error == 0 {
                status.error = code;
            }
            self.free();
        }
        status
    }

    #[inline(always)]
    fn free(&'static self) {
        self.free_into(&mut LIST.lock(), self.word.load(Ordering::Relaxed));
    }

    /// As `free`, for a caller that has the list and has just loaded the word.
    #[inline(always)]
    pub(super) fn free_into(&'static self, list: &mut List, word: u32) {
        let generation = (word + (1 << GENERATION_SHIFT)) & GENERATION;
        self.word.store(generation | FREE, Ordering::Relaxed);
        let next = list.first.map_or(core::ptr::null(), core::ptr::from_ref);
        self.token.store(next.expose_provenance() as u64, Ordering::Relaxed);
        list.first = Some(self);
    }
}

impl List {
    /// Before the first request.
    pub(super) const NEW: List = List { first: None, next: DONE + 1 };

    /// A slot that was used before.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<&'static Slot> {
        let slot = self.first?;
        self.first = slot.next_free();
        Some(slot)
    }

    /// A slot that was never used.
    #[cold]
    #[inline(never)]
    fn extend(&mut self) -> Option<&'static Slot> {
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
        let slot = slot(index)?;
        slot.index.store(index, Ordering::Relaxed);
        Some(slot)
    }
}

/// How many slots are taken. Looks at all of them.
pub(super) fn taken() -> usize {
    let list = LIST.lock();
    (DONE + 1..list.next).filter_map(slot).filter(|slot| slot.word.load(Ordering::Relaxed) & STATE != FREE).count()
}

#[cold]
#[inline(never)]
pub(super) fn no_slot() -> Fault {
    Fault::new(Class::NoMem).because("four million requests are in use; complete or free some first")
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
        done.end_for_ever();
    }
    // Release pairs with the Acquire in `slot`.
    SLOTS[chunk].store(base, Ordering::Release);
}
