//! memory/shheap in a Rust program, whose allocator is malloc: which allocations are shareable, and that all of them are what the C library
//! promises.
#![allow(unsafe_code)] // the calls under test

use core::ffi::c_void;
use opal_core::framework;
use opal_core::shareable::{self, PeerHeap};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

opal_core::image![framework::atomics, memcpy_portable, memory_shheap, timer_clock];

/// Where a block lies depends on all others.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    framework::open_static().unwrap();
    guard
}

fn is_shareable(at: *mut c_void, bytes: usize) -> bool {
    shareable::holds(at.cast(), bytes)
}

fn malloc(bytes: usize) -> *mut c_void {
    // SAFETY: no preconditions.
    let at = unsafe { libc::malloc(bytes) };
    assert!(!at.is_null() && at.addr().is_multiple_of(16), "{bytes} bytes");
    at
}

fn free(at: *mut c_void) {
    // SAFETY: of the tests' own blocks, once each.
    unsafe { libc::free(at) };
}

fn fill(at: *mut c_void, bytes: usize, seed: usize) {
    for place in (0..bytes).step_by(STRIDE).chain([bytes - 1]) {
        // SAFETY: within a block of the test's.
        unsafe { at.cast::<u8>().wrapping_add(place).write_volatile((place / STRIDE * 7 + seed) as u8) };
    }
    // SAFETY: as above.
    unsafe { at.cast::<u8>().wrapping_add(bytes - 1).write_volatile(seed as u8) };
}

fn check(at: *mut c_void, bytes: usize, seed: usize) {
    for place in (0..bytes - 1).step_by(STRIDE) {
        // SAFETY: within a block of the test's.
        let have = unsafe { at.cast::<u8>().wrapping_add(place).read_volatile() };
        assert_eq!(have, (place / STRIDE * 7 + seed) as u8, "at {place} of {bytes}");
    }
}

/// How many pages of the block have memory.
fn resident(at: *mut c_void, bytes: usize) -> usize {
    let mut pages = vec![0u8; bytes / PAGE];
    // SAFETY: whole pages of a block; a byte of the vector for each.
    assert_eq!(unsafe { libc::mincore(at, bytes, pages.as_mut_ptr()) }, 0);
    pages.iter().filter(|page| **page & 1 != 0).count()
}

#[test]
fn keeps_its_word() {
    let _alone = alone();
    test_statics::memory::keeps_its_word();
}

#[test]
fn long_allocations_are_shareable_however_they_are_made() {
    let _alone = alone();
    for bytes in [LEAST, LEAST + 1, 3 * MIB + 5] {
        let mut aligned = std::ptr::null_mut();
        // SAFETY: a place for the address.
        assert_eq!(unsafe { libc::posix_memalign(&raw mut aligned, 64, bytes) }, 0);
        let all = [
            malloc(bytes),
            // SAFETY: no preconditions, here and below.
            unsafe { libc::calloc(bytes, 1) },
            // SAFETY: as above.
            unsafe { libc::aligned_alloc(4096, bytes) },
            // SAFETY: as above.
            unsafe { libc::memalign(MIB, bytes) },
            // SAFETY: as above.
            unsafe { libc::realloc(std::ptr::null_mut(), bytes) },
            aligned,
        ];
        for at in all {
            assert!(is_shareable(at, bytes), "{bytes} bytes at {at:?}");
            // SAFETY: a block.
            let usable = unsafe { libc::malloc_usable_size(at) };
            assert!(usable >= bytes && usable < bytes + PAGE, "{usable} of {bytes}");
            fill(at, usable, 3);
        }
        assert!(all[3].addr().is_multiple_of(MIB));
        all.into_iter().for_each(|at| check(at, bytes, 3));
        all.into_iter().for_each(free);
    }
    let vector = vec![1u8; MIB];
    assert!(shareable::holds(vector.as_ptr(), MIB));
}

#[test]
fn short_ones_are_the_c_librarys() {
    let _alone = alone();
    for bytes in [0, 1, 1000, LEAST - 1] {
        let at = malloc(bytes);
        assert!(!is_shareable(at, 0));
        // SAFETY: a block.
        assert!(unsafe { libc::malloc_usable_size(at) } >= bytes);
        free(at);
    }
    free(std::ptr::null_mut());
    // SAFETY: null is allowed.
    assert_eq!(unsafe { libc::malloc_usable_size(std::ptr::null_mut()) }, 0);
}

#[test]
fn what_cannot_be_is_refused_as_by_the_c_library() {
    let _alone = alone();
    let errno = || std::io::Error::last_os_error().raw_os_error();
    // SAFETY: no preconditions.
    assert!(unsafe { libc::malloc(std::hint::black_box(usize::MAX / 2 + 1)) }.is_null());
    assert_eq!(errno(), Some(libc::ENOMEM));
    // SAFETY: as above.
    assert!(unsafe { libc::calloc(std::hint::black_box(usize::MAX / 2), 4) }.is_null());
    let mut at = std::ptr::null_mut();
    for (alignment, bytes, wanted) in [
        (24, MIB, libc::EINVAL),
        (4, MIB, libc::EINVAL),
        (0, MIB, libc::EINVAL),
        (64, usize::MAX / 2 + 1, libc::ENOMEM),
    ] {
        // SAFETY: a place for the address.
        assert_eq!(unsafe { libc::posix_memalign(&raw mut at, alignment, std::hint::black_box(bytes)) }, wanted);
    }
    let block = malloc(MIB);
    // SAFETY: the block.
    let longer = unsafe { libc::realloc(block, std::hint::black_box(usize::MAX / 2 + 1)) };
    assert!(longer.is_null() && is_shareable(block, MIB), "the block is still there");
    // SAFETY: the thread's own.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { place.write(77) };
    free(block);
    assert_eq!(errno(), Some(77), "free leaves errno alone");
    // SAFETY: frees it, as in the C library of GNU.
    assert!(unsafe { libc::realloc(malloc(MIB), 0) }.is_null());
}

#[test]
fn realloc_stays_where_it_is_while_there_is_room_and_keeps_what_was_there() {
    let _alone = alone();
    // A hole that fits nobody else: the block grows into it.
    let [block, hole, end] = [MIB, 8 * MIB, MIB].map(malloc);
    assert_eq!(hole.addr(), block.addr() + MIB, "one behind the other");
    free(hole);
    fill(block, MIB, 5);
    // SAFETY: a block of the test's; so below.
    let longer = unsafe { libc::realloc(block, 8 * MIB) };
    assert_eq!(longer, block);
    check(longer, MIB, 5);
    fill(longer, 8 * MIB, 6);
    // SAFETY: as above.
    let shorter = unsafe { libc::realloc(longer, 2 * MIB + 1) };
    assert_eq!(shorter, block);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::malloc_usable_size(shorter) }, 2 * MIB + PAGE);
    let within = malloc(6 * MIB);
    assert_eq!(within.addr(), block.addr() + 2 * MIB + PAGE, "what it lost is another's");
    fill(within, 6 * MIB, 9);
    // SAFETY: as above. No room: it moves.
    let moved = unsafe { libc::realloc(shorter, 5 * MIB) };
    assert_ne!(moved, shorter);
    check(moved, 2 * MIB, 6);
    check(within, 6 * MIB, 9);
    // SAFETY: as above: to the least.
    let least = unsafe { libc::realloc(moved, 10) };
    assert_eq!(least, moved);
    [within, end, least].into_iter().for_each(free);
    // From short to long, and further.
    let mut grown = malloc(1);
    let mut bytes = 1;
    while bytes < 32 * MIB {
        fill(grown, bytes, 1);
        // SAFETY: as above.
        let longer = unsafe { libc::realloc(grown, bytes * 2) };
        assert_eq!(is_shareable(longer, bytes * 2), bytes * 2 >= LEAST, "{bytes}");
        check(longer, bytes, 1);
        (grown, bytes) = (longer, bytes * 2);
    }
    free(grown);
}

#[test]
fn calloc_gives_zeros_and_touches_nothing() {
    let _alone = alone();
    let bytes = 16 * MIB;
    // SAFETY: no preconditions; so below.
    let fresh = unsafe { libc::calloc(1, bytes) };
    assert!(resident(fresh, bytes) <= 1);
    free(fresh);
    for bytes in [LEAST, 200_000, MIB, 16 * MIB] {
        let used = malloc(bytes);
        // SAFETY: the block.
        unsafe { used.cast::<u8>().write_bytes(0xff, bytes) };
        free(used);
        // SAFETY: as above.
        let again = unsafe { libc::calloc(bytes, 1) };
        assert_eq!(again, used, "the place that fits best");
        if bytes >= MIB {
            assert_eq!(resident(again, bytes), 0, "of {bytes} bytes");
        }
        // SAFETY: the block.
        let is_zero = unsafe { std::slice::from_raw_parts(again.cast::<u8>(), bytes) }.iter().all(|byte| *byte == 0);
        assert!(is_zero, "{bytes} bytes");
        free(again);
    }
}

#[test]
fn what_is_freed_is_kept_for_the_next_up_to_a_limit() {
    let _alone = alone();
    let kept = malloc(4 * MIB);
    fill(kept, 4 * MIB, 1);
    free(kept);
    let again = malloc(4 * MIB);
    assert_eq!((again, resident(again, 4 * MIB)), (kept, 1024), "its pages are at hand");
    let long = malloc(80 * MIB);
    // SAFETY: the block.
    unsafe { long.cast::<u8>().write_bytes(1, 80 * MIB) };
    free(long);
    let other = malloc(80 * MIB);
    assert_eq!((other, resident(other, 80 * MIB)), (long, 0), "more than is kept");
    free(other);
    free(again);
}

#[test]
fn thousands_lie_apart_and_each_keeps_its_own() {
    let _alone = alone();
    let mut blocks: Vec<(*mut c_void, usize, usize)> = Vec::new();
    let mut state = 12345usize;
    for step in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        if blocks.len() < 3000 || random.is_multiple_of(2) && blocks.len() < 4000 {
            let bytes = LEAST - 20_000 + random % 200_000;
            let at = malloc(bytes);
            assert_eq!(is_shareable(at, bytes), bytes >= LEAST);
            fill(at, bytes, step);
            blocks.push((at, bytes, step));
        } else {
            let chosen = random % blocks.len();
            let (at, bytes, seed) = blocks[chosen];
            check(at, bytes, seed);
            if random.is_multiple_of(3) {
                let wanted = 1 + random % 300_000;
                // SAFETY: the block.
                let at = unsafe { libc::realloc(at, wanted) };
                check(at, bytes.min(wanted), seed);
                fill(at, wanted, seed);
                blocks[chosen] = (at, wanted, seed);
            } else {
                free(at);
                blocks.swap_remove(chosen);
            }
        }
    }
    for (at, bytes, seed) in blocks {
        check(at, bytes, seed);
        free(at);
    }
}

#[test]
fn threads_allocate_and_free_what_others_have() {
    let _alone = alone();
    let shelf: Mutex<Vec<(usize, usize, usize)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..4usize {
            let shelf = &shelf;
            scope.spawn(move || {
                for round in 0..2000usize {
                    let bytes = LEAST + (round * 7919 + thread * 104_729) % 400_000;
                    let at = malloc(bytes);
                    fill(at, bytes, thread + round);
                    let taken = {
                        let mut shelf = shelf.lock().unwrap();
                        shelf.push((at as usize, bytes, thread + round));
                        if shelf.len() > 20 { Some(shelf.swap_remove(round % 20)) } else { None }
                    };
                    if let Some((at, bytes, seed)) = taken {
                        check(at as *mut c_void, bytes, seed);
                        free(at as *mut c_void);
                    }
                }
            });
        }
    });
    for (at, bytes, seed) in shelf.into_inner().unwrap() {
        check(at as *mut c_void, bytes, seed);
        free(at as *mut c_void);
    }
}

#[test]
fn when_the_range_is_used_up_the_c_library_gives_what_it_can() {
    let _alone = alone();
    // SAFETY: no preconditions. As much as is asked for at once; nothing is touched.
    let sysinfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kib: usize = sysinfo.lines().next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    let bytes = kib / 4 * 1024;
    let mut blocks = Vec::new();
    let all_ours = loop {
        // SAFETY: no preconditions.
        let at = unsafe { libc::malloc(bytes) };
        if at.is_null() {
            break false;
        }
        blocks.push(at);
        if !is_shareable(at, bytes) {
            break false;
        }
        if blocks.len() > 4096 {
            break true;
        }
    };
    assert!(!all_ours && blocks.len() >= 4, "{} blocks", blocks.len());
    blocks.into_iter().for_each(free);
    let after = malloc(MIB);
    assert!(is_shareable(after, MIB));
    free(after);
}

#[test]
fn peers_see_what_is_allocated_and_what_comes_after() {
    let _alone = alone();
    let peer = PeerHeap::of(&shareable::place().unwrap()).unwrap();
    for seed in [1, 2] {
        let at = malloc(2 * MIB);
        fill(at, 2 * MIB, seed);
        let there = peer.reach(at.addr() as u64, 2 * MIB).unwrap();
        check(there.at().cast(), 2 * MIB, seed);
        free(at);
    }
}

#[test]
fn a_child_of_fork_has_a_copy_of_its_own() {
    let _alone = alone();
    let bytes = 3 * MIB + 77;
    let at = malloc(bytes);
    fill(at, bytes, 1);
    let said = in_child(|| {
        check(at, bytes, 1);
        fill(at, bytes, 2);
        check(at, bytes, 2);
        // SAFETY: the block. A child of several threads keeps it.
        let longer = unsafe { libc::realloc(at, 2 * bytes) };
        check(longer, bytes, 2);
        free(longer);
        let own = malloc(MIB);
        fill(own, MIB, 9);
        check(own, MIB, 9);
        free(own);
    });
    assert_eq!(said, 0);
    check(at, bytes, 1);
    free(at);
    let again = malloc(MIB);
    assert!(is_shareable(again, MIB), "the parent goes on");
    free(again);
}

/// Registers handlers of fork before the component does, so that they run amid what its own do.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static EARLY: extern "C" fn() = early;

extern "C" fn early() {
    // SAFETY: functions that live as long as the process.
    assert_eq!(unsafe { libc::pthread_atfork(Some(amid), Some(amid), Some(amid)) }, 0);
}

extern "C" fn amid() {
    let at = malloc(MIB);
    fill(at, MIB, 6);
    // SAFETY: the block.
    let longer = unsafe { libc::realloc(at, 2 * MIB) };
    check(longer, MIB, 6);
    free(longer);
    free(OF_HANDLERS.swap(std::ptr::null_mut(), Ordering::Relaxed));
    CALLED.fetch_add(1, Ordering::Relaxed);
}

static OF_HANDLERS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static CALLED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn handlers_of_a_fork_may_allocate_and_free() {
    let _alone = alone();
    let (kept, before) = (malloc(MIB), CALLED.load(Ordering::Relaxed));
    fill(kept, MIB, 3);
    OF_HANDLERS.store(malloc(3 * MIB), Ordering::Relaxed);
    let said = in_child(|| {
        check(kept, MIB, 3);
        assert_eq!(CALLED.load(Ordering::Relaxed), before + 2);
    });
    assert_eq!((said, CALLED.load(Ordering::Relaxed)), (0, before + 2));
    check(kept, MIB, 3);
    free(kept);
}

#[test]
fn children_that_start_programs_do_so() {
    let _alone = alone();
    let at = malloc(8 * MIB);
    fill(at, 8 * MIB, 4);
    for _ in 0..20 {
        // posix_spawn.
        assert!(std::process::Command::new("true").status().unwrap().success());
    }
    check(at, 8 * MIB, 4);
    free(at);
}

/// The exit status of a child that runs this.
fn in_child(run: impl FnOnce()) -> i32 {
    // SAFETY: the child ends by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        // SAFETY: no preconditions.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    let mut status = 0;
    // SAFETY: a place for it.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

const MIB: usize = 1 << 20;
const PAGE: usize = 4096;
/// memory_shheap_threshold.
const LEAST: usize = 64 << 10;
const STRIDE: usize = 509;
