//! Descriptor tables of a core: every exception becomes a readable report, the timer ends a nap.
#![allow(unsafe_code)]

use core::arch::global_asm;
use opal_core::sync::Once;
use x86_64::instructions::tables::load_tss;
use x86_64::registers::segmentation::{CS, DS, ES, SS, Segment};
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable, SegmentSelector};
use x86_64::structures::idt::InterruptDescriptorTable;
use x86_64::structures::tss::TaskStateSegment;
use x86_64::{PrivilegeLevel, VirtAddr};

/// Vector of the local timer.
pub const TIMER: u8 = 0x40;
/// Vector of interrupts that were gone before they were taken.
pub const SPURIOUS: u8 = 0xff;

/// Loads this core's tables. Once.
pub fn open() {
    static TABLES: Once<(TaskStateSegment, GlobalDescriptorTable, InterruptDescriptorTable)> = Once::new();
    static SEGMENTS: Once<[SegmentSelector; 3]> = Once::new();
    let (_, global, interrupts) = TABLES.call_once(tables);
    let selectors =
        *SEGMENTS.call_once(|| [1u16, 2, 3].map(|index| SegmentSelector::new(index, PrivilegeLevel::Ring0)));
    global.load();
    // SAFETY: entry 1 of the table just loaded is 64-bit code for ring 0.
    unsafe { CS::set_reg(selectors[0]) };
    // SAFETY: entry 2 is data, likewise below.
    unsafe { SS::set_reg(selectors[1]) };
    // SAFETY: as above.
    unsafe { DS::set_reg(selectors[1]) };
    // SAFETY: as above.
    unsafe { ES::set_reg(selectors[1]) };
    // SAFETY: entry 3 is the task state, which lives in a static.
    unsafe { load_tss(selectors[2]) };
    interrupts.load();
}

fn tables() -> (TaskStateSegment, GlobalDescriptorTable, InterruptDescriptorTable) {
    static TASK: Once<TaskStateSegment> = Once::new();
    let mut task = TaskStateSegment::new();
    task.interrupt_stack_table[0] = VirtAddr::from_ptr(&raw const STACK) + STACK_BYTES as u64;
    let task = TASK.call_once(|| task);
    let mut global = GlobalDescriptorTable::new();
    global.append(Descriptor::kernel_code_segment());
    global.append(Descriptor::kernel_data_segment());
    global.append(Descriptor::tss_segment(task));
    (*task, global, table())
}

fn table() -> InterruptDescriptorTable {
    let stub = |index: usize| VirtAddr::from_ptr((&raw const ompi_exceptions).wrapping_add(index * STUB_BYTES));
    let mut table = InterruptDescriptorTable::new();
    macro_rules! entries {
        ($($field:ident $index:literal),*) => {
            $(
                // SAFETY: the stub of this vector.
                let options = unsafe { table.$field.set_handler_addr(stub($index)) };
                // SAFETY: stack 0 of the task state is there.
                unsafe { options.set_stack_index(0) };
            )*
        };
    }
    entries![
        divide_error 0, debug 1, non_maskable_interrupt 2, breakpoint 3, overflow 4, bound_range_exceeded 5,
        invalid_opcode 6, device_not_available 7, double_fault 8, invalid_tss 10, segment_not_present 11,
        stack_segment_fault 12, general_protection_fault 13, page_fault 14, x87_floating_point 16, alignment_check 17,
        machine_check 18, simd_floating_point 19
    ];
    // SAFETY: returns with `iretq` and changes no register.
    let options = unsafe { table[TIMER].set_handler_addr(VirtAddr::from_ptr(&raw const ompi_timer)) };
    // SAFETY: as above.
    unsafe { options.set_stack_index(0) };
    // SAFETY: as above.
    let options = unsafe { table[SPURIOUS].set_handler_addr(VirtAddr::from_ptr(&raw const ompi_spurious)) };
    // SAFETY: as above.
    unsafe { options.set_stack_index(0) };
    table
}

unsafe extern "C" {
    static ompi_exceptions: u8;
    static ompi_timer: u8;
    static ompi_spurious: u8;
}

#[repr(align(16))]
#[expect(dead_code, reason = "no code reads it: the processor pushes and pops there")]
struct Stack(core::cell::UnsafeCell<[u8; STACK_BYTES]>);
// SAFETY: only the processor touches it.
unsafe impl Sync for Stack {}
static STACK: Stack = Stack(core::cell::UnsafeCell::new([0; STACK_BYTES]));
const STACK_BYTES: usize = 16 << 10;
const STUB_BYTES: usize = 16;

// One stub per exception, 16 bytes each: those without an error code push 0, all push their number. The common part
// completes `fault::Registers`. 0xfee000b0 through the window is the controller's end-of-interrupt register.
global_asm!(
    ".text",
    ".balign 16",
    "ompi_exceptions:",
    ".set vector, 0",
    ".rept 32",
    ".balign 16",
    ".if vector != 8 && vector != 10 && vector != 11 && vector != 12 && vector != 13 && vector != 14 && vector != 17 && vector != 21 && vector != 29 && vector != 30",
    "push 0",
    ".endif",
    ".byte 0x6a, vector",
    "jmp ompi_exception",
    ".set vector, vector + 1",
    ".endr",
    "ompi_exception:",
    "cld",
    "push rax",
    "push rbx",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push rbp",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov rdi, rsp",
    "and rsp, -16",
    "call ompi_fault",
    "ud2",
    "ompi_timer:",
    "push rax",
    "mov rax, 0x80fee000b0",
    "mov dword ptr [rax], 0",
    "pop rax",
    "ompi_spurious:",
    "iretq",
);
