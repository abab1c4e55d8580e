//! A table that grows, whose elements never move and are found without a lock.

use alloc::boxed::Box;
use opal_core::sync::{ConditionalLock, Once};

/// The table.
pub struct Table<T> {
    // Each has twice as many places as the one before.
    parts: [Once<Box<[Once<T>]>>; PARTS],
    length: ConditionalLock<usize>,
}

impl<T> Table<T> {
    /// Empty.
    pub const fn new() -> Table<T> {
        Table { parts: [const { Once::new() }; PARTS], length: ConditionalLock::new(0) }
    }

    /// An element.
    pub fn get(&self, index: usize) -> Option<&T> {
        let (part, offset) = place(index);
        self.parts.get(part)?.get()?.get(offset)?.get()
    }

    /// Appends the element that `make` makes for its place, which is returned; `None` if there are too many.
    pub fn push(&self, make: impl FnOnce(usize) -> T) -> Option<usize> {
        let mut length = self.length.lock();
        let (part, offset) = place(*length);
        let places = self.parts.get(part)?.call_once(|| (0..FIRST << part).map(|_| Once::new()).collect());
        let index = *length;
        places.get(offset)?.call_once(|| make(index));
        *length += 1;
        Some(index)
    }

    /// All elements.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let length = *self.length.lock();
        (0..length).filter_map(|index| self.get(index))
    }
}

fn place(index: usize) -> (usize, usize) {
    let part = (index / FIRST + 1).ilog2() as usize;
    (part, index - FIRST * ((1 << part) - 1))
}

const FIRST: usize = 16;
const PARTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_they_were_put() {
        let list = Table::new();
        assert!(list.get(0).is_none());
        assert_eq!(list.push(|index| (0, index)), Some(0));
        let at = core::ptr::from_ref(list.get(0).unwrap());
        (1..5000).for_each(|number| assert_eq!(list.push(|index| (number, index)), Some(number)));
        assert!((0..5000).all(|index| list.get(index) == Some(&(index, index))));
        assert!(list.get(5000).is_none() && list.get(usize::MAX / 2).is_none());
        assert_eq!(list.iter().next_back(), Some(&(4999, 4999)));
        assert_eq!(core::ptr::from_ref(list.get(0).unwrap()), at);
    }
}
