//! The freestanding probe: every layer and every component that claims bare metal, in a program without libc, without
//! std and without start-up files. `cargo xtask test probe` adds the `image![…]` line, links all of it, runs it as a
//! process of two system calls, and builds it for x86_64-unknown-none where that target is installed.
#![no_std]
#![allow(unsafe_code)]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::arch::{asm, global_asm};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};
use opal_core::mca::{Source, image};

global_asm!(".globl _start", "_start:", "xor %ebp, %ebp", "and $-16, %rsp", "call probe_main", "ud2", options(att_syntax));

/// Configures the library from a boot line and says what it found.
#[unsafe(no_mangle)]
extern "C" fn probe_main() -> ! {
    let configured = ompi_core::init::configure();
    let flag = &ompi_core::init::SHOW_COMPONENTS;
    let components = image::components().len();
    let frameworks = ompi_core::init::frameworks().len();
    opal_core::message!("probe: {components} components, {frameworks} frameworks, {configured:?}, {}", flag.source());
    match configured.is_ok() && flag.flag() && flag.source() == Source::BootLine {
        true => exit(0),
        false => exit(1),
    }
}

#[unsafe(export_name = "__opal_bare_environment_v1")]
fn environment() -> &'static [(&'static str, &'static str)] {
    &[("OMPI_MCA_mpi_show_components", "1"), ("OMPI_RS_MCA_COMMAND_LINE", "mpi_show_components")]
}

#[unsafe(export_name = "__opal_bare_write_v1")]
fn write(bytes: &[u8]) {
    // SAFETY: write(1, …) reads `bytes.len()` bytes at `bytes`, which are borrowed.
    unsafe {
        asm!("syscall", inlateout("rax") 1usize => _, in("rdi") 1usize, in("rsi") bytes.as_ptr(), in("rdx") bytes.len(),
             lateout("rcx") _, lateout("r11") _, options(nostack))
    }
}

#[unsafe(export_name = "__opal_bare_exit_v1")]
fn exit(status: i32) -> ! {
    // SAFETY: exit_group does not return.
    unsafe { asm!("syscall", in("rax") 231usize, in("rdi") status, options(noreturn, nostack)) }
}

#[unsafe(export_name = "__opal_bare_monotonic_ns_v1")]
fn monotonic_ns() -> u64 {
    // SAFETY: every x86-64 has the counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[unsafe(export_name = "__opal_bare_nap_us_v1")]
fn nap_us(_: u64) {
    core::hint::spin_loop();
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    write(b"probe: panic\n");
    exit(101)
}

/// Hands out a fixed room once and takes nothing back.
struct Bump(AtomicUsize);

const ROOM: usize = 1 << 20;
#[repr(align(4096))]
struct Heap(core::cell::UnsafeCell<[u8; ROOM]>);
// SAFETY: only `Bump` touches it, and gives each byte away once.
unsafe impl Sync for Heap {}
static HEAP: Heap = Heap(core::cell::UnsafeCell::new([0; ROOM]));

// SAFETY: pieces are aligned, disjoint and live for ever.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let bytes = layout.size() + layout.align();
        // Relaxed: the sum alone keeps pieces apart.
        let start = self.0.fetch_add(bytes, Ordering::Relaxed);
        if start + bytes > ROOM {
            return core::ptr::null_mut();
        }
        let base = HEAP.0.get().cast::<u8>().wrapping_add(start);
        base.wrapping_add(base.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Bump = Bump(AtomicUsize::new(0));

/// What the precompiled core and alloc of a hosted target ask of their surroundings (an image's boot crate has them).
#[cfg(target_os = "linux")]
mod hosted_core {
    use core::arch::global_asm;

    #[unsafe(no_mangle)]
    extern "C" fn rust_eh_personality() {}
    #[unsafe(no_mangle)]
    extern "C" fn _Unwind_Resume() -> ! {
        super::exit(102)
    }

    // In assembly: the compiler would turn a loop in Rust into a call of the very function.
    global_asm!(
        ".globl memcpy, memmove, memset, memcmp, bcmp, strlen",
        "memcpy:", "mov %rdi, %rax", "mov %rdx, %rcx", "rep movsb", "ret",
        "memmove:", "mov %rdi, %rax", "mov %rdx, %rcx", "mov %rdi, %r8", "sub %rsi, %r8", "cmp %rdx, %r8", "jae 1f",
        "lea -1(%rdi,%rdx), %rdi", "lea -1(%rsi,%rdx), %rsi", "std", "rep movsb", "cld", "ret", "1:", "rep movsb", "ret",
        "memset:", "mov %rdi, %r8", "mov %esi, %eax", "mov %rdx, %rcx", "rep stosb", "mov %r8, %rax", "ret",
        "memcmp:", "bcmp:", "xor %ecx, %ecx", "2:", "cmp %rdx, %rcx", "je 3f", "movzbl (%rdi,%rcx), %eax",
        "movzbl (%rsi,%rcx), %r8d", "inc %rcx", "sub %r8d, %eax", "je 2b", "ret", "3:", "xor %eax, %eax", "ret",
        "strlen:", "xor %eax, %eax", "4:", "cmpb $0, (%rdi,%rax)", "je 5f", "inc %rax", "jmp 4b", "5:", "ret",
        options(att_syntax)
    );
}
