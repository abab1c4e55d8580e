//! Memory that processes of a node have mapped together, each at an address of its own, outside of their heaps: that of a window whose
//! parts lie one behind the other. As with the heap, the address that a process says of a buffer is enough for the others to find it.

use crate::sync::{AtomicUsize, ConditionalLock, Ordering};
use crate::sys::{Mapping, Place};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Memory that is known here as long as this lives.
#[derive(Debug)]
pub struct Joint(Arc<Region>);

#[derive(Debug)]
pub(super) struct Region {
    at: *mut u8,
    bytes: usize,
    _memory: Arc<Mapping>,
    // Where the heap of another process is, and where that process has this memory.
    others: Box<[(Place, u64)]>,
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

static REGIONS: ConditionalLock<Vec<Arc<Region>>> = ConditionalLock::new(Vec::new());
// How many, for those that look without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Joint {
    /// `bytes` bytes of a mapping from `offset` on; the others have them at these addresses.
    ///
    /// # Panics
    /// If they are not all in it.
    pub fn new(memory: Arc<Mapping>, offset: usize, bytes: usize, others: Box<[(Place, u64)]>) -> Joint {
        let region = Arc::new(Region { at: memory.place(offset, bytes), bytes, _memory: memory, others });
        let mut regions = REGIONS.lock();
        regions.push(region.clone());
        COUNT.store(regions.len(), Ordering::Relaxed);
        Joint(region)
    }
}

impl Drop for Joint {
    fn drop(&mut self) {
        let mut regions = REGIONS.lock();
        regions.retain(|region| !Arc::ptr_eq(region, &self.0));
        COUNT.store(regions.len(), Ordering::Relaxed);
    }
}

/// Whether all of these bytes of this process's are in such memory.
pub(super) fn holds(at: *const u8, bytes: usize) -> bool {
    let found = |region: &Arc<Region>| region.offset(region.at.addr() as u64, at.addr() as u64, bytes).is_some();
    any() && REGIONS.lock().iter().any(found)
}

/// Where bytes that another process has at `remote` are here, with what keeps them mapped.
pub(super) fn find(place: &Place, remote: u64, bytes: usize) -> Option<(*mut u8, Arc<Region>)> {
    if !any() {
        return None;
    }
    let found = |region: &Arc<Region>| {
        let (_, base) = region.others.iter().find(|(other, _)| other == place)?;
        Some((region.at.wrapping_add(region.offset(*base, remote, bytes)?), region.clone()))
    };
    REGIONS.lock().iter().find_map(found)
}

fn any() -> bool {
    // Relaxed: whoever has an address of a region got it after the region was there.
    COUNT.load(Ordering::Relaxed) > 0
}

impl Region {
    fn offset(&self, base: u64, at: u64, bytes: usize) -> Option<usize> {
        let offset = at.wrapping_sub(base);
        let whole = self.bytes as u64;
        (offset < whole && bytes as u64 <= whole - offset).then_some(offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_says_is_found_as_long_as_it_is_known() {
        crate::sync::raise_threads();
        let memory = Arc::new(Mapping::of_this_process(3 << 12).unwrap());
        let base = memory.place(1 << 12, 2 << 12);
        let [other, stranger] = [77, 78].map(|process| Place::of_words([process, 1, 2]).unwrap());
        let joint = Joint::new(memory, 1 << 12, 2 << 12, Box::new([(other, 1 << 40)]));
        assert!(holds(base, 2 << 12) && holds(base.wrapping_add(8191), 1));
        assert!(!holds(base, 8193) && !holds(base.wrapping_sub(1), 1) && !holds(base.wrapping_add(8192), 1));
        let at = |place, remote, bytes| find(place, remote, bytes).map(|(at, _)| at);
        assert_eq!(at(&other, (1 << 40) + 5000, 3192), Some(base.wrapping_add(5000)));
        for (place, remote, bytes) in [
            (&stranger, 1 << 40, 1),
            (&other, (1 << 40) + 5000, 3193),
            (&other, (1 << 40) - 1, 1),
            (&other, u64::MAX, 1),
        ] {
            assert_eq!(at(place, remote, bytes), None, "{remote:#x}, {bytes} bytes");
        }
        drop(joint);
        assert!(!holds(base, 1) && at(&other, 1 << 40, 1).is_none());
    }
}
