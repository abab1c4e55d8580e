//! What a child of fork has of this memory. It would share it with its parent, so that each sees what the other one writes; memory of malloc
//! must not be like that.
//!
//! The copy is made by the parent before the system's fork, so that the child has it before any of its code runs, and nobody waits for
//! anybody. It is a file like the parent's, at the same addresses, so that the child goes on as if it had always been its own.
//! Of a process with several threads it is no picture of one moment: what the others write meanwhile is copied or not.
//!
//! Other handlers of fork (pthread_atfork) may allocate and free. Those that were registered before the library's run in the child before it has
//! its copy: what they write to long blocks there they write to the parent's.
//!
//! `vfork`, `posix_spawn` and `system` do not come here: their children run another program at once. A child made by the bare system call
//! `clone` shares the memory.
#![allow(unsafe_code)] // ends a hold of the lock; puts the copy where the memory was

use super::{FORKING, FROZEN, Heap, SHOWN_BYTES, heap, offset_of};
use crate::sync::{AtomicBool, Mutex, Ordering};
use crate::sys::{self, PlacedFile};

/// What a child has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// A copy of all that was allocated, which is its own.
    HaveCopies,
    /// Nothing at these addresses.
    HaveNothing,
}

/// From now on children of fork have this. Once, early. `false` if the C library has no memory to note it: children then share the memory.
pub fn set(children: Children) -> bool {
    COPIES.store(children == Children::HaveCopies, Ordering::Relaxed);
    sys::around_forks(before, in_parent, in_child)
}

// Written once, early.
static COPIES: AtomicBool = AtomicBool::new(false);
// From before a fork until after it, while `before` holds the heap.
static COPY: Mutex<Option<PlacedFile>> = Mutex::new(None);
// As of `before`, under the heap's lock.
static WAS_THREADED: AtomicBool = AtomicBool::new(false);

extern "C" fn before() {
    // It is made now if it was not there: what other threads do until the fork is over must not change that.
    let Some(heap) = heap() else { return };
    let held = heap.held.lock_among_threads();
    if is_shown() {
        let stack = 0u8;
        let on_stack = offset_of(&raw const stack, 0, &SHOWN_BYTES).is_some();
        if on_stack {
            // Parent and child would run on one stack until the child has its copy.
            crate::message!(
                "fork is called on a stack that malloc gave, of which a child can have no copy: the child ends; \
                 allocate stacks by mmap, or set memory_shheap_threshold to 0"
            );
            heap.range.set_inherited(false);
        }
        let wanted = !on_stack && COPIES.load(Ordering::Relaxed);
        *COPY.lock() = wanted.then(|| copy(heap, &held.file)).flatten();
    }
    // No other thread allocates until the fork is over. This one may, in other handlers.
    core::mem::forget(held);
    WAS_THREADED.store(!sys::is_single_threaded(), Ordering::Relaxed);
    FORKING.store(sys::thread_mark(), Ordering::Relaxed);
}

fn copy(heap: &Heap, file: &PlacedFile) -> Option<PlacedFile> {
    let copied = if file.is_open() { heap.range.copied(file) } else { Err(crate::Error::System) };
    copied
        .inspect_err(|error| {
            crate::message!(
                "a child of fork has no copy of what its parent has allocated in long pieces, because the system gives no \
                 memory or no descriptor for it ({error:?}): the child ends where it uses that"
            );
        })
        .ok()
}

extern "C" fn in_parent() {
    let Some(heap) = heap() else { return };
    if is_shown() && COPY.lock().take().is_none() {
        heap.range.set_inherited(true);
    }
    FORKING.store(0, Ordering::Relaxed);
    // SAFETY: `before` forgot the guard, in this thread.
    unsafe { heap.held.let_go() };
}

extern "C" fn in_child() {
    let Some(heap) = heap() else { return };
    FORKING.store(0, Ordering::Relaxed);
    // SAFETY: `before` forgot the guard, in the thread that this one is a copy of.
    unsafe { heap.held.let_go() };
    // The list is changed with memory of the library's own heap, of which another thread of the parent may have been in the middle.
    if WAS_THREADED.load(Ordering::Relaxed) {
        FROZEN.store(true, Ordering::Relaxed);
    }
    if !is_shown() {
        return;
    }
    let Some(mut copy) = COPY.lock().take() else {
        FROZEN.store(true, Ordering::Relaxed);
        SHOWN_BYTES.store(0, Ordering::Relaxed);
        // What the system maps must not look like a part of the range. SAFETY: it is to be there no more.
        if unsafe { heap.range.hide() }.is_err() {
            ends("cannot keep the addresses of its parent's memory free");
        }
        return;
    };
    // SAFETY: it holds the same bytes.
    if unsafe { heap.range.show(&copy) }.is_err() {
        ends("cannot put the copy of its parent's memory in place");
    }
    copy.take_over();
    heap.held.lock_among_threads().file = copy;
}

#[cold]
fn ends(why: &str) -> ! {
    crate::message!("a child of fork {why}; it ends");
    sys::exit(1);
}

/// Whether there is memory at these addresses.
fn is_shown() -> bool {
    SHOWN_BYTES.load(Ordering::Relaxed) > 0
}
