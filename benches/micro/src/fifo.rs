//! The queue of cache lines and its byte ring, that btl/sm sends through.
#![allow(unsafe_code)] // shared memory between two threads

use core::hint::{black_box, spin_loop};
use criterion::{Criterion, Throughput};
use opal_core::queue::fifo::{Consumer, INLINE_BYTES, MIN_PAYLOAD_RING_BYTES, Memory, Producer, SLOT_RING_BYTES};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Slots and pool.
pub fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("slots");
    for bytes in [0, 8, INLINE_BYTES] {
        group.bench_function(format!("push and take, {bytes} B, one thread"), |bencher| {
            let area = Area::new();
            let (mut to, mut from) = (Producer::new(area.memory), Consumer::new(area.memory));
            let mut buffer = [1u8; INLINE_BYTES];
            bencher.iter(|| {
                push(&mut to, &buffer, bytes);
                take(&mut from, &mut buffer)
            });
        });
        group.bench_function(format!("one way of a ping-pong, {bytes} B, two cores"), |bencher| {
            bencher.iter_custom(|turns| ping_pong(turns, bytes));
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("pool");
    for bytes in [128usize, 512, 4096, 16384] {
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("push and take, {bytes} B, one thread"), |bencher| {
            let area = Area::new();
            let (mut to, mut from) = (Producer::new(area.memory), Consumer::new(area.memory));
            let mut buffer = vec![1u8; bytes];
            bencher.iter(|| {
                push(&mut to, &buffer, bytes);
                take(&mut from, &mut buffer)
            });
        });
        group.bench_function(format!("one way of a ping-pong, {bytes} B, two cores"), |bencher| {
            bencher.iter_custom(|turns| ping_pong(turns, bytes));
        });
    }
    group.finish();
}

/// The memory of one queue.
struct Area {
    memory: Memory,
    _lines: Vec<Line>,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

impl Area {
    fn new() -> Area {
        let mut lines = vec![Line { _bytes: [0; 64] }; SLOT_RING_BYTES / 64 + MIN_PAYLOAD_RING_BYTES / 64 + 1];
        let slots = lines.as_mut_ptr().cast::<u8>();
        let pool = slots.wrapping_add(SLOT_RING_BYTES);
        let consumed = pool.wrapping_add(MIN_PAYLOAD_RING_BYTES);
        // SAFETY: aligned to lines, as long as the constants say, zero, and kept beside.
        let memory = unsafe { Memory::new(slots, pool, MIN_PAYLOAD_RING_BYTES, consumed) };
        Area { memory, _lines: lines }
    }
}

fn push(to: &mut Producer, buffer: &[u8], bytes: usize) {
    assert!(bytes <= buffer.len());
    loop {
        // SAFETY: readable for `bytes`, just checked.
        if bytes <= INLINE_BYTES && unsafe { to.push_immediate(0, 7, buffer.as_ptr(), bytes, || {}) } {
            return;
        }
        let pushed = to.push(0, 7, bytes, None, false, |at: *mut u8| {
            // SAFETY: the queue gives room for `bytes`, which the buffer has.
            unsafe { at.copy_from_nonoverlapping(buffer.as_ptr(), bytes) }
        });
        if pushed.is_ok() {
            return;
        }
        spin_loop();
    }
}

fn take(from: &mut Consumer, buffer: &mut [u8]) -> u64 {
    loop {
        if let Some(found) = from.peek().expect("only `push` writes") {
            found.payload().copy_to(buffer);
            from.advance();
            return black_box(found.immediate);
        }
        spin_loop();
    }
}

fn ping_pong(turns: u64, bytes: usize) -> Duration {
    let (there, back, ready) = (Area::new(), Area::new(), AtomicBool::new(false));
    let (mut to, mut from) = (Producer::new(back.memory), Consumer::new(there.memory));
    let said = &ready;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            pin(1);
            let mut buffer = vec![1u8; bytes.max(1)];
            // Relaxed: it only says that this thread runs.
            said.store(true, Ordering::Relaxed);
            for _ in 0..turns {
                take(&mut from, &mut buffer);
                push(&mut to, &buffer, bytes);
            }
        });
        pin(0);
        let (mut to, mut from) = (Producer::new(there.memory), Consumer::new(back.memory));
        let mut buffer = vec![1u8; bytes.max(1)];
        while !ready.load(Ordering::Relaxed) {
            spin_loop();
        }
        let start = Instant::now();
        for _ in 0..turns {
            push(&mut to, &buffer, bytes);
            take(&mut from, &mut buffer);
        }
        start.elapsed() / 2
    })
}

/// This thread to a core, if there are as many.
fn pin(core: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    // On one core the two threads take turns; the figures say so by themselves.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
