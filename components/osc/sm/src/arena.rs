//! Memory for MPI_Alloc_mem that other processes of the node can map: files in memory, each with what is given of it. A peer finds the
//! file as it finds that of a window ([`PlacedFile`]), so its descriptor stays open.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use ompi_core::user_memory;
pub use ompi_core::win::node::PAGE;
use opal_core::sync::ConditionalLock;
use opal_core::sys::{Mapping, Place, PlacedFile};

static ARENAS: ConditionalLock<Vec<Arena>> = ConditionalLock::new(Vec::new());

/// One file.
struct Arena {
    file: PlacedFile,
    mapping: Mapping,
    bytes: usize,
    // Lengths by offset.
    free: BTreeMap<usize, usize>,
    given: BTreeMap<usize, usize>,
}

/// Memory of so many bytes; `None` if it must be other memory.
pub fn allocate(bytes: usize, alignment: usize) -> Option<*mut u8> {
    let wanted = bytes.max(1).checked_next_multiple_of(LINE)?;
    if alignment > PAGE {
        return None;
    }
    let mut arenas = ARENAS.lock();
    if let Some(at) = arenas.iter_mut().find_map(|arena| arena.take(wanted, alignment)) {
        return Some(at);
    }
    let whole = wanted.max(LEAST).checked_next_multiple_of(PAGE)?;
    if arenas.len() == MOST_ARENAS || user_memory::check_left(whole as u128).is_err() {
        return None;
    }
    let mut arena = Arena::new(whole)?;
    let at = arena.take(wanted, alignment);
    arenas.push(arena);
    at
}

/// Takes memory back. What was an arena of its own goes back to the system.
pub fn free(at: *mut u8) {
    let mut arenas = ARENAS.lock();
    let Some(index) = arenas.iter().position(|arena| arena.offset(at, 0).is_some()) else { return };
    let arena = &mut arenas[index];
    let Some(offset) = arena.offset(at, 0) else { return };
    arena.give_back(offset);
    if arena.given.is_empty() && arena.bytes > LEAST {
        drop(arenas.swap_remove(index));
    }
}

/// Where others find memory of this process; `None` if they cannot map it.
pub fn find(at: *mut u8, bytes: usize) -> Option<(Place, u64)> {
    let arenas = ARENAS.lock();
    arenas.iter().find_map(|arena| Some((arena.file.place(), arena.offset(at, bytes)? as u64)))
}

impl Arena {
    fn new(bytes: usize) -> Option<Arena> {
        let file = PlacedFile::create(bytes).ok()?;
        let mapping = file.map(bytes).ok()?;
        Some(Arena { file, mapping, bytes, free: BTreeMap::from([(0, bytes)]), given: BTreeMap::new() })
    }

    /// The first free place that is long enough.
    fn take(&mut self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        let fits = |(offset, length): (&usize, &usize)| {
            let begin = offset.next_multiple_of(alignment);
            (begin + bytes <= offset + length).then_some((*offset, *length, begin))
        };
        let (offset, length, begin) = self.free.iter().find_map(fits)?;
        self.free.remove(&offset);
        for (from, to) in [(offset, begin), (begin + bytes, offset + length)] {
            if from < to {
                self.free.insert(from, to - from);
            }
        }
        self.given.insert(begin, bytes);
        Some(self.mapping.place(begin, bytes))
    }

    /// Joins what is freed with what is free beside it.
    fn give_back(&mut self, offset: usize) {
        let Some(mut length) = self.given.remove(&offset) else { return };
        let mut begin = offset;
        if let Some(behind) = self.free.remove(&(offset + length)) {
            length += behind;
        }
        let before = self.free.range(..begin).next_back().map(|(from, bytes)| (*from, *bytes));
        if let Some((from, bytes)) = before.filter(|(from, bytes)| from + bytes == begin) {
            begin = from;
            length += bytes;
        }
        self.free.insert(begin, length);
    }

    /// The offset of memory that lies in it.
    fn offset(&self, at: *mut u8, bytes: usize) -> Option<usize> {
        let offset = at.addr().checked_sub(self.mapping.place(0, 0).addr())?;
        (offset < self.bytes && bytes <= self.bytes - offset).then_some(offset)
    }
}

/// Memory begins on a cache line.
const LINE: usize = 64;
/// Of an arena; longer memory has one of its own.
const LEAST: usize = 1 << 20;
/// Each holds a descriptor.
const MOST_ARENAS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_found_and_joined_again() {
        let mut arena = Arena::new(8192).unwrap();
        let at = [64, 4096, 64].map(|bytes| arena.take(bytes, LINE).unwrap());
        let offsets = at.map(|at| arena.offset(at, 64).unwrap());
        assert_eq!(offsets, [0, 64, 4160]);
        let aligned = arena.take(64, 2048).unwrap();
        assert_eq!(arena.offset(aligned, 0), Some(6144));
        assert_eq!((arena.take(4096, LINE), arena.offset(aligned, 4096)), (None, None));
        arena.give_back(64);
        arena.give_back(0);
        arena.give_back(0);
        assert_eq!(arena.take(4160, PAGE), Some(at[0]));
        for offset in [4160, 0, 6144] {
            arena.give_back(offset);
        }
        assert_eq!((arena.free, arena.given.len()), (BTreeMap::from([(0, 8192)]), 0));
    }

    #[test]
    fn memory_is_found_until_it_is_freed() {
        opal_core::sync::raise_threads();
        let (short, long) = (allocate(100, LINE).unwrap(), allocate(LEAST + 1, LINE).unwrap());
        assert!(find(short, 100).is_some() && find(short, LEAST + 1).is_none());
        assert!(
            find(long, LEAST + 1)
                .is_some_and(|(place, offset)| offset == 0 && Some(place) != find(short, 1).map(|found| found.0))
        );
        let local = 0u8;
        assert!(find((&raw const local).cast_mut(), 1).is_none());
        assert!(allocate(100, 2 * PAGE).is_none() && allocate(usize::MAX, LINE).is_none());
        free(long);
        assert!(find(long, 1).is_none());
        free(short);
        assert_eq!(allocate(100, LINE), Some(short));
    }
}
