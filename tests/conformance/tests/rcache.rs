//! rcache/grdma with memory/hook, where caches of others broke: the registration that is found is never older than its pages.
#![allow(unsafe_code)] // mappings

use opal_core::framework::rcache::{Component, Lease, Module};
use opal_core::framework::{self, memory};
use std::ptr::null_mut;
use std::sync::{Once, PoisonError, RwLock, RwLockReadGuard};
use test_conformance::rcache::{Card, acquire, suite};

opal_core::image![framework::atomics, memcpy_portable, memory_hook, rcache_grdma, timer_clock];

const PAGE: usize = 4096;
const BYTES: usize = 64 * PAGE;

/// Shared by tests that unmap memory, which may end registrations of any other one.
static RUNNING: RwLock<()> = RwLock::new(());

/// A card and its cache, and what to hold meanwhile.
fn begin(most: Option<usize>) -> (&'static Card, Box<dyn Module + Send>, RwLockReadGuard<'static, ()>) {
    let running = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
    let (card, cache) = made(most);
    (card, cache, running)
}

fn made(most: Option<usize>) -> (&'static Card, Box<dyn Module + Send>) {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        opal_core::sync::raise_threads();
        framework::open_static().unwrap();
    });
    rcache_grdma::COMPONENT.query().expect("memory/hook tells of memory that goes");
    let card = Card::new(most);
    (card, rcache_grdma::COMPONENT.keep(card))
}

/// The number of the registration that is found or made for this memory.
fn number(cache: &dyn Module, address: usize, bytes: usize) -> u64 {
    let (lease, number) = acquire(cache, address, bytes).unwrap();
    cache.release(lease);
    number
}

fn map_at(address: usize, bytes: usize) -> usize {
    let fixed = if address == 0 { 0 } else { libc::MAP_FIXED };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed);
    // SAFETY: a new mapping, or one over memory of this test's.
    let base = unsafe { libc::mmap(std::ptr::without_provenance_mut(address), bytes, protection, flags, -1, 0) };
    assert_ne!(base, libc::MAP_FAILED);
    base.addr()
}

fn at(address: usize) -> *mut libc::c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

fn unmap(address: usize, bytes: usize) {
    // SAFETY: a mapping of this test's.
    assert_eq!(unsafe { libc::munmap(at(address), bytes) }, 0);
}

#[test]
fn the_suite() {
    let _running = begin(None);
    let cases = suite(&rcache_grdma::COMPONENT).expect("every promise is kept");
    assert!(cases > 400, "{cases}");
}

#[test]
fn a_second_transfer_registers_nothing() {
    let (card, cache, _running) = begin(None);
    let block = vec![1u8; 4 << 20];
    let address = block.as_ptr().addr();
    let first = number(&*cache, address, block.len());
    for part in [0..4 << 20, 0..1, 1 << 20..3 << 20] {
        assert_eq!(number(&*cache, address + part.start, part.len()), first);
    }
    assert_eq!(card.made(), 1);
    static VARIABLE: [std::sync::atomic::AtomicU8; 1 << 16] = [const { std::sync::atomic::AtomicU8::new(0) }; 1 << 16];
    let variable = (&raw const VARIABLE).addr();
    assert_eq!(number(&*cache, variable, 1 << 16), number(&*cache, variable, 1 << 16), "the program's own data");
}

#[test]
fn memory_that_comes_to_the_same_address_is_registered_anew() {
    let (_, cache, _running) = begin(None);
    let base = map_at(0, BYTES);
    let check = |what: &str, bytes: usize, change: &dyn Fn()| {
        let before = number(&*cache, base, bytes);
        assert_eq!(number(&*cache, base, bytes), before);
        change();
        assert_ne!(number(&*cache, base, bytes), before, "{what}");
    };
    check("mmap over it", BYTES, &|| _ = map_at(base, BYTES));
    check("mmap over a part", BYTES, &|| _ = map_at(base + 8 * PAGE, 4 * PAGE));
    check("munmap, mmap", BYTES, &|| {
        unmap(base, BYTES);
        map_at(base, BYTES);
    });
    check("madvise", BYTES, &|| {
        // SAFETY: memory of this test's.
        assert_eq!(unsafe { libc::madvise(at(base), PAGE, libc::MADV_DONTNEED) }, 0);
    });
    check("mremap of another over it", BYTES, &|| {
        let other = map_at(0, BYTES);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: both are this test's.
        assert_eq!(unsafe { libc::mremap(at(other), BYTES, BYTES, flags, at(base)) }.addr(), base);
    });
    check("mremap that shrinks", 16 * PAGE, &|| {
        // SAFETY: memory of this test's.
        unsafe { libc::mremap(at(base), BYTES, 4 * PAGE, 0) };
        map_at(base, BYTES);
    });
    unmap(base, BYTES);
}

#[test]
fn a_heap_that_shrinks_and_a_segment_that_is_detached() {
    let (_, cache, _running) = begin(None);
    let base = map_at(0, BYTES);
    let before = number(&*cache, base, BYTES);
    // SAFETY: a new segment.
    let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, BYTES, 0o600) };
    assert_ne!(segment, -1);
    unmap(base, BYTES);
    // SAFETY: to where nothing is mapped now.
    let attached = unsafe { libc::shmat(segment, at(base), 0) };
    // SAFETY: it ends when it is detached.
    unsafe { libc::shmctl(segment, libc::IPC_RMID, null_mut()) };
    assert_eq!(attached.addr(), base);
    let attached_number = number(&*cache, base, BYTES);
    assert_ne!(attached_number, before);
    // SAFETY: the segment of above.
    assert_eq!(unsafe { libc::shmdt(attached) }, 0);
    map_at(base, BYTES);
    assert_ne!(number(&*cache, base, BYTES), attached_number);
    unmap(base, BYTES);
}

#[test]
fn realloc_finds_nothing_of_pages_that_went() {
    let (card, cache, _running) = begin(None);
    // SAFETY: no preconditions.
    let mut block = unsafe { libc::malloc(1 << 20) };
    for round in 0..64 {
        let bytes = (1 << 20) + round * (3 << 16);
        // SAFETY: the block of before.
        block = unsafe { libc::realloc(block, bytes) };
        let (lease, number) = acquire(&*cache, block.addr(), bytes).unwrap();
        assert!(card.covers(number, block.addr(), bytes));
        cache.release(lease);
    }
    // SAFETY: the last block.
    unsafe { libc::free(block) };
    assert!(card.live() < 64, "what overlaps becomes one");
}

/// What the C library unmaps by itself is not told, so it is not kept: a thread's stack, and data of another library.
#[test]
fn what_ends_unseen_is_not_kept() {
    let (card, cache, _running) = begin(None);
    let once = |address: usize, bytes: usize, what: &str| {
        assert!(!memory::sees(address, bytes), "{what}");
        let (lease, number) = acquire(&*cache, address, bytes).unwrap();
        assert!(matches!(lease, Lease::Own(_)) && card.covers(number, address, bytes), "{what}");
        cache.release(lease);
        assert!(!card.covers(number, address, bytes), "{what}");
    };
    let stack = [0u8; 8 * PAGE];
    once((&raw const stack).addr(), stack.len(), "the stack of a test's thread");
    // SAFETY: a library's name; nothing in it runs by itself.
    let library = unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW) };
    // SAFETY: a library that is open, and a name.
    let variable = unsafe { libc::dlsym(library, c"signgam".as_ptr()) };
    assert!(!variable.is_null());
    once(variable.addr(), 4, "a library's data, which dlclose unmaps");
    assert_eq!(card.live(), 0);
}

#[test]
fn a_child_of_fork_changes_nothing_here() {
    let _alone = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
    let (card, cache) = made(None);
    let base = map_at(0, BYTES);
    let before = number(&*cache, base, BYTES);
    // SAFETY: the child makes system calls and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        unmap(base, BYTES);
        // SAFETY: ends the child without the parent's clean-up.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: the child of above.
    assert_eq!(unsafe { libc::waitpid(child, null_mut(), 0) }, child);
    assert_eq!(number(&*cache, base, BYTES), before);
    assert_eq!(card.live(), 1);
    unmap(base, BYTES);
}

#[test]
fn threads_that_map_and_unmap() {
    let (card, cache, _running) = begin(None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut last = (0, 0);
                for _ in 0..300 {
                    let base = map_at(0, BYTES);
                    let (lease, number) = acquire(&*cache, base, BYTES).unwrap();
                    assert!(card.covers(number, base, BYTES));
                    // The same address as before, as a rule; the registration is a new one.
                    assert!(last.0 != base || last.1 < number, "registration {number} is of pages that went");
                    last = (base, card.made());
                    unmap(base, BYTES);
                    cache.release(lease);
                }
            });
        }
    });
    let base = map_at(0, BYTES);
    number(&*cache, base, BYTES);
    assert!(card.live() <= 2, "what went is unregistered: {} are left", card.live());
    unmap(base, BYTES);
}

/// Where the card has room for less than the cache would keep, what was not used for the longest time ends.
#[test]
fn a_full_card_gives_room() {
    let (card, cache, _running) = begin(Some(3));
    let base = map_at(0, BYTES);
    for round in 0..10 {
        number(&*cache, base + round * 4 * PAGE, PAGE);
        assert_eq!(card.live(), (round + 1).min(3));
    }
    let held: Vec<Lease> = (0..3).map(|round| acquire(&*cache, base + round * 4 * PAGE, PAGE).unwrap().0).collect();
    assert!(acquire(&*cache, base + 40 * PAGE, PAGE).is_err(), "all are in use");
    held.into_iter().for_each(|lease| cache.release(lease));
    assert_eq!(card.live(), 3);
    unmap(base, BYTES);
}
