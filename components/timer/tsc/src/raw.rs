//! The counter and what the processor says of it.
#![allow(unsafe_code)]

use core::arch::asm;
use core::arch::x86_64::__cpuid;

/// Reads the counter.
///
/// With `lfence` before it: the counter is read after every earlier instruction is done, so two readings on one core
/// are in order (Intel SDM vol. 2, RDTSC) and work that is timed cannot slip out in front of its first reading. With
/// it a reading takes 18 ns where the system's clock takes 22 (`cargo run --release -p bench-statics`, a virtual
/// machine). What follows the reading may still begin before it.
#[inline]
pub fn ticks() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a register. Not `nomem`: accesses to memory stay on their side of a reading.
    unsafe { asm!("lfence", "rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    u64::from(high) << 32 | u64::from(low)
}

/// Whether the counter runs at one rate in every power state.
pub fn invariant() -> bool {
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & 1 << 8 != 0
}

/// Ticks per second as the processor or the hypervisor tells it.
///
/// Leaf 15h counts a crystal; where it leaves the crystal out, nothing is guessed from leaf 16h, which is a
/// marketing figure and off by up to a percent. Leaf 4000_0010h, in kHz, is what VMware, KVM and others offer.
pub fn told() -> Option<u64> {
    if __cpuid(0).eax >= 0x15 {
        let leaf = __cpuid(0x15);
        if leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0 {
            return Some(u64::from(leaf.ecx) * u64::from(leaf.ebx) / u64::from(leaf.eax));
        }
    }
    let hypervisor = __cpuid(1).ecx & 1 << 31 != 0;
    if hypervisor && (0x4000_0010..0x4001_0000).contains(&__cpuid(0x4000_0000).eax) {
        let khz = __cpuid(0x4000_0010).eax;
        return (khz != 0).then(|| u64::from(khz) * 1000);
    }
    None
}
