//! The system calls that are served: enough for printf, malloc, time and the end of a program. Every other one says its
//! name and returns ENOSYS.
#![allow(unsafe_code)]

use crate::memory::PAGE;
use crate::{apic, console, eprintln, exit, rank, tsc};
use alloc::alloc::{alloc_zeroed, dealloc};
use alloc::vec::Vec;
use core::alloc::Layout;
use opal_core::sync::Mutex;
use x86_64::VirtAddr;
use x86_64::registers::model_specific::FsBase;

/// Arguments of a call, in the kernel's order.
type Arguments = [u64; 6];

/// Called by the assembly; what it returns goes into rax, errors negative.
#[unsafe(no_mangle)]
extern "C" fn ompi_system_call(arguments: &Arguments, number: u64) -> i64 {
    let [first, second, third, ..] = *arguments;
    match number {
        0 if first == 0 => 0, // standard input has ended
        1 => write(first, second, third),
        20 => writev(first, second, third),
        3 => 0,
        5 | 262 => -EBADF, // fstat
        8 => -ESPIPE,
        16 => -ENOTTY,
        9 => map(arguments),
        11 => unmap(first, second),
        // Memory is always readable and writable, and signals never come.
        10 | 13 | 14 | 28 | 202 => 0,
        // No break: the C library then maps what it needs.
        12 => 0,
        24 => pause(0),
        35 => nap(first),
        230 => nap(third),
        39 | 186 | 218 => 1,
        60 | 231 => exit::exit(first as i32),
        63 => name(first),
        98 => usage(second),
        // A rank has one core, its own.
        204 if second >= 8 => {
            // SAFETY: the C library's mask, which it says has so many bytes.
            unsafe { (third as *mut u64).write(1) };
            8
        }
        158 if first == ARCH_SET_FS => {
            FsBase::write(VirtAddr::new(second));
            0
        }
        200 | 234 => raised(number, arguments),
        228 => clock(second),
        _ => not_served(number),
    }
}

fn write(descriptor: u64, from: u64, bytes: u64) -> i64 {
    if !(1..=2).contains(&descriptor) {
        return -EBADF;
    }
    // SAFETY: the C library's buffer, which it says is readable for so long.
    console::write(unsafe { core::slice::from_raw_parts(from as *const u8, bytes as usize) });
    bytes as i64
}

fn writev(descriptor: u64, pieces: u64, count: u64) -> i64 {
    let mut total = 0;
    for index in 0..count as usize {
        // SAFETY: the C library's array of so many pairs of address and length.
        let [from, bytes] = unsafe { (pieces as *const [u64; 2]).wrapping_add(index).read() };
        if bytes == 0 {
            continue;
        }
        match write(descriptor, from, bytes) {
            written if written < 0 => return written,
            written => total += written,
        }
    }
    total
}

/// Anonymous memory only; addresses that are wished for are not heeded.
fn map(arguments: &Arguments) -> i64 {
    let [_, bytes, _, flags, ..] = *arguments;
    if flags & MAP_ANONYMOUS == 0 {
        return not_served(9);
    }
    if flags & MAP_FIXED != 0 {
        return -ENOMEM;
    }
    let Some(layout) = pages(bytes) else { return -EINVAL };
    // SAFETY: not of size 0, as `pages` checked.
    let place = unsafe { alloc_zeroed(layout) };
    if place.is_null() {
        return -ENOMEM;
    }
    MAPPED.lock().push((place as u64, layout));
    place as i64
}

/// Whole mappings only: a part stays until the program ends.
fn unmap(start: u64, bytes: u64) -> i64 {
    let mut mapped = MAPPED.lock();
    let whole = mapped.iter().position(|(place, layout)| *place == start && Some(*layout) == pages(bytes));
    if let Some(index) = whole {
        let (place, layout) = mapped.swap_remove(index);
        // SAFETY: from `map`, with this layout, and no longer listed.
        unsafe { dealloc(place as *mut u8, layout) };
    }
    0
}

fn pages(bytes: u64) -> Option<Layout> {
    let bytes = usize::try_from(bytes.checked_next_multiple_of(PAGE)?).ok().filter(|bytes| *bytes > 0)?;
    Layout::from_size_align(bytes, PAGE as usize).ok()
}

fn nap(request: u64) -> i64 {
    // SAFETY: the C library's timespec.
    let [seconds, nanoseconds] = unsafe { (request as *const [u64; 2]).read() };
    let end = tsc::ns().saturating_add(seconds.saturating_mul(1_000_000_000)).saturating_add(nanoseconds);
    while tsc::ns() < end {
        apic::nap_us(((end - tsc::ns()) / 1000).clamp(1, 1000));
    }
    0
}

fn pause(result: i64) -> i64 {
    core::hint::spin_loop();
    result
}

/// All clocks count from the start of the machine.
fn clock(result: u64) -> i64 {
    let now = tsc::ns();
    // SAFETY: the C library's timespec.
    unsafe { (result as *mut [u64; 2]).write([now / 1_000_000_000, now % 1_000_000_000]) };
    0
}

/// All time is the program's own, and nobody ever takes the core away.
fn usage(result: u64) -> i64 {
    let now = tsc::ns();
    let mut usage = [0; USAGE_WORDS];
    usage[..2].copy_from_slice(&[now / 1_000_000_000, now % 1_000_000_000 / 1000]);
    // SAFETY: the C library's rusage.
    unsafe { (result as *mut [u64; USAGE_WORDS]).write(usage) };
    0
}

fn name(result: u64) -> i64 {
    let mut names = [[0u8; 65]; 6];
    for (name, text) in names.iter_mut().zip(["ompi-rs", "bare", "1", "", "x86_64", ""]) {
        name[..text.len()].copy_from_slice(text.as_bytes());
    }
    // SAFETY: the C library's utsname: six arrays of 65 bytes.
    unsafe { (result as *mut [[u8; 65]; 6]).write(names) };
    0
}

/// A program that sends itself a signal wants to end: abort, or a failed assertion.
fn raised(number: u64, arguments: &Arguments) -> i64 {
    let signal = if number == 200 { arguments[1] } else { arguments[2] };
    eprintln!("[rank {}] the program ended itself with signal {signal}", rank::number());
    exit::exit(exit::STATUS_MAX)
}

fn not_served(number: u64) -> i64 {
    let name = NAMES.iter().find(|(listed, _)| *listed == number).map_or("", |(_, name)| name);
    crate::warn!("system call {} {} is not there", number, name);
    eprintln!(
        "[rank {}] the program's C library asked for system call {number} {name}, which is not there without an \
         operating system (ENOSYS)",
        rank::number()
    );
    -ENOSYS
}

static MAPPED: Mutex<Vec<(u64, Layout)>> = Mutex::new(Vec::new());

const EBADF: i64 = 9;
const ENOMEM: i64 = 12;
const EINVAL: i64 = 22;
const ENOTTY: i64 = 25;
const ESPIPE: i64 = 29;
const ENOSYS: i64 = 38;
/// Two times of two words each, and fourteen counts.
const USAGE_WORDS: usize = 18;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const ARCH_SET_FS: u64 = 0x1002;

/// Those that programs are likely to want.
const NAMES: &[(u64, &str)] = &[
    (0, "read"),
    (2, "open"),
    (4, "stat"),
    (6, "lstat"),
    (7, "poll"),
    (9, "mmap of a file"),
    (21, "access"),
    (22, "pipe"),
    (25, "mremap"),
    (29, "shmget"),
    (32, "dup"),
    (37, "alarm"),
    (38, "setitimer"),
    (41, "socket"),
    (56, "clone"),
    (57, "fork"),
    (59, "execve"),
    (61, "wait4"),
    (62, "kill"),
    (72, "fcntl"),
    (79, "getcwd"),
    (83, "mkdir"),
    (87, "unlink"),
    (96, "gettimeofday"),
    (97, "getrlimit"),
    (102, "getuid"),
    (157, "prctl"),
    (201, "time"),
    (203, "sched_setaffinity"),
    (204, "sched_getaffinity"),
    (257, "openat"),
    (302, "prlimit64"),
    (310, "process_vm_readv"),
    (318, "getrandom"),
    (332, "statx"),
    (435, "clone3"),
];
