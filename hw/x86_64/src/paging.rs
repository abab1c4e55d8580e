//! A rank's page tables.
#![allow(unsafe_code)]

use crate::memory::{Frames, HEAP, LARGE_PAGE, PAGE, Range, STACK_BYTES, STACK_END, WINDOW};
use core::arch::x86_64::__cpuid;
use heapless::Vec;
use x86_64::registers::control::Cr3;
use x86_64::structures::paging::mapper::MapToError;
use x86_64::structures::paging::{
    FrameAllocator, Mapper, OffsetPageTable, Page, PageSize, PageTable, PageTableFlags as Flags, PhysFrame, Size1GiB,
    Size2MiB, Size4KiB, Translate,
};
use x86_64::{PhysAddr, VirtAddr};

/// Where the parts of the image lie; physical and virtual addresses are the same.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Code.
    pub text: Range,
    /// Constants.
    pub constants: Range,
    /// What each rank has for itself.
    pub data: Range,
    /// What cores share.
    pub shared: Range,
}

impl Image {
    /// Of all its parts, which lie one behind the other.
    pub fn bytes(&self) -> u64 {
        self.shared.end - self.text.start
    }
}

/// What a core needs to become a rank.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Physical address of its page tables.
    pub root: u64,
    /// Bytes of its heap, at [`HEAP`].
    pub heap_bytes: u64,
}

/// There is not enough memory for page tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall;

/// Makes the page tables of a rank from its chunk. `copies`: it gets copies of the image's data as they are now; the
/// first rank keeps the originals.
///
/// # Safety
/// The window is mapped, and nobody else uses the chunk.
pub unsafe fn build(image: &Image, chunk: Range, copies: bool) -> Result<Space, TooSmall> {
    let mut frames = Fresh(Frames::new(chunk));
    let root = frames.0.take().ok_or(TooSmall)?;
    let table = in_window(root).cast::<PageTable>();
    // SAFETY: a page of the chunk, which is the caller's, seen through the window.
    unsafe { table.write(PageTable::new()) };
    // SAFETY: written above, aligned as a page.
    let table = unsafe { &mut *table };
    // SAFETY: every table below it comes from the same chunk, and the window is mapped.
    let mut tables = unsafe { OffsetPageTable::new(table, VirtAddr::new(WINDOW)) };
    let (read, write) = (Flags::PRESENT | Flags::NO_EXECUTE, Flags::PRESENT | Flags::WRITABLE | Flags::NO_EXECUTE);
    map::<Size4KiB>(&mut tables, &mut frames, image.text.start, image.text, Flags::PRESENT)?;
    map::<Size4KiB>(&mut tables, &mut frames, image.constants.start, image.constants, read)?;
    map::<Size4KiB>(&mut tables, &mut frames, image.shared.start, image.shared, write)?;
    match copies {
        false => map::<Size4KiB>(&mut tables, &mut frames, image.data.start, image.data, write)?,
        true => {
            for page in (image.data.start..image.data.end).step_by(PAGE as usize) {
                let frame = frames.0.take().ok_or(TooSmall)?;
                // SAFETY: a page of the image and one of the chunk, both seen through the window.
                unsafe { in_window(frame).copy_from_nonoverlapping(in_window(page), PAGE as usize) };
                map::<Size4KiB>(&mut tables, &mut frames, page, Range { start: frame, end: frame + PAGE }, write)?;
            }
        }
    }
    window(&mut tables, &mut frames, write)?;
    // Room for the tables that the stack and the heap need.
    let spare = core::iter::from_fn(|| frames.0.take()).take(SPARE).collect();
    let rest = frames.0.rest();
    let mut frames = Spare(spare);
    let stack = Range { start: rest.start, end: rest.start + STACK_BYTES };
    let heap = Range { start: stack.end, end: rest.end };
    if heap.end <= heap.start {
        return Err(TooSmall);
    }
    map::<Size2MiB>(&mut tables, &mut frames, STACK_END - STACK_BYTES, stack, write)?;
    map::<Size2MiB>(&mut tables, &mut frames, HEAP, heap, write)?;
    Ok(Space { root, heap_bytes: heap.bytes() })
}

/// A physical address as this code sees it.
pub fn in_window(physical: u64) -> *mut u8 {
    (WINDOW + physical) as *mut u8
}

/// The physical address of a byte that this rank's tables map; `None` if they do not.
pub fn physical(address: *const u8) -> Option<u64> {
    let root = in_window(Cr3::read().0.start_address().as_u64()).cast::<PageTable>();
    // SAFETY: the tables in force, seen through the window; nobody changes them while a rank runs.
    let root = unsafe { &mut *root };
    // SAFETY: every table below it lies in the window.
    let tables = unsafe { OffsetPageTable::new(root, VirtAddr::new(WINDOW)) };
    tables.translate_addr(VirtAddr::try_new(address.addr() as u64).ok()?).map(PhysAddr::as_u64)
}

/// How much of physical memory the window shows.
pub fn window_bytes() -> u64 {
    if has_huge_pages() { 512 << 30 } else { 4 << 30 }
}

fn window(tables: &mut OffsetPageTable<'_>, frames: &mut Fresh, flags: Flags) -> Result<(), TooSmall> {
    let all = Range { start: 0, end: window_bytes() };
    match has_huge_pages() {
        true => map::<Size1GiB>(tables, frames, WINDOW, all, flags),
        false => map::<Size2MiB>(tables, frames, WINDOW, all, flags),
    }
}

/// CPUID 8000_0001h, EDX bit 26.
fn has_huge_pages() -> bool {
    __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).edx & 1 << 26 != 0
}

fn map<S: PageSize + core::fmt::Debug>(
    tables: &mut OffsetPageTable<'_>,
    frames: &mut impl FrameAllocator<Size4KiB>,
    virt: u64,
    physical: Range,
    flags: Flags,
) -> Result<(), TooSmall>
where
    for<'a> OffsetPageTable<'a>: Mapper<S>,
{
    debug_assert!(S::SIZE <= LARGE_PAGE || virt.is_multiple_of(S::SIZE));
    for offset in (0..physical.bytes()).step_by(S::SIZE as usize) {
        let page = Page::<S>::containing_address(VirtAddr::new(virt + offset));
        let frame = PhysFrame::<S>::containing_address(PhysAddr::new(physical.start + offset));
        // SAFETY: these tables are not in force yet; no two ranges of `build` overlap.
        match unsafe { tables.map_to(page, frame, flags, frames) } {
            Ok(flush) => flush.ignore(),
            Err(MapToError::FrameAllocationFailed) => return Err(TooSmall),
            Err(MapToError::ParentEntryHugePage | MapToError::PageAlreadyMapped(_)) => {
                unreachable!("two parts of a rank's memory overlap at {virt:#x}")
            }
        }
    }
    Ok(())
}

/// Frames for tables; the code that maps one zeroes it.
struct Fresh(Frames);

// SAFETY: each page is given out once.
unsafe impl FrameAllocator<Size4KiB> for Fresh {
    fn allocate_frame(&mut self) -> Option<PhysFrame> {
        Some(PhysFrame::containing_address(PhysAddr::new(self.0.take()?)))
    }
}

/// The last few of them.
struct Spare(Vec<u64, SPARE>);

// SAFETY: as above.
unsafe impl FrameAllocator<Size4KiB> for Spare {
    fn allocate_frame(&mut self) -> Option<PhysFrame> {
        Some(PhysFrame::containing_address(PhysAddr::new(self.0.pop()?)))
    }
}

/// A table of the third level for the stack and one for each GiB of the heap, of the second for both.
const SPARE: usize = 8;
