//! From the assembly to the program: what the loader says, memory for each rank, the other cores, a rank's own start.
#![allow(unsafe_code)]

use crate::memory::{CORES_MAX, Range, TRAMPOLINE};
use crate::paging::{self, Image, Space};
use crate::{apic, console, eprintln, heap, hooks, interrupts, ivshmem, line, program, rank, tsc};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Xen's `hvm_start_info`, version 1.
#[repr(C)]
struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    modules: u32,
    module_list: u64,
    boot_line: u64,
    rsdp: u64,
    memory_map: u64,
    memory_entries: u32,
    reserved: u32,
}

/// Xen's `hvm_memmap_table_entry`.
#[repr(C)]
struct MemoryEntry {
    address: u64,
    bytes: u64,
    kind: u32,
    reserved: u32,
}

/// The first core, still on the shared tables: nothing here may change the image's data before every rank has its copy.
/// What is written lies in `.shared`.
#[unsafe(no_mangle)]
extern "C" fn ompi_start(start_info: u32) -> ! {
    console::open();
    // SAFETY: the loader's address, below 4 GiB and so in the boot tables.
    let info = unsafe { &*(start_info as usize as *const StartInfo) };
    if info.magic != MAGIC {
        give_up(format_args!("the loader left no PVH start info; boot this image with a loader that knows PVH"));
    }
    keep_boot_line(info.boot_line);
    let text = boot_line();
    let count = line::number(text, "smp").unwrap_or(1);
    if count == 0 || count > CORES_MAX as u64 {
        give_up(format_args!("the boot line says smp={count}; 1 to {CORES_MAX} are possible"));
    }
    let khz = line::number(text, "tsc_khz").filter(|khz| *khz > 0).unwrap_or_else(|| {
        give_up(format_args!("the boot line does not say how fast the time-stamp counter runs; say tsc_khz=…"))
    });
    let image = image();
    let memory = memory_behind(info, image.shared.end);
    let mut spaces = [Space { root: 0, heap_bytes: 0 }; CORES_MAX];
    for index in 0..count {
        // SAFETY: the boot tables have the window; chunks are apart from each other and from the image.
        let built = memory.chunk(index, count).map(|chunk| unsafe { paging::build(&image, chunk, index > 0) });
        let Some(Ok(space)) = built else {
            give_up(format_args!(
                "{} MiB of memory are too little for {count} ranks; 20 MiB for each are the least",
                memory.bytes() >> 20
            ));
        };
        spaces[index as usize] = space;
    }
    // From here on the first rank's own data may change: the others have their copies.
    tsc::begin(khz);
    rank::set_cores(count as u32);
    ivshmem::find();
    for core in 1..count as u32 {
        start_core(core, &spaces[core as usize]);
    }
    hand_over(0, &spaces[0]);
    // SAFETY: the hand-over names a complete space.
    unsafe { ompi_become_rank() }
}

/// A rank, in its own page tables and on its own stack.
#[unsafe(no_mangle)]
extern "C" fn ompi_rank(core: u32, heap_bytes: u64) -> ! {
    // Release pairs with the Acquire in `start_core`: the hand-over can be used again.
    ARRIVED.store(core, Ordering::Release);
    rank::set_core(core);
    interrupts::open();
    heap::open(heap_bytes);
    // `ompi_start` made sure that it is said.
    tsc::begin(line::number(boot_line(), "tsc_khz").unwrap_or(1));
    apic::open();
    match line::Line::parse(boot_line(), core) {
        Ok(line) => {
            hooks::keep(line);
            rank::exit(program::run())
        }
        Err(sentence) => {
            eprintln!("[rank {core}] boot line: {sentence}");
            rank::exit(USAGE)
        }
    }
}

/// The boot line as it was given.
pub fn boot_line() -> &'static str {
    let length = LINE_LENGTH.load(Ordering::Relaxed);
    // SAFETY: written once by the first core, before any rank begins.
    let bytes = unsafe { core::slice::from_raw_parts(LINE.0.get().cast::<u8>(), length) };
    core::str::from_utf8(bytes).unwrap_or("")
}

fn keep_boot_line(address: u64) {
    let from = address as *const u8;
    let mut length = 0;
    loop {
        // SAFETY: the loader's string, which ends with a 0; nothing is read behind it.
        let byte = if from.is_null() { 0 } else { unsafe { from.wrapping_add(length).read() } };
        if byte == 0 {
            break;
        }
        if length == LINE_BYTES {
            give_up(format_args!("the boot line is longer than {LINE_BYTES} bytes"));
        }
        let to = LINE.0.get().cast::<u8>().wrapping_add(length);
        // SAFETY: within the room; one core runs.
        unsafe { to.write(byte) };
        length += 1;
    }
    LINE_LENGTH.store(length, Ordering::Relaxed);
    if length > 0 && boot_line().is_empty() {
        give_up(format_args!("the boot line is not UTF-8"));
    }
}

/// The memory that begins within or below the image's end, from there on.
fn memory_behind(info: &StartInfo, image_end: u64) -> Range {
    if info.version < 1 || info.memory_map == 0 {
        give_up(format_args!("the loader does not say where memory is (PVH start info version {})", info.version));
    }
    for index in 0..info.memory_entries as usize {
        // SAFETY: the loader's table has so many entries.
        let entry = unsafe { (info.memory_map as *const MemoryEntry).wrapping_add(index).read() };
        let end = entry.address.saturating_add(entry.bytes).min(4 << 30);
        if entry.kind == RAM && entry.address <= image_end && image_end < end {
            return Range { start: image_end, end };
        }
    }
    give_up(format_args!("the loader's memory map has no memory where the image is"))
}

fn image() -> Image {
    let at = |symbol: *const u8| symbol as u64;
    Image {
        text: Range { start: at(&raw const __text_start), end: at(&raw const __text_end) },
        constants: Range { start: at(&raw const __text_end), end: at(&raw const __data_start) },
        data: Range { start: at(&raw const __data_start), end: at(&raw const __data_end) },
        shared: Range { start: at(&raw const __data_end), end: at(&raw const __image_end) },
    }
}

fn start_core(core: u32, space: &Space) {
    hand_over(core, space);
    let from = &raw const ompi_trampoline;
    let bytes = (&raw const ompi_trampoline_end) as usize - from as usize;
    // SAFETY: a page below 1 MiB that nobody uses, mapped in the boot tables; the code is in the image.
    unsafe { (TRAMPOLINE as *mut u8).copy_from_nonoverlapping(from, bytes) };
    apic::start_core(core, TRAMPOLINE);
    let mut patience = PATIENCE;
    // Acquire pairs with the Release in `ompi_rank`.
    while ARRIVED.load(Ordering::Acquire) != core {
        patience -= 1;
        if patience == 0 {
            give_up(format_args!("core {core} does not start; the machine may have fewer cores than smp= says"));
        }
        core::hint::spin_loop();
    }
}

fn hand_over(core: u32, space: &Space) {
    let words = [space.root, crate::memory::STACK_END, u64::from(core), space.heap_bytes];
    for (index, value) in words.into_iter().enumerate() {
        let word = (&raw const ompi_handoff).wrapping_add(index);
        // SAFETY: one of four words in `.shared`, read by the core that comes next.
        let word: &AtomicU64 = unsafe { &*word };
        // Read by assembly on a core that is woken afterwards.
        word.store(value, Ordering::Release);
    }
}

fn give_up(why: core::fmt::Arguments<'_>) -> ! {
    eprintln!("[boot] {why}");
    rank::exit(USAGE)
}

unsafe extern "C" {
    static __text_start: u8;
    static __text_end: u8;
    static __data_start: u8;
    static __data_end: u8;
    static __image_end: u8;
    static ompi_handoff: AtomicU64;
    static ompi_trampoline: u8;
    static ompi_trampoline_end: u8;
    fn ompi_become_rank() -> !;
}

struct Room(UnsafeCell<[u8; LINE_BYTES]>);
// SAFETY: written by one core before others run.
unsafe impl Sync for Room {}
#[unsafe(link_section = ".shared")]
static LINE: Room = Room(UnsafeCell::new([0; LINE_BYTES]));
#[unsafe(link_section = ".shared")]
static LINE_LENGTH: AtomicUsize = AtomicUsize::new(0);
#[unsafe(link_section = ".shared")]
static ARRIVED: AtomicU32 = AtomicU32::new(0);

const LINE_BYTES: usize = 4096;
const MAGIC: u32 = 0x336e_c578;
const RAM: u32 = 1;
const USAGE: i32 = 2;
const PATIENCE: u64 = 2_000_000_000;
