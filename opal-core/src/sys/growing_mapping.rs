//! The beginning of a long file in memory, mapped as far as it is needed.

use super::PlacedFile;
use crate::sync::{AtomicUsize, Ordering};
use crate::{Error, Result};
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// A range of addresses of which the beginning shows a file. What is mapped stays where it is while the range lives.
#[derive(Debug)]
pub struct GrowingMapping {
    // What the system gave, and its length.
    reserved: (*mut u8, usize),
    base: *mut u8,
    bytes: usize,
    // From the base on. Grows.
    mapped: AtomicUsize,
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation.
unsafe impl Send for GrowingMapping {}
// SAFETY: as above; `extend` says who calls it.
unsafe impl Sync for GrowingMapping {}

impl GrowingMapping {
    /// A range of `bytes` addresses with nothing there, which begins on a multiple of [`STEP`]. It takes no memory.
    pub fn reserve(bytes: usize) -> Result<GrowingMapping> {
        let whole = bytes.checked_add(STEP).ok_or(Error::OutOfResource)?;
        let (none, flags) = (core::ptr::null_mut(), MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice, which nobody can touch.
        let at = unsafe { rustix::mm::mmap_anonymous(none, whole, ProtFlags::empty(), flags) };
        let at: *mut u8 = at.map_err(|_| Error::OutOfResource)?.cast();
        let base = at.wrapping_add(at.addr().next_multiple_of(STEP) - at.addr());
        Ok(GrowingMapping { reserved: (at, whole), base, bytes, mapped: AtomicUsize::new(0) })
    }

    /// The first address.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Length of the range.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How much of it shows the file.
    #[inline(always)]
    pub fn mapped(&self) -> usize {
        // Acquire pairs with the Release in `extend`.
        self.mapped.load(Ordering::Acquire)
    }

    /// Maps at least the first `bytes` bytes of the file, which is as long as the range. One caller at a time. `Err(Invalid)` beyond the
    /// range. `shown`: they belong into a core dump of this process.
    pub fn extend(&self, file: &PlacedFile, bytes: usize, shown: bool) -> Result<()> {
        let from = self.mapped();
        if bytes <= from {
            return Ok(());
        }
        if bytes > self.bytes {
            return Err(Error::Invalid);
        }
        // Twice as much each time: few mappings, however the range grows.
        let to = bytes.max(from * 2).next_multiple_of(STEP).min(self.bytes);
        let at = self.base.wrapping_add(from);
        // SAFETY: the range is this mapping's, and nobody uses it from `mapped` on.
        unsafe { file.map_over(at, from as u64, to - from)? };
        if !shown {
            // SAFETY: changes nothing but what a core dump holds. A system that refuses it writes longer ones.
            let _ = unsafe { rustix::mm::madvise(at.cast(), to - from, Advice::LinuxDontDump) };
        }
        self.mapped.store(to, Ordering::Release);
        Ok(())
    }

    /// Gives pages of the file back to the system, which are zeros afterwards in all processes: whole pages within the range only. `false`
    /// if the system refuses: it keeps the memory, with what is in it.
    ///
    /// # Safety
    /// Nobody uses what is there any more, and it is mapped.
    pub unsafe fn give_back(&self, offset: usize, bytes: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.advise_pages(offset, bytes, Advice::LinuxRemove) }
    }

    /// A file of the same length that holds what is mapped of this one. What nobody has written is not read, and takes no memory there either.
    /// What other threads write meanwhile is copied or not. `Err(OutOfResource)` if the system has no memory or no descriptor for it.
    pub fn copied(&self, file: &PlacedFile) -> Result<PlacedFile> {
        let copy = PlacedFile::create(self.bytes)?;
        let mut from = 0;
        while let Some((begin, end)) = file.data_from(from)?.filter(|(begin, _)| *begin < self.mapped() as u64) {
            let (offset, to) = (begin as usize, (end as usize).min(self.mapped()));
            // SAFETY: mapped so far.
            unsafe { copy.write(begin, self.base.wrapping_add(offset), to - offset)? };
            from = end;
        }
        Ok(copy)
    }

    /// Shows another file of the same length, as far as this one was mapped.
    ///
    /// # Safety
    /// It holds the same bytes, or nobody uses what was there.
    pub unsafe fn show(&self, file: &PlacedFile) -> Result<()> {
        // SAFETY: the range is this mapping's; the rest is the caller's promise.
        unsafe { file.map_over(self.base, 0, self.mapped()) }
    }

    /// Shows nothing any more, in a child of fork: the addresses are nobody else's, though.
    ///
    /// # Safety
    /// Nobody uses what was there.
    pub unsafe fn hide(&self) -> Result<()> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: the range is this mapping's; the rest is the caller's promise.
        let hidden = unsafe { rustix::mm::mmap_anonymous(self.base.cast(), self.mapped(), ProtFlags::empty(), flags) };
        hidden.map(drop).map_err(|_| Error::OutOfResource)
    }

    /// Whether children of fork have what is mapped now at these addresses, too; they do until something else is said.
    pub fn set_inherited(&self, inherited: bool) -> bool {
        let advice = if inherited { Advice::LinuxDoFork } else { Advice::LinuxDontFork };
        // SAFETY: changes nothing in this process.
        unsafe { self.advise_pages(0, self.mapped(), advice) }
    }

    /// # Safety
    /// What the advice asks for.
    unsafe fn advise_pages(&self, offset: usize, bytes: usize, advice: Advice) -> bool {
        let (from, to) = (offset.next_multiple_of(PAGE), (offset + bytes) / PAGE * PAGE);
        if from >= to || to > self.mapped() {
            return from >= to;
        }
        // SAFETY: within the mapping; the rest is the caller's promise.
        unsafe { rustix::mm::madvise(self.base.wrapping_add(from).cast(), to - from, advice).is_ok() }
    }
}

impl Drop for GrowingMapping {
    fn drop(&mut self) {
        let (at, bytes) = self.reserved;
        // SAFETY: the system gave it, and nobody has an address in it any more: its user has ended.
        let unmapped = unsafe { rustix::mm::munmap(at.cast(), bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// A range begins on a multiple of this, and grows by it.
pub const STEP: usize = 2 << 20;
const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ranges_show_one_file_as_far_as_they_are_extended() {
        const WHOLE: usize = 64 << 20;
        let file = PlacedFile::create(WHOLE).unwrap();
        let (one, two) = (GrowingMapping::reserve(WHOLE).unwrap(), GrowingMapping::reserve(WHOLE).unwrap());
        assert_eq!((one.mapped(), one.base().addr() % STEP), (0, 0));
        one.extend(&file, 1, true).unwrap();
        two.extend(&file, 5 * STEP + 1, false).unwrap();
        assert_eq!((one.mapped(), two.mapped()), (STEP, 6 * STEP));
        one.extend(&file, STEP + 1, true).unwrap();
        one.extend(&file, 2 * STEP + 1, true).unwrap();
        assert_eq!(one.mapped(), 4 * STEP);
        let last = 3 * STEP + 77;
        // SAFETY: mapped, and nobody else's.
        unsafe { one.base().wrapping_add(last).write_volatile(9) };
        // SAFETY: as above.
        assert_eq!(unsafe { two.base().wrapping_add(last).read_volatile() }, 9);
        // SAFETY: a page that holds nothing else.
        assert!(unsafe { one.give_back(3 * STEP, PAGE) });
        // SAFETY: as above.
        assert_eq!(unsafe { two.base().wrapping_add(last).read_volatile() }, 0, "gone in all mappings");
        assert_eq!(one.extend(&file, WHOLE + 1, true), Err(Error::Invalid));
        one.extend(&file, WHOLE, true).unwrap();
        assert_eq!(one.mapped(), WHOLE);
        assert!(GrowingMapping::reserve(usize::MAX).is_err());
    }

    #[test]
    fn a_copy_holds_what_was_written_and_takes_no_more() {
        const WHOLE: usize = 64 << 20;
        let file = PlacedFile::create(WHOLE).unwrap();
        let (range, other) = (GrowingMapping::reserve(WHOLE).unwrap(), GrowingMapping::reserve(WHOLE).unwrap());
        range.extend(&file, 16 << 20, true).unwrap();
        other.extend(&file, 16 << 20, true).unwrap();
        let places = [0, 4095, 5 << 20, (16 << 20) - 1];
        let at = |range: &GrowingMapping, place| range.base().wrapping_add(place);
        for (number, place) in places.into_iter().enumerate() {
            // SAFETY: mapped, and nobody else's; so below.
            unsafe { at(&range, place).write_volatile(number as u8 + 1) };
        }
        let written = |file: &PlacedFile| {
            let (mut sum, mut from) = (0, 0);
            while let Some((begin, end)) = file.data_from(from).unwrap() {
                (sum, from) = (sum + end - begin, end);
            }
            sum
        };
        let before = written(&file);
        let copy = range.copied(&file).unwrap();
        assert_eq!((written(&file), written(&copy)), (before, before), "holes stay holes");
        // SAFETY: the same bytes.
        unsafe { range.show(&copy).unwrap() };
        for (number, place) in places.into_iter().enumerate() {
            // SAFETY: as above.
            assert_eq!(unsafe { at(&range, place).read_volatile() }, number as u8 + 1);
            // SAFETY: as above.
            unsafe { at(&range, place).write_volatile(99) };
            // SAFETY: as above.
            assert_eq!(unsafe { at(&other, place).read_volatile() }, number as u8 + 1, "the file does not change");
        }
        // SAFETY: as above.
        assert_eq!(unsafe { at(&range, 9 << 20).read_volatile() }, 0);
    }
}
