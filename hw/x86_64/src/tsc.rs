//! Time: the time-stamp counter, at the rate that the boot line says.
#![allow(unsafe_code)]

use core::arch::x86_64::_rdtsc;
use opal_core::sync::{AtomicU64, Ordering};

/// Reads the counter.
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has it, and nothing here forbids it.
    unsafe { _rdtsc() }
}

/// Sets the rate, and now as time 0, for all cores of the machine: their counters run together.
pub fn begin(khz: u64) {
    KHZ.store(khz, Ordering::Relaxed);
    START.store(ticks(), Ordering::Relaxed);
}

/// Nanoseconds since [`begin`]; 0 before it.
pub fn ns() -> u64 {
    let khz = KHZ.load(Ordering::Relaxed);
    if khz == 0 {
        return 0;
    }
    let ticks = ticks().wrapping_sub(START.load(Ordering::Relaxed));
    (u128::from(ticks) * 1_000_000 / u128::from(khz)) as u64
}

/// Waits with the pause hint.
pub fn spin_us(microseconds: u64) {
    let end = ns() + microseconds * 1000;
    while ns() < end {
        core::hint::spin_loop();
    }
}

#[unsafe(link_section = ".shared")]
static KHZ: AtomicU64 = AtomicU64::new(0);
#[unsafe(link_section = ".shared")]
static START: AtomicU64 = AtomicU64::new(0);
