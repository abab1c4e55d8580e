//! The components of the static frameworks: memcpy, atomics, timer. `cargo run --release -p bench-statics` shows more sizes
//! of memcpy in one table.
#![allow(unsafe_code)] // a raw copy cannot be called otherwise

use core::hint::black_box;
use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use opal_core::sys::cpu;

#[path = "../../../components/memcpy/avx2/src/raw.rs"]
mod avx2;
#[path = "../../../components/memcpy/avx512/src/raw.rs"]
mod avx512;
#[path = "../../../components/memcpy/portable/src/raw.rs"]
mod portable;
#[path = "../../../components/memcpy/repmovs/src/raw.rs"]
mod repmovs;
#[expect(dead_code, reason = "the component's own file; what it asks when it is opened is not measured")]
#[path = "../../../components/timer/tsc/src/raw.rs"]
mod tsc;

/// All of them.
pub fn all(criterion: &mut Criterion) {
    memcpy(criterion);
    atomics(criterion);
    timer(criterion);
}

type Copy = unsafe fn(*mut u8, *const u8, usize);

fn memcpy(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("memcpy");
    let mut all: Vec<(&str, Copy)> = vec![("portable", portable::copy), ("repmovs", repmovs::copy)];
    all.extend(cpu::has_avx2().then_some(("avx2", avx2::copy as Copy)));
    all.extend(cpu::has_avx512f().then_some(("avx512", avx512::copy as Copy)));
    let (source, mut target) = (vec![1u8; 1 << 20], vec![0u8; 1 << 20]);
    for bytes in [8usize, 64, 512, 4096, 65536, 1 << 20] {
        group.throughput(Throughput::Bytes(bytes as u64));
        for (name, copy) in &all {
            group.bench_function(format!("{name}, {bytes} B"), |bencher| {
                bencher.iter(|| {
                    // SAFETY: both buffers hold the largest size.
                    unsafe { black_box(*copy)(target.as_mut_ptr(), source.as_ptr(), black_box(bytes)) };
                });
            });
        }
    }
    group.finish();
}

/// The same operations of both components; nobody else uses the lines.
macro_rules! measure {
    ($group:expr, $component:ident) => {
        let (word, order) = ($component::AtomicU64::new(0), $component::Ordering::AcqRel);
        let name = |what: &str| format!("{}, {what}", $component::NAME);
        $group.bench_function(name("load acquire"), |bencher| {
            bencher.iter(|| black_box(&word).load($component::Ordering::Acquire));
        });
        $group.bench_function(name("store release"), |bencher| {
            bencher.iter(|| black_box(&word).store(1, $component::Ordering::Release));
        });
        $group.bench_function(name("store seqcst"), |bencher| {
            bencher.iter(|| black_box(&word).store(1, $component::Ordering::SeqCst));
        });
        $group.bench_function(name("fetch_add"), |bencher| bencher.iter(|| black_box(&word).fetch_add(1, order)));
        $group.bench_function(name("swap"), |bencher| bencher.iter(|| black_box(&word).swap(1, order)));
    };
}

fn atomics(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("atomics");
    let group: &mut BenchmarkGroup<'_, WallTime> = &mut group;
    measure!(group, atomics_core);
    #[cfg(target_arch = "x86_64")]
    {
        measure!(group, atomics_asm);
    }
}

fn timer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timer");
    group.bench_function("clock", |bencher| bencher.iter(opal_core::sys::monotonic_ns));
    if tsc::invariant() {
        group.bench_function("tsc", |bencher| bencher.iter(tsc::ticks));
    }
    group.finish();
}
