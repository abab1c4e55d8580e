//! System calls for a process that sleeps until another one wakes it: futexes in shared memory, membarrier. And the cores on
//! which it may run.

use crate::sync::AtomicU32;

/// A set of cores, core number modulo 256.
pub type Cores = [u64; 4];

#[cfg(not(ompi_bare))]
#[cfg_attr(loom, allow(dead_code))]
mod hosted {
    use super::*;
    use rustix::thread::futex;

    // linux/membarrier.h
    const MEMBARRIER_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
    const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

    /// Lets other processes' [`membarrier`] reach this one. `false` where the system refuses.
    pub fn register_membarrier() -> bool {
        // SAFETY: membarrier(2) takes no pointers.
        unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 }
    }

    /// A full memory barrier on every core that runs a registered process. `false` where the system refuses.
    pub fn membarrier() -> bool {
        // SAFETY: membarrier(2) takes no pointers.
        unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0) == 0 }
    }

    /// Sleeps while `word` holds `value`, at most this long; returns whether it was less. The word may lie in memory
    /// shared by processes.
    pub fn futex_wait(word: &AtomicU32, value: u32, at_most_us: u64) -> bool {
        let timeout = rustix::time::Timespec {
            tv_sec: (at_most_us / 1_000_000) as i64,
            tv_nsec: (at_most_us % 1_000_000 * 1000) as _,
        };
        // Every outcome (woken, value changed, interrupted, too late) means: look again.
        let woken = futex::wait(plain(word), futex::Flags::empty(), value, Some(&timeout));
        woken != Err(rustix::io::Errno::TIMEDOUT)
    }

    /// As [`futex_wait`], while both words hold these values. `None` where the system cannot (Linux before 5.16, filters).
    pub fn futex_wait_two(words: [(&AtomicU32, u32); 2], at_most_us: u64) -> Option<bool> {
        let waiter = |(word, value): (&AtomicU32, u32)| {
            let mut waiter = futex::Wait::new();
            waiter.val = value.into();
            waiter.uaddr = futex::WaitPtr::new(word.as_ptr().cast());
            waiter.flags = futex::WaitFlags::SIZE_U32;
            waiter
        };
        let until_ns = crate::sys::monotonic_ns().saturating_add(at_most_us.saturating_mul(1000));
        let until = rustix::time::Timespec {
            tv_sec: (until_ns / 1_000_000_000) as i64,
            tv_nsec: (until_ns % 1_000_000_000) as _,
        };
        let flags = futex::WaitvFlags::empty();
        match futex::waitv(&words.map(waiter), flags, Some(&until), futex::ClockId::Monotonic) {
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Some(true),
            Err(rustix::io::Errno::TIMEDOUT) => Some(false),
            Err(_) => None,
        }
    }

    /// Wakes all that sleep on `word`.
    pub fn futex_wake(word: &AtomicU32) {
        let _ = futex::wake(plain(word), futex::Flags::empty(), i32::MAX as u32);
    }

    /// The word as the system call wants it, whatever the library's own atomics are.
    fn plain(word: &AtomicU32) -> &core::sync::atomic::AtomicU32 {
        // SAFETY: every atomics component has the layout of an aligned `u32`, and all access to it is atomic.
        unsafe { core::sync::atomic::AtomicU32::from_ptr(word.as_ptr()) }
    }

    /// The cores that this process may run on.
    pub fn own_cores() -> Cores {
        let mut cores = [0; 4];
        match rustix::thread::sched_getaffinity(None) {
            Ok(set) => {
                for core in (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core)) {
                    cores[core / 64 % 4] |= 1 << (core % 64);
                }
            }
            Err(_) => cores[0] = 1,
        }
        cores
    }

    /// This thread goes on on the `nth` of the cores on which it may run, counted round; afterwards it may run on all of them as before.
    /// `false` where there is no choice.
    pub fn move_to_core(nth: usize) -> bool {
        let Ok(all) = rustix::thread::sched_getaffinity(None) else { return false };
        let count = all.count() as usize;
        let mut cores = (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
        let (true, Some(core)) = (count > 1, cores.nth(nth % count.max(1))) else { return false };
        let mut one = rustix::thread::CpuSet::new();
        one.set(core);
        let moved = rustix::thread::sched_setaffinity(None, &one).is_ok();
        moved && rustix::thread::sched_setaffinity(None, &all).is_ok()
    }

    /// The core on which this thread runs at the moment.
    pub fn current_core() -> Option<usize> {
        Some(rustix::thread::sched_getcpu())
    }
}
#[cfg(not(ompi_bare))]
pub use hosted::*;

#[cfg(ompi_bare)]
mod bare {
    use super::*;
    use crate::sync::Ordering;

    /// Nobody ever sleeps: there is nobody to give the core to.
    pub fn register_membarrier() -> bool {
        false
    }

    /// As above.
    pub fn membarrier() -> bool {
        false
    }

    /// Looks at the word between naps: nobody can wake another machine's core. One that has waited long in vain naps
    /// longer, because each look costs the host of a guest as much as 80 µs of its core.
    pub fn futex_wait(word: &AtomicU32, value: u32, at_most_us: u64) -> bool {
        let end = crate::sys::monotonic_ns() + at_most_us * 1000;
        // Relaxed: this rank's own count.
        let in_vain = IN_VAIN.load(Ordering::Relaxed);
        let nap = (NAP_US << (in_vain / SLEEPS_PER_LENGTH).min(LONGEST)).min(at_most_us);
        while word.load(Ordering::Relaxed) == value && crate::sys::monotonic_ns() < end {
            crate::sys::nap_us(nap);
        }
        let woken = word.load(Ordering::Relaxed) != value;
        IN_VAIN.store(if woken { 0 } else { in_vain.saturating_add(1) }, Ordering::Relaxed);
        woken
    }

    /// There are no other jobs.
    pub fn futex_wait_two(_words: [(&AtomicU32, u32); 2], _at_most_us: u64) -> Option<bool> {
        None
    }

    /// The other side polls.
    pub fn futex_wake(_word: &AtomicU32) {}

    /// Those of the host that the boot line names; else each rank has its own.
    pub fn own_cores() -> Cores {
        crate::sys::host_cores().map_or([u64::MAX; 4], |mask| [mask, 0, 0, 0])
    }

    /// As below.
    pub fn move_to_core(_nth: usize) -> bool {
        false
    }

    /// Each rank has its own.
    pub fn current_core() -> Option<usize> {
        None
    }

    static IN_VAIN: AtomicU32 = AtomicU32::new(0);
    const NAP_US: u64 = 100;
    /// The length doubles so many times, each after so many sleeps.
    const LONGEST: u32 = 3;
    const SLEEPS_PER_LENGTH: u32 = 4;
}
#[cfg(ompi_bare)]
pub use bare::*;
