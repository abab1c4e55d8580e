//! Which memory is known to end by a call that is seen: what the program itself has mapped, files apart. A table of fixed length, since nothing here may
//! allocate; what has no room in it is not known, which costs its users time and nothing else.
//!
//! No lock: a signal handler may unmap memory, too. A slot is free, claimed, spoilt or holds a range. Whoever changes a slot claims it first;
//! whoever has to take something out of a claimed slot spoils it, and its owner then frees it.

use opal_core::sync::{AtomicUsize, Ordering};

/// Ranges.
pub struct Mapped<const SLOTS: usize> {
    slots: [Slot; SLOTS],
    /// Slots from here on were never used.
    used: AtomicUsize,
}

struct Slot {
    // FREE, CLAIMED, SPOILT, or the first address.
    start: AtomicUsize,
    end: AtomicUsize,
}

impl<const SLOTS: usize> Mapped<SLOTS> {
    /// None.
    pub const fn new() -> Mapped<SLOTS> {
        let slots = [const { Slot { start: AtomicUsize::new(FREE), end: AtomicUsize::new(0) } }; SLOTS];
        Mapped { slots, used: AtomicUsize::new(0) }
    }

    /// The program has mapped this.
    pub fn add(&self, start: usize, end: usize) {
        if end.saturating_sub(start) < BYTES_MIN {
            return;
        }
        for (at, slot) in self.slots.iter().enumerate() {
            // Acquire pairs with the Release of whoever freed it: its end is not read any more.
            if slot.start.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // Before the range is there: who takes it out again looks so far.
                self.used.fetch_max(at + 1, Ordering::AcqRel);
                return slot.fill(start, end);
            }
        }
    }

    /// This goes away, or something else comes to its place.
    pub fn take(&self, start: usize, end: usize) {
        // Acquire pairs with the Release in `add`.
        let used = self.used.load(Ordering::Acquire).min(SLOTS);
        for slot in &self.slots[..used] {
            let Some((low, high)) = slot.claim_if(start, end) else { continue };
            // Another range may have come to the slot before it was claimed.
            if low >= end || high <= start {
                slot.fill(low, high);
                continue;
            }
            match (low < start, end < high) {
                (false, false) => slot.free(),
                (true, upper) => {
                    slot.fill(low, start);
                    if upper {
                        self.add(end, high);
                    }
                }
                (false, true) => slot.fill(end, high),
            }
        }
    }

    /// Whether all of this is within ranges. It is there during the call, as the caller knows.
    pub fn has(&self, mut start: usize, end: usize) -> bool {
        let used = self.used.load(Ordering::Acquire).min(SLOTS);
        while start < end {
            let ranges = self.slots[..used].iter().filter_map(Slot::range);
            let Some(known) = ranges.filter(|(low, _)| *low <= start).map(|(_, high)| high).max() else { return false };
            if known <= start {
                return false;
            }
            start = known;
        }
        true
    }
}

impl Slot {
    fn range(&self) -> Option<(usize, usize)> {
        // Acquire pairs with the Release in `fill`.
        let low = self.start.load(Ordering::Acquire);
        let high = self.end.load(Ordering::Acquire);
        // Otherwise the end may belong to another range.
        (low > SPOILT && self.start.load(Ordering::Acquire) == low).then_some((low, high))
    }

    /// Claims a range of which something lies between these; which one.
    fn claim_if(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        loop {
            match self.start.load(Ordering::Acquire) {
                FREE | SPOILT => return None,
                // What its owner is writing may lie between these, too.
                CLAIMED => {
                    let spoilt = self.start.compare_exchange(CLAIMED, SPOILT, Ordering::AcqRel, Ordering::Relaxed);
                    if spoilt.is_ok() {
                        return None;
                    }
                }
                low => {
                    let high = self.end.load(Ordering::Acquire);
                    if low >= end || high <= start {
                        // Unless the end is another range's.
                        match self.start.load(Ordering::Acquire) == low {
                            true => return None,
                            false => continue,
                        }
                    }
                    if self.start.compare_exchange(low, CLAIMED, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                        return Some((low, self.end.load(Ordering::Acquire)));
                    }
                }
            }
        }
    }

    /// Of a claimed one: it holds this range, unless it was spoilt meanwhile.
    fn fill(&self, start: usize, end: usize) {
        self.end.store(end, Ordering::Release);
        // Release pairs with the Acquire in `range`: whoever reads the start reads this end.
        if self.start.compare_exchange(CLAIMED, start, Ordering::Release, Ordering::Relaxed).is_err() {
            self.free();
        }
    }

    fn free(&self) {
        self.start.store(FREE, Ordering::Release);
    }
}

/// The program's.
pub static MAPPED: Mapped<512> = Mapped::new();

// No mapping begins at these.
const FREE: usize = 0;
const CLAIMED: usize = 1;
const SPOILT: usize = 2;
/// Shorter mappings are not worth a slot: messages from them are copied.
const BYTES_MIN: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use opal_core::random::Random;

    const KIB: usize = 1 << 10;

    #[test]
    fn what_was_mapped_is_there_until_it_goes() {
        let mapped = Mapped::<4>::new();
        assert!(!mapped.has(1024 * KIB, 1025 * KIB));
        mapped.add(1024 * KIB, 2048 * KIB);
        assert!(mapped.has(1024 * KIB, 2048 * KIB) && !mapped.has(1023 * KIB, 1030 * KIB));
        mapped.take(1500 * KIB, 1600 * KIB);
        assert!(mapped.has(1024 * KIB, 1500 * KIB) && mapped.has(1600 * KIB, 2048 * KIB));
        assert!(!mapped.has(1499 * KIB, 1501 * KIB) && !mapped.has(1550 * KIB, 1551 * KIB));
        mapped.take(0, usize::MAX);
        assert!(!mapped.has(1024 * KIB, 1025 * KIB));
    }

    /// Against a list of pages; what finds no room may be missing, nothing may be too much.
    #[test]
    fn nothing_is_there_that_is_gone() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let (mapped, mut pages) = (Mapped::<8>::new(), [false; 64]);
            for _ in 0..60 {
                let start = random.below(63) as usize;
                let end = start + 1 + random.below(64 - start as u64) as usize;
                let adds = random.below(2) == 0 && !pages[start..end].contains(&true);
                let [first, last] = [start, end].map(|page| (page + 1) * BYTES_MIN);
                match adds {
                    true => mapped.add(first, last),
                    false => mapped.take(first, last),
                }
                pages[start..end].fill(adds);
                for (page, is_there) in pages.iter().enumerate() {
                    let has = mapped.has((page + 1) * BYTES_MIN, (page + 2) * BYTES_MIN);
                    assert!(*is_there || !has, "page {page}");
                }
            }
        }
    }

    #[test]
    fn what_lies_side_by_side_is_one() {
        let mapped = Mapped::<4>::new();
        mapped.add(1024 * KIB, 2048 * KIB);
        mapped.add(2048 * KIB, 2064 * KIB);
        mapped.add(2080 * KIB, 2096 * KIB);
        assert!(mapped.has(1500 * KIB, 2064 * KIB) && !mapped.has(1500 * KIB, 2065 * KIB));
        mapped.add(2064 * KIB, 2080 * KIB);
        assert!(mapped.has(1024 * KIB, 2096 * KIB));
    }

    #[test]
    fn a_slot_that_another_one_is_changing_is_given_up() {
        let mapped = Mapped::<4>::new();
        mapped.add(1024 * KIB, 2048 * KIB);
        let slot = &mapped.slots[0];
        assert_eq!(slot.claim_if(1024 * KIB, 1100 * KIB), Some((1024 * KIB, 2048 * KIB)));
        mapped.take(1800 * KIB, 1900 * KIB);
        slot.fill(1100 * KIB, 2048 * KIB);
        assert!(!mapped.has(1800 * KIB, 1801 * KIB) && !mapped.has(1100 * KIB, 1101 * KIB));
        mapped.add(4096 * KIB, 8192 * KIB);
        assert!(mapped.has(4096 * KIB, 8192 * KIB), "the slot is free again");
    }
}
