//! memory/hook: sees every release of the program's memory, by taking the place of the C library's functions.
//!
//! Two parts. **Calls of the program** and of its other libraries (`munmap`, `mmap` over something, `mremap`,
//! `madvise` that drops pages, `brk`, `sbrk`, `shmdt`) reach the functions of `raw.rs`, which are exported under
//! those names, tell `framework::memory` and make the system call. **The C library's own** releases, inside `free`
//! and its like, never pass through those names. They are not seen but prevented: before `main`, `mallopt` forbids
//! `malloc` to map blocks singly (M_MMAP_MAX 0), to shrink the heap (M_TRIM_THRESHOLD -1) and to keep further heaps
//! for threads (M_ARENA_MAX 1), whose end it would unmap whatever the threshold; `malloc_trim` does nothing.
//!
//! Replacing `malloc` itself would see the C library's releases, too, but then a program could not bring an allocator
//! of its own (two `malloc`s do not link into one static program), and every program would pay for ours.
//!
//! The cost: freed memory returns to `malloc`, never to the system, so the resident size stays at its highest; and
//! threads share one heap and its lock for what their own caches do not hold (blocks above about 1 KiB): two threads
//! that did nothing but allocate and free 4 KiB blocks took 102 instead of 89 ns a pair on two cores. From 64 KiB on,
//! not returning pages is faster: 0.1 instead of 2.6 to 4.6 µs. A call that releases costs, beside the system's share,
//! one relaxed load and a walk over the registered callbacks.
//!
//! What stays unseen: the stacks of ended threads and libraries unloaded by `dlclose`, which the C library unmaps
//! itself; pages of a file that somebody makes shorter; system calls made by hand; a program that calls `mallopt` with one of the
//! three settings afterwards.
//!
//! So not all memory is *seen*: the heap, the data of the program itself and what the program has mapped that is no file's (`mapped.rs`)
//! are. Only of these may others keep something until they are told of the end.
//!
//! Owns nothing. Invariant: nothing here allocates, locks, or touches what is about to go away. It tells before the
//! system call is made: a range told may stay (when the call fails), one that goes was told.
#![no_std]

mod component;
mod mapped;
mod raw;
mod report;

pub use component::{COMPONENT, INFO};
