//! Memory of this process that other processes of its node can map: one file in memory, as long as a range of addresses that it is shown
//! in, and an allocator over both. So an address says by one comparison whether it is shareable ([`holds`]), and its place in the file
//! is a subtraction, here and at a peer that knows where the range begins. Nobody has to be told of an allocation, nor of its end: what is freed
//! is freed in all mappings at once, and what is allocated there later is this process's again.
//!
//! The file is sparse and takes memory as it is written. Its first page is a header: what a peer finds there when it opens the file
//! proves where the range begins ([`PeerHeap`]). No name leads to it, so nothing is left when the processes have ended, however they end.
//!
//! A child of fork shares this memory with its parent, unless [`fork`] was told otherwise. Any thread may allocate and free, whatever MPI was
//! told of threads.
#![allow(unsafe_code)] // gives pages back, and writes the header

use crate::framework::memory;
use crate::sync::{AtomicBool, AtomicUsize, ConditionalLock, Once, Ordering};
use crate::sys::{self, GrowingMapping, Mapping, Place, PlacedFile};
use crate::{Error, Result};
use alloc::boxed::Box;

mod blocks;
pub mod fork;
mod joint;
mod peer;

pub use blocks::MOST_ALIGNMENT;
use blocks::{Blocks, GivenBlock};
pub use joint::Joint;
use peer::{HEADER_BYTES, MAGIC};
pub use peer::{Mapped, PeerHeap};

/// What this process has.
struct Heap {
    range: GrowingMapping,
    // Always taken by `lock_among_threads`.
    held: ConditionalLock<Held>,
}

struct Held {
    file: PlacedFile,
    blocks: Blocks,
}

static HEAP: Once<Option<Heap>> = Once::new();
// Of the range, once it is there.
static BASE: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
// 0 again in a child of fork that has nothing there.
static SHOWN_BYTES: AtomicUsize = AtomicUsize::new(0);
// The list of blocks stays as it is.
static FROZEN: AtomicBool = AtomicBool::new(false);
// Of the thread whose fork holds the heap; 0: none does.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// Memory of so many bytes, not of zeros; `None` if there is none, or none that is aligned like this.
pub fn allocate(bytes: usize, alignment: usize) -> Option<*mut u8> {
    let (heap, block) = take(bytes, alignment)?;
    Some(heap.at(block.offset))
}

/// The same, of zeros. Pages that nobody had are not touched.
pub fn allocate_zeroed(bytes: usize, alignment: usize) -> Option<*mut u8> {
    let (heap, GivenBlock { offset, bytes, is_fresh }) = take(bytes, alignment)?;
    let at = heap.at(offset);
    if is_fresh {
        return Some(at);
    }
    if bytes < ZEROED_BY_SYSTEM {
        // SAFETY: nobody has the block yet; so below.
        unsafe { at.write_bytes(0, bytes) };
        return Some(at);
    }
    let (from, to) = (offset.next_multiple_of(PAGE), (offset + bytes) / PAGE * PAGE);
    // SAFETY: whole pages of the block.
    if !unsafe { heap.give_back(from, to - from) } {
        // SAFETY: the same.
        unsafe { heap.at(from).write_bytes(0, to - from) };
    }
    // SAFETY: the block's part of its first page, and below of its last one.
    unsafe { at.write_bytes(0, from - offset) };
    // SAFETY: as above.
    unsafe { heap.at(to).write_bytes(0, offset + bytes - to) };
    Some(at)
}

/// Takes memory of [`allocate`] back, which nobody uses any more. What is long goes back to the system.
///
/// # Safety
/// That.
pub unsafe fn free(at: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { release(at, |_, bytes| bytes < GIVEN_BACK) };
}

/// The same, but keeps its pages for whoever gets them next as long as `most` bytes in all are kept.
///
/// # Safety
/// As above.
pub unsafe fn free_keeping(at: *mut u8, most: usize) {
    // SAFETY: the caller's promise.
    unsafe { release(at, |kept, bytes| kept + bytes <= most) };
}

/// Length of the block that begins there, which is that of [`allocate`] or a little more; `None` if none does.
pub fn length(at: *mut u8) -> Option<usize> {
    let (heap, offset) = within(at)?;
    heap.with(|held| held.blocks.length(offset))
}

/// Makes the block that begins there longer or shorter without moving it. `false` if that cannot be. Of what it no longer holds, as much is kept
/// as by [`free_keeping`].
///
/// # Safety
/// Nobody uses what it loses.
pub unsafe fn resize(at: *mut u8, bytes: usize, most_kept: usize) -> bool {
    let Some((heap, offset)) = within(at) else { return false };
    heap.with(|held| {
        let Some(have) = held.blocks.length(offset) else { return false };
        if is_frozen() || is_amid_fork() {
            return bytes <= have;
        }
        if !held.blocks.resize(offset, bytes) {
            return false;
        }
        let now = held.blocks.length(offset).unwrap_or(have);
        if now > have && !heap.is_mapped_to(offset + now, &held.file) {
            held.blocks.resize(offset, have);
            return false;
        }
        if let Some(lost) = have.checked_sub(now).filter(|lost| *lost > 0) {
            let keeps = |kept, bytes| kept + bytes <= most_kept;
            // SAFETY: the caller's promise.
            unsafe { heap.keep_or_give_back(&mut held.blocks, offset + now, lost, keeps) };
        }
        true
    })
}

/// A block that is freed when this is dropped: when nobody uses it any more.
#[derive(Debug)]
pub struct Owned(*mut u8);

// SAFETY: an address; what is done with its bytes is up to the program's synchronisation.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    /// As [`allocate`].
    pub fn new(bytes: usize, alignment: usize) -> Option<Owned> {
        allocate(bytes, alignment).map(Owned)
    }

    /// Its address.
    pub fn at(&self) -> *mut u8 {
        self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: whoever has the address has it as long as this lives.
        unsafe { free(self.0) };
    }
}

/// Memory of zeros on a page that peers find by its address ([`mapping_of`]); `None` if there is none.
pub fn mapping(bytes: usize) -> Option<Mapping> {
    let block = Owned(allocate_zeroed(bytes, PAGE)?);
    // SAFETY: the block is as long, and this process's as long as it is held.
    Some(unsafe { Mapping::held(block.at(), bytes, Box::new(block)) })
}

/// That of a peer, which has it at `remote`. Errors as of [`PeerHeap::reach`].
pub fn mapping_of(peer: &PeerHeap, remote: u64, bytes: usize) -> Result<Mapping> {
    if !remote.is_multiple_of(PAGE as u64) {
        return Err(Error::Invalid);
    }
    let part = peer.reach(remote, bytes)?;
    // SAFETY: as many bytes are mapped as long as the part is held; ranges begin on pages, there and here.
    Ok(unsafe { Mapping::held(part.at(), bytes, Box::new(part)) })
}

/// Whether all of these bytes are where shareable memory lies.
#[inline(always)]
pub fn holds(at: *const u8, bytes: usize) -> bool {
    offset_of(at, bytes, &SHOWN_BYTES).is_some()
}

/// Whether peers find all of these bytes by their address: they are where shareable memory lies, or in memory that processes have mapped
/// together ([`Joint`]).
#[inline(always)]
pub fn is_shown(at: *const u8, bytes: usize) -> bool {
    holds(at, bytes) || joint::holds(at, bytes)
}

/// Whether this address is in the range that [`allocate`] gives memory of, in a child of fork, too.
#[inline(always)]
pub fn is_of_range(at: *const u8) -> bool {
    offset_of(at, 0, &BYTES).is_some()
}

/// Where others find this process's file ([`PeerHeap::of`]). `None` if there cannot be one here.
pub fn place() -> Option<Place> {
    let heap = heap().filter(|_| SHOWN_BYTES.load(Ordering::Relaxed) > 0)?;
    Some(heap.with(|held| held.file.place()))
}

/// # Safety
/// Nobody uses the block any more.
unsafe fn release(at: *mut u8, keeps: impl FnOnce(usize, usize) -> bool) {
    let Some((heap, offset)) = within(at) else { return };
    heap.with(|Held { blocks, .. }| {
        let Some(bytes) = blocks.length(offset) else { return };
        if is_frozen() {
            // Amid a fork the pages may be the parent's. SAFETY: the caller's promise. Where there is nothing the system refuses.
            let _given_back = !is_amid_fork() && unsafe { heap.give_back(offset, bytes) };
            return;
        }
        // Before anybody else gets it. SAFETY: the caller's promise.
        unsafe { heap.keep_or_give_back(blocks, offset, bytes, |kept, bytes| is_amid_fork() || keeps(kept, bytes)) };
        blocks.give_back(offset);
    });
}

fn take(bytes: usize, alignment: usize) -> Option<(&'static Heap, GivenBlock)> {
    // What is written amid a fork is in no copy.
    let heap = heap().filter(|_| !is_frozen() && !is_amid_fork())?;
    heap.with(|held| {
        let block = held.blocks.take(bytes, alignment)?;
        if !heap.is_mapped_to(block.offset + block.bytes, &held.file) {
            held.blocks.give_back(block.offset);
            return None;
        }
        Some((heap, block))
    })
}

/// The heap, and the offset in it.
fn within(at: *mut u8) -> Option<(&'static Heap, usize)> {
    let offset = offset_of(at, 0, &BYTES)?;
    Some((heap()?, offset))
}

#[inline(always)]
fn offset_of(at: *const u8, bytes: usize, whole: &AtomicUsize) -> Option<usize> {
    // Relaxed: whoever has an address in the range got it after both were set.
    let (base, whole) = (BASE.load(Ordering::Relaxed), whole.load(Ordering::Relaxed));
    let offset = at.addr().wrapping_sub(base);
    (offset < whole && bytes <= whole - offset).then_some(offset)
}

fn heap() -> Option<&'static Heap> {
    HEAP.call_once(|| Heap::new(range_bytes()?).ok()).as_ref()
}

/// Whether this is a child of fork that cannot change the list of blocks: nothing is allocated, and what is freed goes back to the system.
fn is_frozen() -> bool {
    // Relaxed: set when the child has one thread.
    FROZEN.load(Ordering::Relaxed)
}

/// Whether this thread is amid a fork: in a handler of fork, which may free or allocate.
fn is_amid_fork() -> bool {
    // Relaxed: only this thread could have written its own mark.
    let forking = FORKING.load(Ordering::Relaxed);
    forking != 0 && forking == sys::thread_mark()
}

/// As long as the machine's memory, as far as many processes' ranges fit beside one another. `None` where addresses are
/// rationed (`ulimit -v`): the program needs them itself.
fn range_bytes() -> Option<usize> {
    if sys::most_address_space().is_some() {
        return None;
    }
    let wanted = sys::physical_memory().checked_next_power_of_two()?.clamp(LEAST_RANGE, MOST_RANGE);
    usize::try_from(wanted.min(sys::most_file_bytes()) / LEAST_RANGE * LEAST_RANGE).ok().filter(|bytes| *bytes > 0)
}

impl Heap {
    fn new(bytes: usize) -> Result<Heap> {
        let file = PlacedFile::create(bytes)?;
        let range = GrowingMapping::reserve(bytes)?;
        range.extend(&file, HEADER_BYTES, true)?;
        let header = [MAGIC, range.base().addr() as u64];
        // SAFETY: the beginning of the mapping, which nobody else has yet.
        unsafe { range.base().cast::<[u64; 2]>().write(header) };
        BASE.store(range.base().addr(), Ordering::Relaxed);
        BYTES.store(bytes, Ordering::Relaxed);
        SHOWN_BYTES.store(bytes, Ordering::Relaxed);
        let blocks = Blocks::new(HEADER_BYTES, bytes);
        Ok(Heap { range, held: ConditionalLock::new(Held { file, blocks }) })
    }

    /// What no two threads use at a time.
    fn with<R>(&self, act: impl FnOnce(&mut Held) -> R) -> R {
        if is_amid_fork() {
            // SAFETY: this thread's fork holds it, and only the handlers of fork run meanwhile, one after the other.
            return act(&mut **unsafe { self.held.held_already() });
        }
        act(&mut self.held.lock_among_threads())
    }

    fn at(&self, offset: usize) -> *mut u8 {
        self.range.base().wrapping_add(offset)
    }

    /// Maps as much, if it is not mapped. The caller holds the file.
    fn is_mapped_to(&self, end: usize, file: &PlacedFile) -> bool {
        if end <= self.range.mapped() {
            return true;
        }
        let extended = match file.is_open() {
            true => self.range.extend(file, end, true),
            // The program has closed the descriptor, and peers do not find the file.
            false => Err(Error::System),
        };
        extended.is_ok()
    }

    /// # Safety
    /// Nobody uses what is there.
    unsafe fn keep_or_give_back(
        &self,
        blocks: &mut Blocks,
        offset: usize,
        bytes: usize,
        keeps: impl FnOnce(usize, usize) -> bool,
    ) {
        // SAFETY: the caller's promise.
        if keeps(blocks.kept(), bytes) || !unsafe { self.give_back(offset, bytes) } {
            blocks.keep(bytes);
        }
    }

    /// Gives pages back to the system, after it was told to those who may have registered them.
    ///
    /// # Safety
    /// Nobody uses what is there.
    unsafe fn give_back(&self, offset: usize, bytes: usize) -> bool {
        memory::released(self.at(offset).addr(), bytes);
        // SAFETY: the caller's promise.
        unsafe { self.range.give_back(offset, bytes) }
    }
}

const PAGE: usize = 4096;
/// Freed blocks of this length go back to the system.
const GIVEN_BACK: usize = 1 << 20;
/// From this length on the system has zeros sooner than they are written.
const ZEROED_BY_SYSTEM: usize = 256 << 10;
/// Of addresses, of one process: 256 processes of a node map each other's within the 128 TiB that x86-64 has.
const MOST_RANGE: u64 = 256 << 30;
const LEAST_RANGE: u64 = 1 << 30;

#[cfg(test)]
mod tests;
