//! The message when the processor raises an exception in a rank, or when the library panics.
#![allow(unsafe_code)]

use crate::memory::{STACK_BYTES, STACK_END};
use crate::{eprintln, exit, rank};
use x86_64::registers::control::Cr2;

/// What a stub of [`crate::interrupts`] leaves on its stack, below what the processor pushes (Intel SDM vol. 3, 6.14.2).
///
/// | offset | bytes | what | pushed by |
/// |---|---|---|---|
/// | 0 | 15 · 8 | r15 … rax | the common part |
/// | 120 | 8 | vector | the stub |
/// | 128 | 8 | error code, or 0 | the processor, or the stub |
/// | 136 | 5 · 8 | rip, cs, flags, rsp, ss | the processor |
#[derive(Debug)]
#[repr(C)]
pub struct Registers {
    general: [u64; 15],
    vector: u64,
    code: u64,
    rip: u64,
    cs: u64,
    flags: u64,
    rsp: u64,
    ss: u64,
}

/// Reports an exception and ends the rank.
#[unsafe(no_mangle)]
extern "C" fn ompi_fault(registers: &Registers) -> ! {
    let name = NAMES.get(registers.vector as usize).copied().filter(|name| !name.is_empty()).unwrap_or("exception");
    eprintln!("\n[rank {}] {name}{} at {:#x}", rank::number(), Detail(registers), registers.rip);
    for (names, values) in GENERAL.chunks(4).zip(registers.general.chunks(4)) {
        crate::print!("  ");
        names.iter().zip(values).for_each(|(name, value)| crate::print!("{name} {value:016x}  "));
        eprintln!();
    }
    eprintln!("  rsp {:016x}  flags {:08x}  cr2 {:016x}", registers.rsp, registers.flags, Cr2::read_raw());
    backtrace(registers.rip, registers.general[FRAME]);
    exit::exit(STATUS)
}

/// Prints the callers of the function whose frame pointer this is: return addresses, for `addr2line -e image`.
pub fn backtrace(at: u64, mut frame: u64) {
    crate::print!("  called from {at:#x}");
    let stack = STACK_END - STACK_BYTES..STACK_END - 16;
    for _ in 0..DEPTH {
        if !stack.contains(&frame) || !frame.is_multiple_of(8) {
            break;
        }
        // SAFETY: a multiple of 8 within the stack, which is mapped whole.
        let [above, caller] = unsafe { (frame as *const [u64; 2]).read() };
        if caller == 0 || above <= frame {
            break;
        }
        crate::print!(" {caller:#x}");
        frame = above;
    }
    eprintln!();
}

/// The frame pointer here.
#[cfg(feature = "image")]
#[inline(always)]
pub fn frame() -> u64 {
    let frame: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

struct Detail<'a>(&'a Registers);

impl core::fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let address = Cr2::read_raw();
        match (self.0.vector, self.0.code) {
            (PAGE_FAULT, code) => {
                // Intel SDM vol. 3, 5.7.
                let what = match code {
                    code if code & 16 != 0 => "executing",
                    code if code & 2 != 0 => "writing",
                    _ => "reading",
                };
                write!(f, " {what} address {address:#x}")?;
                let below = STACK_END - STACK_BYTES;
                match address {
                    0..4096 => f.write_str(" (a null pointer)"),
                    _ if (below - (1 << 20)..below).contains(&address) => f.write_str(" (the stack is full)"),
                    _ => Ok(()),
                }
            }
            (_, 0) => Ok(()),
            (_, code) => write!(f, " (code {code:#x})"),
        }
    }
}

const PAGE_FAULT: u64 = 14;
/// In the order in which the stub pushed them, last first.
const GENERAL: [&str; 15] =
    ["r15", "r14", "r13", "r12", "r11", "r10", "r9 ", "r8 ", "rbp", "rdi", "rsi", "rdx", "rcx", "rbx", "rax"];
const FRAME: usize = 8;
const DEPTH: usize = 32;
/// As a shell reports a process that a segmentation fault ended would be 139, which does not arrive.
const STATUS: i32 = 111;
const NAMES: [&str; 20] = [
    "division by zero",
    "debug exception",
    "non-maskable interrupt",
    "breakpoint",
    "overflow",
    "bound range exceeded",
    "invalid instruction",
    "floating point not available",
    "double fault",
    "",
    "invalid task state",
    "segment not present",
    "stack segment fault",
    "general protection fault",
    "page fault",
    "",
    "floating-point exception",
    "alignment check",
    "machine check",
    "SIMD floating-point exception",
];

#[cfg(test)]
mod tests {
    use super::*;
    use memoffset::span_of;

    #[test]
    fn fields_lie_where_the_table_says() {
        assert_eq!(span_of!(Registers, general), 0..8 * GENERAL.len());
        assert_eq!((span_of!(Registers, vector), span_of!(Registers, code)), (120..128, 128..136));
        let pushed = [
            span_of!(Registers, rip),
            span_of!(Registers, cs),
            span_of!(Registers, flags),
            span_of!(Registers, rsp),
            span_of!(Registers, ss),
        ];
        assert_eq!(pushed, [136..144, 144..152, 152..160, 160..168, 168..176]);
        assert_eq!(GENERAL[FRAME], "rbp");
    }
}
