//! Datatypes of sections that were made before: programs send the same section again and again, and to make a datatype takes as long
//! as to send some thousand bytes.
//!
//! Only of predefined datatypes, whose handles always mean the same. A section that is seen the first time leaves its shape; the second
//! time its datatype stays, too.
//!
//! **Invariant:** a datatype that is lent is not freed. The entries belong to who holds the lock; who finds it taken goes without.

use crate::dimension::Dimension;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

unsafe extern "C" {
    safe fn PMPI_Type_free(datatype: *mut usize) -> i32;
}

/// The shape of a section, and what of it is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    datatype: usize,
    count: i64,
    element_bytes: i64,
    rank: usize,
    // Extent and stride of each.
    dimensions: [(isize, isize); RANKS],
}

/// What is known of a shape.
pub enum Known {
    /// Its datatype, as long as this lives.
    Datatype(Lent),
    /// It was seen before.
    Shape,
    /// Nothing.
    Nothing,
}

/// A datatype that stays as long as this lives.
pub struct Lent {
    entry: usize,
    datatype: usize,
}

struct Entry {
    // The handle is 0 while only the shape is known.
    known: UnsafeCell<Option<(Shape, usize)>>,
    borrowers: AtomicU32,
}

struct Entries {
    lock: AtomicBool,
    all: [Entry; ENTRIES],
    // Which one gives way next.
    next: AtomicU32,
}

// SAFETY: the cells are used by who holds the lock only.
unsafe impl Sync for Entries {}

static KEPT: Entries = Entries {
    lock: AtomicBool::new(false),
    all: [const { Entry { known: UnsafeCell::new(None), borrowers: AtomicU32::new(0) } }; ENTRIES],
    next: AtomicU32::new(0),
};

impl Shape {
    /// Nothing for what is not kept.
    pub fn of(dimensions: &[Dimension], element_bytes: i64, count: i64, datatype: usize) -> Option<Shape> {
        if datatype > LAST_PREDEFINED || dimensions.len() > RANKS {
            return None;
        }
        let mut shape = Shape { datatype, count, element_bytes, rank: dimensions.len(), dimensions: [(0, 0); RANKS] };
        for (own, dimension) in shape.dimensions.iter_mut().zip(dimensions) {
            *own = (dimension.extent, dimension.stride);
        }
        Some(shape)
    }

    /// What is known of it, which it leaves at least.
    pub fn look_up(&self) -> Known {
        let Some(_lock) = Lock::take() else { return Known::Nothing };
        for (entry, at) in KEPT.all.iter().zip(0..) {
            // SAFETY: the lock is held.
            match unsafe { *entry.known.get() } {
                Some((shape, datatype)) if shape == *self => {
                    if datatype == 0 {
                        return Known::Shape;
                    }
                    entry.borrowers.fetch_add(1, Ordering::Relaxed);
                    return Known::Datatype(Lent { entry: at, datatype });
                }
                _ => {}
            }
        }
        replace((*self, 0));
        Known::Nothing
    }

    /// Keeps its datatype from now on, which the caller has made; `None`: it stays the caller's.
    pub fn keep(&self, datatype: usize) -> Option<Lent> {
        let _lock = Lock::take()?;
        for (entry, at) in KEPT.all.iter().zip(0..) {
            // SAFETY: the lock is held.
            let known = unsafe { &mut *entry.known.get() };
            if known.is_some_and(|(shape, _)| shape == *self) {
                // Another thread was faster.
                if known.is_some_and(|(_, other)| other != 0) {
                    return None;
                }
                *known = Some((*self, datatype));
                entry.borrowers.fetch_add(1, Ordering::Relaxed);
                return Some(Lent { entry: at, datatype });
            }
        }
        let at = replace((*self, datatype))?;
        KEPT.all[at].borrowers.fetch_add(1, Ordering::Relaxed);
        Some(Lent { entry: at, datatype })
    }
}

/// Puts it in place of another one that nobody uses. The lock is held.
fn replace(new: (Shape, usize)) -> Option<usize> {
    let at = KEPT.next.fetch_add(1, Ordering::Relaxed) as usize % ENTRIES;
    let entry = &KEPT.all[at];
    // Acquire pairs with the Release in `drop`: who borrowed it uses it no more.
    if entry.borrowers.load(Ordering::Acquire) != 0 {
        return None;
    }
    // SAFETY: the lock is held.
    let old = unsafe { (*entry.known.get()).replace(new) };
    if let Some((_, mut datatype)) = old
        && datatype != 0
    {
        PMPI_Type_free(&raw mut datatype);
    }
    Some(at)
}

impl Lent {
    /// Its handle.
    pub fn datatype(&self) -> usize {
        self.datatype
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `replace`.
        KEPT.all[self.entry].borrowers.fetch_sub(1, Ordering::Release);
    }
}

struct Lock;

impl Lock {
    fn take() -> Option<Lock> {
        // Acquire pairs with the Release in `drop`.
        (!KEPT.lock.swap(true, Ordering::Acquire)).then_some(Lock)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        KEPT.lock.store(false, Ordering::Release);
    }
}

const RANKS: usize = 4;
const ENTRIES: usize = 16;
/// Handles of the standard ABI up to here are constants.
const LAST_PREDEFINED: usize = 0x3ff;
