//! Copies of sections that an operation uses after its procedure has returned. They stand in a list by request, and go back into the
//! sections by the procedure that finds the operation complete. MPI 5.0 §19.1.2.
//!
//! A procedure claims the entry of a request before it calls C, under the address of the program's variable: as soon as C has ended the
//! request, another thread may get its number for another operation.

use crate::arguments::{Int, Out, SUCCESS, to_c};
use crate::copied::Copied;
use crate::memory::Memory;
use core::hint::spin_loop;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

unsafe extern "C" {
    safe fn PMPI_Request_get_status(request: usize, flag: *mut Int, status: usize) -> Int;
}

const REQUEST_NULL: usize = 384;

/// How an operation uses its copies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Once.
    Once,
    /// From MPI_START on.
    Persistent,
    /// The program says when each of the parts of so many bytes is ready.
    Partitioned(i64),
}

struct Entry {
    next: *mut Entry,
    request: Int,
    /// The program's variable in the call that may end the request, or zero.
    claimed: usize,
    usage: Use,
    active: bool,
    first: Part,
    second: Option<Part>,
}

/// A buffer, and whether the operation writes it.
pub type Part = (Copied, bool);

/// How many entries there are: almost always none, and nothing else is looked at then.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicPtr<Entry> = AtomicPtr::new(null_mut());
static LOCKED: AtomicBool = AtomicBool::new(false);

/// Keeps the copies of a request that a procedure has just made.
pub fn keep(request: Out<Int>, usage: Use, first: Part, second: Option<Part>) -> bool {
    if !first.0.is_copy() && second.as_ref().is_none_or(|(part, _)| !part.is_copy()) {
        return true;
    }
    let Some(memory) = Memory::new(size_of::<Entry>()) else { return false };
    let (request, active) = (request.get(), usage == Use::Once);
    let entry = Entry { next: null_mut(), request, claimed: 0, usage, active, first, second };
    let place = memory.leave().cast::<Entry>();
    // SAFETY: malloc's memory is large enough and aligned for it.
    unsafe { place.write(entry) };
    List::locked().append(place);
    true
}

/// A procedure that may end this request begins. `place` is the program's variable.
#[inline]
pub fn claim(place: *mut Int) {
    if ENTRIES.load(Ordering::Relaxed) != 0 {
        claim_entry(place);
    }
}

#[cold]
fn claim_entry(place: *mut Int) {
    let request = Out(place).get();
    if let Some(entry) = List::locked().find(|entry| entry.request == request && entry.claimed == 0) {
        entry.claimed = place as usize;
    }
}

/// The procedure has called C, which left `after` of the request.
#[inline]
pub fn settle(place: *mut Int, after: usize) {
    if ENTRIES.load(Ordering::Relaxed) != 0 {
        settle_entry(place, after);
    }
}

#[cold]
fn settle_entry(place: *mut Int, after: usize) {
    let Some(mut entry) = List::locked().take(|entry| entry.claimed == place as usize) else { return };
    if entry.active && (after == REQUEST_NULL || is_complete(after)) {
        entry.complete();
    }
    if after != REQUEST_NULL {
        entry.claimed = 0;
        entry.put_back();
    }
}

/// MPI_REQUEST_FREE begins: what still goes on keeps its copies for ever.
#[inline]
pub fn release(place: *mut Int) {
    if ENTRIES.load(Ordering::Relaxed) != 0 {
        release_entry(place);
    }
}

#[cold]
fn release_entry(place: *mut Int) {
    let request = Out(place).get();
    let Some(mut entry) = List::locked().take(|entry| entry.request == request && entry.claimed == 0) else { return };
    if entry.active && is_complete(to_c(request)) {
        entry.complete();
    }
    if entry.active {
        entry.leave();
    }
}

/// A procedure that ends no request has looked at it.
#[inline]
pub fn look(request: Int) {
    if ENTRIES.load(Ordering::Relaxed) != 0 {
        look_entry(request);
    }
}

#[cold]
fn look_entry(request: Int) {
    let taken = List::locked().take(|entry| entry.request == request && entry.claimed == 0);
    let Some(mut entry) = taken else { return };
    if entry.active && is_complete(to_c(request)) {
        entry.complete();
    }
    entry.put_back();
}

/// MPI_START begins.
#[inline]
pub fn start(request: Int) {
    if ENTRIES.load(Ordering::Relaxed) != 0 {
        start_entry(request);
    }
}

#[cold]
fn start_entry(request: Int) {
    let taken = List::locked().take(|entry| entry.request == request && entry.claimed == 0);
    let Some(mut entry) = taken else { return };
    entry.active = true;
    // Of partitions the program says itself when they are ready.
    if entry.usage == Use::Persistent {
        for (copied, _) in entry.parts() {
            copied.copy_in(0, copied.bytes());
        }
    }
    entry.put_back();
}

/// These partitions are ready, from the first to the last one.
#[inline]
pub fn ready(request: Int, (first, last): (Int, Int)) {
    if ENTRIES.load(Ordering::Relaxed) != 0 {
        each_partition(request, (first, last), Copied::copy_in);
    }
}

/// This partition has arrived, if `flag` says so.
#[inline]
pub fn arrived(request: Int, partition: Int, flag: *const Int) {
    if ENTRIES.load(Ordering::Relaxed) != 0 && Out(flag.cast_mut()).get() != 0 {
        each_partition(request, (partition, partition), Copied::copy_out);
    }
}

/// Threads may do this to the same request at once. So the entry stays in the list; its request is active, and nobody ends it.
#[cold]
fn each_partition(request: Int, (first, last): (Int, Int), copy: fn(&Copied, usize, usize)) {
    let found = List::locked().find(|entry| entry.request == request).map(|entry| &raw const *entry);
    let Some(entry) = found else { return };
    // SAFETY: by the standard no other thread ends or frees the request meanwhile.
    let entry = unsafe { &*entry };
    let Use::Partitioned(bytes) = entry.usage else { return };
    let (Ok(first), Ok(last)) = (usize::try_from(first), usize::try_from(last)) else { return };
    let bytes = usize::try_from(bytes).unwrap_or(0);
    copy(&entry.first.0, first.saturating_mul(bytes), last.saturating_add(1).saturating_mul(bytes));
}

fn is_complete(request: usize) -> bool {
    let mut flag = 0;
    PMPI_Request_get_status(request, &raw mut flag, 0) == SUCCESS && flag != 0
}

/// An entry that no other thread finds.
struct Taken(*mut Entry);

impl Taken {
    /// Back into the list.
    fn put_back(self) {
        let entry = self.0;
        core::mem::forget(self);
        List::locked().append(entry);
    }

    /// The operation still uses the copies, and nobody will learn when it ends.
    fn leave(self) {
        core::mem::forget(self);
    }
}

impl core::ops::Deref for Taken {
    type Target = Entry;
    fn deref(&self) -> &Entry {
        // SAFETY: it was taken out of the list, and nobody else has it.
        unsafe { &*self.0 }
    }
}

impl core::ops::DerefMut for Taken {
    fn deref_mut(&mut self) -> &mut Entry {
        // SAFETY: as above.
        unsafe { &mut *self.0 }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: `keep` wrote it, and nobody else has it.
        drop(unsafe { self.0.read() });
        // SAFETY: its memory came from `leave`.
        drop(unsafe { Memory::take(self.0.cast()) });
    }
}

impl Entry {
    fn parts(&self) -> impl Iterator<Item = &Part> {
        [&self.first].into_iter().chain(&self.second)
    }

    fn complete(&mut self) {
        self.active = false;
        for (copied, _) in self.parts().filter(|(_, written)| *written) {
            copied.copy_back();
        }
    }
}

/// The list, while it lives.
struct List;

impl List {
    /// Held for a walk through it: nothing is copied, and C is not called meanwhile.
    fn locked() -> List {
        // Pairs with the Release in `drop`.
        while LOCKED.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            spin_loop();
        }
        List
    }

    /// Oldest first.
    fn find(&mut self, is: impl Fn(&Entry) -> bool) -> Option<&mut Entry> {
        let mut at = FIRST.load(Ordering::Relaxed);
        loop {
            // SAFETY: an entry of the list, which is locked; or nothing.
            let entry = unsafe { at.as_mut() }?;
            if is(entry) {
                return Some(entry);
            }
            at = entry.next;
        }
    }

    fn take(&mut self, is: impl Fn(&Entry) -> bool) -> Option<Taken> {
        let wanted = &raw mut *self.find(is)?;
        // SAFETY: an entry of the list, which is locked.
        let next = unsafe { (*wanted).next };
        match self.find(|entry| entry.next == wanted) {
            Some(before) => before.next = next,
            None => FIRST.store(next, Ordering::Relaxed),
        }
        ENTRIES.fetch_sub(1, Ordering::Relaxed);
        Some(Taken(wanted))
    }

    fn append(&mut self, place: *mut Entry) {
        // SAFETY: nobody else has it.
        unsafe { (*place).next = null_mut() };
        match self.find(|entry| entry.next.is_null()) {
            Some(last) => last.next = place,
            None => FIRST.store(place, Ordering::Relaxed),
        }
        ENTRIES.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // Pairs with the Acquire in `locked`.
        LOCKED.store(false, Ordering::Release);
    }
}
