//! Entries of long lists by list and tag, in the order in which they were appended: finding the first with a tag takes the
//! same time however many there are.
//!
//! A hash table of keys, each with a chain of its entries; entries are the caller's numbers. Lists that are short are not
//! in it, so that most programs never allocate it.

use super::list::{NONE, Tag};
use crate::slab::Slab;
use alloc::vec::Vec;

/// Which lists have an index, and where their entries are. A list has the number of its source, or ANY.
pub struct Index {
    indexed: Vec<u64>,
    lists: usize,
    buckets: Vec<u32>,
    keys: Slab<Key>,
    in_use: usize,
    links: Vec<Link>,
}

struct Key {
    list: u32,
    tag: Tag,
    // In the same bucket.
    next: u32,
    // Its entries.
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct Link {
    next: u32,
    previous: u32,
    key: u32,
}

impl Index {
    /// Of no list.
    pub const fn new() -> Index {
        Index { indexed: Vec::new(), lists: 0, buckets: Vec::new(), keys: Slab::new(), in_use: 0, links: Vec::new() }
    }

    /// Whether a list has an index.
    #[inline(always)]
    pub fn has(&self, list: u32) -> bool {
        self.lists > 0 && self.indexed.get(word(list)).is_some_and(|indexed| indexed & bit(list) != 0)
    }

    /// Whether any list has an index.
    #[inline(always)]
    pub fn is_used(&self) -> bool {
        self.lists > 0
    }

    /// From now on all entries of a list are appended and removed here.
    pub fn add_list(&mut self, list: u32) {
        if self.indexed.len() <= word(list) {
            self.indexed.resize(word(list) + 1, 0);
        }
        self.indexed[word(list)] |= bit(list);
        self.lists += 1;
    }

    /// A list with an index has no entries any more: from now on it is walked again.
    pub fn remove_list(&mut self, list: u32) {
        self.indexed[word(list)] &= !bit(list);
        self.lists -= 1;
        if self.lists == 0 && self.links.len() > KEPT_LINKS {
            // No list has entries here, so no key is in use.
            *self = Index { indexed: core::mem::take(&mut self.indexed), ..Index::new() };
        }
    }

    /// Appends an entry to a list with an index.
    pub fn append(&mut self, list: u32, tag: Tag, entry: u32) {
        let number = match self.find(list, tag) {
            Some(number) => number,
            None => self.add(list, tag),
        };
        let key = self.keys.get_mut(number);
        let previous = core::mem::replace(&mut key.last, entry);
        if previous == NONE {
            key.first = entry;
        } else {
            self.links[previous as usize].next = entry;
        }
        if self.links.len() <= entry as usize {
            self.links.resize(entry as usize + 1, Link { next: NONE, previous: NONE, key: NONE });
        }
        self.links[entry as usize] = Link { next: NONE, previous, key: number };
    }

    /// Removes an entry of a list with an index.
    pub fn remove(&mut self, entry: u32) {
        let Link { next, previous, key: number } = self.links[entry as usize];
        let key = self.keys.get_mut(number);
        if previous == NONE {
            key.first = next;
        } else {
            self.links[previous as usize].next = next;
        }
        if next == NONE {
            key.last = previous;
        } else {
            self.links[next as usize].previous = previous;
        }
        if key.first == NONE {
            self.forget(number);
        }
    }

    /// The first entry of a list with an index that has a tag.
    pub fn first(&self, list: u32, tag: Tag) -> Option<u32> {
        self.find(list, tag).map(|number| self.keys.get(number).first)
    }

    fn find(&self, list: u32, tag: Tag) -> Option<u32> {
        let mut number = *self.buckets.get(hash(list, tag) & self.mask())?;
        while number != NONE {
            let key = self.keys.get(number);
            if (key.list, key.tag) == (list, tag) {
                return Some(number);
            }
            number = key.next;
        }
        None
    }

    fn add(&mut self, list: u32, tag: Tag) -> u32 {
        if self.in_use >= self.buckets.len() {
            self.grow();
        }
        self.in_use += 1;
        let bucket = hash(list, tag) & self.mask();
        let bucket_first = &mut self.buckets[bucket];
        let number = self.keys.insert(Key { list, tag, next: *bucket_first, first: NONE, last: NONE });
        *bucket_first = number;
        number
    }

    fn forget(&mut self, number: u32) {
        let Key { list, tag, next, .. } = self.keys.remove(number);
        self.in_use -= 1;
        let bucket = hash(list, tag) & self.mask();
        let bucket_first = &mut self.buckets[bucket];
        if *bucket_first == number {
            *bucket_first = next;
            return;
        }
        let mut before = *bucket_first;
        while self.keys.get(before).next != number {
            before = self.keys.get(before).next;
        }
        self.keys.get_mut(before).next = next;
    }

    // The number of buckets is a power of two, or 0.
    fn mask(&self) -> usize {
        self.buckets.len().wrapping_sub(1)
    }

    fn grow(&mut self) {
        let buckets = (2 * self.buckets.len()).max(FEWEST_BUCKETS);
        let old = core::mem::replace(&mut self.buckets, alloc::vec![NONE; buckets]);
        for mut number in old {
            while number != NONE {
                let key = self.keys.get_mut(number);
                let bucket_first = &mut self.buckets[hash(key.list, key.tag) & (buckets - 1)];
                let next = core::mem::replace(&mut key.next, *bucket_first);
                *bucket_first = number;
                number = next;
            }
        }
    }
}

// Fibonacci hashing (Knuth, The Art of Computer Programming 3, §6.4).
fn hash(list: u32, tag: Tag) -> usize {
    ((u64::from(list) << 32 | u64::from(tag.0 as u32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

// The list of any source, whose number is the highest, comes first.
fn word(list: u32) -> usize {
    list.wrapping_add(1) as usize / 64
}

fn bit(list: u32) -> u64 {
    1 << (list.wrapping_add(1) % 64)
}

const FEWEST_BUCKETS: usize = 128;
/// Entries for which memory is kept while no list has an index.
const KEPT_LINKS: usize = 1024;
