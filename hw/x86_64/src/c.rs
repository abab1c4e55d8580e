//! A C library of Linux on bare metal: it starts as a kernel would start it, and its system calls end in [`calls`].
//!
//! The library is linked as it is and knows nothing of this. SYSCALL works in ring 0 as well (AMD64 manual vol. 2, 6.1.1);
//! the way back is a jump instead of SYSRET.
#![allow(unsafe_code)]

mod calls;

use crate::hooks;
use crate::memory::PAGE;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use alloc::vec::Vec;
use core::arch::{asm, global_asm};
use x86_64::VirtAddr;
use x86_64::registers::model_specific::{LStar, Msr, SFMask};
use x86_64::registers::rflags::RFlags;

/// Starts the C library at its entry point, which ends with the program.
pub fn start(entry: unsafe extern "C" fn() -> !) -> ! {
    serve();
    let block = block();
    // SAFETY: the entry point wants the block at the stack pointer; nothing of this function is used afterwards.
    unsafe {
        asm!(
            "sub rsp, rcx",
            "and rsp, -16",
            "mov rdi, rsp",
            "rep movsb",
            "xor ebp, ebp",
            "xor edx, edx",
            "jmp {entry}",
            entry = in(reg) entry,
            in("rcx") size_of_val(block),
            in("rsi") block.as_ptr(),
            options(noreturn)
        )
    }
}

/// Has SYSCALL come to `ompi_syscall`, with the segments that [`crate::interrupts`] loaded.
fn serve() {
    const STAR: u32 = 0xc000_0081;
    // SAFETY: selectors 8 (code) and 16 (data) for the entry; nothing here ever executes SYSRET.
    unsafe { Msr::new(STAR).write(8 << 32) };
    LStar::write(VirtAddr::from_ptr(&raw const ompi_syscall));
    SFMask::write(RFlags::TRAP_FLAG | RFlags::INTERRUPT_FLAG | RFlags::DIRECTION_FLAG);
}

/// What a kernel leaves on the stack (System V ABI, AMD64 supplement, 3.4.1): arguments, environment, auxiliary vector.
fn block() -> &'static [u64] {
    let string = |text: &str| CString::new(text).map_or(0, |text| text.into_raw() as u64);
    let arguments: Vec<u64> = hooks::arguments().iter().map(|argument| string(argument)).collect();
    let pairs = hooks::environment();
    let name = pairs.iter().find(|(name, _)| *name == "PROGRAM").map_or("program", |(_, value)| value);
    let mut block = Vec::from([arguments.len() as u64 + 1, string(name)]);
    block.extend(arguments);
    block.push(0);
    block.extend(pairs.iter().map(|(name, value)| string(&format!("{name}={value}"))));
    block.push(0);
    let random = Box::leak(Box::new([crate::tsc::ticks(), 0x9e37_79b9_7f4a_7c15]));
    let header = Box::leak(Box::new(thread_local_segment()));
    let auxiliary = [
        (AT_PAGESZ, PAGE),
        (AT_PHDR, header.as_ptr() as u64),
        (AT_PHENT, size_of_val(header) as u64),
        (AT_PHNUM, 1),
        (AT_RANDOM, random.as_ptr() as u64),
        (0, 0),
    ];
    block.extend(auxiliary.into_iter().flat_map(|(kind, value)| [kind, value]));
    // An even number of words keeps the stack aligned.
    block.resize(block.len().next_multiple_of(2), 0);
    block.leak()
}

/// The program header of the thread-local data: all that a C library reads of its own headers.
fn thread_local_segment() -> [u64; 7] {
    let at = |symbol: *const u8| symbol as u64;
    let start = at(&raw const __tls_start);
    let (filled, whole) = (at(&raw const __tls_file_bytes), at(&raw const __tls_bytes));
    [PT_TLS | PF_R << 32, 0, start, start, filled, whole, TLS_ALIGN]
}

unsafe extern "C" {
    static ompi_syscall: u8;
    static __tls_start: u8;
    // Absolute symbols: their addresses are the numbers.
    static __tls_file_bytes: u8;
    static __tls_bytes: u8;
}

const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_RANDOM: u64 = 25;
const PT_TLS: u64 = 7;
const PF_R: u64 = 4;
/// As in link.ld.
const TLS_ALIGN: u64 = 64;

// Linux keeps everything but rax, rcx and r11 for the caller, floating-point registers included, and never touches the
// red zone.
global_asm!(
    ".text",
    "ompi_syscall:",
    "lea rsp, [rsp - 128]",
    "push rcx",
    "push rbp",
    "push rbx",
    "push r9",
    "push r8",
    "push r10",
    "push rdx",
    "push rsi",
    "push rdi",
    "mov rdi, rsp",
    "mov rsi, rax",
    "mov rbx, rsp",
    "mov rbp, rsp",
    "sub rsp, 512",
    "and rsp, -16",
    "fxsave [rsp]",
    "call ompi_system_call",
    "fxrstor [rsp]",
    "mov rsp, rbx",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop r10",
    "pop r8",
    "pop r9",
    "pop rbx",
    "pop rbp",
    "pop rcx",
    "lea rsp, [rsp + 128]",
    "jmp rcx",
);
