//! Packing of strided data against the loop that one would write by hand.
#![allow(unsafe_code)] // the convertor works on raw buffers

use core::hint::black_box;
use criterion::{Criterion, Throughput};
use opal_core::datatype::{Convertor, Layout, Primitive, Run, Scalar};
use std::sync::Arc;

/// Vectors of doubles in blocks of several lengths, each with a gap as long as a block.
pub fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("convertor");
    for block in [1usize, 2, 4, 16] {
        let blocks = 8192 / block;
        let bytes = blocks * block * 8;
        let source: Vec<f64> = (0..blocks * block * 2).map(|value| value as f64).collect();
        let mut packed = vec![0f64; blocks * block];
        let layout = Arc::new(vector(blocks, block));
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("pack {blocks} blocks of {block} doubles"), |bencher| {
            bencher.iter(|| {
                let data = black_box(&source).as_ptr().cast::<u8>().cast_mut();
                // SAFETY: the layout's runs lie within the source, which is only read.
                let mut convertor = unsafe { Convertor::new(Arc::clone(&layout), data, 1) };
                // SAFETY: the target has room for all of it.
                let done = unsafe { convertor.pack(packed.as_mut_ptr().cast(), bytes) };
                assert_eq!(done, bytes);
            });
        });
        let by_convertor = packed.clone();
        group.bench_function(format!("by hand, {blocks} blocks of {block} doubles"), |bencher| {
            bencher.iter(|| by_hand(black_box(&source), &mut packed, black_box(block)));
        });
        assert!(by_convertor.iter().all(|value| *value == 0.0) || by_convertor == packed, "both pack the same");
        group.bench_function(format!("unpack {blocks} blocks of {block} doubles"), |bencher| {
            let mut target = source.clone();
            bencher.iter(|| {
                let data = black_box(&mut target).as_mut_ptr().cast::<u8>();
                // SAFETY: the layout's runs lie within the target.
                let mut convertor = unsafe { Convertor::new(Arc::clone(&layout), data, 1) };
                // SAFETY: the packed buffer holds all of it.
                let done = unsafe { convertor.unpack(packed.as_ptr().cast(), bytes) };
                assert_eq!(done, bytes);
            });
        });
    }
    group.finish();
}

fn vector(blocks: usize, block: usize) -> Layout {
    let run = Run { offset: 0, bytes: 8 };
    let double = Arc::new(Layout::basic(Primitive::new(Scalar::Float, 8), &[run], 8, 8));
    Layout::hvector(blocks, block, (block * 16) as isize, &double).expect("it fits the address space")
}

fn by_hand(source: &[f64], packed: &mut [f64], block: usize) {
    for (to, from) in packed.chunks_exact_mut(block).zip(source.chunks_exact(block * 2)) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}
