//! A table of objects with small indices that are used again.

use alloc::vec::Vec;

/// A growing table. Numbers are below 2^32 - 1.
pub struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: u32,
}

// A word that says which one it is, and behind it the thing, where its alignment puts it: debuggers know it so.
#[repr(C)]
enum Entry<T> {
    Used(T),
    Free(u32),
}

const NONE: u32 = u32::MAX;
/// Entries for which memory is kept while none is in use.
const KEPT: usize = 1024;

impl<T> Slab<T> {
    /// For debuggers: where the entries lie, the size of one, and where the thing lies in one whose first word is 0.
    pub const PLACES: [usize; 3] = [
        core::mem::offset_of!(Slab<T>, entries),
        size_of::<Entry<T>>(),
        size_of::<u32>().next_multiple_of(align_of::<T>()),
    ];

    /// Empty.
    pub const fn new() -> Slab<T> {
        Slab { entries: Vec::new(), free: NONE }
    }

    /// All numbers in use are below this.
    pub fn numbers(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Takes an entry; returns its number.
    #[inline(always)]
    pub fn insert(&mut self, thing: T) -> u32 {
        let number = self.free;
        if let Some(entry) = self.entries.get_mut(number as usize)
            && let Entry::Free(next) = *entry
        {
            self.free = next;
            *entry = Entry::Used(thing);
            return number;
        }
        self.grow(thing)
    }

    /// The entry with a number that is known to be in use.
    ///
    /// # Panics
    /// If it is not: a mistake of this component.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &T {
        match &self.entries[number as usize] {
            Entry::Used(thing) => thing,
            Entry::Free(_) => unused(),
        }
    }

    /// As `get`, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        match &mut self.entries[number as usize] {
            Entry::Used(thing) => thing,
            Entry::Free(_) => unused(),
        }
    }

    /// The entry with a number that may be anything.
    pub fn find(&self, number: u32) -> Option<&T> {
        match self.entries.get(number as usize) {
            Some(Entry::Used(thing)) => Some(thing),
            _ => None,
        }
    }

    /// As `find`, to be changed.
    #[inline]
    pub fn find_mut(&mut self, number: u32) -> Option<&mut T> {
        match self.entries.get_mut(number as usize) {
            Some(Entry::Used(thing)) => Some(thing),
            _ => None,
        }
    }

    /// Takes the entry out; its number is used again.
    #[inline(always)]
    pub fn remove(&mut self, number: u32) -> T {
        let entry = core::mem::replace(&mut self.entries[number as usize], Entry::Free(self.free));
        let Entry::Used(thing) = entry else { unused() };
        self.free = number;
        thing
    }

    /// Whether there is memory for one more.
    #[inline(always)]
    pub fn has_room(&mut self) -> bool {
        self.free != NONE || self.entries.try_reserve(1).is_ok()
    }

    /// No entry is in use: gives the memory back if it is much.
    pub fn give_back(&mut self) {
        if self.entries.len() > KEPT {
            *self = Slab::new();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, thing: T) -> u32 {
        let number = self.entries.len() as u32;
        assert!(number != NONE, "four thousand million entries at once");
        self.entries.push(Entry::Used(thing));
        number
    }
}

#[cold]
#[inline(never)]
fn unused() -> ! {
    panic!("a number that is not in use")
}
