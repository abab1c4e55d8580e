//! From the assembly code to the program: reads what the loader left, divides memory among the ranks, starts the other
//! cores and the rank of each.
#![allow(unsafe_code)]

use crate::boot_line::LINE_BYTES;
use crate::loader::Loader;
use crate::memory::{CORES_MAX, Range, STACK_END, TRAMPOLINE};
use crate::paging::{self, Image, Space};
use crate::rank::HandOver;
use crate::{apic, boot_line, console, eprintln, exit, heap, hooks, interrupts, ivshmem, log, program, rank, tsc};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};
use heapless::{String, Vec};

/// The first core, still on the shared tables: nothing here may change the image's data before every rank has its copy.
/// What is written lies in `.shared`.
#[unsafe(no_mangle)]
extern "C" fn ompi_start(left: u32) -> ! {
    console::open();
    // SAFETY: the loader's address, below 4 GiB and so in the boot tables.
    let loader = unsafe { Loader::new(left) }.unwrap_or_else(|why| give_up(format_args!("{why}")));
    keep_boot_line(&loader);
    let text = boot_line();
    let count = boot_line::number(text, "smp").unwrap_or(1);
    if count == 0 || count > CORES_MAX as u64 {
        give_up(format_args!("the boot line says smp={count}; 1 to {CORES_MAX} are possible"));
    }
    let khz = boot_line::number(text, "tsc_khz").filter(|khz| *khz > 0).unwrap_or_else(|| {
        give_up(format_args!(
            "the boot line does not say in a number how fast the time-stamp counter runs; say tsc_khz=…"
        ))
    });
    let image = image();
    let all = memory_behind(&loader, image.shared.end);
    let own_mib = boot_line::number(text, "shared_mib").filter(|mib| *mib > 0);
    let (memory, own) = match own_mib.map(|mib| (mib, all.split_end(mib << 20))) {
        None => (all, None),
        Some((_, Some((memory, own)))) => (memory, Some(own)),
        Some((mib, None)) => give_up(format_args!("{} MiB of memory cannot hold shared_mib={mib}", all.bytes() >> 20)),
    };
    let mut spaces: Vec<Space, CORES_MAX> = Vec::new();
    for index in 0..count {
        // SAFETY: the boot tables have the window; chunks are apart from each other and from the image.
        let built = memory.chunk(index, count).map(|chunk| unsafe { paging::build(&image, chunk, index > 0) });
        let Some(Ok(space)) = built else {
            give_up(format_args!(
                "{} MiB of memory are too little for {count} ranks; 20 MiB for each are the least",
                memory.bytes() >> 20
            ));
        };
        spaces.push(space).expect("smp= was checked");
    }
    // From here on the first rank's own data may change: the others have their copies.
    tsc::begin(khz);
    rank::set_cores(count as u32);
    log::open(text);
    crate::info!(
        "booted by {}; {} MiB of memory for {} ranks, {} KiB of image",
        loader.name(),
        memory.bytes() >> 20,
        count,
        image.bytes() >> 10
    );
    match own {
        // SAFETY: cut off before chunks were made; the boot tables have the window.
        Some(own) => unsafe { ivshmem::take(own) },
        None => ivshmem::find(),
    }
    match ivshmem::memory() {
        Ok(memory) => {
            let at = memory.base.addr();
            crate::info!("{} KiB of shared memory at {:#x}, own: {}", memory.bytes >> 10, at, memory.own);
        }
        Err(why) => crate::info!("no shared memory: {}", why),
    }
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
    apic::open();
    log::open(boot_line());
    crate::info!("a rank begins, with {} MiB of heap", heap_bytes >> 20);
    match boot_line::BootLine::parse(boot_line(), core) {
        Ok(line) => {
            hooks::keep(line);
            exit::exit(program::run())
        }
        Err(flaw) => {
            eprintln!("[rank {core}] boot line: {flaw}");
            exit::exit(USAGE)
        }
    }
}

/// The boot line as it was given.
pub fn boot_line() -> &'static str {
    // SAFETY: written once by the first core, before it is read and before any rank begins.
    unsafe { &*LINE.0.get() }
}

fn keep_boot_line(loader: &Loader) {
    let Some(bytes) = loader.line(LINE_BYTES) else {
        give_up(format_args!("the boot line is longer than {LINE_BYTES} bytes"));
    };
    let Ok(text) = core::str::from_utf8(bytes) else { give_up(format_args!("the boot line is not UTF-8")) };
    // SAFETY: one core runs, and nobody has looked at it so far.
    let line = unsafe { &mut *LINE.0.get() };
    line.push_str(text).expect("`line` was told how much fits");
}

/// The memory that the image ends in, from there on.
fn memory_behind(loader: &Loader, image_end: u64) -> Range {
    match loader.memory_around(image_end) {
        Some(memory) => Range { start: image_end, end: memory.end },
        None => give_up(format_args!("the loader's memory map has no memory where the image is")),
    }
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
    // SAFETY: in `.shared`, as long as its type, all of it atomic.
    let next: &HandOver = unsafe { &ompi_handoff };
    // Release: read by assembly on a core that is woken afterwards.
    next.tables.store(space.root, Ordering::Release);
    next.stack_end.store(STACK_END, Ordering::Release);
    next.core.store(core.into(), Ordering::Release);
    next.heap_bytes.store(space.heap_bytes, Ordering::Release);
}

fn give_up(why: core::fmt::Arguments<'_>) -> ! {
    eprintln!("[boot] {why}");
    exit::exit(USAGE)
}

unsafe extern "C" {
    static __text_start: u8;
    static __text_end: u8;
    static __data_start: u8;
    static __data_end: u8;
    static __image_end: u8;
    static ompi_handoff: HandOver;
    static ompi_trampoline: u8;
    static ompi_trampoline_end: u8;
    fn ompi_become_rank() -> !;
}

struct Room(UnsafeCell<String<LINE_BYTES>>);
// SAFETY: written by one core before others run.
unsafe impl Sync for Room {}
#[unsafe(link_section = ".shared")]
static LINE: Room = Room(UnsafeCell::new(String::new()));
#[unsafe(link_section = ".shared")]
static ARRIVED: AtomicU32 = AtomicU32::new(0);

const USAGE: i32 = 2;
const PATIENCE: u64 = 2_000_000_000;
