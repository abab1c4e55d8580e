//! Tables with a place for every process of a job, most of which stay empty: a process speaks to few of all.
//!
//! Places come in blocks of [`BLOCK`]; a block takes memory from the first use of one of its places on. A table of 65,536 places
//! takes 32 KiB while it is empty.

use crate::sync::Once;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Places of a block.
pub const BLOCK: usize = 32;

/// A table of so many places, each of which is filled once, by whoever comes first.
pub struct OnceTable<T> {
    blocks: Box<[Once<Block<T>>]>,
    places: usize,
}

// An array, so that a block that is not there takes one word and not two.
type Block<T> = Box<[Once<T>; BLOCK]>;

impl<T> OnceTable<T> {
    /// Of so many places, all of them empty.
    pub fn new(places: usize) -> OnceTable<T> {
        OnceTable { blocks: (0..places.div_ceil(BLOCK)).map(|_| Once::new()).collect(), places }
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places
    }

    /// What is at a place.
    #[inline(always)]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.blocks.get(place / BLOCK)?.get()?.get(place % BLOCK)?.get()
    }

    /// A place, to be filled; `None` beyond the table.
    pub fn place(&self, place: usize) -> Option<&Once<T>> {
        if place >= self.places {
            return None;
        }
        let block = self.blocks.get(place / BLOCK)?;
        block.call_once(|| Box::new(core::array::from_fn(|_| Once::new()))).get(place % BLOCK)
    }

    /// All that is there, in the order of the places.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().filter_map(Once::get).flat_map(|block| block.iter()).filter_map(Once::get)
    }
}

/// A table that grows, for one user at a time; what is at a place can be taken away again.
pub struct Table<T> {
    blocks: Vec<Option<Box<[Option<T>; BLOCK]>>>,
}

impl<T> Table<T> {
    /// Empty.
    pub const fn new() -> Table<T> {
        Table { blocks: Vec::new() }
    }

    /// What is at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.blocks.get(place / BLOCK)?.as_ref()?[place % BLOCK].as_ref()
    }

    /// As `get`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.blocks.get_mut(place / BLOCK)?.as_mut()?[place % BLOCK].as_mut()
    }

    /// A place itself.
    pub fn place(&mut self, place: usize) -> &mut Option<T> {
        let block = place / BLOCK;
        if self.blocks.len() <= block {
            self.blocks.resize_with(block + 1, || None);
        }
        let block = self.blocks[block].get_or_insert_with(|| Box::new([const { None }; BLOCK]));
        &mut block[place % BLOCK]
    }

    /// What is at a place, the default at first.
    pub fn entry(&mut self, place: usize) -> &mut T
    where
        T: Default,
    {
        self.place(place).get_or_insert_default()
    }

    /// Takes away what is at a place.
    pub fn take(&mut self, place: usize) -> Option<T> {
        self.blocks.get_mut(place / BLOCK)?.as_mut()?[place % BLOCK].take()
    }

    /// All that is there, with its place, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let blocks = self.blocks.iter().enumerate().filter_map(|(block, places)| Some((block, places.as_ref()?)));
        blocks.flat_map(|(block, places)| {
            let places = (block * BLOCK..).zip(places.iter());
            places.filter_map(|(place, thing)| Some((place, thing.as_ref()?)))
        })
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_blocks_made_when_they_are_needed() {
        let table = OnceTable::new(BLOCK + 1);
        assert_eq!((table.places(), table.get(0), table.get(BLOCK + 1)), (BLOCK + 1, None, None));
        table.place(BLOCK).expect("the last one").call_once(|| 7);
        table.place(BLOCK).expect("the last one").call_once(|| 8);
        assert!(table.place(BLOCK + 1).is_none(), "its block has room, the table has not");
        assert!(table.blocks[0].get().is_none(), "nobody used the first block");
        table.place(3).expect("the fourth one").call_once(|| 9);
        assert_eq!((table.get(BLOCK), table.get(3), table.get(4)), (Some(&7), Some(&9), None));
        assert_eq!(table.iter().copied().collect::<Vec<i32>>(), [9, 7]);
    }

    #[test]
    fn what_was_taken_is_gone() {
        let mut table: Table<u32> = Table::new();
        assert!(table.get(100).is_none() && table.get_mut(100).is_none() && table.take(100).is_none());
        *table.entry(100) += 5;
        *table.entry(100) += 5;
        *table.entry(1) = 3;
        assert_eq!(table.iter().collect::<Vec<_>>(), [(1, &3), (100, &10)]);
        assert!(table.blocks[1].is_none(), "nobody used it");
        assert_eq!(table.take(100), Some(10));
        assert!(table.get(100).is_none());
        assert_eq!(*table.entry(100), 0, "as at first");
    }
}
