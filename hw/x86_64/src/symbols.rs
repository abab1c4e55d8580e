//! What compilers and the precompiled core of a hosted target expect to find: memory functions, and two symbols of
//! unwinding that nothing ever calls because a panic ends the machine.
//!
//! They are weak, because a C library brings better ones. They are in assembly, because a compiler would turn a loop in
//! Rust into a call of the function itself.
#![allow(unsafe_code)]

use core::arch::global_asm;

#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    panic!("something unwinds")
}

global_asm!(
    ".weak memcpy, memmove, memset, memcmp, bcmp, strlen",
    "memcpy:",
    "mov %rdi, %rax",
    "mov %rdx, %rcx",
    "rep movsb",
    "ret",
    "memmove:",
    "mov %rdi, %rax",
    "mov %rdx, %rcx",
    "mov %rdi, %r8",
    "sub %rsi, %r8",
    "cmp %rdx, %r8",
    "jae 1f",
    "lea -1(%rdi,%rdx), %rdi",
    "lea -1(%rsi,%rdx), %rsi",
    "std",
    "rep movsb",
    "cld",
    "ret",
    "1: rep movsb",
    "ret",
    "memset:",
    "mov %rdi, %r8",
    "mov %esi, %eax",
    "mov %rdx, %rcx",
    "rep stosb",
    "mov %r8, %rax",
    "ret",
    "memcmp:",
    "bcmp:",
    "xor %ecx, %ecx",
    "2: cmp %rdx, %rcx",
    "je 3f",
    "movzbl (%rdi,%rcx), %eax",
    "movzbl (%rsi,%rcx), %r8d",
    "inc %rcx",
    "sub %r8d, %eax",
    "je 2b",
    "ret",
    "3: xor %eax, %eax",
    "ret",
    "strlen:",
    "xor %eax, %eax",
    "4: cmpb $0, (%rdi,%rax)",
    "je 5f",
    "inc %rax",
    "jmp 4b",
    "5: ret",
    options(att_syntax)
);
