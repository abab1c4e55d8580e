//! Things with small numbers that are used again.

use alloc::vec::Vec;

/// A growing table. Numbers are below 2^32 - 1.
pub struct Slab<T> {
    places: Vec<Place<T>>,
    free: u32,
}

enum Place<T> {
    Used(T),
    Free(u32),
}

const NONE: u32 = u32::MAX;

impl<T> Slab<T> {
    /// Empty.
    pub const fn new() -> Slab<T> {
        Slab { places: Vec::new(), free: NONE }
    }

    /// All numbers in use are below this.
    pub fn numbers(&self) -> u32 {
        self.places.len() as u32
    }

    /// Takes a thing; returns its number.
    #[inline(always)]
    pub fn insert(&mut self, thing: T) -> u32 {
        let number = self.free;
        if let Some(place) = self.places.get_mut(number as usize)
            && let Place::Free(next) = *place
        {
            self.free = next;
            *place = Place::Used(thing);
            return number;
        }
        self.grow(thing)
    }

    /// The thing with a number that is known to be in use.
    ///
    /// # Panics
    /// If it is not: a mistake of this component.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &T {
        match &self.places[number as usize] {
            Place::Used(thing) => thing,
            Place::Free(_) => unused(),
        }
    }

    /// As `get`, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        match &mut self.places[number as usize] {
            Place::Used(thing) => thing,
            Place::Free(_) => unused(),
        }
    }

    /// The thing with a number that may be anything.
    #[inline]
    pub fn find_mut(&mut self, number: u32) -> Option<&mut T> {
        match self.places.get_mut(number as usize) {
            Some(Place::Used(thing)) => Some(thing),
            _ => None,
        }
    }

    /// Takes the thing out; its number is used again.
    #[inline(always)]
    pub fn remove(&mut self, number: u32) -> T {
        let place = core::mem::replace(&mut self.places[number as usize], Place::Free(self.free));
        let Place::Used(thing) = place else { unused() };
        self.free = number;
        thing
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, thing: T) -> u32 {
        let number = self.places.len() as u32;
        assert!(number != NONE, "four thousand million things at once");
        self.places.push(Place::Used(thing));
        number
    }
}

#[cold]
#[inline(never)]
fn unused() -> ! {
    panic!("a number that is not in use")
}
