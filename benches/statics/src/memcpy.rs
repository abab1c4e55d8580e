//! Copies of 8 B to 4 MiB. Rounds of the components alternate, so that a busy moment of the machine hits all alike;
//! the least of the rounds is printed.
#![allow(unsafe_code)] // a raw copy cannot be called otherwise

use opal_core::sys::cpu;
use std::hint::black_box;
use std::time::Instant;

#[path = "../../../components/memcpy/avx2/src/raw.rs"]
mod avx2;
#[path = "../../../components/memcpy/avx512/src/raw.rs"]
mod avx512;
#[path = "../../../components/memcpy/portable/src/raw.rs"]
mod portable;
#[path = "../../../components/memcpy/repmovs/src/raw.rs"]
mod repmovs;

type Copy = unsafe fn(*mut u8, *const u8, usize);

/// Prints nanoseconds per copy: one row per size, one column per component.
pub fn table() {
    let mut columns: Vec<(&str, Copy)> = vec![("portable", portable::copy), ("repmovs", repmovs::copy)];
    if cpu::has_avx2() {
        columns.push(("avx2", avx2::copy));
    }
    if cpu::has_avx512f() {
        columns.push(("avx512", avx512::copy));
    }
    for (title, skew, trail, cold) in [
        ("same lines, aligned", 0, 0, false),
        ("same lines, source off by 9", 9, 0, false),
        ("same lines, target 16 bytes behind the source in a page", 0, 16, false),
        ("64 MiB walked", 0, 0, true),
    ] {
        println!("\nmemcpy, {title}: ns per copy");
        print!("{:>10}", "bytes");
        columns.iter().for_each(|(name, _)| print!("{name:>11}"));
        println!();
        let (source, mut target) = (vec![1u8; SPAN + 2 * PAGE], vec![2u8; SPAN + 2 * PAGE]);
        let from = source.as_ptr().wrapping_add((PAGE - source.as_ptr() as usize % PAGE) % PAGE + skew);
        let to = target.as_mut_ptr();
        let to = to.wrapping_add((PAGE - to as usize % PAGE) % PAGE + trail);
        for bytes in
            [8, 24, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262_144, 1 << 20, 1 << 21, 1 << 22]
        {
            print!("{bytes:>10}");
            for least in row(&columns, to, from, bytes, cold) {
                print!("{least:>11.1}");
            }
            println!();
        }
    }
}

fn row(columns: &[(&str, Copy)], to: *mut u8, from: *const u8, bytes: usize, cold: bool) -> Vec<f64> {
    let count = ((1 << 23) / (bytes + 256)).clamp(4, 20_000);
    let mut least = vec![f64::MAX; columns.len()];
    let step = if cold { bytes.next_multiple_of(64) } else { 0 };
    let mut at = 0;
    for _ in 0..ROUNDS {
        for (column, (_, copy)) in columns.iter().enumerate() {
            let begin = Instant::now();
            for _ in 0..count {
                // SAFETY: `at + bytes` is at most SPAN, which both buffers hold beyond their alignment.
                unsafe { black_box(*copy)(to.wrapping_add(at), black_box(from).wrapping_add(at), black_box(bytes)) };
                at += step;
                at = if at + bytes > SPAN { 0 } else { at };
            }
            least[column] = least[column].min(begin.elapsed().as_nanos() as f64 / count as f64);
        }
    }
    least
}

const PAGE: usize = 4096;
const SPAN: usize = 64 << 20;
const ROUNDS: usize = 15;
