//! The cable: one layout for nodes and machine.
//!
//! Waking. A write to a port increments `written` and wakes the machine if that sleeps. A node that read the same status
//! several times sleeps on its status word for at most a millisecond, and the machine wakes it when the word changes.
//! Yielding alone is very slow when there are more processes than cores.
//!
//! The file, in bytes; node `n` has the 64 bytes from 64 · (1 + n) on:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 8 | magic | the process that makes it |
//! | 8 | 4 | written | nodes |
//! | 12 | 4 | seen | machine |
//! | 16 | 4 | the machine sleeps | machine |
//! | 20 | 4 | nodes that sleep on `seen` | nodes |
//! | 24 | 4 | power-ups | machine |
//! | 32 | 8 | flips | machine |
//! | 64 · (1 + n) | 4 | data register | node |
//! | + 4 | 4 | control register | node |
//! | + 8 | 4 | status register | machine |
//! | + 12 | 4 | the node sleeps | node |
//! | + 16 | 8 | port accesses | node |
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use hw_fpga::NODES;
use hw_fpga::wire;
use opal_core::sys::{self, Distrust};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;

/// Why a file is not used as a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCable {
    /// It cannot be opened, or it is not to be trusted.
    File(Distrust),
    /// It is no cable.
    Foreign,
}

impl<E: Into<Distrust>> From<E> for NoCable {
    fn from(why: E) -> NoCable {
        NoCable::File(why.into())
    }
}

impl core::fmt::Display for NoCable {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            NoCable::File(why) => write!(out, "{why}"),
            NoCable::Foreign => write!(out, "it holds something else than a cable; name another file, or remove it"),
        }
    }
}

/// The registers of one node's port, on a cache line of their own.
#[repr(C, align(64))]
pub struct Registers {
    data: AtomicU32,
    control: AtomicU32,
    status: AtomicU32,
    /// The node sleeps on `status`.
    sleeps: AtomicU32,
    /// Port accesses so far.
    accesses: AtomicU64,
}

/// What the file holds.
#[repr(C)]
pub struct Layout {
    magic: AtomicU64,
    /// Rises with every write of a node to its port.
    written: AtomicU32,
    /// What `written` was when the machine last looked at all registers and had put its answer.
    seen: AtomicU32,
    /// The machine sleeps on `written`.
    sleeps: AtomicU32,
    /// How many nodes sleep on `seen`.
    settling: AtomicU32,
    /// How often a machine was powered up.
    powered: AtomicU32,
    /// How often a level flipped: barriers that the wires did.
    flips: AtomicU64,
    nodes: [Registers; NODES],
}

/// A mapped cable. It stays mapped as long as the process lives: signal handlers and threads use it.
#[derive(Clone, Copy)]
pub struct Cable {
    layout: &'static Layout,
}

impl Cable {
    /// Makes the file, or what is left of a cable in it, a cable that no machine is plugged in at. Outputs keep what they
    /// say: the latches of a port survive the machine. A file that holds something else stays as it is.
    pub fn create(path: &str) -> Result<Cable, NoCable> {
        let file = sys::create_trusted(path.as_bytes(), 0o600, OFlags::RDWR)?;
        let mut magic = [0; 8];
        match rustix::fs::fstat(&file)?.st_size as usize {
            0 => {}
            size if size != size_of::<Layout>() => return Err(NoCable::Foreign),
            _ => match rustix::io::pread(&file, &mut magic, 0)? {
                8 if u64::from_ne_bytes(magic) == MAGIC => {}
                _ => return Err(NoCable::Foreign),
            },
        }
        Cable::made_of(&file)
    }

    /// A cable without a name, which vanishes with the last process that has it; the descriptor leads others to it
    /// (`/proc/PID/fd/N`).
    pub fn unnamed() -> Result<(Cable, OwnedFd), NoCable> {
        let file = rustix::fs::memfd_create("tuc-cable", MemfdFlags::CLOEXEC)?;
        Ok((Cable::made_of(&file)?, file))
    }

    fn made_of(file: &OwnedFd) -> Result<Cable, NoCable> {
        rustix::fs::ftruncate(file, size_of::<Layout>() as u64)?;
        let cable = Cable::map(file)?;
        cable.unplug();
        // Release pairs with the Acquire in `open`.
        cable.layout.magic.store(MAGIC, Ordering::Release);
        Ok(cable)
    }

    /// A cable that somebody made.
    pub fn open(path: &str) -> Result<Cable, NoCable> {
        // A pipe must not block.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !is_regular || stat.st_size as u64 != size_of::<Layout>() as u64 {
            return Err(NoCable::Foreign);
        }
        let cable = Cable::map(&file)?;
        // Acquire pairs with the Release in `create`.
        if cable.layout.magic.load(Ordering::Acquire) == MAGIC { Ok(cable) } else { Err(NoCable::Foreign) }
    }

    fn map(file: &impl rustix::fd::AsFd) -> Result<Cable, Errno> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the system's choice.
        let at = unsafe { rustix::mm::mmap(core::ptr::null_mut(), size_of::<Layout>(), protection, flags, file, 0)? };
        // SAFETY: the file is as long as the layout and the mapping is never undone; every bit pattern is a valid layout
        // of atomics.
        Ok(Cable { layout: unsafe { &*at.cast::<Layout>() } })
    }

    /// All status lines as an unplugged cable has them: pulled up.
    pub fn unplug(&self) {
        (0..NODES).for_each(|node| self.put_status(node, wire::status_register(0xf, false)));
    }

    /// A machine comes up; returns how many did before it.
    pub fn power_up(&self) -> u32 {
        self.unplug();
        self.layout.powered.fetch_add(1, Ordering::Relaxed)
    }

    /// How often a machine came up.
    pub fn powered(&self) -> u32 {
        self.layout.powered.load(Ordering::Relaxed)
    }

    /// How often a level flipped.
    pub fn flips(&self) -> u64 {
        self.layout.flips.load(Ordering::Relaxed)
    }

    /// Port accesses of a node.
    pub fn accesses(&self, node: usize) -> u64 {
        self.layout.nodes[node].accesses.load(Ordering::Relaxed)
    }
}

/// The node's end. Panics for nodes beyond [`NODES`]: the caller checks its number once.
impl Cable {
    /// `out` to the data register.
    pub fn put_data(&self, node: usize, value: u8) {
        self.put(node, &self.layout.nodes[node].data, value);
    }

    /// `out` to the control register.
    pub fn put_control(&self, node: usize, value: u8) {
        self.put(node, &self.layout.nodes[node].control, value);
    }

    /// `in` from the data register: what was put.
    pub fn data(&self, node: usize) -> u8 {
        self.layout.nodes[node].data.load(Ordering::Relaxed) as u8
    }

    /// `in` from the control register: what was put.
    pub fn control(&self, node: usize) -> u8 {
        self.layout.nodes[node].control.load(Ordering::Relaxed) as u8
    }

    /// `in` from the status register.
    pub fn status(&self, node: usize) -> u8 {
        let own = &self.layout.nodes[node];
        own.accesses.fetch_add(1, Ordering::Relaxed);
        // Acquire pairs with the Release in `put_status`: a node that sees a flip sees what came before it.
        own.status.load(Ordering::Acquire) as u8
    }

    /// Sleeps while the status register holds this, for at most a millisecond. Whether it saw it change.
    pub fn sleep(&self, node: usize, status: u8) -> bool {
        let own = &self.layout.nodes[node];
        own.sleeps.store(1, Ordering::SeqCst);
        // The machine stores the status before it looks at `sleeps`, both in the one order of SeqCst.
        if own.status.load(Ordering::SeqCst) as u8 == status {
            wait(&own.status, status.into());
        }
        own.sleeps.store(0, Ordering::Relaxed);
        own.status.load(Ordering::Acquire) as u8 != status
    }

    /// Waits until the machine has seen everything that this node put. `false` after `limit`: no machine is there.
    pub fn settle(&self, limit: Duration) -> bool {
        let wanted = self.layout.written.load(Ordering::SeqCst);
        let mut left = limit.as_millis() as u32 + 1;
        loop {
            let seen = self.layout.seen.load(Ordering::Acquire);
            // Both count in a circle.
            if seen.wrapping_sub(wanted) as i32 >= 0 {
                return true;
            }
            if left == 0 {
                return false;
            }
            let before = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            rustix::thread::sched_yield();
            self.layout.settling.fetch_add(1, Ordering::SeqCst);
            if self.layout.seen.load(Ordering::SeqCst) == seen {
                wait(&self.layout.seen, seen);
            }
            self.layout.settling.fetch_sub(1, Ordering::Relaxed);
            let after = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            let nanoseconds = (after.tv_sec - before.tv_sec) * 1_000_000_000 + (after.tv_nsec - before.tv_nsec);
            left -= u32::from(nanoseconds > 900_000).min(left);
        }
    }

    fn put(&self, node: usize, register: &AtomicU32, value: u8) {
        self.layout.nodes[node].accesses.fetch_add(1, Ordering::Relaxed);
        // Release: a node that arrives at a barrier shows what it did before.
        register.store(value.into(), Ordering::Release);
        // SeqCst orders this before the look at `sleeps`; the machine does it the other way round.
        self.layout.written.fetch_add(1, Ordering::SeqCst);
        if self.layout.sleeps.load(Ordering::SeqCst) != 0 {
            wake(&self.layout.written);
        }
    }
}

/// The machine's end.
impl Cable {
    /// A number that changes with every write of a node; look at it before the registers.
    pub fn written(&self) -> u32 {
        self.layout.written.load(Ordering::SeqCst)
    }

    /// Data and control register of a node.
    pub fn outputs(&self, node: usize) -> (u8, u8) {
        let node = &self.layout.nodes[node];
        // Acquire pairs with the Release in `put`.
        (node.data.load(Ordering::Acquire) as u8, node.control.load(Ordering::Acquire) as u8)
    }

    /// So many levels have flipped.
    pub fn add_flips(&self, flips: u32) {
        self.layout.flips.fetch_add(flips.into(), Ordering::Relaxed);
    }

    /// Puts what a node reads as its status.
    pub fn put_status(&self, node: usize, status: u8) {
        let node = &self.layout.nodes[node];
        if node.status.swap(status.into(), Ordering::SeqCst) as u8 != status && node.sleeps.load(Ordering::SeqCst) != 0
        {
            wake(&node.status);
        }
    }

    /// All that was written up to this number was answered.
    pub fn answered(&self, written: u32) {
        // SeqCst orders this before the look at `settling`; the nodes do it the other way round.
        self.layout.seen.store(written, Ordering::SeqCst);
        if self.layout.settling.load(Ordering::SeqCst) != 0 {
            wake(&self.layout.seen);
        }
    }

    /// Sleeps until a node writes after this number, for at most a millisecond.
    pub fn sleep_until_written(&self, written: u32) {
        self.layout.sleeps.store(1, Ordering::SeqCst);
        if self.written() == written {
            wait(&self.layout.written, written);
        }
        self.layout.sleeps.store(0, Ordering::Relaxed);
    }
}

fn wait(word: &AtomicU32, value: u32) {
    let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    // Woken, changed, interrupted or too late: the caller looks again.
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&time));
}

fn wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::empty(), u32::MAX >> 1);
}

const MAGIC: u64 = 0x5455_4342_4152_5232;

#[cfg(test)]
mod tests {
    use super::*;
    use memoffset::span_of;

    /// Processes that were compiled at different times share the file: a layout that moves needs another magic.
    #[test]
    fn fields_lie_where_the_table_says() {
        assert_eq!(span_of!(Layout, magic), 0..8);
        assert_eq!((span_of!(Layout, written), span_of!(Layout, seen)), (8..12, 12..16));
        assert_eq!((span_of!(Layout, sleeps), span_of!(Layout, settling)), (16..20, 20..24));
        assert_eq!((span_of!(Layout, powered), span_of!(Layout, flips)), (24..28, 32..40));
        assert_eq!(span_of!(Layout, nodes..), 64..64 * (1 + NODES));
        assert_eq!((span_of!(Registers, data), span_of!(Registers, control)), (0..4, 4..8));
        assert_eq!((span_of!(Registers, status), span_of!(Registers, sleeps)), (8..12, 12..16));
        assert_eq!((span_of!(Registers, accesses), size_of::<Registers>()), (16..24, 64));
    }
}
