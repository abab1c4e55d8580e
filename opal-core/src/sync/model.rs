//! Atomics and locks under `--cfg loom`: the same layout and calls, each checked in every order that the
//! memory model allows.
//!
//! loom's own atomics cannot be made in a constant, and shared memory that is cast to atomics holds none. So a word here is
//! as large as the real one and holds only its first value; what became of it is kept beside it, by address, and forgotten
//! when the next order is tried. Statics and zeroed memory thus begin anew each time, and no code under test differs.
#![allow(unsafe_code)]

extern crate std;

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::{Any, TypeId};
use core::cell::{RefCell, UnsafeCell};
use std::collections::HashMap;
use std::sync::{Mutex as HostMutex, PoisonError};

pub use loom::hint::spin_loop;
use loom::sync::atomic;
pub use loom::sync::atomic::{Ordering, fence};
use loom::thread;
pub use loom::thread::{spawn, yield_now};

#[path = "model/locks.rs"]
mod locks;
#[path = "model/waker.rs"]
mod waker;
pub use locks::{Mutex, MutexGuard, Once};
pub use waker::set_model_waker;

/// Runs `body` once for every order of its threads' accesses, as many as `LOOM_MAX_PREEMPTIONS` admits. One model at a time:
/// what statics guard is the whole process's, and tests are threads of one.
pub fn check(body: impl Fn() + Sync + Send + 'static) {
    check_within(usize::MAX, body);
}

/// The same with at most so many preemptions, for models that would take minutes otherwise. With 0 the threads still run in every
/// order in which they wait for each other, begin and end.
pub fn check_within(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    // One that failed has poisoned it, which does not concern the others: each begins from nothing.
    let _one = MODEL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.unwrap_or(usize::MAX).min(preemptions));
    builder.check(move || {
        KNOWN.with(|known| known.replace(Known::new()));
        STORED.take();
        WAITING.take();
        NOW_NS.with(|now| now.replace(1));
        body();
    });
}

static MODEL: HostMutex<()> = HostMutex::new(());

/// A compiler's fence beside another thread's membarrier is a full one: the system runs it on this core for that thread.
pub fn compiler_fence(_order: Ordering) {
    fence(Ordering::SeqCst);
}

/// Bytes are read without being atomic: nobody writes them meanwhile.
pub fn reading(at: *const u8, bytes: usize) {
    lines(at, bytes, &|cell| cell.with(|_| ()));
}

/// Bytes are written without being atomic: nobody reads or writes them meanwhile.
pub fn writing(at: *const u8, bytes: usize) {
    lines(at, bytes, &|cell| cell.with_mut(|_| ()));
}

/// One value is read without being atomic: as [`reading`], for what has neighbours that others write.
pub fn reading_value<T>(at: *const T) {
    known::<loom::cell::UnsafeCell<()>>(Place::Value(at.addr())).with(|_| ());
}

/// One value is written without being atomic: as [`writing`], for what has neighbours that others use.
pub fn writing_value<T>(at: *const T) {
    known::<loom::cell::UnsafeCell<()>>(Place::Value(at.addr())).with_mut(|_| ());
}

/// Waits until a load of `word` finds what `is_wanted`, for a thread that has looked in vain. Looks again only after
/// such a value was stored: each look that may find another one is more orders to try, of which three threads that wait
/// make too many.
///
/// A thread that was woken has seen all that the waker did, whatever the orderings. One that finds the value at once
/// has not; that is tried, too.
pub fn await_value(word: &AtomicU64, order: Ordering, is_wanted: impl Fn(u64) -> bool) {
    let at = word.as_ptr().addr();
    loop {
        while !is_wanted(STORED.with_borrow(|stored| stored.get(&at).copied()).unwrap_or(word.first())) {
            WAITING.with_borrow_mut(|waiting| waiting.entry(at).or_default().push(thread::current()));
            thread::park();
        }
        if is_wanted(word.load(order)) {
            return;
        }
        // That was an older value, which is not seen again after this.
        yield_now();
    }
}

/// Wakes the threads that wait for a change of the word.
fn stored(at: usize, value: u64) {
    STORED.with_borrow_mut(|stored| stored.insert(at, value));
    let woken = WAITING.with_borrow_mut(|waiting| waiting.remove(&at)).unwrap_or_default();
    woken.iter().for_each(thread::Thread::unpark);
}

/// A clock by which much time passes between any two looks at it.
pub fn monotonic_ns() -> u64 {
    NOW_NS.with(|now| now.replace_with(|now| *now + 10_000_000))
}

fn lines(at: *const u8, bytes: usize, each: &dyn Fn(&loom::cell::UnsafeCell<()>)) {
    let lines = at.addr() / LINE_BYTES..(at.addr() + bytes).div_ceil(LINE_BYTES);
    lines.for_each(|line| each(&known(Place::Line(line))));
}

/// What loom watches, by address.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    Word(usize),
    Line(usize),
    Value(usize),
}

/// What became of it.
fn known<T: 'static>(at: Place) -> Rc<T> {
    KNOWN.with(|known| known.borrow_mut().at(at))
}

/// What became of words and lines.
#[derive(Default)]
struct Known {
    used: HashMap<Place, Rc<dyn Any>>,
    // loom takes the making of a word for a write to it. These are made before all threads, so that the thread that comes
    // first to a word has not written it.
    free: HashMap<TypeId, Vec<Rc<dyn Any>>>,
}

impl Known {
    fn new() -> Known {
        let mut known = Known::default();
        known.add(|| atomic::AtomicBool::new(false));
        known.add(|| atomic::AtomicU8::new(0));
        known.add(|| atomic::AtomicU16::new(0));
        known.add(|| atomic::AtomicU32::new(0));
        known.add(|| atomic::AtomicU64::new(0));
        known.add(|| atomic::AtomicUsize::new(0));
        known.add(|| atomic::AtomicI64::new(0));
        known.add(|| loom::cell::UnsafeCell::new(()));
        known
    }

    fn add<T: 'static>(&mut self, make: impl Fn() -> T) {
        let all = (0..OF_EACH).map(|_| Rc::new(make()) as Rc<dyn Any>).collect();
        self.free.insert(TypeId::of::<T>(), all);
    }

    fn at<T: 'static>(&mut self, at: Place) -> Rc<T> {
        let Known { used, free } = self;
        let spare = || free.get_mut(&TypeId::of::<T>()).and_then(Vec::pop).expect("a model of more words than OF_EACH");
        let held = used.entry(at).or_insert_with(spare);
        held.clone().downcast().expect("a word has one type")
    }
}

std::thread_local! {
    // loom runs all threads of a model in one of the system's.
    static KNOWN: RefCell<Known> = RefCell::default();
    // What was stored last in words, by address.
    static STORED: RefCell<HashMap<usize, u64>> = RefCell::default();
    // The threads that wait for changes of words, by address.
    static WAITING: RefCell<HashMap<usize, Vec<thread::Thread>>> = RefCell::default();
    static NOW_NS: RefCell<u64> = const { RefCell::new(1) };
}

macro_rules! words {
    ($($name:ident $(<$generic:ident>)?: $type:ty as $word:ident, $in:expr, $out:expr, [$($change:ident: $with:expr),*];)*) => {$(
        /// As its namesake in `core::sync::atomic`.
        #[repr(transparent)]
        pub struct $name $(<$generic>)? {
            first: UnsafeCell<$type>,
        }

        // SAFETY: the cell is only written before the word is shared.
        unsafe impl $(<$generic>)? Send for $name $(<$generic>)? {}
        // SAFETY: as above; what becomes of the word is loom's.
        unsafe impl $(<$generic>)? Sync for $name $(<$generic>)? {}

        #[allow(missing_docs)] // those of core
        impl $(<$generic>)? $name $(<$generic>)? {
            pub const fn new(first: $type) -> Self {
                Self { first: UnsafeCell::new(first) }
            }

            pub const fn as_ptr(&self) -> *mut $type {
                self.first.get()
            }

            pub fn load(&self, order: Ordering) -> $type {
                $out(self.word().load(order), self.first())
            }

            pub fn store(&self, value: $type, order: Ordering) {
                self.word().store($in(value, self.first()), order);
                stored(self.first.get().addr(), value as u64);
            }

            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                let old = $out(self.word().swap($in(value, self.first()), order), self.first());
                stored(self.first.get().addr(), value as u64);
                old
            }

            pub fn compare_exchange(
                &self,
                old: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let first = self.first();
                let found = self.word().compare_exchange($in(old, first), $in(new, first), success, failure);
                if found.is_ok() {
                    stored(self.first.get().addr(), new as u64);
                }
                found.map(|old| $out(old, first)).map_err(|other| $out(other, first))
            }

            pub fn compare_exchange_weak(
                &self,
                old: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.compare_exchange(old, new, success, failure)
            }

            $(
                pub fn $change(&self, value: $type, order: Ordering) -> $type {
                    let mut found = self.load(Ordering::Relaxed);
                    loop {
                        match self.compare_exchange(found, $with(found, value), order, Ordering::Relaxed) {
                            Ok(old) => return old,
                            Err(other) => found = other,
                        }
                    }
                }
            )*

            // A word begins as 0 for loom: what it holds is its distance from the first value.
            fn first(&self) -> $type {
                // SAFETY: aligned and readable as a reference is; nobody writes it any more.
                unsafe { *self.first.get() }
            }

            fn word(&self) -> Rc<atomic::$word> {
                known(Place::Word(self.first.get().addr()))
            }
        }

        impl $(<$generic>)? Drop for $name $(<$generic>)? {
            fn drop(&mut self) {
                let at = Place::Word(self.first.get().addr());
                KNOWN.with(|known| known.borrow_mut().used.remove(&at));
                STORED.with(|stored| stored.borrow_mut().remove(&self.first.get().addr()));
            }
        }

        impl $(<$generic>)? core::fmt::Debug for $name $(<$generic>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

macro_rules! integers {
    ($($name:ident: $type:ident;)*) => {
        $(
            impl Default for $name {
                fn default() -> Self {
                    $name::new(0)
                }
            }

            #[allow(missing_docs)] // those of core
            impl $name {
                // One access, not two as below: a distance grows as the value does.
                pub fn fetch_add(&self, value: $type, order: Ordering) -> $type {
                    let old = self.word().fetch_add(value, order).wrapping_add(self.first());
                    stored(self.first.get().addr(), old.wrapping_add(value) as u64);
                    old
                }
            }
        )*
        words! {$(
            $name: $type as $name, $type::wrapping_sub, $type::wrapping_add, [
                fetch_sub: $type::wrapping_sub,
                fetch_and: |a, b| a & b,
                fetch_or: |a, b| a | b,
                fetch_xor: |a, b| a ^ b,
                fetch_max: $type::max,
                fetch_min: $type::min
            ];
        )*}
    };
}

integers! {
    AtomicU8: u8;
    AtomicU16: u16;
    AtomicU32: u32;
    AtomicU64: u64;
    AtomicUsize: usize;
    AtomicI64: i64;
}

words! {
    AtomicBool: bool as AtomicBool, |value, first| value ^ first, |held, first| held ^ first, [
        fetch_and: |a, b| a & b,
        fetch_or: |a, b| a | b
    ];
    AtomicPtr<T>: *mut T as AtomicUsize, offset_of, pointer_at, [];
}

fn offset_of<T>(value: *mut T, first: *mut T) -> usize {
    value.expose_provenance().wrapping_sub(first.addr())
}

fn pointer_at<T>(held: usize, first: *mut T) -> *mut T {
    core::ptr::with_exposed_provenance_mut(first.addr().wrapping_add(held))
}

const LINE_BYTES: usize = 64;
/// Words of each type that a model may have.
const OF_EACH: usize = 32;
