//! Packing and unpacking of strided data against the loops that one would write by hand, which know the shape when they are
//! compiled.
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

/// `count` elements of the layout against loops by hand: from memory to the packed doubles, and from these to memory.
fn compare(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    layout: Layout,
    count: usize,
    (pack, unpack): (impl Fn(&[f64], &mut [f64]), impl Fn(&[f64], &mut [f64])),
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
    group.bench_function(format!("{name}, pack by hand"), |bencher| {
        bencher.iter(|| pack(black_box(&source), black_box(&mut wanted)));
    });
    // A filter may have left one of them out.
    let ran = |all: &[f64]| all.iter().any(|value| *value != 0.0);
    assert!(!ran(&packed) || !ran(&wanted) || packed == wanted, "{name}: both pack the same");
    let (mut target, mut filled) = (vec![0f64; source.len()], vec![0f64; source.len()]);
    group.bench_function(format!("{name}, unpack"), |bencher| {
        bencher.iter(|| {
            let data = black_box(&mut target).as_mut_ptr().cast::<u8>();
            // SAFETY: the layout's runs lie within the target.
            let mut convertor = unsafe { Convertor::new(Arc::clone(&layout), data, count) };
            // SAFETY: the packed buffer holds all of it.
            let done = unsafe { convertor.unpack(packed.as_ptr().cast(), bytes) };
            assert_eq!(done, bytes);
        });
    });
    group.bench_function(format!("{name}, unpack by hand"), |bencher| {
        bencher.iter(|| unpack(black_box(&packed), black_box(&mut filled)));
    });
    assert!(!ran(&target) || !ran(&filled) || target == filled, "{name}: both unpack the same");
}

fn vector<const BLOCK: usize>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let layout = Layout::hvector(DOUBLES / BLOCK, BLOCK, (BLOCK * 16) as isize, &double());
    let pack = |source: &[f64], packed: &mut [f64]| {
        let blocks = source.chunks(BLOCK * 2).zip(packed.as_chunks_mut::<BLOCK>().0);
        blocks.for_each(|(from, to)| to.copy_from_slice(&from[..BLOCK]));
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        let blocks = packed.as_chunks::<BLOCK>().0.iter().zip(target.chunks_mut(BLOCK * 2));
        blocks.for_each(|(from, to)| to[..BLOCK].copy_from_slice(from));
    };
    compare(group, &format!("vector of {BLOCK}"), layout.expect(FITS), 1, (pack, unpack));
}

fn indexed(group: &mut BenchmarkGroup<'_, WallTime>) {
    let places: Vec<usize> = (0..DOUBLES).map(|index| index * 3 + index % 2).collect();
    let blocks: Vec<(isize, usize)> = places.iter().map(|place| (*place as isize * 8, 1)).collect();
    let pack = |source: &[f64], packed: &mut [f64]| {
        places.iter().zip(packed).for_each(|(place, to)| *to = source[*place]);
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        places.iter().zip(packed).for_each(|(place, from)| target[*place] = *from);
    };
    compare(group, "indexed", Layout::blocks(&blocks, &double()).expect(FITS), 1, (pack, unpack));
}

/// Elements of one double each, followed by a gap.
fn gaps(group: &mut BenchmarkGroup<'_, WallTime>) {
    let layout = double().resized(0, 16).expect(FITS);
    let pack = |source: &[f64], packed: &mut [f64]| {
        source.chunks(2).zip(packed).for_each(|(from, to)| *to = from[0]);
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        packed.iter().zip(target.chunks_mut(2)).for_each(|(from, to)| to[0] = *from);
    };
    compare(group, "elements with a gap", layout, DOUBLES, (pack, unpack));
}

/// `struct { int; double; }`.
fn structure(group: &mut BenchmarkGroup<'_, WallTime>) {
    let run = Run { offset: 0, bytes: 4 };
    let int = Arc::new(Layout::basic(Primitive::new(Scalar::Signed, 4), &[run], 4, 4));
    let layout = Layout::structure(&[(0, 1, &int), (8, 1, &double())]).expect(FITS);
    // A structure of the program and its packed form, both as the program's pointers.
    let moved = |from: *const u8, to: *mut u8, from_double: usize, to_double: usize| {
        // SAFETY: structures lie where the loops below say, within both buffers.
        let int = unsafe { from.cast::<u32>().read_unaligned() };
        // SAFETY: as above.
        let double = unsafe { from.wrapping_add(from_double).cast::<f64>().read_unaligned() };
        // SAFETY: as above.
        unsafe { to.cast::<u32>().write_unaligned(int) };
        // SAFETY: as above.
        unsafe { to.wrapping_add(to_double).cast::<f64>().write_unaligned(double) };
    };
    let pack = |source: &[f64], packed: &mut [f64]| {
        let (from, to) = (source.as_ptr().cast::<u8>(), packed.as_mut_ptr().cast::<u8>());
        (0..DOUBLES).for_each(|index| moved(from.wrapping_add(index * 16), to.wrapping_add(index * 12), 8, 4));
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        let (from, to) = (packed.as_ptr().cast::<u8>(), target.as_mut_ptr().cast::<u8>());
        (0..DOUBLES).for_each(|index| moved(from.wrapping_add(index * 12), to.wrapping_add(index * 16), 4, 8));
    };
    compare(group, "structures of int and double", layout, DOUBLES, (pack, unpack));
}

/// Half of each side of an array of two and of three dimensions.
fn planes(group: &mut BenchmarkGroup<'_, WallTime>) {
    let rows = Arc::new(Layout::hvector(64, 32, 64 * 8, &double()).expect(FITS));
    let pack = |source: &[f64], packed: &mut [f64]| {
        let rows = source.chunks(64).zip(packed.as_chunks_mut::<32>().0);
        rows.for_each(|(from, to)| to.copy_from_slice(&from[..32]));
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        let rows = packed.as_chunks::<32>().0.iter().zip(target.chunks_mut(64));
        rows.for_each(|(from, to)| to[..32].copy_from_slice(from));
    };
    compare(group, "subarray of 2 dimensions", rows.as_ref().clone(), 1, (pack, unpack));
    let plane = Arc::new(Layout::hvector(16, 16, 32 * 8, &double()).expect(FITS));
    let cube = Layout::hvector(16, 1, 32 * 32 * 8, &plane).expect(FITS);
    let pack = |source: &[f64], packed: &mut [f64]| {
        for (plane, to) in source.chunks(32 * 32).zip(packed.as_chunks_mut::<256>().0) {
            let rows = plane.chunks(32).zip(to.as_chunks_mut::<16>().0);
            rows.for_each(|(from, to)| to.copy_from_slice(&from[..16]));
        }
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        for (from, plane) in packed.as_chunks::<256>().0.iter().zip(target.chunks_mut(32 * 32)) {
            let rows = from.as_chunks::<16>().0.iter().zip(plane.chunks_mut(32));
            rows.for_each(|(from, to)| to[..16].copy_from_slice(from));
        }
    };
    compare(group, "subarray of 3 dimensions", cube, 1, (pack, unpack));
}

fn column(group: &mut BenchmarkGroup<'_, WallTime>) {
    let layout = Layout::hvector(SIDE, 1, (SIDE * 8) as isize, &double()).expect(FITS);
    let pack = |source: &[f64], packed: &mut [f64]| {
        packed.iter_mut().enumerate().for_each(|(row, to)| *to = source[row * SIDE]);
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        packed.iter().enumerate().for_each(|(row, from)| target[row * SIDE] = *from);
    };
    compare(group, "column of a matrix", layout, 1, (pack, unpack));
}

/// A matrix column by column.
fn transposed(group: &mut BenchmarkGroup<'_, WallTime>) {
    let column = Layout::hvector(SIDE, 1, (SIDE * 8) as isize, &double()).and_then(|column| column.resized(0, 8));
    let layout = Layout::contiguous(SIDE, &Arc::new(column.expect(FITS))).expect(FITS);
    let pack = |source: &[f64], packed: &mut [f64]| {
        for (column, to) in packed.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
            to.iter_mut().enumerate().for_each(|(row, to)| *to = source[row * SIDE + column]);
        }
    };
    let unpack = |packed: &[f64], target: &mut [f64]| {
        for (column, from) in packed.as_chunks::<SIDE>().0.iter().enumerate() {
            from.iter().enumerate().for_each(|(row, from)| target[row * SIDE + column] = *from);
        }
    };
    compare(group, "transposed matrix", layout, 1, (pack, unpack));
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
