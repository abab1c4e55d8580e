//! Handles: small numbers for objects, looked up without a lock.
//!
//! Dynamic handles are positive 31-bit numbers above 0x3ff, so that MPI_X_toint and MPI_X_fromint are the identity:
//! 22 bits of index (from 1024 on) and 9 bits of generation. A stale handle finds another generation and is refused,
//! as long as its slot was not used 512 times since. Chunks double in size and never move: a look-up is three loads.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicPtr, AtomicU32, Mutex, Ordering};

const INDEX_BITS: u32 = 22;
const FIRST: u32 = 1024;
const GENERATIONS: u32 = 1 << (31 - INDEX_BITS);
const CHUNKS: usize = (INDEX_BITS - 10) as usize;

#[repr(C)]
struct Slot<T> {
    generation: AtomicU32,
    object: AtomicPtr<T>,
}

struct Free {
    stack: Vec<u32>,
    next: u32,
}

/// The objects of one kind.
// In C's order, so that it is one for all kinds; the chunks lie at the beginning.
#[repr(C)]
pub struct HandleTable<T> {
    // Chunk k holds the indices 1024·2^k to 1024·2^(k+1) - 1.
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    // Always locked: MPI 5.0 §11.6 lets any thread make info objects, error handlers and sessions at any thread level.
    free: Mutex<Free>,
    owns: PhantomData<Arc<T>>,
}

impl<T: Send + Sync> HandleTable<T> {
    /// An empty table.
    pub const fn new() -> HandleTable<T> {
        HandleTable {
            chunks: [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS],
            free: Mutex::new(Free { stack: Vec::new(), next: FIRST }),
            owns: PhantomData,
        }
    }

    /// Takes an object and returns its handle; `None` if there are four million already.
    pub fn insert(&self, object: Arc<T>) -> Option<usize> {
        let index = self.reserve()?;
        let slot = self.slot(index)?;
        // Release pairs with the Acquire in `get`: a thread that sees the object sees its content.
        slot.object.store(Arc::into_raw(object).cast_mut(), Ordering::Release);
        Some((slot.generation.load(Ordering::Relaxed) << INDEX_BITS | index) as usize)
    }

    /// The object behind a handle, if the handle is in force.
    ///
    /// The reference is good until the handle is removed; the standard makes it an error of the program to free a
    /// handle while another thread passes it to a call. Code that keeps the object longer takes [`HandleTable::get`].
    #[inline(always)]
    pub fn borrow(&self, handle: usize) -> Option<&T> {
        let pointer = self.find(handle)?;
        // SAFETY: `find` returned a pointer made from an Arc that the table still holds.
        Some(unsafe { &*pointer })
    }

    /// A reference of one's own to the object behind a handle.
    pub fn get(&self, handle: usize) -> Option<Arc<T>> {
        let pointer = self.find(handle)?;
        // SAFETY: the pointer came from Arc::into_raw and the table's own count keeps it alive.
        unsafe { Arc::increment_strong_count(pointer) };
        // SAFETY: the count just taken is this Arc's.
        Some(unsafe { Arc::from_raw(pointer) })
    }

    /// Ends a handle; the object lives on as long as others hold it.
    pub fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let pointer = self.find(handle)?;
        let index = handle as u32 & ((1 << INDEX_BITS) - 1);
        let slot = self.slot(index)?;
        // Of two threads that remove the same handle one finds null. AcqRel pairs with the Release in `insert`.
        if slot.object.swap(core::ptr::null_mut(), Ordering::AcqRel).is_null() {
            return None;
        }
        let generation = (slot.generation.load(Ordering::Relaxed) + 1) % GENERATIONS;
        slot.generation.store(generation, Ordering::Relaxed);
        self.free.lock().stack.push(index);
        // SAFETY: the count that `insert` gave up, taken back exactly once because of the swap.
        Some(unsafe { Arc::from_raw(pointer) })
    }

    /// The first handle in force whose object is the wanted one; walks the whole table, for errors and tools.
    #[cold]
    pub fn search(&self, wanted: impl Fn(&T) -> bool) -> Option<(usize, &T)> {
        let end = self.free.lock().next;
        (FIRST..end).filter_map(|index| self.at(index)).find(|(_, object)| wanted(object))
    }

    /// The first handle in force behind another one, or the first of all.
    #[cold]
    pub fn search_after(&self, handle: Option<usize>) -> Option<(usize, &T)> {
        let end = self.free.lock().next;
        let begin = handle.map_or(FIRST, |handle| (handle as u32 & ((1 << INDEX_BITS) - 1)) + 1);
        (begin..end).find_map(|index| self.at(index))
    }

    fn at(&self, index: u32) -> Option<(usize, &T)> {
        let generation = self.slot(index)?.generation.load(Ordering::Relaxed);
        let handle = (generation << INDEX_BITS | index) as usize;
        Some((handle, self.borrow(handle)?))
    }

    /// Number of handles in force.
    pub fn len(&self) -> usize {
        let free = self.free.lock();
        (free.next - FIRST) as usize - free.stack.len()
    }

    /// Whether no handle is in force.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn find(&self, handle: usize) -> Option<*const T> {
        let index = handle as u32 & ((1 << INDEX_BITS) - 1);
        if handle > i32::MAX as usize || index < FIRST {
            return None;
        }
        let slot = self.slot(index)?;
        if slot.generation.load(Ordering::Relaxed) != handle as u32 >> INDEX_BITS {
            return None;
        }
        // Acquire pairs with the Release in `insert`.
        let pointer = slot.object.load(Ordering::Acquire);
        (!pointer.is_null()).then_some(pointer.cast_const())
    }

    #[inline(always)]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let chunk = (index.ilog2() - FIRST.ilog2()) as usize;
        // Acquire pairs with the Release in `reserve`.
        let base = self.chunks.get(chunk)?.load(Ordering::Acquire);
        if base.is_null() {
            return None;
        }
        // SAFETY: chunk k has 1024·2^k slots and index - 1024·2^k is less than that.
        Some(unsafe { &*base.wrapping_add((index - (FIRST << chunk)) as usize) })
    }

    fn reserve(&self) -> Option<u32> {
        let mut free = self.free.lock();
        if let Some(index) = free.stack.pop() {
            return Some(index);
        }
        let index = free.next;
        if index >> INDEX_BITS != 0 {
            return None;
        }
        free.next += 1;
        if index.is_power_of_two() {
            let slots: Vec<Slot<T>> = (0..index)
                .map(|_| Slot { generation: AtomicU32::new(0), object: AtomicPtr::new(core::ptr::null_mut()) })
                .collect();
            let base = Box::leak(slots.into_boxed_slice()).as_mut_ptr();
            // Release pairs with the Acquire in `slot`.
            self.chunks[(index.ilog2() - FIRST.ilog2()) as usize].store(base, Ordering::Release);
        }
        Some(index)
    }
}

/// What a debugger needs to find an object.
pub(crate) static FACTS: [Fact; 5] = [
    Fact::number("handle.index_bits", INDEX_BITS as usize),
    Fact::number("handle.chunks", CHUNKS),
    Fact::number("handle.slot", size_of::<Slot<()>>()),
    Fact::number("handle.slot.generation", offset_of!(Slot<()>, generation)),
    Fact::number("handle.slot.object", offset_of!(Slot<()>, object)),
];

impl<T: Send + Sync> Default for HandleTable<T> {
    fn default() -> Self {
        HandleTable::new()
    }
}

/// Objects with fixed numbers that live as long as the process: looked up with one load.
pub struct Fixed<T: 'static, const N: usize> {
    objects: [AtomicPtr<T>; N],
    lasting: PhantomData<&'static T>,
}

impl<T: Sync, const N: usize> Fixed<T, N> {
    /// None is there.
    pub const fn new() -> Fixed<T, N> {
        Fixed { objects: [const { AtomicPtr::new(core::ptr::null_mut()) }; N], lasting: PhantomData }
    }

    /// Makes an object known.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn set(&self, index: usize, object: &'static T) {
        // Release pairs with the Acquire in `get`.
        self.objects[index].store(core::ptr::from_ref(object).cast_mut(), Ordering::Release);
    }

    /// No object has any of the numbers any more. The objects stay, for threads that still look at them.
    pub fn clear(&self) {
        self.objects.iter().for_each(|place| place.store(core::ptr::null_mut(), Ordering::Release));
    }

    /// The object with a number; `None` if there is none.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&'static T> {
        let at = self.objects.get(index)?.load(Ordering::Acquire);
        // SAFETY: null, or what `set` was given.
        unsafe { at.as_ref() }
    }
}

impl<T: Sync, const N: usize> Default for Fixed<T, N> {
    fn default() -> Fixed<T, N> {
        Fixed::new()
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_and_garbage_handles_find_nothing() {
        static TABLE: HandleTable<u64> = HandleTable::new();
        let one = TABLE.insert(Arc::new(1)).unwrap();
        assert!(one > 0x3ff && one <= i32::MAX as usize);
        assert_eq!(TABLE.borrow(one), Some(&1));
        for garbage in [0, 1, 257, 0x3ff, one + 1, usize::MAX, one | 1 << 40, 1 << 30] {
            assert_eq!(TABLE.borrow(garbage), None, "{garbage:#x}");
        }
        assert_eq!(*TABLE.remove(one).unwrap(), 1);
        let two = TABLE.insert(Arc::new(2)).unwrap();
        assert_ne!(one, two);
        assert_eq!(TABLE.borrow(one), None);
        assert!(TABLE.remove(one).is_none());
        assert_eq!(*TABLE.get(two).unwrap(), 2);
        assert_eq!(TABLE.len(), 1);
    }

    #[test]
    fn many_chunks() {
        static TABLE: HandleTable<usize> = HandleTable::new();
        let handles: Vec<usize> = (0..10_000).map(|number| TABLE.insert(Arc::new(number)).unwrap()).collect();
        for (number, handle) in handles.iter().enumerate() {
            assert_eq!(TABLE.borrow(*handle), Some(&number));
        }
        assert_eq!(TABLE.len(), 10_000);
        assert_eq!(TABLE.search(|number| *number == 7777), Some((handles[7777], &7777)));
        assert_eq!(TABLE.search(|number| *number == 10_000), None);
    }
}
