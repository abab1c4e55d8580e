//! A core's local interrupt controller (Intel SDM vol. 3, chapter 12): waking other cores up, and naps.
#![allow(unsafe_code)]

use crate::interrupts::{SPURIOUS, TIMER};
use crate::paging;
use crate::tsc;
use core::ptr::NonNull;
use opal_core::sync::{AtomicU64, Ordering};
use volatile::VolatilePtr;
use x86_64::instructions::interrupts;
use x86_64::instructions::port::Port;

/// Switches the controller of this core on, silences the old ones, and measures how fast the timer counts. After
/// [`tsc::begin`].
pub fn open() {
    for port in [0x21, 0xa1] {
        // SAFETY: the mask registers of the two 8259.
        unsafe { Port::new(port).write(0xffu8) };
    }
    write(SPURIOUS_VECTOR, ENABLE | u32::from(SPURIOUS));
    write(TIMER_DIVIDE, DIVIDE_BY_1);
    write(TIMER_ENTRY, MASKED | u32::from(TIMER));
    write(TIMER_START, u32::MAX);
    let begin = tsc::ns();
    tsc::spin_us(MEASURE_US);
    let counts = u64::from(u32::MAX - read(TIMER_NOW));
    let ns = (tsc::ns() - begin).max(1);
    write(TIMER_START, 0);
    COUNTS_PER_MS.store((counts * 1_000_000 / ns).max(1), Ordering::Relaxed);
    write(TIMER_ENTRY, u32::from(TIMER));
}

/// Leaves the core alone for about this long: a guest gives its host's core back, a real one saves power.
pub fn nap_us(microseconds: u64) {
    let counts = COUNTS_PER_MS.load(Ordering::Relaxed).saturating_mul(microseconds) / 1000;
    if counts == 0 {
        tsc::spin_us(microseconds);
        return;
    }
    write(TIMER_START, counts.min(u64::from(u32::MAX)) as u32);
    // The only place where interrupts are on. Both instructions are one: nothing comes between them (SDM, STI).
    interrupts::enable_and_hlt();
    interrupts::disable();
}

/// Tells the controller that an interrupt was dealt with.
pub fn end_of_interrupt() {
    write(END_OF_INTERRUPT, 0);
}

/// Starts another core at a page below 1 MiB (Intel SDM vol. 3, 10.4.4). Its controller's number is taken to be the core's,
/// as in QEMU: which numbers there are only ACPI says.
pub fn start_core(number: u32, page: u64) {
    write(SPURIOUS_VECTOR, ENABLE | u32::from(SPURIOUS));
    command(number, INIT);
    tsc::spin_us(10_000);
    for _ in 0..2 {
        command(number, STARTUP | (page >> 12) as u32);
        tsc::spin_us(200);
    }
}

fn command(number: u32, what: u32) {
    write(COMMAND_HIGH, number << 24);
    write(COMMAND_LOW, what);
    while read(COMMAND_LOW) & PENDING != 0 {
        core::hint::spin_loop();
    }
}

fn register(offset: u64) -> VolatilePtr<'static, u32> {
    let register = NonNull::new(paging::in_window(BASE + offset).cast());
    // SAFETY: the window shows the controller at its address after reset, which nothing here changes. Each core has its own.
    unsafe { VolatilePtr::new(register.expect("the window is not at 0")) }
}

fn read(offset: u64) -> u32 {
    register(offset).read()
}

fn write(offset: u64, value: u32) {
    register(offset).write(value);
}

const BASE: u64 = 0xfee0_0000;
const END_OF_INTERRUPT: u64 = 0xb0;
const SPURIOUS_VECTOR: u64 = 0xf0;
const COMMAND_LOW: u64 = 0x300;
const COMMAND_HIGH: u64 = 0x310;
const TIMER_ENTRY: u64 = 0x320;
const TIMER_START: u64 = 0x380;
const TIMER_NOW: u64 = 0x390;
const TIMER_DIVIDE: u64 = 0x3e0;

const ENABLE: u32 = 1 << 8;
const MASKED: u32 = 1 << 16;
const DIVIDE_BY_1: u32 = 0b1011;
const INIT: u32 = 0x4500;
const STARTUP: u32 = 0x4600;
const PENDING: u32 = 1 << 12;
const MEASURE_US: u64 = 500;

static COUNTS_PER_MS: AtomicU64 = AtomicU64::new(0);
