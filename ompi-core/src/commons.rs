//! Memory that the processes of a node share, for components of this layer: parts of a process's *commons*
//! (`btl::Module::commons`), which that process gives away.
//!
//! **Invariant:** two users never get overlapping parts, and a part is given away again only when its last user counted
//! itself out.
#![allow(unsafe_code)]

use crate::framework::bml::{self, Path};
use crate::process;
use alloc::vec::Vec;
use opal_core::framework::shmem::Segment;
use opal_core::queue::conduit::Conduit;
use opal_core::sync::{AtomicU64, Guarded, Ordering};

/// Another process that shares memory with this one.
#[derive(Clone, Copy)]
pub struct Neighbor {
    /// The way to it.
    pub path: Path,
    /// Says whether it sleeps.
    pub conduit: &'static Conduit,
}

impl Neighbor {
    /// The process of this index; `None` if it shares no memory with this one.
    pub fn of(index: u32) -> Option<Neighbor> {
        let path = bml::selected()?.paths(index).first().filter(|_| process::get(index).same_node)?;
        let conduit = path.module.conduit(path.endpoint)?;
        path.module.commons(Some(path.endpoint))?;
        Some(Neighbor { path: *path, conduit })
    }

    /// Wakes it if it sleeps; after something was stored that it waits for.
    #[inline(always)]
    pub fn notify(&self) {
        if self.conduit.peer_sleeps() {
            self.path.module.wake(self.path.endpoint);
        }
    }

    /// Its commons.
    pub fn commons(&self) -> Option<Segment> {
        self.path.module.commons(Some(self.path.endpoint))
    }

    /// This process's commons, as this neighbor has them mapped.
    pub fn own_commons(&self) -> Option<Segment> {
        self.path.module.commons(None)
    }
}

/// Part of a segment that stays mapped for the life of the process.
pub struct Shared {
    part: Segment,
}

impl Shared {
    /// `None` if the segment, which is mapped for ever, has no such part.
    pub fn of(segment: Segment, offset: usize, bytes: usize) -> Option<Shared> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= segment.bytes);
        let aligned = offset.is_multiple_of(64) && segment.base.addr().is_multiple_of(64);
        (fits && aligned).then(|| Shared { part: Segment { base: segment.base.wrapping_add(offset), bytes } })
    }

    /// The address of `bytes` bytes at an offset.
    ///
    /// # Panics
    /// If the part has no such place: offsets come from whoever laid it out, never from a peer.
    #[inline(always)]
    pub fn place(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset + bytes <= self.part.bytes);
        self.part.base.wrapping_add(offset)
    }

    /// The word at an offset.
    ///
    /// # Panics
    /// If the part has no aligned word there, as [`Shared::place`].
    #[inline(always)]
    pub fn word(&self, offset: usize) -> &'static AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.part.bytes);
        // SAFETY: aligned and within the part by the check above; `of` checked that the part lies in a segment that is
        // never unmapped, and its alignment.
        unsafe { &*self.part.base.wrapping_add(offset).cast::<AtomicU64>() }
    }
}

/// What a part is wanted for.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Its length.
    pub bytes: usize,
    /// So many more must be free behind it, for others who may come.
    pub spare: usize,
    /// How many bytes at its beginning are to be zeros; the others may be what a former user left there.
    pub zeros: usize,
    /// Offset of a word among the zeros in which every user counts itself out, with Release, when it will never look at
    /// the part again.
    pub departed: usize,
    /// How many users.
    pub users: u64,
}

struct Given {
    offset: usize,
    wanted: Wanted,
    /// This process does not need it any more; the others count themselves out.
    returned: bool,
}

static GIVEN: Guarded<Vec<Given>> = Guarded::new(Vec::new());

/// Gives a part of `commons`, this process's own, away: its offset, a multiple of 64; `None` if there is no room.
pub fn take(commons: Segment, wanted: Wanted) -> Option<usize> {
    let mut given = GIVEN.lock();
    let bytes = wanted.bytes.next_multiple_of(64);
    let again = given.iter_mut().find(|one| one.returned && one.wanted.bytes >= bytes && one.is_left(commons));
    if let Some(one) = again {
        let part = Shared::of(commons, one.offset, one.wanted.bytes)?;
        (0..wanted.zeros).step_by(8).for_each(|offset| part.word(offset).store(0, Ordering::Relaxed));
        (one.wanted, one.returned) = (Wanted { bytes: one.wanted.bytes, ..wanted }, false);
        return Some(one.offset);
    }
    let offset = given.last().map_or(0, |last| last.offset + last.wanted.bytes);
    if offset.checked_add(bytes)?.checked_add(wanted.spare)? > commons.bytes {
        return None;
    }
    given.push(Given { offset, wanted: Wanted { bytes, ..wanted }, returned: false });
    Some(offset)
}

/// This process needs the part at this offset no more, and has counted itself out.
pub fn give_back(offset: usize) {
    if let Some(one) = GIVEN.lock().iter_mut().find(|one| one.offset == offset) {
        one.returned = true;
    }
}

impl Given {
    /// Whether all users have counted themselves out.
    fn is_left(&self, commons: Segment) -> bool {
        // Acquire pairs with the Release of each departure: nobody reads anything of the former use any more.
        let departed = |part: Shared| part.word(self.wanted.departed).load(Ordering::Acquire);
        Shared::of(commons, self.offset, self.wanted.bytes).is_some_and(|part| departed(part) == self.wanted.users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Memory([u64; 64]);

    #[test]
    fn parts_are_given_again_when_all_have_left() {
        let mut memory = Memory([0; 64]);
        let commons = Segment { base: memory.0.as_mut_ptr().cast(), bytes: 512 };
        let wanted = Wanted { bytes: 130, spare: 0, zeros: 72, departed: 64, users: 2 };
        assert_eq!(take(commons, Wanted { spare: 383, ..wanted }), None);
        let first = take(commons, Wanted { spare: 320, ..wanted }).unwrap();
        let second = take(commons, wanted).unwrap();
        assert_eq!((first, second), (0, 192));
        assert_eq!(take(commons, wanted), None);
        let part = Shared::of(commons, second, 130).unwrap();
        part.word(64).store(1, Ordering::Relaxed);
        give_back(second);
        // One of two still looks at it.
        assert_eq!(take(commons, wanted), None);
        part.word(64).store(2, Ordering::Relaxed);
        part.word(72).store(7, Ordering::Relaxed);
        assert_eq!(take(commons, Wanted { bytes: 192, ..wanted }), Some(second));
        assert_eq!((part.word(64).load(Ordering::Relaxed), part.word(72).load(Ordering::Relaxed)), (0, 7));
        assert!(Shared::of(commons, 448, 128).is_none() && Shared::of(commons, 8, 64).is_none());
    }
}
