//! Which of the machine's ranks runs on this core, and how many still run.
#![allow(unsafe_code)] // the section of shared data

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What the first core leaves to the next one that starts, which reads it in assembly.
///
/// | offset | what |
/// |---|---|
/// | 0 | physical address of its page tables |
/// | 8 | where its stack ends |
/// | 16 | its number |
/// | 24 | bytes of its heap |
#[derive(Debug)]
#[repr(C)]
pub struct HandOver {
    /// Physical address of its page tables.
    pub tables: AtomicU64,
    /// Where its stack ends.
    pub stack_end: AtomicU64,
    /// Its number.
    pub core: AtomicU64,
    /// Bytes of its heap.
    pub heap_bytes: AtomicU64,
}

/// Number of this core among those that are ranks, from 0.
pub fn core() -> u32 {
    CORE.load(Ordering::Relaxed)
}

/// Ranks of this machine.
pub fn cores() -> u32 {
    CORES.load(Ordering::Relaxed)
}

/// Its rank in the job as far as it is known, for messages: the boot line may not have been read yet.
pub fn number() -> u32 {
    RANK.load(Ordering::Relaxed)
}

/// Sets the number of this core; the boot line says its rank later.
pub fn set_core(core: u32) {
    CORE.store(core, Ordering::Relaxed);
    RANK.store(core, Ordering::Relaxed);
}

/// Says its rank in the job.
pub fn set_number(rank: u32) {
    RANK.store(rank, Ordering::Relaxed);
}

/// Says how many cores are ranks. Before any of them begins.
pub fn set_cores(cores: u32) {
    CORES.store(cores, Ordering::Relaxed);
    RUNNING.store(cores, Ordering::Relaxed);
}

/// One rank fewer runs. True if it was the last one.
pub fn leave() -> bool {
    // AcqRel: the last one comes after everything that the others did.
    RUNNING.fetch_sub(1, Ordering::AcqRel) <= 1
}

static CORE: AtomicU32 = AtomicU32::new(0);
static RANK: AtomicU32 = AtomicU32::new(0);
#[unsafe(link_section = ".shared")]
static CORES: AtomicU32 = AtomicU32::new(1);
#[unsafe(link_section = ".shared")]
static RUNNING: AtomicU32 = AtomicU32::new(1);

#[cfg(test)]
mod tests {
    use super::*;
    use memoffset::span_of;

    #[test]
    fn fields_lie_where_the_table_says() {
        assert_eq!((span_of!(HandOver, tables), span_of!(HandOver, stack_end)), (0..8, 8..16));
        assert_eq!((span_of!(HandOver, core), span_of!(HandOver, heap_bytes)), (16..24, 24..32));
    }
}
