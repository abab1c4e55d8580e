//! Memory that the processes of a node share, for components of this layer: parts of a process's *shared pool*
//! (`btl::Module::shared_pool`), which that process gives away.
//!
//! **Invariant:** two users never get overlapping parts, and a part is given away again only when its last user counted
//! itself out.
#![allow(unsafe_code)]

use crate::framework::bml::{self, Path};
use crate::process;
use alloc::vec::Vec;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicU64, ConditionalLock, Ordering};

/// Another process that shares memory with this one.
#[derive(Clone, Copy)]
pub struct Neighbor {
    /// The way to it.
    pub path: Path,
    /// Says whether it sleeps.
    pub fifo_pair: &'static FifoPair,
}

impl Neighbor {
    /// The process of this index; `None` if it shares no memory with this one.
    pub fn of(index: u32) -> Option<Neighbor> {
        let path = bml::selected()?.paths(index).first().copied().filter(|_| process::get(index).same_node)?;
        let fifo_pair = path.module.fifo_pair(path.endpoint)?;
        path.module.shared_pool(Some(path.endpoint))?;
        Some(Neighbor { path, fifo_pair })
    }

    /// Wakes it if it sleeps; after something was stored that it waits for.
    #[inline(always)]
    pub fn notify(&self) {
        if self.fifo_pair.peer_sleeps() {
            self.path.module.wake(self.path.endpoint);
        }
    }

    /// Its shared pool.
    pub fn shared_pool(&self) -> Option<Segment> {
        self.path.module.shared_pool(Some(self.path.endpoint))
    }

    /// This process's shared pool, as this neighbor has them mapped.
    pub fn own_shared_pool(&self) -> Option<Segment> {
        self.path.module.shared_pool(None)
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
    /// If the part has no such place: offsets come from the layout that its user computes, never from a peer.
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
    pub detach_count: usize,
    /// How many users.
    pub users: u64,
}

struct Given {
    offset: usize,
    wanted: Wanted,
    /// This process does not need it any more; the others count themselves out.
    returned: bool,
}

static GIVEN: ConditionalLock<Vec<Given>> = ConditionalLock::new(Vec::new());

/// Gives a part of `shared_pool`, this process's own, away: its offset, a multiple of 64; `None` if there is no room.
pub fn take(shared_pool: Segment, wanted: Wanted) -> Option<usize> {
    let mut given = GIVEN.lock();
    let bytes = wanted.bytes.next_multiple_of(64);
    let again = given.iter_mut().find(|one| one.returned && one.wanted.bytes >= bytes && one.is_left(shared_pool));
    if let Some(one) = again {
        let part = Shared::of(shared_pool, one.offset, one.wanted.bytes)?;
        (0..wanted.zeros).step_by(8).for_each(|offset| part.word(offset).store(0, Ordering::Relaxed));
        (one.wanted, one.returned) = (Wanted { bytes: one.wanted.bytes, ..wanted }, false);
        return Some(one.offset);
    }
    let offset = given.last().map_or(0, |last| last.offset + last.wanted.bytes);
    if offset.checked_add(bytes)?.checked_add(wanted.spare)? > shared_pool.bytes {
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
    fn is_left(&self, shared_pool: Segment) -> bool {
        // Acquire pairs with the Release of each departure: nobody reads anything of the former use any more.
        let detach_count = |part: Shared| part.word(self.wanted.detach_count).load(Ordering::Acquire);
        Shared::of(shared_pool, self.offset, self.wanted.bytes)
            .is_some_and(|part| detach_count(part) == self.wanted.users)
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
        let shared_pool = Segment { base: memory.0.as_mut_ptr().cast(), bytes: 512 };
        let wanted = Wanted { bytes: 130, spare: 0, zeros: 72, detach_count: 64, users: 2 };
        assert_eq!(take(shared_pool, Wanted { spare: 383, ..wanted }), None);
        let first = take(shared_pool, Wanted { spare: 320, ..wanted }).unwrap();
        let second = take(shared_pool, wanted).unwrap();
        assert_eq!((first, second), (0, 192));
        assert_eq!(take(shared_pool, wanted), None);
        let part = Shared::of(shared_pool, second, 130).unwrap();
        part.word(64).store(1, Ordering::Relaxed);
        give_back(second);
        // One of two still looks at it.
        assert_eq!(take(shared_pool, wanted), None);
        part.word(64).store(2, Ordering::Relaxed);
        part.word(72).store(7, Ordering::Relaxed);
        assert_eq!(take(shared_pool, Wanted { bytes: 192, ..wanted }), Some(second));
        assert_eq!((part.word(64).load(Ordering::Relaxed), part.word(72).load(Ordering::Relaxed)), (0, 7));
        assert!(Shared::of(shared_pool, 448, 128).is_none() && Shared::of(shared_pool, 8, 64).is_none());
    }
}
