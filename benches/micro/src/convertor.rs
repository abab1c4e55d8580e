//! Packing of strided data against the loop that one would write by hand, which knows the shape when it is compiled.
#![allow(unsafe_code)] // the convertor works on raw buffers

use core::hint::black_box;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use opal_core::datatype::{Convertor, Layout, Primitive, Run, Scalar};
use std::sync::Arc;

/// Vectors of doubles in blocks of several lengths, lists of places, structures, parts of arrays, a matrix turned around.
pub fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("convertor");
    vector::<1>(&mut group);
    vector::<2>(&mut group);
    vector::<3>(&mut group);
    vector::<4>(&mut group);
    vector::<8>(&mut group);
    vector::<64>(&mut group);
    indexed(&mut group);
    structure(&mut group);
    gaps(&mut group);
    planes(&mut group);
    column(&mut group);
    transposed(&mut group);
    group.finish();
}

/// `count` elements of the layout against a loop from memory to the packed doubles, which `by_hand` gets, and back.
fn compare(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    layout: Layout,
    count: usize,
    by_hand: impl Fn(&[f64], &mut [f64]),
) {
    let layout = Arc::new(layout);
    let bytes = layout.size() * count;
    let span = layout.true_extent() as usize + (count - 1) * layout.extent() as usize;
    let source: Vec<f64> = (0..span.div_ceil(8)).map(|value| value as f64).collect();
    let (mut packed, mut wanted) = (vec![0f64; bytes.div_ceil(8)], vec![0f64; bytes.div_ceil(8)]);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function(format!("{name}, pack"), |bencher| {
        bencher.iter(|| {
            let data = black_box(&source).as_ptr().cast::<u8>().cast_mut();
            // SAFETY: the layout's runs lie within the source, which is only read.
            let mut convertor = unsafe { Convertor::new(Arc::clone(&layout), data, count) };
            // SAFETY: the target has room for all of it.
            let done = unsafe { convertor.pack(packed.as_mut_ptr().cast(), bytes) };
            assert_eq!(done, bytes);
        });
    });
    group.bench_function(format!("{name}, by hand"), |bencher| {
        bencher.iter(|| by_hand(black_box(&source), black_box(&mut wanted)));
    });
    // A filter may have left one of them out.
    let ran = |all: &[f64]| all.iter().any(|value| *value != 0.0);
    assert!(!ran(&packed) || !ran(&wanted) || packed == wanted, "{name}: both pack the same");
    group.bench_function(format!("{name}, unpack"), |bencher| {
        let mut target = source.clone();
        bencher.iter(|| {
            let data = black_box(&mut target).as_mut_ptr().cast::<u8>();
            // SAFETY: the layout's runs lie within the target.
            let mut convertor = unsafe { Convertor::new(Arc::clone(&layout), data, count) };
            // SAFETY: the packed buffer holds all of it.
            let done = unsafe { convertor.unpack(packed.as_ptr().cast(), bytes) };
            assert_eq!(done, bytes);
        });
    });
}

fn vector<const BLOCK: usize>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let layout = Layout::hvector(DOUBLES / BLOCK, BLOCK, (BLOCK * 16) as isize, &double());
    compare(group, &format!("vector of {BLOCK}"), layout.expect(FITS), 1, |source, packed| {
        let blocks = source.chunks(BLOCK * 2).zip(packed.as_chunks_mut::<BLOCK>().0);
        blocks.for_each(|(from, to)| to.copy_from_slice(&from[..BLOCK]));
    });
}

fn indexed(group: &mut BenchmarkGroup<'_, WallTime>) {
    let places: Vec<usize> = (0..DOUBLES).map(|index| index * 3 + index % 2).collect();
    let blocks: Vec<(isize, usize)> = places.iter().map(|place| (*place as isize * 8, 1)).collect();
    compare(group, "indexed", Layout::blocks(&blocks, &double()).expect(FITS), 1, |source, packed| {
        places.iter().zip(packed).for_each(|(place, to)| *to = source[*place]);
    });
}

/// Elements of one double each, followed by a gap.
fn gaps(group: &mut BenchmarkGroup<'_, WallTime>) {
    let layout = double().resized(0, 16).expect(FITS);
    compare(group, "elements with a gap", layout, DOUBLES, |source, packed| {
        source.chunks(2).zip(packed).for_each(|(from, to)| *to = from[0]);
    });
}

/// `struct { int; double; }`.
fn structure(group: &mut BenchmarkGroup<'_, WallTime>) {
    let run = Run { offset: 0, bytes: 4 };
    let int = Arc::new(Layout::basic(Primitive::new(Scalar::Signed, 4), &[run], 4, 4));
    let layout = Layout::structure(&[(0, 1, &int), (8, 1, &double())]).expect(FITS);
    compare(group, "structures of int and double", layout, DOUBLES, |source, packed| {
        let from = source.as_ptr().cast::<u8>();
        let to = packed.as_mut_ptr().cast::<u8>();
        for index in 0..DOUBLES {
            let (from, to) = (from.wrapping_add(index * 16), to.wrapping_add(index * 12));
            // SAFETY: structure `index` of the source.
            let int = unsafe { from.cast::<u32>().read() };
            // SAFETY: as above.
            let double = unsafe { from.wrapping_add(8).cast::<f64>().read() };
            // SAFETY: the packed buffer has 12 bytes for each.
            unsafe { to.cast::<u32>().write(int) };
            // SAFETY: as above.
            unsafe { to.wrapping_add(4).cast::<f64>().write_unaligned(double) };
        }
    });
}

/// Half of each side of an array of two and of three dimensions.
fn planes(group: &mut BenchmarkGroup<'_, WallTime>) {
    let rows = Arc::new(Layout::hvector(64, 32, 64 * 8, &double()).expect(FITS));
    compare(group, "subarray of 2 dimensions", rows.as_ref().clone(), 1, |source, packed| {
        let rows = source.chunks(64).zip(packed.as_chunks_mut::<32>().0);
        rows.for_each(|(from, to)| to.copy_from_slice(&from[..32]));
    });
    let plane = Arc::new(Layout::hvector(16, 16, 32 * 8, &double()).expect(FITS));
    let cube = Layout::hvector(16, 1, 32 * 32 * 8, &plane).expect(FITS);
    compare(group, "subarray of 3 dimensions", cube, 1, |source, packed| {
        for (plane, to) in source.chunks(32 * 32).zip(packed.as_chunks_mut::<256>().0) {
            let rows = plane.chunks(32).zip(to.as_chunks_mut::<16>().0);
            rows.for_each(|(from, to)| to.copy_from_slice(&from[..16]));
        }
    });
}

fn column(group: &mut BenchmarkGroup<'_, WallTime>) {
    let layout = Layout::hvector(SIDE, 1, (SIDE * 8) as isize, &double()).expect(FITS);
    compare(group, "column of a matrix", layout, 1, |source, packed| {
        packed.iter_mut().enumerate().for_each(|(row, to)| *to = source[row * SIDE]);
    });
}

/// A matrix column by column.
fn transposed(group: &mut BenchmarkGroup<'_, WallTime>) {
    let column = Layout::hvector(SIDE, 1, (SIDE * 8) as isize, &double()).and_then(|column| column.resized(0, 8));
    let layout = Layout::contiguous(SIDE, &Arc::new(column.expect(FITS))).expect(FITS);
    compare(group, "transposed matrix", layout, 1, |source, packed| {
        for (column, to) in packed.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
            to.iter_mut().enumerate().for_each(|(row, to)| *to = source[row * SIDE + column]);
        }
    });
}

fn double() -> Arc<Layout> {
    let run = Run { offset: 0, bytes: 8 };
    Arc::new(Layout::basic(Primitive::new(Scalar::Float, 8), &[run], 8, 8))
}

const FITS: &str = "it fits the address space";
/// Of data, where nothing else is said: 64 KiB.
const DOUBLES: usize = 8192;
/// Of the matrix.
const SIDE: usize = 96;
