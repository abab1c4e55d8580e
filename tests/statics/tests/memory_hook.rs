//! memory/hook in a Rust program: callbacks, and that freeing gives nothing back unseen.
#![allow(unsafe_code)] // the calls under test

use opal_core::framework::{self, memory};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

opal_core::image![framework::atomics, memcpy_portable, memory_hook, timer_clock];

/// What the callback heard; it must not allocate, so this is fixed.
static HEARD: [[AtomicUsize; 2]; 256] = [const { [const { AtomicUsize::new(0) }; 2] }; 256];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Tests run in threads, but listen for one thing at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn listen(address: usize, bytes: usize) {
    let at = COUNT.fetch_add(1, Ordering::Relaxed) % HEARD.len();
    HEARD[at][0].store(address, Ordering::Relaxed);
    HEARD[at][1].store(bytes, Ordering::Relaxed);
}

/// What was told since `since`: first bytes and lengths.
fn told(since: usize) -> impl Iterator<Item = (usize, usize)> {
    let of = |at: usize| HEARD[at % HEARD.len()].each_ref().map(|number| number.load(Ordering::Relaxed));
    (since..COUNT.load(Ordering::Relaxed)).map(of).map(|[first, length]| (first, length))
}

/// Whether the range was told since `since`.
fn heard(since: usize, address: usize, bytes: usize) -> bool {
    told(since).any(|(first, length)| first <= address && address + bytes <= first.saturating_add(length))
}

fn begin() -> usize {
    framework::open_static().unwrap();
    memory::on_release(listen).unwrap();
    COUNT.load(Ordering::Relaxed)
}

fn map(bytes: usize) -> *mut libc::c_void {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    assert_ne!(base, libc::MAP_FAILED);
    base
}

/// Whether every page is mapped.
fn mapped(address: usize, bytes: usize) -> bool {
    let first = address.next_multiple_of(PAGE);
    let mut pages = vec![0u8; bytes / PAGE + 1];
    // SAFETY: asks about addresses, touches none; one byte of the vector per page.
    unsafe { libc::mincore(first as *mut _, (bytes - 2 * PAGE) / PAGE * PAGE, pages.as_mut_ptr()) == 0 }
}

#[test]
fn direct_calls_are_told() {
    let _alone = ALONE.lock().unwrap();
    let since = begin();
    let base = map(16 * PAGE);
    let address = base as usize;
    assert!(!heard(since, address, PAGE), "a new mapping released something");
    // SAFETY: within the mapping.
    assert_eq!(unsafe { libc::madvise(base, PAGE, libc::MADV_WILLNEED) }, 0);
    assert!(!heard(since, address, PAGE), "harmless advice was told");
    // SAFETY: as above.
    assert_eq!(unsafe { libc::madvise(base, PAGE, libc::MADV_DONTNEED) }, 0);
    assert!(heard(since, address, PAGE) && !heard(since, address, 2 * PAGE));

    let since = begin();
    // SAFETY: shrinks our own mapping.
    assert_eq!(unsafe { libc::mremap(base, 16 * PAGE, 8 * PAGE, 0) }, base);
    assert!(heard(since, address + 8 * PAGE, 8 * PAGE) && !heard(since, address, PAGE));

    let since = begin();
    let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    // SAFETY: replaces part of our own mapping.
    assert_eq!(unsafe { libc::mmap(base, 2 * PAGE, protection, flags, -1, 0) }, base);
    assert!(heard(since, address, 2 * PAGE) && !heard(since, address, 3 * PAGE));

    let since = begin();
    // SAFETY: our own mapping, not used again.
    assert_eq!(unsafe { libc::munmap(base, 8 * PAGE) }, 0);
    assert!(heard(since, address, 8 * PAGE) && !mapped(address, 8 * PAGE));
}

#[test]
fn errors_are_the_systems() {
    let _alone = ALONE.lock().unwrap();
    // SAFETY: not aligned: the system refuses.
    assert_eq!(unsafe { libc::munmap(std::ptr::without_provenance_mut(1), PAGE) }, -1);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EINVAL));
    // SAFETY: no length: the system refuses.
    let refused =
        unsafe { libc::mmap(std::ptr::null_mut(), 0, libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    assert_eq!((refused, std::io::Error::last_os_error().raw_os_error()), (libc::MAP_FAILED, Some(libc::EINVAL)));
}

#[test]
fn what_is_freed_stays_or_is_told() {
    let _alone = ALONE.lock().unwrap();
    for bytes in [200 << 10, 8 << 20, 64 << 20] {
        let since = begin();
        let block = vec![1u8; bytes];
        let address = block.as_ptr() as usize;
        drop(std::hint::black_box(block));
        assert!(mapped(address, bytes) || heard(since, address + PAGE, bytes - 2 * PAGE), "{bytes} bytes went unseen");
    }
}

#[test]
fn what_a_thread_freed_stays_or_is_told() {
    let _alone = ALONE.lock().unwrap();
    let since = begin();
    let blocks = std::thread::spawn(|| {
        let blocks: Vec<Vec<u8>> = (0..300).map(|_| vec![1; 100 << 10]).collect();
        blocks.iter().map(|block| block.as_ptr() as usize).collect::<Vec<_>>()
    });
    for address in blocks.join().unwrap() {
        assert!(mapped(address, 100 << 10) || heard(since, address + PAGE, 98 << 10), "a thread's block went unseen");
    }
}

#[test]
fn trimming_keeps_everything() {
    let _alone = ALONE.lock().unwrap();
    let since = begin();
    let block = vec![1u8; 8 << 20];
    let address = block.as_ptr() as usize;
    drop(std::hint::black_box(block));
    // SAFETY: no preconditions.
    unsafe { libc::malloc_trim(0) };
    assert!(mapped(address, 8 << 20) || heard(since, address + PAGE, (8 << 20) - 2 * PAGE));
}

#[test]
fn a_shrinking_heap_is_told() {
    let _alone = ALONE.lock().unwrap();
    let since = begin();
    // SAFETY: asks where the heap ends.
    let end = unsafe { libc::sbrk(0) };
    // SAFETY: grows it; nobody else uses the part that goes again, the other tests wait.
    assert_eq!(unsafe { libc::sbrk(4 * PAGE as isize) }, end);
    // SAFETY: takes back what was just added.
    assert_eq!(unsafe { libc::brk(end) }, 0);
    assert!(heard(since, end as usize, 4 * PAGE));
    // SAFETY: asks where the heap ends.
    assert_eq!(unsafe { libc::sbrk(0) }, end);
}

#[test]
fn keeps_its_word() {
    let _alone = ALONE.lock().unwrap();
    begin();
    test_statics::memory::keeps_its_word();
}

#[test]
fn a_callback_is_registered_once_and_there_is_an_end_of_them() {
    let _alone = ALONE.lock().unwrap();
    let since = begin();
    memory::on_release(listen).unwrap();
    let base = map(PAGE);
    // SAFETY: our own mapping.
    unsafe { libc::munmap(base, PAGE) };
    // The stack of a test's thread that has just ended may go meanwhile.
    let times = told(since).filter(|told| *told == (base as usize, PAGE)).count();
    assert_eq!(times, 1, "one release was told {times} times");
}

const PAGE: usize = 4096;
